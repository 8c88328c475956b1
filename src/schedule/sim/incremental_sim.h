/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incremental_sim.h - incremental simulation: evaluates small changes of a
 * plan from the last checkpoint that they cannot affect.
 *
 * A committed plan has the times of its run.  Changes are applied to it,
 * evaluated together, and then committed or rolled back:
 *
 *     mo_incremental_sim_place_op(t, op, device);
 *     if (mo_incremental_sim_run(t, cutoff_ns) < INT64_MAX)
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

/* x must outlive it.  No plan is committed until mo_incremental_sim_begin.
 * The caller frees *trial with mo_incremental_sim_free(), which accepts NULL.
 * Not for two threads at once. */
mo_status mo_incremental_sim_new(const mo_instance *x, const mo_regime *regime,
                                 mo_incremental_sim **trial, mo_error *err);
void mo_incremental_sim_free(mo_incremental_sim *trial);

/* Commits the plan with the schedule's devices and the order of its start
 * times; release times are set only for inserted idle time
 * (inserted_idle.h). */
void mo_incremental_sim_begin(mo_incremental_sim *trial,
                              const mo_schedule *schedule);

/*
 * The committed plan.  Nodes are the ops and then the flows: x->n + flow is a
 * transfer, the first of its flows where it has several readers.  Devices and
 * keys are those of the trial while there are changes.
 */
typedef struct mo_incremental_sim_state {
    const int *device;              /* by op */
    const int64_t *key, *send_key;  /* by op, by flow; smaller goes first */
    const int64_t *release_ns;      /* by op */
    const int64_t *send_release_ns; /* by flow: the same */
    const int64_t *ready_ns, *start_ns, *end_ns; /* by node */
    const int *log;                              /* nodes by start */
    int n_log; /* transfers without resources are not logged */
    int64_t makespan_ns;
} mo_incremental_sim_state;

const mo_incremental_sim_state *
mo_incremental_sim_current(const mo_incremental_sim *trial);

/* Changes of the plan.  An op or flow may change several times. */
void mo_incremental_sim_place_op(mo_incremental_sim *trial, int op, int device);
void mo_incremental_sim_order_op(mo_incremental_sim *trial, int op,
                                 int64_t key);
void mo_incremental_sim_order_transfer(mo_incremental_sim *trial, int flow,
                                       int64_t key);
void mo_incremental_sim_delay_op(mo_incremental_sim *trial, int op,
                                 int64_t release_ns);
void mo_incremental_sim_delay_transfer(mo_incremental_sim *trial, int flow,
                                       int64_t send_release_ns);

/* Returns the makespan with the changes, or INT64_MAX as soon as it cannot be
 * less than cutoff_ns.  More changes and runs may follow; then one of the two
 * below. */
int64_t mo_incremental_sim_run(mo_incremental_sim *trial, int64_t cutoff_ns);

/* Fills end_ns, a buffer by node, with the ends of the last run, which must
 * have completed. */
void mo_incremental_sim_end_times(const mo_incremental_sim *trial,
                                  int64_t *end_ns);

/* Commits the changes; the last run must have completed. */
void mo_incremental_sim_commit(mo_incremental_sim *trial);

/* Discards the changes, whether evaluated or not. */
void mo_incremental_sim_rollback(mo_incremental_sim *trial);

/* Makes the schedule of an earlier committed plan, from copies of its devices
 * and starts (by node), left-shifted.  The caller frees *schedule. */
mo_status mo_incremental_sim_schedule(const mo_incremental_sim *trial,
                                      const int *device,
                                      const int64_t *start_ns,
                                      mo_schedule **schedule, mo_error *err);

#endif
