/* SPDX-License-Identifier: Apache-2.0 */
/*
 * categorical.h - categorical distributions: sampling, mode and entropy.
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_CATEGORICAL_H
#define MO_SOLVERS_SEARCH_RL_NN_CATEGORICAL_H

#include "base/random.h"
#include "solvers/search/rl/nn/autodiff.h"

/* Categorical sampling: returns an index drawn from n probabilities given by
 * their logarithms, with a sum of 1; excluded ones are so small that their
 * exponential is 0. */
int mo_rl_categorical_sample(const mo_rl_real *logs, int n, mo_random *random);

/* Returns the index of the most probable, the first of equals. */
int mo_rl_categorical_argmax(const mo_rl_real *logs, int n);

/* The negative entropy: the sum of p log p over all rows; least for uniform
 * rows.  One number. */
mo_rl_var mo_rl_categorical_neg_entropy(mo_rl_tape *tape, mo_rl_var logs);

#endif
