/* SPDX-License-Identifier: Apache-2.0 */
/*
 * valid.h - whether a schedule keeps all the rules, by the rules alone.
 *
 * Every two ops and every two transfers are looked at; nothing of the code
 * under test is asked.
 */
#ifndef MO_TESTS_SUPPORT_REFERENCE_VALIDATE_H
#define MO_TESTS_SUPPORT_REFERENCE_VALIDATE_H

#include <stdint.h>

#include "cost/instance.h"
#include "schedule/schedule.h"

/* Every combination of congestion, tensors and memory has a number. */
enum { N_REGIMES = 4 * 2 * 3 };

mo_regime regime_of(int number);

/* Which rule it breaks, in a few words, or NULL when it is valid in its regime.
 * Devices may be any numbers; transfers have to be sorted and of items and
 * devices that there are. */
const char *broken_rule(const mo_instance *x, const mo_schedule *s);

/* The test fails, saying which rule is broken, unless the schedule is valid in
 * its regime.  Memory is looked at, too. */
void check_valid(const mo_instance *x, const mo_schedule *s);

/* Memory at the fullest moment, by device. */
void peak_by_definition(const mo_instance *x, const mo_schedule *s,
                        int64_t *peak_bytes);

#endif
