/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h - what a plan comes to: who runs where and who goes first, made into
 * times, very often and very fast.
 *
 * Events in the order of time: a device that is free takes the ready op that
 * comes first in the plan, and a port, channel or link the same of transfers
 * that are ready.  Nothing waits while it could run, except for what the plan
 * tells to wait.  Memory is not looked at here.
 *
 * At one moment, first all ends that ends then, and afterwards all starts that
 * can; what takes no time ends after that, and it goes on so until nothing
 * happens any more.  A transfer that holds nothing starts with the end of its
 * op.  Of equals the op, or the flow, with the smaller number goes first.
 */
#ifndef MO_SCHEDULE_SIM_SIM_H
#define MO_SCHEDULE_SIM_SIM_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

/* Something that does not start until so long after the end of an op, which
 * comes before it. */
typedef struct mo_sim_time_lag {
    int op;
    int op_late, item_late; /* one of the two; the other is -1 */
    int64_t wait_ns;
} mo_sim_time_lag;

typedef struct mo_sim_plan {
    int *device;         /* by op */
    int *rank;           /* by op: 0, ..., n - 1, each once; small goes first */
    int *send_rank;      /* by item (flow, or tensor with tensors once), small
                            first; NULL: as the first of its readers there */
    int64_t *release_ns; /* by op: not before, and at most MO_MAX_TOTAL_NS;
                            NULL: at once */
    int64_t *hold_ns;    /* by item, the same for what is sent */
    const mo_sim_time_lag *after; /* n_after of them, by op */
    int n_after;
} mo_sim_plan;

typedef struct mo_sim mo_sim;

/* x must outlive it.  Not for two threads at once.  MO_E_INPUT where times
 * could not be added up. */
mo_status mo_sim_new(const mo_instance *x, const mo_regime *regime,
                     mo_sim **sim, mo_error *err);
void mo_sim_free(mo_sim *sim);

/* The makespan, or INT64_MAX as soon as it cannot be less than give_up_ns. */
int64_t mo_sim_run(mo_sim *sim, const mo_sim_plan *plan, int64_t give_up_ns);

/* The schedule of a plan, left-shifted. */
mo_status mo_sim_schedule(mo_sim *sim, const mo_sim_plan *plan,
                          mo_schedule **schedule, mo_error *err);

#endif
