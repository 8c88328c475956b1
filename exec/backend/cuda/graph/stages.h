/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stages.h - a recorded program of several units (GPUs, or parts of one) split
 * into stages: a CUDA graph each, of one unit between transfers, chained by
 * events.
 *
 * A launch of one graph over several contexts does the same in the driver, each
 * time and under its lock, so that programs of different slots serialize. A
 * stage has as many calls of a unit as possible:
 *
 *     unit a       |  a1 a2  |                     |  a3  |
 *     transfers              |  x  |         |  y  |
 *     unit b                       |  b1 b2  |
 *
 * Between parts of a GPU transfers are stages of their own, in the context of
 * the SMs that no part has; otherwise they belong to the stage of the sender.
 *
 * A stage has one or more streams, which programs of the slots share: slot 5
 * has the second of a stage with 4. Streams of the slots themselves would be
 * more than the hardware queues of a GPU, and one that waits for its next stage
 * would block others, of earlier requests, that could go on.
 *
 * A program of more stages than hardware queues has its transfers in the stages
 * of the senders, and the host launches a stage when those that it waits for
 * are complete: no stream waits then, and none blocks others.
 */
#ifndef MO_EXEC_BACKEND_CUDA_GRAPH_STAGES_H
#define MO_EXEC_BACKEND_CUDA_GRAPH_STAGES_H

#include "exec/backend/backend.h"
#include "exec/backend/cuda/driver/cuda_api.h"

typedef struct mo_cuda_stages mo_cuda_stages;

/* Captures n calls, which are in a topological order. Programs of one unit, and
 * those with transfers to other processes, are one stage. The caller frees
 * *program with mo_cuda_graph_destroy(). */
mo_status mo_cuda_stages_capture(mo_backend_unit *unit,
                                 const mo_backend_program_call *calls, int n,
                                 mo_backend_program **program, mo_error *err);
void mo_cuda_stages_free(mo_cuda_stages *stages); /* NULL is allowed */

/* Returns the unit of the first stage and sets *stream to its stream, which
 * programs of other slots use, too. */
mo_backend_unit *mo_cuda_stages_first(const mo_cuda_stages *stages,
                                      CUstream *stream);

/* Launches all stages behind the work of *stream, in the context of the
 * unit that recorded, so far; sets *stream to that of the last stage, which all
 * others precede then, and *unit to its unit, which is current. From any
 * thread, one at a time for each program. */
mo_status mo_cuda_stages_launch(const mo_cuda_stages *stages,
                                mo_backend_unit **unit, CUstream *stream,
                                mo_error *err);

/*
 * queue.c: queues (exec/backend/backend.h) for programs of several slots at the
 * same time: a stream of the first unit, in which all is in order, until a
 * program of several stages goes on in that of its last. With unified
 * addressing its copies reach the memory of all units. As the members of
 * mo_backend; close accepts NULL.
 */
mo_status mo_cuda_queue_open(mo_backend_unit *const *units, int n,
                             mo_backend_queue **queue, mo_error *err);
void mo_cuda_queue_close(mo_backend_queue *queue);
mo_status mo_cuda_queue_upload(mo_backend_queue *queue, void *to,
                               const void *from, size_t bytes, mo_error *err);
mo_status mo_cuda_queue_download(mo_backend_queue *queue, void *to,
                                 const void *from, size_t bytes, mo_error *err);
mo_status mo_cuda_queue_replay(mo_backend_queue *queue,
                               const mo_backend_program *program,
                               mo_error *err);
mo_status mo_cuda_queue_wait(mo_backend_queue *queue, mo_error *err);

#endif
