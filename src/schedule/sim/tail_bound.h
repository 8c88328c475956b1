/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_tail.h - what comes behind an op at least, for the devices of a plan.
 *
 * With it a run is given up as soon as something starts too late, and not only
 * when the end has been seen.
 */
#ifndef MO_SCHEDULE_SIM_TAIL_BOUND_H
#define MO_SCHEDULE_SIM_TAIL_BOUND_H

#include <stdint.h>

#include "base/error.h"
#include "schedule/sim/sim_internal.h"

/* Fills all tails, and the least of each device. */
void mo_tail_bounds_find(mo_sim *s);

/* Only the least: renewing keeps them valid but lets them become too small. */
void mo_tail_bounds_find_least(mo_sim *s);

/* Tails while ops move to and fro. */
typedef struct mo_tail_bounds {
    mo_sim *sim;
    uint64_t *stale; /* by op, a bit */
    int top;         /* no word above has a bit; -1: none has */
    int n, *op;      /* what has been renewed, and what it was */
    bool *is_noted;  /* by op: it is among them */
    int64_t *old_ns, *old_least_ns;
    bool has_old; /* least ones */
} mo_tail_bounds;

mo_status mo_tail_bounds_open(mo_tail_bounds *t, mo_sim *sim, mo_error *err);
void mo_tail_bounds_close(mo_tail_bounds *t);

/* An op has another device. */
void mo_tail_bounds_op_moved(mo_tail_bounds *t, int op);

/* Tails are right again.  Until they are kept, they can be had as they were. */
void mo_tail_bounds_update(mo_tail_bounds *t);
void mo_tail_bounds_commit(mo_tail_bounds *t);
void mo_tail_bounds_rollback(mo_tail_bounds *t);

#endif
