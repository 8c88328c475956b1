/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.h - a plan that is changed a little, again and again, and what each
 * change comes to.
 *
 * There is a plan that stands, with the times of its run.  Changes are made to
 * it, tried together, and then kept or taken back:
 *
 *     mo_incremental_sim_place_op(t, op, device);
 *     if (mo_incremental_sim_run(t, give_up_ns) < INT64_MAX)
 *         mo_incremental_sim_commit(t);
 *     else
 *         mo_incremental_sim_rollback(t);
 *
 * A run begins where the first change could make a difference and ends as soon
 * as it cannot be short enough, so that most take a fraction of mo_sim_run.
 */
#ifndef MO_SCHEDULE_SIM_INCREMENTAL_SIM_H
#define MO_SCHEDULE_SIM_INCREMENTAL_SIM_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

typedef struct mo_incremental_sim mo_incremental_sim;

/* x must outlive it.  Nothing stands until mo_incremental_sim_begin. */
mo_status mo_incremental_sim_new(const mo_instance *x, const mo_regime *regime,
                                 mo_incremental_sim **trial, mo_error *err);
void mo_incremental_sim_free(mo_incremental_sim *trial);

/* The plan with the schedule's devices and the order of its start times stands;
 * only what waits there though nothing is in its way is told to wait. */
void mo_incremental_sim_begin(mo_incremental_sim *trial,
                              const mo_schedule *schedule);

/*
 * What stands.  Nodes are the ops and then the flows: x->n + flow is a
 * transfer, the first of its flows where it has several readers.  Devices and
 * keys are those under trial while there are changes.
 */
typedef struct mo_incremental_sim_state {
    const int *device;             /* by op */
    const int64_t *key, *send_key; /* by op, by flow; small goes first */
    const int64_t *release_ns;     /* by op */
    const int64_t *hold_ns;        /* by flow: the same */
    const int64_t *ready_ns, *start_ns, *end_ns; /* by node */
    const int *log;                              /* nodes by start */
    int n_log; /* transfers that hold nothing are not
                  there */
    int64_t makespan_ns;
} mo_incremental_sim_state;

const mo_incremental_sim_state *
mo_incremental_sim_current(const mo_incremental_sim *trial);

/* Changes of the plan.  Several of one op or flow are allowed. */
void mo_incremental_sim_place_op(mo_incremental_sim *trial, int op, int device);
void mo_incremental_sim_order_op(mo_incremental_sim *trial, int op,
                                 int64_t key);
void mo_incremental_sim_order_transfer(mo_incremental_sim *trial, int flow,
                                       int64_t key);
void mo_incremental_sim_delay_op(mo_incremental_sim *trial, int op,
                                 int64_t release_ns);
void mo_incremental_sim_delay_transfer(mo_incremental_sim *trial, int flow,
                                       int64_t hold_ns);

/* The makespan with the changes, or INT64_MAX as soon as it cannot be less than
 * give_up_ns.  More changes and runs may follow; then one of the two below. */
int64_t mo_incremental_sim_run(mo_incremental_sim *trial, int64_t give_up_ns);

/* When all ends in the last run, which has come to its end; by node. */
void mo_incremental_sim_end_times(const mo_incremental_sim *trial,
                                  int64_t *end_ns);

/* The changes stand; the run must have come to its end. */
void mo_incremental_sim_commit(mo_incremental_sim *trial);

/* The changes are gone, tried or not. */
void mo_incremental_sim_rollback(mo_incremental_sim *trial);

/* A schedule of what once stood, from copies of its devices and starts (by
 * node), left-shifted. */
mo_status mo_incremental_sim_schedule(const mo_incremental_sim *trial,
                                      const int *device,
                                      const int64_t *start_ns,
                                      mo_schedule **schedule, mo_error *err);

#endif
