/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adam.h - the Adam optimizer (Kingma and Ba, 2015), with clipping of the
 * gradient norm.
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_ADAM_H
#define MO_SOLVERS_SEARCH_RL_NN_ADAM_H

#include "base/error.h"
#include "solvers/search/rl/nn/params.h"

typedef struct mo_rl_adam {
    double rate;
    double
        max_norm; /* clipping threshold of the gradient norm; 0: no clipping */
    mo_rl_real *first_moment, *second_moment;
    int64_t steps;
} mo_rl_adam;

/* rate and most are set by the caller.  Allocates the moments; the caller
 * frees them with mo_rl_adam_clear(), also after a failure. */
mo_status mo_rl_adam_init(mo_rl_adam *adam, const mo_rl_params *weights,
                          mo_error *err);
void mo_rl_adam_clear(mo_rl_adam *adam);

/* Resets the moments and the step count. */
void mo_rl_adam_reset(mo_rl_adam *adam, const mo_rl_params *weights);

/* One descent step; gradient has as many elements as the weights. */
void mo_rl_adam_step(mo_rl_adam *adam, mo_rl_params *weights,
                     const mo_rl_real *gradient);

#endif
