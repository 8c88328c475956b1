/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_gate.h - priority lock of a device: one slot computes at a time, the
 * one with the oldest request first.
 *
 * Ownership is handed over by the releasing thread, so that a younger request
 * never overtakes a waiting older one. The caller owns the struct.
 */
#ifndef MO_EXEC_RUNTIME_PIPELINE_DEVICE_GATE_H
#define MO_EXEC_RUNTIME_PIPELINE_DEVICE_GATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_pipeline_gate {
    pthread_mutex_t lock;
    pthread_cond_t *turns; /* by slot */
    int64_t *waiting;      /* by slot: its request; INT64_MAX: does not wait */
    int n_slots;
    int owner;              /* a slot; -1: free */
    _Atomic int64_t oldest; /* of waiting */
} mo_pipeline_gate;

/* The gate begins as zeros and is destroyed by the caller, also after a failed
 * init. */
mo_status mo_pipeline_gate_init(mo_pipeline_gate *gate, int n_slots,
                                mo_error *err);
void mo_pipeline_gate_destroy(mo_pipeline_gate *gate);

/* Blocks until the slot owns the device; called by the thread of the slot, as
 * are the others. */
void mo_pipeline_gate_enter(mo_pipeline_gate *gate, int slot, int64_t request);
void mo_pipeline_gate_leave(mo_pipeline_gate *gate);

/* Hands the device to an older request that waits, and blocks until the slot
 * owns it again; returns whether there was one. Otherwise it costs one atomic
 * load. */
bool mo_pipeline_gate_yield(mo_pipeline_gate *gate, int slot, int64_t request);

#endif
