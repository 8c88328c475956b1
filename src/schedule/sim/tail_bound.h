/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tail_bound.h - tails of the ops for the devices of a plan: lower bounds that
 * prune a simulation.
 *
 * A run is cut off as soon as something starts too late, not only when its end
 * is known.
 */
#ifndef MO_SCHEDULE_SIM_TAIL_BOUND_H
#define MO_SCHEDULE_SIM_TAIL_BOUND_H

#include <stdint.h>

#include "base/error.h"
#include "schedule/sim/sim_internal.h"

/* Computes all tails, and the least of each device. */
void mo_tail_bounds_find(mo_sim *s);

/* Computes only the least ones: updates keep them valid but let them become
 * too small. */
void mo_tail_bounds_find_least(mo_sim *s);

/* Tails under changes of devices, with undo. */
typedef struct mo_tail_bounds {
    mo_sim *sim;
    uint64_t *stale; /* bit by op */
    int top;         /* no word above has a bit; -1: none has */
    int n, *op;      /* undo log: updated ops and their old tails */
    bool *is_noted;  /* by op: it is in the log */
    int64_t *old_ns, *old_least_ns;
    bool has_old; /* least ones */
} mo_tail_bounds;

mo_status mo_tail_bounds_open(mo_tail_bounds *t, mo_sim *sim, mo_error *err);
void mo_tail_bounds_close(mo_tail_bounds *t);

/* Marks op, which changed its device, and its producers. */
void mo_tail_bounds_op_moved(mo_tail_bounds *t, int op);

/* Recomputes the marked tails and all that depend on them; the old ones can be
 * restored until the commit. */
void mo_tail_bounds_update(mo_tail_bounds *t);
void mo_tail_bounds_commit(mo_tail_bounds *t);
void mo_tail_bounds_rollback(mo_tail_bounds *t);

#endif
