/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exhaustive.h - test oracle: the optimum of a small instance by exhaustive
 * search.
 *
 * The models are compared with it, so it shares nothing with them: placements
 * are enumerated, the orders on every device or port are branched on, and a
 * longest path gives the times.  Six ops on three devices take milliseconds.
 */
#ifndef MO_TESTS_SUPPORT_EXHAUSTIVE_H
#define MO_TESTS_SUPPORT_EXHAUSTIVE_H

#include <stdint.h>

#include "cost/instance.h"
#include "schedule/regime.h"

enum { EXHAUSTIVE_NONE = -1 }; /* no placement fits */

/* Returns the least makespan, or EXHAUSTIVE_NONE.  For live memory it is that
 * of the placements within the models' bound on it, which is what they
 * guarantee. The test fails when the instance is too large. */
int64_t exhaustive_optimum(const mo_instance *x, const mo_regime *regime);

#endif
