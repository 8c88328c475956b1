/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adam.h - steps along gradients (Kingma and Ba, 2015).
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_ADAM_H
#define MO_SOLVERS_SEARCH_RL_NN_ADAM_H

#include "base/error.h"
#include "solvers/search/rl/nn/params.h"

typedef struct mo_rl_adam {
    double rate;
    double most; /* gradients longer than this are shortened; 0: never */
    mo_rl_real *mean, *square;
    int64_t steps;
} mo_rl_adam;

/* rate and most are set before. */
mo_status mo_rl_adam_init(mo_rl_adam *adam, const mo_rl_params *weights,
                          mo_error *err);
void mo_rl_adam_clear(mo_rl_adam *adam);

/* As if there had been no step. */
void mo_rl_adam_reset(mo_rl_adam *adam, const mo_rl_params *weights);

/* One step down the gradient, which has as many numbers as the weights. */
void mo_rl_adam_step(mo_rl_adam *adam, mo_rl_params *weights,
                     const mo_rl_real *gradient);

#endif
