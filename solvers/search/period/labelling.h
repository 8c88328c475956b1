/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labelling.h - labels of least total cost for the variables of a graphical
 * model, by bucket elimination (Dechter, 1999).
 *
 *     min over labels of  sum_v unary(v, l_v) + sum_f cost_f(labels of its
 *                                                            variables)
 *
 * Variables are eliminated in min-degree order; the cost is exponential in the
 * induced width.  Where that is too wide, buckets are split (mini-buckets,
 * Dechter and Rish, 2003), and the result is a lower bound.  The order depends
 * on the scopes of the factors alone and is found once; costs may change from
 * call to call.  All arithmetic is in integers.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_LABELLING_H
#define MO_SOLVERS_SEARCH_PERIOD_LABELLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A label with this unary cost is excluded; every variable has another.  All
 * other costs together are below it in size. */
#define MO_LABELLING_EXCLUDED (INT64_C(1) << 61)

/* A factor over n distinct variables.  The table has a cost for each
 * combination of labels, the first variable the most significant; both arrays
 * belong to the caller and outlive the labelling. */
typedef struct mo_labelling_factor {
    int n;
    const int *vars;
    const int64_t *cost;
} mo_labelling_factor;

typedef struct mo_labelling mo_labelling;

/* Finds the elimination order; max_work limits the table entries visited in a
 * call.  The caller frees *labelling with mo_labelling_free(). */
mo_status mo_labelling_new(int n_vars, int n_labels, int n_factors,
                           const mo_labelling_factor *factors, double max_work,
                           mo_labelling **labelling, mo_error *err);
void mo_labelling_free(mo_labelling *labelling); /* accepts NULL */

/* Returns whether no bucket was split: the minimum is exact. */
bool mo_labelling_is_exact(const mo_labelling *labelling);

/* Returns the table entries visited in a call. */
double mo_labelling_work(const mo_labelling *labelling);

/* Returns the minimum, or a lower bound of it, and fills label, by variable;
 * unary[v * n_labels + l].  Not from two threads at once. */
int64_t mo_labelling_minimize(mo_labelling *labelling, const int64_t *unary,
                              int *label);

#endif
