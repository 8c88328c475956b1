/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape.h - matrices computed from matrices, and the gradients of it all.
 *
 * What is computed is written down on a tape; going back over it gives the
 * derivatives of one number by every weight it came from (reverse mode).
 * Matrices lie row by row.  A matrix on the tape is known by its number.
 *
 * Nothing here returns an error: when there is no memory all that follows does
 * nothing and gives matrix 0, an empty one; who cares asks mo_rl_tape_failed
 * once at the end.  Shapes that do not agree are the caller's mistake (assert).
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_AUTODIFF_H
#define MO_SOLVERS_SEARCH_RL_NN_AUTODIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "solvers/search/rl/nn/real.h"
#include "solvers/search/rl/nn/params.h"

typedef struct mo_rl_tape mo_rl_tape;
typedef int mo_rl_var;

/* gradient: where derivatives by the weights are added to, as many as there
 * are; NULL: nobody wants them, and nothing is kept to go back over.  NULL when
 * there is no memory. */
mo_rl_tape *mo_rl_tape_new(const mo_rl_params *weights, mo_rl_real *gradient);
void mo_rl_tape_free(mo_rl_tape *tape);

/* From here on derivatives are added there; on a tape that was made with some
 * such place. */
void mo_rl_tape_set_gradient(mo_rl_tape *tape, mo_rl_real *gradient);

/* Forgets all matrices and keeps the memory. */
void mo_rl_tape_reset(mo_rl_tape *tape);
bool mo_rl_tape_failed(const mo_rl_tape *tape);
/* As when there is no memory: there was none for who uses it.  Returns 0. */
mo_rl_var mo_rl_tape_fail(mo_rl_tape *tape);
size_t mo_rl_tape_bytes(const mo_rl_tape *tape);

int mo_rl_tape_rows(const mo_rl_tape *tape, mo_rl_var a);
int mo_rl_tape_cols(const mo_rl_tape *tape, mo_rl_var a);
const mo_rl_real *mo_rl_tape_values(const mo_rl_tape *tape, mo_rl_var a);

/* ---- where matrices come from */

mo_rl_var mo_rl_tape_param(mo_rl_tape *tape, int weight);
/* A copy; nothing is derived by it. */
mo_rl_var mo_rl_tape_constant(mo_rl_tape *tape, int rows, int cols,
                              const mo_rl_real *values);
mo_rl_var mo_rl_tape_zeros(mo_rl_tape *tape, int rows, int cols);

/* ---- what is made of them */

mo_rl_var mo_rl_tape_matmul(mo_rl_tape *tape, mo_rl_var a,
                            mo_rl_var b); /* a b */
mo_rl_var mo_rl_tape_matmul_transposed(mo_rl_tape *tape, mo_rl_var a,
                                       mo_rl_var b); /* a b^T */
/* max(a b + bias, 0), where every row gets the one of bias. */
mo_rl_var mo_rl_tape_dense_relu(mo_rl_tape *tape, mo_rl_var a, mo_rl_var b,
                                mo_rl_var bias);
/* Of the same shape; or b is one row, which every row of a gets. */
mo_rl_var mo_rl_tape_add(mo_rl_tape *tape, mo_rl_var a, mo_rl_var b);
mo_rl_var mo_rl_tape_mul(mo_rl_tape *tape, mo_rl_var a,
                         mo_rl_var b); /* element by element,
                             same shapes */
mo_rl_var mo_rl_tape_scale(mo_rl_tape *tape, mo_rl_var a, double by);
mo_rl_var mo_rl_tape_relu(mo_rl_tape *tape, mo_rl_var a);
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
/* Row i is row pick[i] of a: embeddings, too. */
mo_rl_var mo_rl_tape_gather_rows(mo_rl_tape *tape, mo_rl_var a, const int *pick,
                                 int n);
/* Row i is the sum of rows list[start[i]], ..., list[start[i + 1] - 1] of a:
 * messages along edges.  start and list must live until the tape is wiped. */
mo_rl_var mo_rl_tape_segment_sum(mo_rl_tape *tape, mo_rl_var a,
                                 const int *start, const int *list, int n);
/* One row: the sum of all. */
mo_rl_var mo_rl_tape_sum_rows(mo_rl_tape *tape, mo_rl_var a);

/* By row. */
mo_rl_var mo_rl_tape_softmax(mo_rl_tape *tape, mo_rl_var a);
mo_rl_var mo_rl_tape_log_softmax(mo_rl_tape *tape, mo_rl_var a);
/* One column: element pick[i] of row i, times factor[i] (NULL: 1). */
mo_rl_var mo_rl_tape_gather_elements(mo_rl_tape *tape, mo_rl_var a,
                                     const int *pick, const double *factor);

/* ---- and back: adds to the gradient the derivatives of the sum of all
 * elements of a. */
void mo_rl_tape_backward(mo_rl_tape *tape, mo_rl_var a);

#endif
