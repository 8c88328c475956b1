/* SPDX-License-Identifier: Apache-2.0 */
/*
 * episode.h - internal to reinforce.c: the episodes of a batch, their returns
 * and advantages.
 */
#ifndef MO_SOLVERS_SEARCH_RL_EPISODE_H
#define MO_SOLVERS_SEARCH_RL_EPISODE_H

#include <stdbool.h>

#include "base/error.h"
#include "solvers/search/rl/nn/real.h"
#include "solvers/search/rl/reinforce.h"
#include "solvers/search/rl/return_baseline.h"

/* Episodes of a batch. */
enum { MO_RL_BATCH_SIZE = 8 };

typedef struct mo_rl_episode {
    int kind;       /* below MO_RL_EPISODE_KINDS: baselines are by kind */
    int *choices;   /* n_choices of the policy */
    int *device;    /* by unit: start of the episode, then its best placement */
    int *rank;      /* by op: order of the best placement */
    double *scores; /* n_parts + 1 */
    double *returns, *advantage; /* by part */
    mo_rl_real *gradient;        /* as many as the policy has weights */
    mo_rl_episode_result result;
    mo_status status;
} mo_rl_episode;

/* Allocates the arrays; the caller clears *e, also after a failure. */
mo_status mo_rl_episode_init(mo_rl_episode *e, const mo_rl_policy *policy,
                             int n_units, int n_ops, mo_error *err);

/* Accepts zeros. */
void mo_rl_episode_clear(mo_rl_episode *e);

/* Sets the returns and advantages of a batch from its scores, and adds the
 * returns to the baselines. The first batch is its own baseline. Advantages of
 * a part are normalized by their root mean square. */
void mo_rl_find_advantages(mo_rl_episode *batch, mo_rl_return_baseline *returns,
                           int n_parts);

#endif
