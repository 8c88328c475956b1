/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_batches.h - dynamic batching of a stream of requests: --batch.
 *
 * Requests of one shape, whose inputs and outputs have the first dimension 1,
 * are concatenated along it and run at once, in the phase of the smallest batch
 * that takes them; rows that are left are filled with the last request, and the
 * outputs are divided again:
 *
 *     requests  0 1 2 | 3 4 | 5 ...      batch 0 in phase 4x32: 0 1 2 2
 *
 * The intake takes requests until the batch is full, one of another shape
 * comes, or no further one comes in time. A request of a pipeline is a batch
 * here. Failed requests are members of the batch of their neighbours, so that
 * all are delivered in their order.
 */
#ifndef MO_DRIVER_EXEC_REQUEST_BATCHES_H
#define MO_DRIVER_EXEC_REQUEST_BATCHES_H

#include "driver/exec/request_files.h"

typedef struct mo_exec_batches mo_exec_batches;

/* What was delivered; complete when the stream has ended. */
typedef struct mo_exec_batch_counts {
    int64_t n_batches; /* with at least one request that could be read */
    int64_t n_requests, n_completed;
} mo_exec_batch_counts;

/* Batches have up to `most` requests and wait up to wait_us for the next one.
 * Fails with MO_E_USAGE unless a shape has batches. Borrows requests; the
 * caller frees *batches with mo_exec_batches_free(), which accepts NULL. */
mo_status mo_exec_batches_new(mo_exec_requests *requests, int64_t most,
                              double wait_us, mo_exec_batches **batches,
                              mo_error *err);
void mo_exec_batches_free(mo_exec_batches *batches);
mo_exec_batch_counts mo_exec_batches_count(const mo_exec_batches *batches);

/* next, sink and phase of mo_pipeline_options; context: mo_exec_batches. */
mo_status mo_exec_batches_next(void *context, int64_t batch,
                               const atomic_bool *stopped,
                               mo_tensor_dense *inputs, bool *end,
                               mo_error *err);
mo_status mo_exec_batches_write(void *context, int64_t batch,
                                const mo_tensor_dense *outputs,
                                const mo_error *failure, mo_error *err);
int mo_exec_batches_phase(void *context, int64_t batch);

#endif
