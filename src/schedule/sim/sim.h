/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h - discrete-event simulation of a plan: computes start times from
 * placement and priorities.
 *
 * Non-delay list scheduling, event by event: a free device starts the ready op
 * of the smallest rank, and a port, channel or link the ready transfer of the
 * smallest rank.  Nothing waits while it could run, except for release times
 * and time lags of the plan.  Memory is not checked here.
 *
 * At one moment, everything due ends first, and then everything that can
 * starts; what takes no time ends after that, and so on until nothing more
 * happens.  A transfer without resources starts at the end of its op.  Of
 * equal ranks the op, or the flow, with the smaller number goes first.
 */
#ifndef MO_SCHEDULE_SIM_SIM_H
#define MO_SCHEDULE_SIM_SIM_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

/* A time lag: the successor does not start earlier than lag_ns after the end
 * of op, which precedes it. */
typedef struct mo_sim_time_lag {
    int op;
    int succ_op, succ_item; /* one of the two; the other is -1 */
    int64_t lag_ns;
} mo_sim_time_lag;

typedef struct mo_sim_plan {
    int *device; /* by op */
    int *rank;   /* by op: a permutation of 0, ..., n - 1; smaller goes first */
    int *send_rank; /* by item (flow, or tensor with tensors once), smaller
                       first; NULL: the rank of its first reader on that device
                     */
    int64_t
        *release_ns; /* release times by op, at most MO_MAX_TOTAL_NS; NULL: 0 */
    int64_t *send_release_ns; /* release times of transfers, by item; NULL: 0 */
    const mo_sim_time_lag *lags; /* n_lags of them, sorted by op */
    int n_lags;
} mo_sim_plan;

typedef struct mo_sim mo_sim;

/* x must outlive it.  Not for two threads at once.  The caller frees *sim with
 * mo_sim_free(), which accepts NULL.  Returns MO_E_INPUT where the serial
 * makespan overflows. */
mo_status mo_sim_new(const mo_instance *x, const mo_regime *regime,
                     mo_sim **sim, mo_error *err);
void mo_sim_free(mo_sim *sim);

/* Returns the makespan, or INT64_MAX as soon as it cannot be less than
 * cutoff_ns. */
int64_t mo_sim_run(mo_sim *sim, const mo_sim_plan *plan, int64_t cutoff_ns);

/* Makes the schedule of a plan, left-shifted; the caller frees *schedule. */
mo_status mo_sim_schedule(mo_sim *sim, const mo_sim_plan *plan,
                          mo_schedule **schedule, mo_error *err);

#endif
