/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.h - checkpoints of a simulation, for rollback and replay.
 *
 * The committed run has checkpoints along its way.  A run from one of them
 * takes new ones, which replace the later ones when that run is committed.
 */
#ifndef MO_SCHEDULE_SIM_CHECKPOINT_H
#define MO_SCHEDULE_SIM_CHECKPOINT_H

#include <stdint.h>

#include "base/error.h"
#include "schedule/sim/sim_internal.h"

enum { MO_SIM_CHECKPOINTS_MAX = 24 };

typedef struct mo_sim_checkpoint {
    int64_t now_ns; /* everything before and at this moment is included */
    int64_t end_ns;
    int n_log;
    int *missing;
    int64_t *arrival_ns, *unstarted_ns;
    int *slot_node;
    int64_t *slot_end_ns;
    int *waiting, n_waiting; /* nodes: ready, sleeping, or to be sent */
} mo_sim_checkpoint;

typedef struct mo_sim_checkpoints {
    mo_sim *sim;
    int n;                                          /* of the committed run */
    mo_sim_checkpoint kept[MO_SIM_CHECKPOINTS_MAX]; /* by time; the first
                                                     precedes every start */
    int from;    /* where the last run began */
    int n_fresh; /* of the last run; the first ones are those of kept */
    mo_sim_checkpoint fresh[MO_SIM_CHECKPOINTS_MAX];
    int max, spacing;
    void *memory[2 * MO_SIM_CHECKPOINTS_MAX];
} mo_sim_checkpoints;

/* Registers itself with sim, which calls it from then on: sim must outlive it,
 * and it must not move.  The caller closes it, also after a failure. */
mo_status mo_sim_checkpoints_open(mo_sim_checkpoints *m, mo_sim *sim,
                                  mo_error *err);
void mo_sim_checkpoints_close(mo_sim_checkpoints *m);

/* Resets to the start, before a run that will be committed; n_log is the
 * number of starts in it. */
void mo_sim_checkpoints_begin(mo_sim_checkpoints *m, int n_log);

/* Restores the last checkpoint of the committed run before that time; what has
 * changed since must not affect anything earlier. */
void mo_sim_checkpoints_restore(mo_sim_checkpoints *m, int64_t before_ns,
                                const int64_t *ready_ns);

/* Returns the number of starts before the last run began. */
int mo_sim_checkpoints_n_started(const mo_sim_checkpoints *m);

/* Commits the last run; returns the same number. */
int mo_sim_checkpoints_commit(mo_sim_checkpoints *m);

#endif
