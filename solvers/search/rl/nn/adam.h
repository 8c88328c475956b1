/*
 * adam.h - steps along gradients (Kingma and Ba, 2015).
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_ADAM_H
#define MO_SOLVERS_SEARCH_RL_NN_ADAM_H

#include "base/error.h"
#include "solvers/search/rl/nn/params.h"

typedef struct mo_adam {
    double rate;
    double most; /* gradients longer than this are shortened; 0: never */
    mo_real *mean, *square;
    int64_t steps;
} mo_adam;

/* rate and most are set before. */
mo_status mo_adam_init(mo_adam *adam, const mo_weights *weights, mo_error *err);
void mo_adam_clear(mo_adam *adam);

/* As if there had been no step. */
void mo_adam_forget(mo_adam *adam, const mo_weights *weights);

/* One step down the gradient, which has as many numbers as the weights. */
void mo_adam_step(mo_adam *adam, mo_weights *weights, const mo_real *gradient);

#endif
