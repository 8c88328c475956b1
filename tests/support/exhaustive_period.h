/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exhaustive_period.h - test oracle: the least period of a small instance by
 * enumeration of all placements, loads by definition.
 */
#ifndef MO_TESTS_SUPPORT_EXHAUSTIVE_PERIOD_H
#define MO_TESTS_SUPPORT_EXHAUSTIVE_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

#include "cost/instance.h"
#include "schedule/regime.h"

enum { EXHAUSTIVE_PERIOD_NONE = -1 }; /* no placement fits */

/* Returns the period of a placement: shares nothing with schedule/period. */
int64_t period_by_definition(const mo_instance *x, const mo_regime *regime,
                             const int *device);

/* Returns whether pins, groups and memory (memory_bytes; with live memory
 * weight_bytes) admit the placement. */
bool period_placement_allowed(const mo_instance *x, const mo_regime *regime,
                              const int *device);

/* Returns the least period of all placements, or EXHAUSTIVE_PERIOD_NONE. */
int64_t exhaustive_period(const mo_instance *x, const mo_regime *regime);

/* Returns the length of the longest path of a placement, transfers included. */
int64_t path_by_definition(const mo_instance *x, const mo_regime *regime,
                           const int *device);

/* Returns the same with a limit in flight, 0: none: no period is shorter than
 * the longest path, in that many parts, rounded up. */
int64_t exhaustive_limited_period(const mo_instance *x, const mo_regime *regime,
                                  int in_flight);

#endif
