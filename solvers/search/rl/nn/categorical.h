/*
 * draw.h - one of several, by its probability.
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_CATEGORICAL_H
#define MO_SOLVERS_SEARCH_RL_NN_CATEGORICAL_H

#include "base/random.h"
#include "solvers/search/rl/nn/autodiff.h"

/* logs: the logarithms of n probabilities, whose sum is 1; those that are not
 * allowed are so small that their power is 0. */
int mo_draw(const mo_real *logs, int n, mo_random *random);

/* The most probable one, the first of equals. */
int mo_draw_likeliest(const mo_real *logs, int n);

/* The sum of p log p over all that could be drawn, by row: what is even has
 * least.  One number. */
mo_var mo_draw_unevenness(mo_tape *tape, mo_var logs);

#endif
