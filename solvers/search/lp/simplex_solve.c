/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/lp/simplex_internal.h"

#include <math.h>
#include <string.h>

/*
 * New rows make some rhs negative and leave d alone, new columns the other way
 * round.  A dual method makes all rhs >= 0, a primal one all d <= 0; each may
 * begin when the other's work is done, and what is not done is bent until it
 * seems so: costs for the dual method, right-hand sides for the primal one.
 * They are bent a little further, each by another amount, which spares both the
 * many ties of such problems; the true ones are then restored, and what that
 * undoes is mended by the other method, with less bending each time.
 *
 * The dual method leaves with the row for which rhs^2 / (1 + |t_i|^2) is
 * largest, steepest edge: the norms come for free when all of the dictionary is
 * touched anyway.
 */

#define FEASIBLE 1e-9 /* so little below 0 is not */
#define OPTIMAL  1e-9 /* the same for d above 0 */
#define PIVOT    1e-8 /* nothing smaller is divided by */
#define ACCURATE 1e-7 /* more than this off the rows, it begins anew */
#define BENT     1e-6 /* of the largest cost or right-hand side */

enum {
    MAX_TRIES = 3,
    MAX_MENDS = 8,
    PATIENCE = 10 /* pivots for each row and column */
};

/* The variable at place s comes in for that of row r.  Most of the time goes
 * by here. */
MO_LP_TARGET_CLONES
static void pivot(mo_lp_simplex *lp, int r, int s)
{
    double *in = row_of(lp, lp->t, r), by = 1 / in[s];
    int variable = lp->out[s], n = lp->n;

    for (int j = 0; j < n; j++)
        in[j] *= by;
    in[s] = by;
    lp->rhs[r] *= by;
    for (int i = 0; i < lp->m; i++) {
        double *t = row_of(lp, lp->t, i), factor = t[s];

        if (i == r || factor == 0)
            continue;
        t[s] = 0;
        lp->norm[i] = subtract(t, factor, in, n);
        lp->rhs[i] -= factor * lp->rhs[r];
    }
    by = lp->d[s];
    lp->d[s] = 0;
    subtract(lp->d, by, in, n);
    lp->norm[r] = square_sum(in, n);
    lp->out[s] = lp->basic[r];
    lp->basic[r] = variable;
}

/* d by the true costs. */
static void restore_costs(mo_lp_simplex *lp)
{
    for (int j = 0; j < lp->n; j++)
        lp->d[j] = is_slack(lp->out[j]) ? 0 : lp->c[lp->out[j]];
    for (int r = 0; r < lp->m; r++)
        if (!is_slack(lp->basic[r]) && lp->c[lp->basic[r]] != 0)
            subtract(lp->d, lp->c[lp->basic[r]], row_of(lp, lp->t, r), lp->n);
}

/* rhs by the true right-hand sides: each goes where its slack has gone. */
static void restore_rhs(mo_lp_simplex *lp)
{
    for (int r = 0; r < lp->m; r++) {
        const double *t = row_of(lp, lp->t, r);
        double sum = is_slack(lp->basic[r]) ? lp->b[~lp->basic[r]] : 0;

        for (int j = 0; j < lp->n; j++)
            if (is_slack(lp->out[j]))
                sum += t[j] * lp->b[~lp->out[j]];
        lp->rhs[r] = sum;
    }
}

static double largest_of(const double *x, int n)
{
    double largest = 0;

    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

static void bend_costs(mo_lp_simplex *lp, double part)
{
    double by = part * largest_of(lp->c, lp->n);

    for (int j = 0; j < lp->n; j++)
        lp->d[j] = fmin(lp->d[j], 0) - by * (0.5 + mo_random_unit(&lp->random));
}

static void bend_rhs(mo_lp_simplex *lp, double part)
{
    double by = part * largest_of(lp->b, lp->m);

    for (int r = 0; r < lp->m; r++)
        lp->rhs[r] =
            fmax(lp->rhs[r], 0) + by * (0.5 + mo_random_unit(&lp->random));
}

/* The row to leave with, or -1 when all are feasible. */
static int steepest_row(const mo_lp_simplex *lp)
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

/* Of the places that keep d <= 0, or nearly so, that of the largest entry
 * (Harris, 1973); -1: there is none. */
static int dual_entering(const mo_lp_simplex *lp, int r)
{
    const double *t = row_of(lp, lp->t, r);
    double most = INFINITY, largest = 0;
    int best = -1;

    for (int j = 0; j < lp->n; j++)
        if (t[j] < -PIVOT)
            most = fmin(most, (lp->d[j] - OPTIMAL) / t[j]);
    for (int j = 0; j < lp->n; j++)
        if (t[j] < -PIVOT && lp->d[j] / t[j] <= most && -t[j] > largest) {
            largest = -t[j];
            best = j;
        }
    return best;
}

static bool dual(mo_lp_simplex *lp)
{
    int most = PATIENCE * (lp->n + lp->m);

    for (int step = 0; step < most; step++) {
        int r = steepest_row(lp), s;

        if (r < 0)
            return true;
        s = dual_entering(lp, r);
        if (s < 0)
            return false;
        pivot(lp, r, s);
    }
    return false;
}

/* The place to come in from: of the largest d, or, where that may go round in
 * circles, of the first variable (Bland, 1977); -1: none. */
static int primal_entering(const mo_lp_simplex *lp, bool careful)
{
    int best = -1;

    for (int j = 0; j < lp->n; j++)
        if (lp->d[j] > OPTIMAL &&
            (best < 0 ||
             (careful ? lp->out[j] < lp->out[best] : lp->d[j] > lp->d[best])))
            best = j;
    return best;
}

static int primal_leaving(const mo_lp_simplex *lp, int s, bool careful)
{
    double least = INFINITY;
    int best = -1;

    for (int r = 0; r < lp->m; r++) {
        double t = row_of(lp, lp->t, r)[s], ratio;

        if (t <= PIVOT)
            continue;
        ratio = fmax(lp->rhs[r], 0) / t;
        if (ratio < least ||
            (ratio == least && (careful ? lp->basic[r] < lp->basic[best]
                                        : t > row_of(lp, lp->t, best)[s]))) {
            least = ratio;
            best = r;
        }
    }
    return best;
}

static bool primal(mo_lp_simplex *lp)
{
    int most = PATIENCE * (lp->n + lp->m);

    for (int step = 0; step < most; step++) {
        bool careful = step > most / 2;
        int s = primal_entering(lp, careful), r;

        if (s < 0)
            return true;
        r = primal_leaving(lp, s, careful);
        if (r < 0)
            return false;
        pivot(lp, r, s);
    }
    return false;
}

/* Marks the columns of the problem that are in the basis. */
static void mark_basic(mo_lp_simplex *lp)
{
    memset(lp->scratch, 0, (size_t) lp->n * sizeof *lp->scratch);
    for (int r = 0; r < lp->m; r++)
        if (!is_slack(lp->basic[r]))
            lp->scratch[lp->basic[r]] = 1;
}

/* A row of those whose slack is to go, the one with the largest entry. */
static int row_to_enter(const mo_lp_simplex *lp, int s)
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

/* Marks the rows of which the slack is not. */
static void mark_tight(mo_lp_simplex *lp)
{
    for (int i = 0; i < lp->m; i++)
        lp->tight[i] = 0;
    for (int j = 0; j < lp->n; j++)
        if (is_slack(lp->out[j]))
            lp->tight[~lp->out[j]] = 1;
}

static void begin_with_slacks(mo_lp_simplex *lp)
{
    for (int j = 0; j < lp->n; j++)
        lp->out[j] = j;
    for (int r = 0; r < lp->m; r++)
        lp->basic[r] = ~r;
    for (int r = 0; r < lp->m; r++)
        mo_lp_simplex_express_row_in_basis(lp, r);
}

/* The dictionary of the same basis, out of the rows as they came; what has
 * become too dependent stays out. */
static void rebuild(mo_lp_simplex *lp)
{
    mark_basic(lp);
    mark_tight(lp);
    begin_with_slacks(lp);
    for (int j = 0; j < lp->n; j++) {
        int r = lp->scratch[j] != 0 ? row_to_enter(lp, j) : -1;

        if (r >= 0)
            pivot(lp, r, j);
    }
    restore_costs(lp);
}

/* Reads z and the prices off the dictionary. */
static void take_solution(mo_lp_simplex *lp)
{
    memset(lp->z, 0, (size_t) lp->n * sizeof *lp->z);
    memset(lp->price, 0, (size_t) lp->m * sizeof *lp->price);
    for (int r = 0; r < lp->m; r++)
        if (!is_slack(lp->basic[r]))
            lp->z[lp->basic[r]] = fmax(lp->rhs[r], 0);
    for (int j = 0; j < lp->n; j++)
        if (is_slack(lp->out[j]))
            lp->price[~lp->out[j]] = fmax(-lp->d[j], 0);
    lp->value = 0;
    for (int j = 0; j < lp->n; j++)
        lp->value += lp->c[j] * lp->z[j];
}

/* Whether z keeps the rows, and exactly where it should. */
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
            (lp->price[i] > OPTIMAL && slack > ACCURATE * (1 + size)))
            return false;
    }
    return true;
}

static bool optimise(mo_lp_simplex *lp)
{
    double part = BENT;

    for (int i = 0; i < MAX_MENDS; i++, part /= 8) {
        if (steepest_row(lp) >= 0) {
            bend_costs(lp, part);
            if (!dual(lp))
                return false;
            restore_costs(lp);
        } else if (primal_entering(lp, false) >= 0) {
            bend_rhs(lp, part);
            if (!primal(lp))
                return false;
            restore_rhs(lp);
        } else {
            return true;
        }
    }
    return false;
}

bool mo_lp_simplex_solve(mo_lp_simplex *lp)
{
    bool solved = false;

    for (int attempt = 0; attempt < MAX_TRIES && !solved; attempt++) {
        if (attempt > 0)
            rebuild(lp);
        solved = optimise(lp);
        take_solution(lp);
        solved = solved && is_accurate(lp);
    }
    for (int i = 0; i < lp->m; i++)
        lp->age[i] = lp->price[i] > OPTIMAL ? 0 : lp->age[i] + 1;
    return solved;
}
