/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exhaustive_live.h - the optimum of a tiny instance with live memory, by
 * letting things happen in all ways.
 */
#ifndef MO_TESTS_SUPPORT_EXHAUSTIVE_LIVE_H
#define MO_TESTS_SUPPORT_EXHAUSTIVE_LIVE_H

#include <stdint.h>

#include "cost/instance.h"
#include "schedule/regime.h"

/* The least makespan of what valid.h lets pass, or EXHAUSTIVE_NONE.  Ops and
 * transfers start at moments when something ends (or, since what takes no time
 * is held at its moment, a nanosecond after it); every such choice is tried for
 * every placement.  Four ops on three devices take milliseconds.  Any memory
 * model will do. */
int64_t exhaustive_live_optimum(const mo_instance *x, const mo_regime *regime);

#endif
