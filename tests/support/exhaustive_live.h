/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exhaustive_live.h - test oracle: the optimum of a tiny instance with live
 * memory, by enumeration of all event sequences.
 */
#ifndef MO_TESTS_SUPPORT_EXHAUSTIVE_LIVE_H
#define MO_TESTS_SUPPORT_EXHAUSTIVE_LIVE_H

#include <stdint.h>

#include "cost/instance.h"
#include "schedule/regime.h"

/* Returns the least makespan of the schedules that reference_validate.h
 * accepts, or EXHAUSTIVE_NONE.  Ops and transfers start at the ends of others
 * (or, since what takes no time is held at its moment, a nanosecond after it);
 * every such choice is tried for every placement.  Four ops on three devices
 * take milliseconds.  Works with any memory model. */
int64_t exhaustive_live_optimum(const mo_instance *x, const mo_regime *regime);

#endif
