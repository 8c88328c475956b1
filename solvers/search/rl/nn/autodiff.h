/* SPDX-License-Identifier: Apache-2.0 */
/*
 * autodiff.h - reverse-mode automatic differentiation (autodiff) of matrix
 * expressions on a tape (Wengert list).
 *
 * Every operation appends a node to the tape; the backward pass over it adds
 * the derivatives of one number by every weight to a gradient buffer.
 * Matrices are row-major.  A matrix on the tape is identified by its number.
 *
 * No operation returns an error: when memory cannot be allocated all that
 * follow do nothing and return matrix 0, an empty one; the caller checks
 * mo_rl_tape_failed once at the end.  Shapes must agree (assert).
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_AUTODIFF_H
#define MO_SOLVERS_SEARCH_RL_NN_AUTODIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "solvers/search/rl/nn/real.h"
#include "solvers/search/rl/nn/params.h"

typedef struct mo_rl_tape mo_rl_tape;
typedef int mo_rl_var;

/* gradient: buffer to which derivatives by the weights are added, of the same
 * length; NULL: forward only, nothing is kept for a backward pass.  weights
 * and gradient are borrowed.  Returns NULL when memory cannot be allocated;
 * the caller frees the tape with mo_rl_tape_free(), which accepts NULL. */
mo_rl_tape *mo_rl_tape_new(const mo_rl_params *weights, mo_rl_real *gradient);
void mo_rl_tape_free(mo_rl_tape *tape);

/* Replaces the gradient buffer; on a tape that was made with one. */
void mo_rl_tape_set_gradient(mo_rl_tape *tape, mo_rl_real *gradient);

/* Removes all nodes and keeps the memory for reuse. */
void mo_rl_tape_reset(mo_rl_tape *tape);
bool mo_rl_tape_failed(const mo_rl_tape *tape);
/* Marks the tape as failed, for a caller that could not allocate memory.
 * Returns 0. */
mo_rl_var mo_rl_tape_fail(mo_rl_tape *tape);
size_t mo_rl_tape_bytes(const mo_rl_tape *tape);

int mo_rl_tape_rows(const mo_rl_tape *tape, mo_rl_var a);
int mo_rl_tape_cols(const mo_rl_tape *tape, mo_rl_var a);
const mo_rl_real *mo_rl_tape_values(const mo_rl_tape *tape, mo_rl_var a);

/* Leaf nodes. */

mo_rl_var mo_rl_tape_param(mo_rl_tape *tape, int weight);
/* Copies values; no derivative is computed. */
mo_rl_var mo_rl_tape_constant(mo_rl_tape *tape, int rows, int cols,
                              const mo_rl_real *values);
mo_rl_var mo_rl_tape_zeros(mo_rl_tape *tape, int rows, int cols);

/* Operations. */

mo_rl_var mo_rl_tape_matmul(mo_rl_tape *tape, mo_rl_var a,
                            mo_rl_var b); /* a b */
mo_rl_var mo_rl_tape_matmul_transposed(mo_rl_tape *tape, mo_rl_var a,
                                       mo_rl_var b); /* a b^T */
/* max(a b + bias, 0), with the one row of bias added to every row. */
mo_rl_var mo_rl_tape_dense_relu(mo_rl_tape *tape, mo_rl_var a, mo_rl_var b,
                                mo_rl_var bias);
/* Of the same shape; or b is one row, which is added to every row of a. */
mo_rl_var mo_rl_tape_add(mo_rl_tape *tape, mo_rl_var a, mo_rl_var b);
mo_rl_var mo_rl_tape_mul(mo_rl_tape *tape, mo_rl_var a,
                         mo_rl_var b); /* elementwise, same shapes */
mo_rl_var mo_rl_tape_scale(mo_rl_tape *tape, mo_rl_var a, double by);
mo_rl_var mo_rl_tape_tanh(mo_rl_tape *tape, mo_rl_var a);
mo_rl_var mo_rl_tape_exp(mo_rl_tape *tape, mo_rl_var a);
mo_rl_var mo_rl_tape_sigmoid(mo_rl_tape *tape, mo_rl_var a);

/* Side by side; of the same number of rows. */
mo_rl_var mo_rl_tape_concat_cols(mo_rl_tape *tape, const mo_rl_var *parts,
                                 int n);
/* One below the other; of the same number of columns. */
mo_rl_var mo_rl_tape_concat_rows(mo_rl_tape *tape, const mo_rl_var *parts,
                                 int n);
/* Columns first, ..., first + n - 1. */
mo_rl_var mo_rl_tape_slice_cols(mo_rl_tape *tape, mo_rl_var a, int first,
                                int n);
/* Row i is row pick[i] of a; also used for embeddings. */
mo_rl_var mo_rl_tape_gather_rows(mo_rl_tape *tape, mo_rl_var a, const int *pick,
                                 int n);
/* Row i is the sum of rows list[start[i]], ..., list[start[i + 1] - 1] of a:
 * message passing along edges.  start and list are borrowed until the tape is
 * reset. */
mo_rl_var mo_rl_tape_segment_sum(mo_rl_tape *tape, mo_rl_var a,
                                 const int *start, const int *list, int n);
/* One row: the sum of all rows. */
mo_rl_var mo_rl_tape_sum_rows(mo_rl_tape *tape, mo_rl_var a);

/* By row. */
mo_rl_var mo_rl_tape_softmax(mo_rl_tape *tape, mo_rl_var a);
mo_rl_var mo_rl_tape_log_softmax(mo_rl_tape *tape, mo_rl_var a);
/* One column: element pick[i] of row i, times factor[i] (NULL: 1). */
mo_rl_var mo_rl_tape_gather_elements(mo_rl_tape *tape, mo_rl_var a,
                                     const int *pick, const double *factor);

/* Backward pass: adds the derivatives of the sum of all elements of a to the
 * gradient. */
void mo_rl_tape_backward(mo_rl_tape *tape, mo_rl_var a);

#endif
