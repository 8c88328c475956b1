/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h - a schedule: device and start time of every op, and the
 * transfers that follow from the placement.
 *
 * mo_schedule_new derives the transfers from the placement; the caller fills
 * in the start times.  They are claims until mo_schedule_left_shift, which
 * keeps only their order, or mo_validate.
 */
#ifndef MO_SCHEDULE_SCHEDULE_H
#define MO_SCHEDULE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

/* A transfer between two devices: of a flow, or, with tensors once, of a
 * tensor for all its readers on the target. */
typedef struct mo_transfer {
    int item;     /* number of the flow or tensor in the instance */
    int from, to; /* devices, never equal */
    int64_t start_ns, end_ns;
} mo_transfer;

typedef struct mo_schedule {
    mo_regime regime;
    int n;             /* number of ops, as in the instance */
    int *device;       /* by op */
    int64_t *start_ns; /* by op; the duration is the instance's */
    int n_transfers;
    mo_transfer *transfers; /* sorted by item, then target */
    int64_t makespan_ns;    /* end of the last op */
} mo_schedule;

/* Makes a schedule of the placement (a device for each op, copied) with the
 * transfers that it needs; all starts are 0.  The caller frees *schedule with
 * mo_schedule_free(), which accepts NULL.  Returns MO_E_INPUT when the
 * transfers together take more than INT64_MAX / 2 ns. */
mo_status mo_schedule_new(const mo_instance *x, const mo_regime *regime,
                          const int *device, mo_schedule **schedule,
                          mo_error *err);
void mo_schedule_free(mo_schedule *schedule);

/* Keeps the schedule of the shorter makespan in *best, *best if they are equal,
 * and frees the other; either may be NULL. */
void mo_schedule_keep_better(mo_schedule **best, mo_schedule *other);

/* Copies s with its times; the caller frees *copy. */
mo_status mo_schedule_copy(const mo_instance *x, const mo_schedule *s,
                           mo_schedule **copy, mo_error *err);

/* Returns the transfer of an item to a device, which s owns, or NULL where
 * there is none.  O(log transfers). */
mo_transfer *mo_schedule_transfer(const mo_schedule *s, int item, int to);

/* Returns the tensor that a transfer of s carries. */
static inline int mo_schedule_tensor(const mo_instance *x, const mo_schedule *s,
                                     const mo_transfer *t)
{
    return s->regime.tensors == MO_TENSORS_ONCE ? t->item
                                                : x->flows[t->item].tensor;
}

/* Returns the duration of an item's transfer from device a to b in this
 * regime. */
int64_t mo_schedule_item_ns(const mo_instance *x, const mo_regime *regime,
                            int item, int a, int b);

/* The same of the item that carries a flow: its tensor, or the flow itself. */
int64_t mo_schedule_flow_ns(const mo_instance *x, const mo_regime *regime,
                            int flow, int a, int b);

/*
 * Left-shift (semi-active schedule): keeps on every device, port, channel or
 * link the order of the start times and starts everything as early as that
 * order allows.  Ties go by precedence, then by number.  What takes no time
 * still waits for a busy device or port.
 *
 * Returns MO_E_INPUT when the order contradicts the graph: an op that starts
 * before its inputs have arrived.  The times of s are then unchanged.
 */
mo_status mo_schedule_left_shift(const mo_instance *x, mo_schedule *s,
                                 mo_error *err);

/* Fills peak_bytes, a buffer by device, with the peak memory of each device in
 * the schedule's memory model (static sums with MO_MEMORY_NONE). */
mo_status mo_schedule_peak_memory(const mo_instance *x, const mo_schedule *s,
                                  int64_t *peak_bytes, mo_error *err);

/* Sets *fits to whether every peak is within the capacity; always true with
 * MO_MEMORY_NONE. */
mo_status mo_schedule_fits_memory(const mo_instance *x, const mo_schedule *s,
                                  bool *fits, mo_error *err);

#endif
