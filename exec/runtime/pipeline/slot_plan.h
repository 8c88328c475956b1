/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slot_plan.h - the transfers of all slots as one plan, for the transport.
 *
 * A slot repeats the transfers of the plan and adds those between rank 0, the
 * frontend, and each device:
 *
 *     frontend -> device   start: the number of the request, or the end
 *                          the inputs that the device reads
 *     device -> frontend   the network's outputs that the device has
 *                          done: time in calls, or the error of a kernel
 *
 * Each pair of a slot and a device, or the frontend, is a device of its own
 * here: one thread drives it. A slot is started again when all its devices are
 * done: so no transfer is posted again before both ends have awaited it, which
 * transports require, and no barrier is needed.
 */
#ifndef MO_EXEC_RUNTIME_PIPELINE_SLOT_PLAN_H
#define MO_EXEC_RUNTIME_PIPELINE_SLOT_PLAN_H

#include <stdint.h>

#include "base/error.h"
#include "exec/backend/backend.h"
#include "exec/plan/ir/plan.h"

typedef struct mo_pipeline_start {
    int64_t request; /* -1: there are no more */
} mo_pipeline_start;

typedef struct mo_pipeline_done {
    int64_t busy_ns; /* time in calls */
    int64_t slot_bytes, shared_bytes;
    int64_t status; /* MO_OK, or the text is an error of the request */
    char text[MO_ERROR_TEXT_SIZE];
} mo_pipeline_done;

typedef struct mo_pipeline_slots {
    mo_exec_plan plan;           /* transfers and devices, owned; values of the
                                    transfers among devices, borrowed */
    int *rank_of;                /* by device of plan */
    const mo_backend **backends; /* likewise */
    int n_slots, n_devices;      /* devices of one slot, without the frontend */
    int n_transfers;             /* of one slot; those of the plan come first */
    int first_start, first_done; /* of device d: + d */
    int first_output; /* from it on, transfers lead to the frontend; from
                         first_start up to it, they come from there */
    int *inputs;      /* by value: its transfer, or MO_PLAN_NONE */
    int *outputs;     /* by output, likewise */
} mo_pipeline_slots;

/* Borrows the plan's values and texts. slots begins as zeros; the caller clears
 * it, also after a failure. */
mo_status mo_pipeline_slots_make(const mo_exec_plan *plan, const int *rank_of,
                                 const mo_backend *const *backends, int n_slots,
                                 mo_pipeline_slots *slots, mo_error *err);
void mo_pipeline_slots_clear(mo_pipeline_slots *slots);

/* Returns the number of a transfer of one slot among those of all. */
static inline int mo_pipeline_transfer(const mo_pipeline_slots *slots, int slot,
                                       int transfer)
{
    return slot * slots->n_transfers + transfer;
}

/* Check messages of other ranks (transport/rendezvous/decode.h): fail with
 * MO_E_IO at numbers that cannot be; terminate the text. Sums of busy times do
 * not overflow. */
mo_status mo_pipeline_decode_start(const mo_pipeline_start *start,
                                   mo_error *err);
mo_status mo_pipeline_decode_done(mo_pipeline_done *done, mo_error *err);

#endif
