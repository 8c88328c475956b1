/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simplex_parts.h - what the files of simplex.h share.
 *
 * A dictionary says what is in the basis by what is out of it,
 *
 *     basic_i = rhs_i - sum_j t_ij out_j,   value = sum + sum_j d_j out_j.
 *
 * Columns of the problem are variables 0, 1, ...; the slack of row i is ~i.
 */
#ifndef MO_SOLVERS_SEARCH_LP_SIMPLEX_INTERNAL_H
#define MO_SOLVERS_SEARCH_LP_SIMPLEX_INTERNAL_H

#include "base/random.h"
#include "solvers/search/lp/simplex.h"

/* What is optimised less keeps sums in memory, which takes several times as
 * long; and nothing is fused, so that all processors round alike. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "fp-contract=off")
#endif

/* Before a function: it is there once more for processors with vectors of four,
 * and which one runs is chosen when the program is loaded.  Both round alike.
 * Not under sanitizers, which start too late for the choice, and not with
 * clang, which gives such choices names that are not static. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) &&    \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MO_LP_TARGET_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define MO_LP_TARGET_CLONES
#endif

struct mo_lp_simplex {
    int n, m; /* columns, rows */
    size_t n_room, m_room;
    double *c;         /* by column */
    double *a, *b;     /* rows as they came; row i at a + i * n_room */
    double *t, *rhs;   /* the dictionary, its rows the same way */
    double *d;         /* by place out of the basis */
    double *norm;      /* by row of the dictionary, |t_i|^2 */
    int *basic, *out;  /* variables, by row and by place */
    int *age;          /* by row: solutions since it was last tight */
    int *tight;        /* by row, for rebuild */
    double *z, *price; /* of the last solution */
    double *scratch;   /* by column */
    double value;
    mo_random random;
};

static inline double *row_of(const mo_lp_simplex *lp, double *rows, int i)
{
    return rows + (size_t) i * lp->n_room;
}

static inline bool is_slack(int variable)
{
    return variable < 0;
}

/* to -= factor * from; returns |to|^2.  Eight sums let compilers do many at a
 * time, and none waits for the one before: what is added up in which order is
 * the same everywhere. */
static inline double subtract(double *restrict to, double factor,
                              const double *restrict from, int n)
{
    enum { SUMS = 8 };
    double sum[SUMS] = { 0 };
    int j = 0;

    for (; j + SUMS <= n; j += SUMS)
        for (int k = 0; k < SUMS; k++) {
            to[j + k] -= factor * from[j + k];
            sum[k] += to[j + k] * to[j + k];
        }
    for (; j < n; j++) {
        to[j] -= factor * from[j];
        sum[0] += to[j] * to[j];
    }
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) +
           ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

static inline double square_sum(const double *x, int n)
{
    double sum = 0;

    for (int j = 0; j < n; j++)
        sum += x[j] * x[j];
    return sum;
}

/* Row i of the dictionary, which is its slack's, out of the row as it came. */
void mo_lp_simplex_express_row_in_basis(mo_lp_simplex *lp, int i);

#endif
