/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dual and primal simplex iterations with perturbation.
 *
 * New rows make some rhs negative and leave d alone, new columns the other way
 * round. The dual simplex method makes all rhs >= 0 and needs d <= 0, the
 * primal one makes all d <= 0 and needs rhs >= 0; what is not so is shifted
 * until it is: costs for the dual method, right-hand sides for the primal one.
 * A random perturbation is added to each, against the degeneracy of such
 * problems; then the true values are restored and what that undoes is repaired
 * by the other method, with a smaller perturbation each time.
 *
 * The dual method leaves with the row of largest rhs^2 / (1 + |t_i|^2), dual
 * steepest edge (Forrest and Goldfarb, 1992): the norms cost nothing, as a
 * pivot updates the whole dictionary anyway.
 */
#include "solvers/search/lp/simplex_internal.h"

#include <math.h>
#include <string.h>

#define FEASIBLE     1e-9 /* primal feasibility tolerance */
#define OPTIMAL      1e-9 /* the same for reduced costs */
#define PIVOT        1e-8 /* least absolute value of a pivot */
#define ACCURATE     1e-7 /* largest row residual before a rebuild */
#define PERTURBATION 1e-6 /* of the largest cost or right-hand side */

enum {
    MAX_TRIES = 3,
    MAX_REPAIRS = 8,
    PIVOTS_PER_SIZE = 10 /* pivots for each row and column */
};

/* Exchanges the nonbasic variable at position s with the basic one of row r.
 * Most of the time is spent here. */
MO_LP_TARGET_CLONES
static void pivot(mo_lp_simplex *lp, int r, int s)
{
    double *in = row_of(lp, lp->t, r), by = 1 / in[s];
    int variable = lp->nonbasic[s], n = lp->n;

    for (int j = 0; j < n; j++)
        in[j] *= by;
    in[s] = by;
    lp->rhs[r] *= by;
    for (int i = 0; i < lp->m; i++) {
        double *t = row_of(lp, lp->t, i), factor = t[s];

        if (i == r || factor == 0)
            continue;
        t[s] = 0;
        lp->norm[i] = subtract_scaled(t, factor, in, n);
        lp->rhs[i] -= factor * lp->rhs[r];
    }
    by = lp->d[s];
    lp->d[s] = 0;
    subtract_scaled(lp->d, by, in, n);
    lp->norm[r] = square_sum(in, n);
    lp->nonbasic[s] = lp->basic[r];
    lp->basic[r] = variable;
}

/* Computes d from the true costs. */
static void restore_costs(mo_lp_simplex *lp)
{
    for (int j = 0; j < lp->n; j++)
        lp->d[j] = is_slack(lp->nonbasic[j]) ? 0 : lp->c[lp->nonbasic[j]];
    for (int r = 0; r < lp->m; r++)
        if (!is_slack(lp->basic[r]) && lp->c[lp->basic[r]] != 0)
            subtract_scaled(lp->d, lp->c[lp->basic[r]], row_of(lp, lp->t, r),
                            lp->n);
}

static double largest_magnitude(const double *x, int n)
{
    double largest = 0;

    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

/* Returns the leaving row of the dual method, -1: primal feasible. */
static int dual_leaving(const mo_lp_simplex *lp)
{
    double most = 0;
    int best = -1;

    for (int r = 0; r < lp->m; r++) {
        double depth = lp->rhs[r];

        if (depth < -FEASIBLE && depth * depth > most * (1 + lp->norm[r])) {
            most = depth * depth / (1 + lp->norm[r]);
            best = r;
        }
    }
    return best;
}

static bool run_dual_simplex(mo_lp_simplex *lp)
{
    int most = PIVOTS_PER_SIZE * (lp->n + lp->m);

    for (int step = 0; step < most; step++) {
        int r = dual_leaving(lp), s;

        if (r < 0)
            return true;

        /* Dual ratio test with tolerance: of the positions that keep d <= 0, or
         * nearly so, the one with the largest entry (Harris, 1973); -1: none.
         */
        const double *t = row_of(lp, lp->t, r);
        double limit = INFINITY, largest = 0;
        s = -1;

        for (int j = 0; j < lp->n; j++)
            if (t[j] < -PIVOT)
                limit = fmin(limit, (lp->d[j] - OPTIMAL) / t[j]);
        for (int j = 0; j < lp->n; j++)
            if (t[j] < -PIVOT && lp->d[j] / t[j] <= limit && -t[j] > largest) {
                largest = -t[j];
                s = j;
            }
        if (s < 0)
            return false;
        pivot(lp, r, s);
    }
    return false;
}

/* Returns the position with the largest d, or, against cycling, of the
 * smallest variable (Bland, 1977); -1: optimal. */
static int primal_entering(const mo_lp_simplex *lp, bool bland)
{
    int best = -1;

    for (int j = 0; j < lp->n; j++)
        if (lp->d[j] > OPTIMAL &&
            (best < 0 || (bland ? lp->nonbasic[j] < lp->nonbasic[best]
                                : lp->d[j] > lp->d[best])))
            best = j;
    return best;
}

/* Primal ratio test: returns the row that limits the entering variable, -1:
 * unbounded. */
static int primal_leaving(const mo_lp_simplex *lp, int s, bool bland)
{
    double least = INFINITY;
    int best = -1;

    for (int r = 0; r < lp->m; r++) {
        double t = row_of(lp, lp->t, r)[s], ratio;

        if (t <= PIVOT)
            continue;
        ratio = fmax(lp->rhs[r], 0) / t;
        if (ratio < least ||
            (ratio == least && (bland ? lp->basic[r] < lp->basic[best]
                                      : t > row_of(lp, lp->t, best)[s]))) {
            least = ratio;
            best = r;
        }
    }
    return best;
}

static bool run_primal_simplex(mo_lp_simplex *lp)
{
    int most = PIVOTS_PER_SIZE * (lp->n + lp->m);

    for (int step = 0; step < most; step++) {
        bool bland = step > most / 2;
        int s = primal_entering(lp, bland), r;

        if (s < 0)
            return true;
        r = primal_leaving(lp, s, bland);
        if (r < 0)
            return false;
        pivot(lp, r, s);
    }
    return false;
}

/* Returns, of the rows to become tight, the one with the largest entry in
 * column s; -1: none. */
static int rebuild_row(const mo_lp_simplex *lp, int s)
{
    double largest = PIVOT;
    int best = -1;

    for (int r = 0; r < lp->m; r++) {
        double entry = fabs(row_of(lp, lp->t, r)[s]);

        if (lp->basic[r] == ~r && lp->tight[r] && entry > largest) {
            largest = entry;
            best = r;
        }
    }
    return best;
}

/* Whether z satisfies the rows, and with equality where the dual value is
 * positive. */
static bool is_accurate(const mo_lp_simplex *lp)
{
    for (int i = 0; i < lp->m; i++) {
        const double *a = row_of(lp, lp->a, i);
        double slack = lp->b[i], size = fabs(slack);

        for (int j = 0; j < lp->n; j++) {
            slack -= a[j] * lp->z[j];
            size += fabs(a[j] * lp->z[j]);
        }
        if (slack < -ACCURATE * (1 + size) ||
            (lp->dual_value[i] > OPTIMAL && slack > ACCURATE * (1 + size)))
            return false;
    }
    return true;
}

static bool solve_perturbed(mo_lp_simplex *lp)
{
    double part = PERTURBATION;

    for (int i = 0; i < MAX_REPAIRS; i++) {
        if (dual_leaving(lp) >= 0) {
            double by = part * largest_magnitude(lp->c, lp->n);

            for (int j = 0; j < lp->n; j++)
                lp->d[j] = fmin(lp->d[j], 0) -
                           by * (0.5 + mo_random_unit(&lp->random));
            if (!run_dual_simplex(lp))
                return false;
            restore_costs(lp);
        } else if (primal_entering(lp, false) >= 0) {
            double by = part * largest_magnitude(lp->b, lp->m);

            for (int r = 0; r < lp->m; r++)
                lp->rhs[r] = fmax(lp->rhs[r], 0) +
                             by * (0.5 + mo_random_unit(&lp->random));
            if (!run_primal_simplex(lp))
                return false;
            /* Computes rhs from the true right-hand sides, by the columns of
             * the slacks. */
            for (int r = 0; r < lp->m; r++) {
                const double *t = row_of(lp, lp->t, r);
                double sum = is_slack(lp->basic[r]) ? lp->b[~lp->basic[r]] : 0;

                for (int j = 0; j < lp->n; j++)
                    if (is_slack(lp->nonbasic[j]))
                        sum += t[j] * lp->b[~lp->nonbasic[j]];
                lp->rhs[r] = sum;
            }
        } else {
            return true;
        }
        part /= 8;
    }
    return false;
}

bool mo_lp_simplex_solve(mo_lp_simplex *lp)
{
    bool solved = false;

    for (int attempt = 0; attempt < MAX_TRIES && !solved; attempt++) {
        if (attempt > 0) {
            /* Recomputes the dictionary of the same basis from the original
             * rows; columns that are almost dependent stay nonbasic. */
            /* scratch: the column was basic; tight: the slack was nonbasic. */
            memset(lp->scratch, 0, (size_t) lp->n * sizeof *lp->scratch);
            for (int r = 0; r < lp->m; r++) {
                lp->tight[r] = 0;
                if (!is_slack(lp->basic[r]))
                    lp->scratch[lp->basic[r]] = 1;
            }
            for (int j = 0; j < lp->n; j++) {
                if (is_slack(lp->nonbasic[j]))
                    lp->tight[~lp->nonbasic[j]] = 1;
                lp->nonbasic[j] = j;
            }
            for (int r = 0; r < lp->m; r++)
                lp->basic[r] = ~r;
            for (int r = 0; r < lp->m; r++)
                mo_lp_simplex_express_row_in_basis(lp, r);
            for (int j = 0; j < lp->n; j++) {
                int r = lp->scratch[j] != 0 ? rebuild_row(lp, j) : -1;

                if (r >= 0)
                    pivot(lp, r, j);
            }
            restore_costs(lp);
        }
        solved = solve_perturbed(lp);
        /* Reads z and the dual values off the dictionary. */
        memset(lp->z, 0, (size_t) lp->n * sizeof *lp->z);
        memset(lp->dual_value, 0, (size_t) lp->m * sizeof *lp->dual_value);
        for (int r = 0; r < lp->m; r++)
            if (!is_slack(lp->basic[r]))
                lp->z[lp->basic[r]] = fmax(lp->rhs[r], 0);
        for (int j = 0; j < lp->n; j++)
            if (is_slack(lp->nonbasic[j]))
                lp->dual_value[~lp->nonbasic[j]] = fmax(-lp->d[j], 0);
        lp->value = 0;
        for (int j = 0; j < lp->n; j++)
            lp->value += lp->c[j] * lp->z[j];
        solved = solved && is_accurate(lp);
    }
    for (int i = 0; i < lp->m; i++)
        lp->age[i] = lp->dual_value[i] > OPTIMAL ? 0 : lp->age[i] + 1;
    return solved;
}
