/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradient.h - derivatives, held against small differences.
 */
#ifndef MO_TESTS_SEARCH_RL_GRADIENT_CHECK_H
#define MO_TESTS_SEARCH_RL_GRADIENT_CHECK_H

#include "solvers/search/rl/nn/params.h"

/* A number that follows from weights. */
typedef double gradient_value(void *context);

/* Whether the gradient of value by the weights is what small differences tell:
 * of every matrix at most so many of its numbers, the first and the last among
 * them. */
void gradient_check(mo_rl_params *weights, const mo_rl_real *gradient,
                    gradient_value *value, void *context, int most);

#endif
