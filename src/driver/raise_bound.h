/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raise_bound.h - the lower bound that commands and library report of a valid
 * solution: of what its certificate proves and of what is computed here the
 * larger one, so that all of them have the same gap.
 *
 * upper_ns is the objective of the solution.  The functions fail only when
 * memory cannot be allocated.
 */
#ifndef MO_DRIVER_RAISE_BOUND_H
#define MO_DRIVER_RAISE_BOUND_H

#include <stdint.h>

#include "base/error.h"
#include "base/option.h"
#include "cost/instance.h"
#include "driver/log.h"
#include "report/verdict.h"
#include "schedule/bound/lower_bound.h"
#include "schedule/proof/proof.h"
#include "schedule/proof/proof_verify.h"
#include "schedule/regime.h"

/* Row of an option table; seconds is a double, 0 for none.  help has the
 * command's default. */
/* clang-format off */
#define MO_ROOT_LP_OPTION(seconds, help)                                       \
    { 0, "root-lp", "SECONDS", help, MO_OPTION_DOUBLE, .to = (seconds),        \
      .min = 0, .max = 1e6 }
/* clang-format on */

#define MO_BLOCK_BOUND_NAME "blocks"
#define MO_ROOT_LP_NAME     "root LP"

/* Verifies a certificate and fills *proven; one that proves more than upper_ns
 * proves nothing. */
mo_status mo_certificate_verify(const mo_proof_scope *scope, int64_t upper_ns,
                                const mo_proof *proof,
                                const mo_driver_log *logger,
                                mo_report_proof *proven, mo_error *err);

/* Returns what a certificate proves that was verified when it was made; proof
 * may be NULL. */
mo_report_proof mo_certificate_trust(const mo_proof *proof);

/*
 * Sets *lower to the bound that is reported of a solution, by
 * MO_REPORT_PROOF_NAME, which comes first, or by what is computed here.  Beside
 * a certificate that holds, that is schedule/bound/lower_bound.h with some
 * tenths of a second of counted work, or the mean load of a period.  Without
 * one it takes as long as it needs, unless stop (NULL: none) is reached before:
 * lower_bound.h, and by MO_BLOCK_BOUND_NAME loads of equal branches and prices
 * of memory (solvers/search/driver/priced_bound.h), where memory binds and the
 * network has no more than some ten thousand ops; or the Lagrangian bound of a
 * period (solvers/search/period/price_bound.h).
 */
mo_status mo_reported_bound_find(const mo_proof_scope *scope, int64_t upper_ns,
                                 const mo_report_proof *proven,
                                 const mo_stop *stop,
                                 const mo_driver_log *logger,
                                 mo_lower_bound *lower, mo_error *err);

/* Raises *lower to the bound of the root relaxation (solvers/root_bound.h), by
 * MO_ROOT_LP_NAME.  Does nothing where seconds is 0, no gap is left, or no
 * bound is found, which is logged. */
mo_status mo_root_lp_raise(const mo_instance *x, const mo_regime *regime,
                           int64_t upper_ns, double seconds,
                           const mo_driver_log *logger, mo_lower_bound *lower,
                           mo_error *err);

#endif
