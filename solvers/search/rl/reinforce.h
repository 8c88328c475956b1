/* SPDX-License-Identifier: Apache-2.0 */
/*
 * school.h - how a policy is trained: REINFORCE (Williams, 1992).
 *
 * Batches of episodes, each drawn by the policy as it is; then a step that
 * makes what went better than expected more probable.  What is expected is a
 * mean of the last returns.  The best placement that was ever drawn is kept.
 * When nothing better has come for long, it begins anew with a policy that
 * knows nothing, and every other time with more love of evenness: what a policy
 * is sure of it does not leave again.
 *
 * Episodes of a batch know nothing of each other and their derivatives are
 * added in order: the same seed gives the same answer with any number of
 * threads.
 */
#ifndef MO_SOLVERS_SEARCH_RL_REINFORCE_H
#define MO_SOLVERS_SEARCH_RL_REINFORCE_H

#include <stdbool.h>

#include "base/random.h"
#include "solvers/search/rl/evaluator.h"
#include "solvers/search/rl/nn/autodiff.h"

typedef struct mo_rl_policy mo_rl_policy;

/* What came of an episode: the best placement that was judged in it (at first
 * one that any is better than), and what those that it ended with come to, on
 * average (at first 0). */
typedef struct mo_rl_episode_result {
    mo_rl_evaluation best;
    double mean;
    bool stopped; /* before its end; what was judged until then counts */
} mo_rl_episode_result;

struct mo_rl_policy {
    const char *kind;      /* of its policy's file */
    mo_rl_params *weights; /* what is trained */
    const int *about;      /* numbers that its file must agree with */
    int n_about;
    int n_choices;       /* that an episode makes */
    const int *begin;    /* a placement to know from the start, by unit */
    bool resumes;        /* episodes go on from a placement: every other one
                            from the best since it began anew, and not from
                            begin */
    int n_parts;         /* of an episode: each has a return of its own */
    double rate;         /* of learning */
    double entropy;      /* what evenness is worth at first, */
    double tires;        /* and how much of that remains with each batch */
    double fades;        /* what is expected: this much of it remains with each
                            return; 0: the mean of the last ten */
    const void *context; /* the network's own */

    /*
     * Draws an episode, or takes the likeliest.  choices: what was chosen, for
     * learn; device: what it goes on from, and in the end the best placement,
     * by unit; part c's return is scores[c] - scores[n_parts].  tape is wiped
     * at will; it keeps no derivatives.
     */
    mo_status (*attend)(const mo_rl_policy *pupil, mo_rl_tape *tape,
                        mo_rl_evaluator *score, mo_random *random,
                        bool likeliest, int *choices, int *device,
                        double *scores, mo_rl_episode_result *drawn,
                        mo_error *err);

    /* Adds to the gradient of tape that of what shall fall: the choices' logs
     * of probability, of each part times -advantage[part], and -entropy times
     * how even all that could be chosen is.  After a stop it need not. */
    mo_status (*learn)(const mo_rl_policy *pupil, mo_rl_tape *tape,
                       const int *choices, const double *advantage,
                       double entropy, mo_error *err);
};

/* Trains for as long as the task says (its stop, or rounds of batches), reads
 * and writes task->policy and writes task->curve where they are given, and
 * answers with the best. */
mo_status mo_rl_train(const mo_method_task *task,
                      const mo_placement_units *units,
                      const mo_rl_policy *pupil, mo_method_result *placed,
                      mo_error *err);

#endif
