/* SPDX-License-Identifier: Apache-2.0 */
/*
 * courier.h - a thread that carries what it is called for, in that order.
 */
#ifndef MO_EXEC_THREAD_WORKER_H
#define MO_EXEC_THREAD_WORKER_H

#include "base/error.h"

typedef struct mo_thread_worker mo_thread_worker;

typedef void mo_thread_worker_fn(void *context, int parcel);

/* Parcels are 0, ..., n_parcels - 1. */
mo_status mo_thread_worker_new(int n_parcels, mo_thread_worker_fn *carry,
                               void *context, mo_thread_worker **courier,
                               mo_error *err);
void mo_thread_worker_free(mo_thread_worker *courier);

/* From any thread.  One call is enough for a parcel that was called for already
 * and is still waiting. */
void mo_thread_worker_submit(mo_thread_worker *courier, int parcel);

#endif
