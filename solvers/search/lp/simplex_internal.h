/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simplex_internal.h - dictionary of the simplex method (Chvatal, 1983),
 * shared by simplex.c and simplex_solve.c.
 *
 * A dictionary expresses basic variables by nonbasic ones,
 *
 *     basic_i = rhs_i - sum_j t_ij nonbasic_j,   value = sum + sum_j d_j
 * nonbasic_j.
 *
 * Columns of the problem are variables 0, 1, ...; the slack of row i is ~i.
 */
#ifndef MO_SOLVERS_SEARCH_LP_SIMPLEX_INTERNAL_H
#define MO_SOLVERS_SEARCH_LP_SIMPLEX_INTERNAL_H

#include "base/random.h"
#include "solvers/search/lp/simplex.h"

/* Without optimization sums are kept in memory, several times slower; without
 * fused multiply-add all processors round alike. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "fp-contract=off")
#endif

/* Function multiversioning: compiled a second time for processors with vectors
 * of four doubles, selected when the program is loaded. Both round alike. Not
 * under sanitizers, which start too late for the selection, and not with
 * clang, which gives the versions names that are not static. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) &&    \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MO_LP_TARGET_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define MO_LP_TARGET_CLONES
#endif

struct mo_lp_simplex {
    int n, m; /* columns, rows */
    size_t n_room, m_room;
    double *c;              /* by column */
    double *a, *b;          /* original rows; row i at a + i * n_room */
    double *t, *rhs;        /* the dictionary, rows in the same layout */
    double *d;              /* reduced costs, by nonbasic position */
    double *norm;           /* by row of the dictionary, |t_i|^2 */
    int *basic, *nonbasic;  /* variables, by row and by nonbasic position */
    int *age;               /* by row: solutions since it was last tight */
    int *tight;             /* by row, scratch of the rebuild */
    double *z, *dual_value; /* of the last solution */
    double *scratch;        /* by column */
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

/* to -= factor * from; returns |to|^2. Eight partial sums let compilers
 * vectorize without dependencies, and fix the order of summation on every
 * machine. */
static inline double subtract_scaled(double *restrict to, double factor,
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

/* Computes row i of the dictionary, with its slack basic, from the original
 * row. */
void mo_lp_simplex_express_row_in_basis(mo_lp_simplex *lp, int i);

#endif
