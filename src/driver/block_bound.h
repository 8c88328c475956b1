/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_bound.h - the bound of the search before its first round, in the
 * reports of commands: loads of equal branches and prices of memory over the
 * blocks of a chain (solvers/search/driver/priced_bound.h).
 */
#ifndef MO_DRIVER_BLOCK_BOUND_H
#define MO_DRIVER_BLOCK_BOUND_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "driver/log.h"
#include "schedule/regime.h"

#define MO_BLOCK_BOUND_NAME "blocks"

/*
 * Raises *bound_ns to that bound and sets *bound_by to MO_BLOCK_BOUND_NAME
 * where that is larger.  upper_ns is the makespan of a valid schedule; a larger
 * bound, which would be a defect here, is not used.  Does nothing where there
 * is no gap, where memory does not bind or with more than some ten thousand
 * ops.  Takes a second or two.  Fails only when memory cannot be allocated.
 */
mo_status mo_block_bound_raise(const mo_instance *x, const mo_regime *regime,
                               int64_t upper_ns, const mo_driver_log *logger,
                               int64_t *bound_ns, const char **bound_by,
                               mo_error *err);

#endif
