/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sum of squares is not convex, since the bottleneck of a split depends on
 * the fit: grids, each around the best point of the one before.
 */
#include "cost/calibrate/fit_period.h"

#include <math.h>

/* Points of a grid in each direction, and grids, each half as wide as the one
 * before. */
enum { POINTS = 65, GRIDS = 30 };

/* Of the fastest split: how long a slow one takes at least. */
#define SLOW 1.25

/* Of an overhead that the splits do not determine; relative to the largest. */
#define PENALTY 1e-4

double mo_fit_period_predict_us(const mo_fit_period_split *split,
                                double slowdown, double overhead_us)
{
    double us = split->other_us;

    for (int k = 0; k < split->n_parts; k++)
        us = fmax(us, slowdown * split->load_us[k] +
                          overhead_us * split->n_transfers[k]);
    return us;
}

/* The sum of squares; a split of slow_us or more counts as one of slow_us, and
 * a longer prediction as right. */
static double error_of(const mo_fit_period_split *splits, int n, double slow_us,
                       double slowdown, double overhead_us)
{
    double sum = 0;

    for (int i = 0; i < n; i++) {
        double us = mo_fit_period_predict_us(&splits[i], slowdown, overhead_us);
        double measured_us = fmin(splits[i].period_us, slow_us);

        if (splits[i].period_us < slow_us || us < slow_us)
            sum += pow(us / measured_us - 1, 2);
    }
    return sum;
}

void mo_fit_period(const mo_fit_period_split *splits, int n, double *slowdown,
                   double *overhead_us)
{
    double most = 1, most_us = 0, slow_us = INFINITY;
    double best = INFINITY, wide = 1;

    for (int i = 0; i < n; i++) {
        double load_us = mo_fit_period_predict_us(&splits[i], 1, 0);

        most = fmax(most, 1.5 * splits[i].period_us / load_us);
        most_us = fmax(most_us, n > 1 ? splits[i].period_us : 0);
        slow_us = fmin(slow_us, SLOW * splits[i].period_us);
    }
    *slowdown = 1;
    *overhead_us = 0;
    for (int grid = 0; grid < GRIDS; grid++, wide /= 2) {
        double f0 = *slowdown, o0 = *overhead_us;

        for (int i = 0; i < POINTS * POINTS; i++) {
            double df = (i / POINTS * 2.0 / (POINTS - 1) - 1) * (most - 1);
            double dus = (i % POINTS * 2.0 / (POINTS - 1) - 1) * most_us;
            double f = fmax(f0 + wide * df, 1), us = fmax(o0 + wide * dus, 0);
            double error = error_of(splits, n, slow_us, f, us) +
                           PENALTY * pow(us / fmax(most_us, 1e-9), 2);

            if (error < best) {
                best = error;
                *slowdown = f;
                *overhead_us = us;
            }
        }
    }
    *slowdown = round(*slowdown * 1e4) / 1e4;
    *overhead_us = round(*overhead_us * 1e3) / 1e3;
}
