/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - queues (exec/backend/backend.h) for programs of several slots at
 * the same time: a stream of the first unit, in which all is in order, until a
 * program of several stages (stages.h) goes on in that of its last. With
 * unified addressing its copies reach the memory of all units.
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
mo_status mo_cuda_queue_wait(mo_backend_queue *queue, mo_error *err);

#endif
