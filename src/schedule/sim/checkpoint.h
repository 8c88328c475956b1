/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_mark.h - moments of a run to which one can return.
 *
 * The run that stands has marks along its way.  A run from one of them leaves
 * marks of its own, which take the place of the others when it is kept.
 */
#ifndef MO_SCHEDULE_SIM_CHECKPOINT_H
#define MO_SCHEDULE_SIM_CHECKPOINT_H

#include <stdint.h>

#include "base/error.h"
#include "schedule/sim/sim_internal.h"

enum { MO_SIM_CHECKPOINTS_MAX = 24 };

typedef struct mo_sim_checkpoint {
    int64_t now_ns; /* all before and at this moment is in it */
    int64_t end_ns;
    int n_log;
    int *missing;
    int64_t *arrival_ns, *left_ns;
    int *slot_node;
    int64_t *slot_end_ns;
    int *waiting, n_waiting; /* nodes: ready, asleep, or to be sent */
} mo_sim_checkpoint;

typedef struct mo_sim_checkpoints {
    mo_sim *sim;
    int n; /* of the run that stands */
    mo_sim_checkpoint
        at[MO_SIM_CHECKPOINTS_MAX]; /* by time; the first is before all */
    int from;                       /* where the last run began */
    int n_fresh; /* marks of the last run, up to there at's */
    mo_sim_checkpoint fresh[MO_SIM_CHECKPOINTS_MAX];
    int most, spacing;
    void *memory[2 * MO_SIM_CHECKPOINTS_MAX];
} mo_sim_checkpoints;

/* The sim calls it from then on; it must outlive it, and it must not move. */
mo_status mo_sim_checkpoints_open(mo_sim_checkpoints *m, mo_sim *sim,
                                  mo_error *err);
void mo_sim_checkpoints_close(mo_sim_checkpoints *m);

/* At the beginning of all, before a run that will stand; so many things will
 * start in it. */
void mo_sim_checkpoints_begin(mo_sim_checkpoints *m, int n_log);

/* Returns to the last moment before that time, as it was in the run that
 * stands; what has changed since must not have mattered until then. */
void mo_sim_checkpoints_restore(mo_sim_checkpoints *m, int64_t before_ns,
                                const int64_t *ready_ns);

/* How many had started when the last run began. */
int mo_sim_checkpoints_n_started(const mo_sim_checkpoints *m);

/* It stands; the same again. */
int mo_sim_checkpoints_commit(mo_sim_checkpoints *m);

#endif
