/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raise_bound.h - lower bounds of a makespan that are computed for the reports
 * of commands, where the given one leaves a gap.
 *
 * upper_ns is the makespan of a valid schedule.  Nothing is done where there is
 * no gap.  The functions fail only when memory cannot be allocated.
 */
#ifndef MO_DRIVER_RAISE_BOUND_H
#define MO_DRIVER_RAISE_BOUND_H

#include <stdint.h>

#include "base/error.h"
#include "base/option.h"
#include "cost/instance.h"
#include "driver/log.h"
#include "schedule/bound/lower_bound.h"
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

/*
 * Raises *lower to the bound of the search before its first round, by
 * MO_BLOCK_BOUND_NAME: loads of equal branches and prices of memory over the
 * blocks of a chain (solvers/search/driver/priced_bound.h).  A bound above
 * upper_ns, which would be a defect here, is not used.  Does nothing where
 * memory does not bind or with more than some ten thousand ops.  Takes a second
 * or two.
 */
mo_status mo_block_bound_raise(const mo_instance *x, const mo_regime *regime,
                               int64_t upper_ns, const mo_driver_log *logger,
                               mo_lower_bound *lower, mo_error *err);

/* Raises *lower to the bound of the root relaxation (solvers/root_bound.h), by
 * MO_ROOT_LP_NAME.  Does nothing where seconds is 0 or no bound is found, which
 * is logged. */
mo_status mo_root_lp_raise(const mo_instance *x, const mo_regime *regime,
                           int64_t upper_ns, double seconds,
                           const mo_driver_log *logger, mo_lower_bound *lower,
                           mo_error *err);

#endif
