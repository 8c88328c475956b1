/*
 * trial.h - a plan that is changed a little, again and again, and what each
 * change comes to.
 *
 * There is a plan that stands, with the times of its run.  Changes are made to
 * it, tried together, and then kept or taken back:
 *
 *     mo_trial_place(t, op, device);
 *     if (mo_trial_run(t, give_up_ns) < INT64_MAX)
 *         mo_trial_keep(t);
 *     else
 *         mo_trial_undo(t);
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

typedef struct mo_trial mo_trial;

/* x must outlive it.  Nothing stands until mo_trial_begin. */
mo_status mo_trial_new(const mo_instance *x, const mo_regime *regime,
                       mo_trial **trial, mo_error *err);
void mo_trial_free(mo_trial *trial);

/* The plan with the schedule's devices and the order of its start times stands;
 * only what waits there though nothing is in its way is told to wait. */
void mo_trial_begin(mo_trial *trial, const mo_schedule *schedule);

/*
 * What stands.  Nodes are the ops and then the flows: x->n + flow is a
 * transfer, the first of its flows where it has several readers.  Devices and
 * keys are those under trial while there are changes.
 */
typedef struct mo_standing {
    const int *device;             /* by op */
    const int64_t *key, *send_key; /* by op, by flow; small goes first */
    const int64_t *release_ns;     /* by op */
    const int64_t *hold_ns;        /* by flow: the same */
    const int64_t *ready_ns, *start_ns, *end_ns; /* by node */
    const int *log;                              /* nodes by start */
    int n_log; /* transfers that hold nothing are not
                  there */
    int64_t makespan_ns;
} mo_standing;

const mo_standing *mo_trial_standing(const mo_trial *trial);

/* Changes of the plan.  Several of one op or flow are allowed. */
void mo_trial_place(mo_trial *trial, int op, int device);
void mo_trial_order(mo_trial *trial, int op, int64_t key);
void mo_trial_send(mo_trial *trial, int flow, int64_t key);
void mo_trial_release(mo_trial *trial, int op, int64_t release_ns);
void mo_trial_hold(mo_trial *trial, int flow, int64_t hold_ns);

/* The makespan with the changes, or INT64_MAX as soon as it cannot be less than
 * give_up_ns.  More changes and runs may follow; then one of the two below. */
int64_t mo_trial_run(mo_trial *trial, int64_t give_up_ns);

/* When all ends in the last run, which has come to its end; by node. */
void mo_trial_ends(const mo_trial *trial, int64_t *end_ns);

/* The changes stand; the run must have come to its end. */
void mo_trial_keep(mo_trial *trial);

/* The changes are gone, tried or not. */
void mo_trial_undo(mo_trial *trial);

/* A schedule of what once stood, from copies of its devices and starts (by
 * node), left-shifted. */
mo_status mo_trial_schedule(const mo_trial *trial, const int *device,
                            const int64_t *start_ns, mo_schedule **schedule,
                            mo_error *err);

#endif
