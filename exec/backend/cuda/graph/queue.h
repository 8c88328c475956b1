/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - queues (exec/backend/backend.h) for programs of several slots at
 * the same time: a stream of the first unit, in which all is in order, and
 * those of the stages of programs (stages.h). With unified addressing its
 * copies reach the memory of all units.
 */
#ifndef MO_EXEC_BACKEND_CUDA_GRAPH_QUEUE_H
#define MO_EXEC_BACKEND_CUDA_GRAPH_QUEUE_H

#include "exec/backend/cuda/driver/cuda_unit.h"

/* As the members of mo_backend; close accepts NULL. */
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
/* Sets *stream to that of a unit's stages in the queue, or of the transfers of
 * all parts of its GPU, created on first use, and makes the unit current. The
 * queue owns it. */
mo_status mo_cuda_queue_stream(mo_backend_queue *queue, mo_backend_unit *unit,
                               bool transfers, CUstream *stream, mo_error *err);
mo_status mo_cuda_queue_wait(mo_backend_queue *queue, mo_error *err);

#endif
