/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - worker thread with a FIFO queue of integer items.
 */
#ifndef MO_EXEC_THREAD_WORKER_H
#define MO_EXEC_THREAD_WORKER_H

#include "base/error.h"

typedef struct mo_thread_worker mo_thread_worker;

typedef void mo_thread_worker_fn(void *context, int item);

/* Fails with the error of pthread_create(): as a rule memory or the number of
 * threads has reached its limit. */
mo_status mo_thread_fail_start(int error, mo_error *err);

/* Starts the thread, which calls run(context, item) for every submitted item;
 * items are 0, ..., n_items - 1. The caller frees *worker with
 * mo_thread_worker_free(), which ends the thread and drops what is still
 * queued (NULL is allowed). */
mo_status mo_thread_worker_new(int n_items, mo_thread_worker_fn *run,
                               void *context, mo_thread_worker **worker,
                               mo_error *err);
void mo_thread_worker_free(mo_thread_worker *worker);

/* Queues the item; does nothing if it is queued already. From any thread. */
void mo_thread_worker_submit(mo_thread_worker *worker, int item);

#endif
