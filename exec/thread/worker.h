/*
 * courier.h - a thread that carries what it is called for, in that order.
 */
#ifndef MO_EXEC_THREAD_WORKER_H
#define MO_EXEC_THREAD_WORKER_H

#include "base/error.h"

typedef struct mo_courier mo_courier;

typedef void mo_courier_carry(void *context, int parcel);

/* Parcels are 0, ..., n_parcels - 1. */
mo_status mo_courier_new(int n_parcels, mo_courier_carry *carry, void *context,
                         mo_courier **courier, mo_error *err);
void mo_courier_free(mo_courier *courier);

/* From any thread.  One call is enough for a parcel that was called for already
 * and is still waiting. */
void mo_courier_call(mo_courier *courier, int parcel);

#endif
