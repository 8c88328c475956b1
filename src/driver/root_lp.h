/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_lp.h - the bound of the root relaxation (solvers/root_bound.h) in the
 * reports of commands.
 */
#ifndef MO_DRIVER_ROOT_LP_H
#define MO_DRIVER_ROOT_LP_H

#include <stdint.h>

#include "base/error.h"
#include "base/option.h"
#include "cost/instance.h"
#include "driver/log.h"
#include "schedule/regime.h"

/* Row of an option table; seconds is a double, 0 for none.  help has the
 * command's default. */
/* clang-format off */
#define MO_ROOT_LP_OPTION(seconds, help)                                       \
    { 0, "root-lp", "SECONDS", help, MO_OPTION_DOUBLE, .to = (seconds),        \
      .min = 0, .max = 1e6 }
/* clang-format on */

#define MO_ROOT_LP_NAME "root LP"

/*
 * Raises *bound_ns to the bound of the root relaxation and sets *bound_by to
 * MO_ROOT_LP_NAME where that is larger.  upper_ns is the makespan of a valid
 * schedule.  Does nothing where there is no gap, seconds is 0 or no bound is
 * found, which is logged.  Fails only when memory cannot be allocated.
 */
mo_status mo_root_lp_raise(const mo_instance *x, const mo_regime *regime,
                           int64_t upper_ns, double seconds,
                           const mo_driver_log *logger, int64_t *bound_ns,
                           const char **bound_by, mo_error *err);

#endif
