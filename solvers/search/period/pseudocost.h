/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pseudocost.h - pseudocosts of branch and bound for the period: how much the
 * bound rises on average where a unit is fixed to a device (Benichou et al.,
 * 1971).
 *
 * A unit that was fixed rarely is drawn to the gain that its weight lets
 * expect: its processing time, transfers and memory, in nanoseconds.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_PSEUDOCOST_H
#define MO_SOLVERS_SEARCH_PERIOD_PSEUDOCOST_H

#include <stdint.h>

#include "base/error.h"
#include "solvers/search/period/priced_labelling.h"

typedef struct mo_period_pseudocosts {
    int n_units;
    int64_t *weight_ns; /* by unit */
    double *gain_ns;    /* by unit: sum over the nodes that fix it */
    int *n_gains;       /* by unit: nodes that fix it */
    double gain_rate;   /* gain by weight, of all units; 0: unknown */
} mo_period_pseudocosts;

/* Computes the weights, for a period of about period_ns. The caller clears *c,
 * also after a failure. */
mo_status mo_period_pseudocosts_init(mo_period_pseudocosts *c,
                                     const mo_priced_labelling *labelling,
                                     int64_t period_ns, mo_error *err);

/* Accepts zeros. */
void mo_period_pseudocosts_clear(mo_period_pseudocosts *c);

/* Returns the expected gain of a node that fixes the unit. */
double mo_period_pseudocosts_expect(const mo_period_pseudocosts *c, int unit);

/* Adds the gain of a node that fixes the unit; mo_period_pseudocosts_update()
 * after the last of several. */
void mo_period_pseudocosts_add(mo_period_pseudocosts *c, int unit,
                               int64_t gain_ns);
void mo_period_pseudocosts_update(mo_period_pseudocosts *c);

#endif
