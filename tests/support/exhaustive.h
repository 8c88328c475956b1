/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exhaustive.h - the optimum of a small instance, by trying everything.
 *
 * What the models are held against, so it shares nothing with them: placements
 * are enumerated, the orders of what shares a device or a port are branched on,
 * and a longest path tells the times.  Six ops on three devices take
 * milliseconds.
 */
#ifndef MO_TESTS_SUPPORT_EXHAUSTIVE_H
#define MO_TESTS_SUPPORT_EXHAUSTIVE_H

#include <stdint.h>

#include "cost/instance.h"
#include "schedule/regime.h"

enum { EXHAUSTIVE_NONE = -1 }; /* no placement fits */

/* The least makespan.  For live memory it is that of the placements which keep
 * the models' bound on it, since that is what they promise to find.  The test
 * fails when the instance is too large to try. */
int64_t exhaustive_optimum(const mo_instance *x, const mo_regime *regime);

#endif
