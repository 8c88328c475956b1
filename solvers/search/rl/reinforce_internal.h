/* SPDX-License-Identifier: Apache-2.0 */
/*
 * school_parts.h - what the files of school.h share.
 */
#ifndef MO_SOLVERS_SEARCH_RL_REINFORCE_INTERNAL_H
#define MO_SOLVERS_SEARCH_RL_REINFORCE_INTERNAL_H

#include "base/out.h"
#include "solvers/search/rl/nn/adam.h"
#include "solvers/search/rl/return_baseline.h"
#include "solvers/search/rl/reinforce.h"

/* Episodes of a batch. */
enum { MO_RL_BATCH_SIZE = 8 };

/* What a thread has of its own. */
typedef struct mo_rl_worker {
    mo_rl_tape *drawing; /* without derivatives */
    mo_rl_tape *learning;
    mo_rl_evaluator *score;
} mo_rl_worker;

typedef struct mo_rl_episode {
    int *choices, *device;
    int *rank;      /* the best's */
    double *scores; /* n_parts + 1 */
    double *returns, *advantage;
    mo_rl_real *gradient;
    mo_rl_episode_result drawn;
    mo_status status;
} mo_rl_episode;

/* What was found since it began anew. */
typedef struct mo_rl_restart {
    int *best; /* by unit */
    mo_rl_evaluation best_is;
    int64_t bettered; /* in which batch */
} mo_rl_restart;

typedef struct mo_rl_trainer {
    const mo_method_task *task;
    const mo_placement_units *units;
    const mo_rl_policy *pupil;
    mo_rl_worker *seats;
    int n_seats;
    mo_rl_episode episodes[MO_RL_BATCH_SIZE];
    mo_rl_return_baseline returns;
    mo_rl_real *gradient;
    mo_rl_adam adam;
    int64_t batch; /* its number */
    double entropy;
    bool trains;

    mo_rl_restart life;
    int n_lives;
    mo_rl_real *first_weights; /* before any policy was read */
    mo_rl_real
        *best_weights; /* at the end of the one that found the best; while
                       that is the present one, they are the pupil's */
    bool best_is_past;

    int *begin, *best; /* by unit */
    int *best_rank;    /* by op */
    mo_rl_evaluation begin_is, best_is;
    mo_out *curve;
    int64_t begun_ns;
} mo_rl_trainer;

static inline size_t mo_rl_trainer_unit_bytes(const mo_rl_trainer *s)
{
    return (size_t) s->units->n * sizeof(int);
}

static inline size_t mo_rl_trainer_param_bytes(const mo_rl_trainer *s)
{
    return s->pupil->weights->n_values * sizeof(mo_rl_real);
}

/* ---- school_open.c */

/* Begins with the task, the units and the pupil, and zeros; close it whatever
 * comes of it. */
mo_status mo_rl_trainer_init(mo_rl_trainer *s, mo_error *err);
void mo_rl_trainer_clear(mo_rl_trainer *s);

/* ---- school_batch.c */

/* A batch of episodes. */
void mo_rl_trainer_sample_batch(mo_rl_trainer *s);
/* A step by what they came to. */
mo_status mo_rl_trainer_update(mo_rl_trainer *s, mo_error *err);

#endif
