/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reinforce_internal.h - state shared by the files of reinforce.h.
 */
#ifndef MO_SOLVERS_SEARCH_RL_REINFORCE_INTERNAL_H
#define MO_SOLVERS_SEARCH_RL_REINFORCE_INTERNAL_H

#include "base/out.h"
#include "solvers/search/rl/nn/adam.h"
#include "solvers/search/rl/return_baseline.h"
#include "solvers/search/rl/reinforce.h"

/* Episodes of a batch. */
enum { MO_RL_BATCH_SIZE = 8 };

/* State of a thread. */
typedef struct mo_rl_worker {
    mo_rl_tape *sample_tape; /* forward only */
    mo_rl_tape *train_tape;
    mo_rl_evaluator *evaluator;
} mo_rl_worker;

typedef struct mo_rl_episode {
    int *choices, *device;
    int *rank;      /* the best's */
    double *scores; /* n_parts + 1 */
    double *returns, *advantage;
    mo_rl_real *gradient;
    mo_rl_episode_result result;
    mo_status status;
} mo_rl_episode;

/* Results since the last restart. */
typedef struct mo_rl_restart {
    int *best; /* by unit */
    mo_rl_evaluation best_eval;
    int64_t improved_batch; /* batch of the last improvement */
} mo_rl_restart;

typedef struct mo_rl_trainer {
    const mo_method_task *task;
    const mo_placement_units *units;
    const mo_rl_policy *policy;
    mo_rl_worker *workers;
    int n_workers;
    mo_rl_episode episodes[MO_RL_BATCH_SIZE];
    mo_rl_return_baseline returns;
    mo_rl_real *gradient;
    mo_rl_adam adam;
    int64_t batch; /* its number */
    double entropy;
    bool trains;

    mo_rl_restart run;
    int n_runs;
    mo_rl_real *first_weights; /* before any policy was read */
    mo_rl_real
        *best_weights; /* at the end of the run that found the best; while that
                          is the present one, they are the policy's */
    bool best_from_earlier_run;

    int *begin, *best; /* by unit */
    int *best_rank;    /* by op */
    mo_rl_evaluation begin_eval, best_eval;
    mo_out *curve;
    int64_t start_ns;
} mo_rl_trainer;

static inline size_t mo_rl_trainer_unit_bytes(const mo_rl_trainer *s)
{
    return (size_t) s->units->n * sizeof(int);
}

static inline size_t mo_rl_trainer_param_bytes(const mo_rl_trainer *s)
{
    return s->policy->weights->n_values * sizeof(mo_rl_real);
}

/* reinforce_setup.c */

/* s has the task, the units and the policy, and zeros; the caller frees it
 * with mo_rl_trainer_clear(), also after a failure. */
mo_status mo_rl_trainer_init(mo_rl_trainer *s, mo_error *err);
void mo_rl_trainer_clear(mo_rl_trainer *s);

/* reinforce_batch.c */

/* Samples a batch of episodes. */
void mo_rl_trainer_sample_batch(mo_rl_trainer *s);
/* One gradient step from the batch. */
mo_status mo_rl_trainer_update(mo_rl_trainer *s, mo_error *err);

#endif
