/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weights.h - all that a policy has learned: matrices, one behind the other.
 *
 * Gradients and the state of an optimiser are arrays of the same length, so
 * that threads can have their own and be summed in a fixed order.
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
    double scale; /* of the numbers that it began with */
    size_t offset;
} mo_rl_param;

typedef struct mo_rl_params {
    mo_rl_param items[MO_RL_PARAMS_MAX];
    int n;
    mo_rl_real *values;
    size_t n_values;
} mo_rl_params;

/* Begins as zeros.  Adds a matrix of small numbers that seed and name decide
 * (uniform, Glorot and Bengio's range), or of zeros where scale is 0; returns
 * its number, or -1: out of memory, or there are too many. */
int mo_rl_params_add(mo_rl_params *weights, const char *name, int rows,
                     int cols, double scale, uint64_t seed);
void mo_rl_params_clear(mo_rl_params *weights);

/* Other small numbers for all matrices that began with such. */
void mo_rl_params_randomize(mo_rl_params *weights, uint64_t seed);

/* A policy in a file.  kind tells policies apart that have nothing in common;
 * about are a few numbers that it depends on, such as how many devices there
 * are.  Reading demands the same kind, version, matrices and numbers, and says
 * in one line what differs or is missing; weights must have been added.  What
 * has become infinite or no number is not written, and a file that was there
 * stays. */
mo_status mo_rl_params_write(const mo_rl_params *weights, const char *kind,
                             const int *about, int n_about, const char *path,
                             mo_error *err);
mo_status mo_rl_params_read(mo_rl_params *weights, const char *kind,
                            const int *about, int n_about, const char *path,
                            mo_error *err);

#endif
