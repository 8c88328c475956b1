/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement_block.h - the assignment columns x_i_k, op i is on device k, as
 * one block, and the rows that make them a placement.
 *
 * A model over some of the devices numbers them by slots, 0 .. n_slots - 1.
 */
#ifndef MO_MODELS_PAPER_PLACEMENT_BLOCK_H
#define MO_MODELS_PAPER_PLACEMENT_BLOCK_H

#include "base/error.h"
#include "cost/instance.h"
#include "models/sink/sink.h"
#include "schedule/schedule.h"

typedef struct mo_placement_block {
    const mo_instance *x;
    int first; /* column of the first op in the first slot */
    int n_slots;
    int *device;      /* by slot, increasing */
    int *slot;        /* by device, or -1 */
    int *group_first; /* by op: the first of its group, itself if it has none */
} mo_placement_block;

/* Over these devices, or all of them (NULL).  No op may be pinned to another.
 * The caller clears it with mo_placement_block_clear(), also after a
 * failure. */
mo_status mo_placement_block_init(mo_placement_block *p, const mo_instance *x,
                                  const int *device, int n_slots,
                                  mo_error *err);
void mo_placement_block_clear(mo_placement_block *p);

static inline int mo_placement_block_column(const mo_placement_block *p, int op,
                                            int slot)
{
    return p->first + op * p->n_slots + slot;
}

/* Declares them, op by op, with their values in the start (NULL: 0). */
void mo_placement_block_columns(mo_placement_block *p, const mo_schedule *start,
                                mo_sink *sink);

/* Families "assignment": every op is on one device; "pin", "group". */
void mo_placement_block_rows(const mo_placement_block *p, mo_sink *sink);

#endif
