/*
 * simplex_parts.h - what the files of simplex.h share.
 *
 * A dictionary says what is in the basis by what is out of it,
 *
 *     basic_i = rhs_i - sum_j t_ij out_j,   value = sum + sum_j d_j out_j.
 *
 * Columns of the problem are variables 0, 1, ...; the slack of row i is ~i.
 */
#ifndef MO_SEARCH_SIMPLEX_PARTS_H
#define MO_SEARCH_SIMPLEX_PARTS_H

#include "base/random.h"
#include "solvers/search/simplex.h"

struct mo_simplex {
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

static inline double *row_of(const mo_simplex *lp, double *rows, int i)
{
    return rows + (size_t) i * lp->n_room;
}

static inline bool is_slack(int variable)
{
    return variable < 0;
}

/* to -= factor * from; returns |to|^2.  In fours, which lets compilers do two
 * at a time: what is added up in which order is the same everywhere. */
static inline double subtract(double *restrict to, double factor,
                              const double *restrict from, int n)
{
    double sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    int j = 0;

    for (; j + 4 <= n; j += 4) {
        double entry0 = to[j] - factor * from[j];
        double entry1 = to[j + 1] - factor * from[j + 1];
        double entry2 = to[j + 2] - factor * from[j + 2];
        double entry3 = to[j + 3] - factor * from[j + 3];

        to[j] = entry0;
        to[j + 1] = entry1;
        to[j + 2] = entry2;
        to[j + 3] = entry3;
        sum0 += entry0 * entry0;
        sum1 += entry1 * entry1;
        sum2 += entry2 * entry2;
        sum3 += entry3 * entry3;
    }
    for (; j < n; j++) {
        to[j] -= factor * from[j];
        sum0 += to[j] * to[j];
    }
    return (sum0 + sum1) + (sum2 + sum3);
}

static inline double square_sum(const double *x, int n)
{
    double sum = 0;

    for (int j = 0; j < n; j++)
        sum += x[j] * x[j];
    return sum;
}

/* Row i of the dictionary, which is its slack's, out of the row as it came. */
void mo_simplex_express_row(mo_simplex *lp, int i);

#endif
