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
void mo_tails_find(mo_sim *s);

/* Only the least: renewing keeps them valid but lets them become too small. */
void mo_tails_find_least(mo_sim *s);

/* Tails while ops move to and fro. */
typedef struct mo_tails {
    mo_sim *sim;
    uint64_t *stale; /* by op, a bit */
    int top;         /* no word above has a bit; -1: none has */
    int n, *op;      /* what has been renewed, and what it was */
    bool *is_noted;  /* by op: it is among them */
    int64_t *old_ns, *old_least_ns;
    bool has_old; /* least ones */
} mo_tails;

mo_status mo_tails_open(mo_tails *t, mo_sim *sim, mo_error *err);
void mo_tails_close(mo_tails *t);

/* An op has another device. */
void mo_tails_moved(mo_tails *t, int op);

/* Tails are right again.  Until they are kept, they can be had as they were. */
void mo_tails_renew(mo_tails *t);
void mo_tails_keep(mo_tails *t);
void mo_tails_undo(mo_tails *t);

#endif
