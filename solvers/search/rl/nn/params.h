/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params.h - the parameters of a policy: named matrices in one contiguous
 * buffer; and their optimizer.
 *
 * Gradients and the state of an optimizer are arrays of the same length, so
 * that each thread can have its own and they are summed in a fixed order.
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_PARAMS_H
#define MO_SOLVERS_SEARCH_RL_NN_PARAMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/rl/nn/real.h"

enum { MO_RL_PARAM_NAME_MAX = 32, MO_RL_PARAMS_MAX = 64 };

typedef struct mo_rl_param {
    char name[MO_RL_PARAM_NAME_MAX];
    int rows, cols;
    double scale; /* of its initialization */
    size_t offset;
} mo_rl_param;

typedef struct mo_rl_params {
    mo_rl_param items[MO_RL_PARAMS_MAX];
    int n;
    mo_rl_real *values;
    size_t n_values;
} mo_rl_params;

/* weights is zeroed by the caller before the first.  Adds a matrix of small
 * random numbers determined by seed and name (uniform, Glorot and Bengio's
 * range), or of zeros where scale is 0; returns its number, or -1: out of
 * memory, or there are too many. */
int mo_rl_params_add(mo_rl_params *weights, const char *name, int rows,
                     int cols, double scale, uint64_t seed);
void mo_rl_params_clear(mo_rl_params *weights);

/* Draws all randomly initialized matrices again. */
void mo_rl_params_randomize(mo_rl_params *weights, uint64_t seed);

/* A policy in a file (checkpoint).  kind identifies the method; about are a
 * few numbers that it depends on, such as the number of devices.  Reading
 * requires the same kind, version, matrices and numbers, and fails with one
 * line that names the difference; weights must have been added.  A policy with
 * infinite or NaN values is not written, and an existing file is kept. */
mo_status mo_rl_params_write(const mo_rl_params *weights, const char *kind,
                             const int *about, int n_about, const char *path,
                             mo_error *err);
mo_status mo_rl_params_read(mo_rl_params *weights, const char *kind,
                            const int *about, int n_about, const char *path,
                            mo_error *err);

/* The Adam optimizer (Kingma and Ba, 2015), with clipping of the gradient
 * norm. */
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
