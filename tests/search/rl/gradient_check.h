/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradient_check.h - gradient check: derivatives against finite differences.
 */
#ifndef MO_TESTS_SEARCH_RL_GRADIENT_CHECK_H
#define MO_TESTS_SEARCH_RL_GRADIENT_CHECK_H

#include "solvers/search/rl/nn/params.h"

/* A function of the weights. */
typedef double gradient_value(void *context);

/* Checks the gradient of value by the weights against finite differences: of
 * every matrix at most most elements, the first and the last among them. */
void gradient_check(mo_rl_params *weights, const mo_rl_real *gradient,
                    gradient_value *value, void *context, int most);

#endif
