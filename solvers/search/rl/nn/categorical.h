/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.h - one of several, by its probability.
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_CATEGORICAL_H
#define MO_SOLVERS_SEARCH_RL_NN_CATEGORICAL_H

#include "base/random.h"
#include "solvers/search/rl/nn/autodiff.h"

/* logs: the logarithms of n probabilities, whose sum is 1; those that are not
 * allowed are so small that their power is 0. */
int mo_rl_categorical_sample(const mo_rl_real *logs, int n, mo_random *random);

/* The most probable one, the first of equals. */
int mo_rl_categorical_argmax(const mo_rl_real *logs, int n);

/* The sum of p log p over all that could be drawn, by row: what is even has
 * least.  One number. */
mo_rl_var mo_rl_categorical_neg_entropy(mo_rl_tape *tape, mo_rl_var logs);

#endif
