/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reinforce.h - policy-gradient training by REINFORCE (Williams, 1992) with a
 * baseline, an entropy bonus and restarts.
 *
 * Batches of episodes are sampled from the current policy; a gradient step
 * makes choices with a return above the baseline more probable.  The baseline
 * is a mean of the last returns.  The best placement ever sampled is kept.
 * Without improvement for long, training restarts from a newly initialized
 * policy, every other time with a larger entropy bonus: a policy rarely leaves
 * a choice that it has become certain of.
 *
 * Episodes of a batch are independent and their gradients are added in order:
 * the same seed gives the same answer with any number of threads.
 */
#ifndef MO_SOLVERS_SEARCH_RL_REINFORCE_H
#define MO_SOLVERS_SEARCH_RL_REINFORCE_H

#include <stdbool.h>

#include "base/random.h"
#include "solvers/search/rl/evaluator.h"
#include "solvers/search/rl/nn/autodiff.h"

typedef struct mo_rl_policy mo_rl_policy;

/* Result of an episode: the best placement evaluated in it (initially worse
 * than any), and the mean score of its final placements (initially 0). */
typedef struct mo_rl_episode_result {
    mo_rl_evaluation best;
    double mean;
    bool stopped; /* before its end; what was evaluated until then counts */
} mo_rl_episode_result;

/* What an episode is sampled with, and the buffers that it fills. */
typedef struct mo_rl_sampling {
    mo_rl_tape *tape; /* has no gradient and is reset at will */
    mo_rl_evaluator *evaluator;
    mo_random *random;
    bool greedy;    /* takes the mode */
    int *choices;   /* those made, for learn */
    int *device;    /* by unit: the placement to start from, then the best */
    double *scores; /* part c's return is scores[c] - scores[n_parts] */
    mo_rl_episode_result *result;
} mo_rl_sampling;

struct mo_rl_policy {
    const char *kind;      /* in the header of its file */
    mo_rl_params *weights; /* the parameters trained; borrowed */
    const int *about;      /* numbers that its file must agree with */
    int n_about;
    int n_choices;    /* per episode */
    const int *begin; /* an initial placement, by unit */
    bool resumes;   /* every other episode starts from the best placement since
                       the restart instead of begin */
    int n_parts;    /* of an episode: each has a return of its own */
    double rate;    /* learning rate */
    double entropy; /* initial weight of the entropy bonus, */
    double entropy_decay;  /* and its decay factor per batch */
    double baseline_decay; /* decay of an exponential moving average as
                     baseline; 0: the mean of the last ten returns */
    const void *context;   /* the network's own */

    /* Samples an episode. */
    mo_status (*sample)(const mo_rl_policy *policy,
                        const mo_rl_sampling *sampling, mo_error *err);

    /* Adds the gradient of the loss to that of tape: the log-probabilities of
     * the choices, of each part times -advantage[part], and -entropy times the
     * entropy of all choices.  After a stop it may do nothing. */
    mo_status (*learn)(const mo_rl_policy *policy, mo_rl_tape *tape,
                       const int *choices, const double *advantage,
                       double entropy, mo_error *err);
};

/* Trains until the task's stop or number of batches, reads and writes
 * task->policy and writes task->curve where they are given, and sets *placed
 * to the best schedule. */
mo_status mo_rl_train(const mo_method_task *task,
                      const mo_placement_units *units,
                      const mo_rl_policy *policy, mo_method_result *placed,
                      mo_error *err);

#endif
