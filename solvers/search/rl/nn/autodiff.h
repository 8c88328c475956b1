/*
 * tape.h - matrices computed from matrices, and the gradients of it all.
 *
 * What is computed is written down on a tape; going back over it gives the
 * derivatives of one number by every weight it came from (reverse mode).
 * Matrices lie row by row.  A matrix on the tape is known by its number.
 *
 * Nothing here returns an error: when there is no memory all that follows does
 * nothing and gives matrix 0, an empty one; who cares asks mo_tape_failed once
 * at the end.  Shapes that do not agree are the caller's mistake (assert).
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_AUTODIFF_H
#define MO_SOLVERS_SEARCH_RL_NN_AUTODIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "solvers/search/rl/nn/real.h"
#include "solvers/search/rl/nn/params.h"

typedef struct mo_tape mo_tape;
typedef int mo_var;

/* gradient: where derivatives by the weights are added to, as many as there
 * are; NULL: nobody wants them, and nothing is kept to go back over.  NULL when
 * there is no memory. */
mo_tape *mo_tape_new(const mo_weights *weights, mo_real *gradient);
void mo_tape_free(mo_tape *tape);

/* From here on derivatives are added there; on a tape that was made with some
 * such place. */
void mo_tape_lead(mo_tape *tape, mo_real *gradient);

/* Forgets all matrices and keeps the memory. */
void mo_tape_wipe(mo_tape *tape);
bool mo_tape_failed(const mo_tape *tape);
/* As when there is no memory: there was none for who uses it.  Returns 0. */
mo_var mo_tape_fail(mo_tape *tape);
size_t mo_tape_bytes(const mo_tape *tape);

int mo_tape_rows(const mo_tape *tape, mo_var a);
int mo_tape_cols(const mo_tape *tape, mo_var a);
const mo_real *mo_tape_values(const mo_tape *tape, mo_var a);

/* ---- where matrices come from */

mo_var mo_tape_weight(mo_tape *tape, int weight);
/* A copy; nothing is derived by it. */
mo_var mo_tape_given(mo_tape *tape, int rows, int cols, const mo_real *values);
mo_var mo_tape_zeros(mo_tape *tape, int rows, int cols);

/* ---- what is made of them */

mo_var mo_tape_product(mo_tape *tape, mo_var a, mo_var b);        /* a b */
mo_var mo_tape_product_turned(mo_tape *tape, mo_var a, mo_var b); /* a b^T */
/* max(a b + bias, 0), where every row gets the one of bias. */
mo_var mo_tape_layer(mo_tape *tape, mo_var a, mo_var b, mo_var bias);
/* Of the same shape; or b is one row, which every row of a gets. */
mo_var mo_tape_sum(mo_tape *tape, mo_var a, mo_var b);
mo_var mo_tape_times(mo_tape *tape, mo_var a, mo_var b); /* element by element,
                                                            same shapes */
mo_var mo_tape_scaled(mo_tape *tape, mo_var a, double by);
mo_var mo_tape_relu(mo_tape *tape, mo_var a);
mo_var mo_tape_tanh(mo_tape *tape, mo_var a);
mo_var mo_tape_exp(mo_tape *tape, mo_var a);
mo_var mo_tape_sigmoid(mo_tape *tape, mo_var a);

/* Side by side; of the same number of rows. */
mo_var mo_tape_beside(mo_tape *tape, const mo_var *parts, int n);
/* One below the other; of the same number of columns. */
mo_var mo_tape_below(mo_tape *tape, const mo_var *parts, int n);
/* Columns first, ..., first + n - 1. */
mo_var mo_tape_columns(mo_tape *tape, mo_var a, int first, int n);
/* Row i is row pick[i] of a: embeddings, too. */
mo_var mo_tape_rows_of(mo_tape *tape, mo_var a, const int *pick, int n);
/* Row i is the sum of rows list[start[i]], ..., list[start[i + 1] - 1] of a:
 * messages along edges.  start and list must live until the tape is wiped. */
mo_var mo_tape_gathered(mo_tape *tape, mo_var a, const int *start,
                        const int *list, int n);
/* One row: the sum of all. */
mo_var mo_tape_total(mo_tape *tape, mo_var a);

/* By row. */
mo_var mo_tape_softmax(mo_tape *tape, mo_var a);
mo_var mo_tape_log_softmax(mo_tape *tape, mo_var a);
/* One column: element pick[i] of row i, times factor[i] (NULL: 1). */
mo_var mo_tape_picked(mo_tape *tape, mo_var a, const int *pick,
                      const double *factor);

/* ---- and back: adds to the gradient the derivatives of the sum of all
 * elements of a. */
void mo_tape_back(mo_tape *tape, mo_var a);

#endif
