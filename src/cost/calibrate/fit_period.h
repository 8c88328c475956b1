/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit_period.h - least-squares fit of the slowdown of parts of a machine (of a
 * GPU, or its CPU devices), and of the load of a transfer between them, to
 * measured periods.
 *
 * The period of a split, a placement on several parts, is modelled as
 *
 *     max(other, max over parts k of slowdown load_k + overhead n_k)
 *
 * where load_k is the sum of the ops of a part, measured with the other parts
 * idle, and n_k the number of transfers that it sends or receives.
 */
#ifndef MO_COST_CALIBRATE_FIT_PERIOD_H
#define MO_COST_CALIBRATE_FIT_PERIOD_H

typedef struct mo_fit_period_split {
    double *load_us;  /* by part */
    int *n_transfers; /* by part */
    int n_parts;
    double other_us;  /* largest load of all other resources */
    double period_us; /* measured; above 0 */
} mo_fit_period_split;

/* Returns the modelled period. */
double mo_fit_period_predict_us(const mo_fit_period_split *split,
                                double slowdown, double overhead_us);

/* Minimizes the sum of squares of the relative errors of n >= 1 splits, with a
 * slowdown of 1 at least and an overhead of 0 at least: 0 for one split, the
 * least where splits do not determine it. Rounded to 0.0001 and 1 ns. Splits
 * that take much longer than the fastest need only be predicted to: beyond a
 * number of transfers, periods are not linear, and no placement that is worth
 * having is there. */
void mo_fit_period(const mo_fit_period_split *splits, int n, double *slowdown,
                   double *overhead_us);

#endif
