/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_validate.h - reference validator of schedules, by definition.
 *
 * Every two ops and every two transfers are compared; nothing of the code
 * under test is used.
 */
#ifndef MO_TESTS_SUPPORT_REFERENCE_VALIDATE_H
#define MO_TESTS_SUPPORT_REFERENCE_VALIDATE_H

#include <stdint.h>

#include "cost/instance.h"
#include "schedule/schedule.h"

/* Every combination of congestion, tensors and memory has a number. */
enum { N_REGIMES = 4 * 2 * 3 };

mo_regime regime_of(int number);

/* Returns the violated rule in a few words, or NULL when the schedule is valid
 * in its regime.  Devices may be any numbers; transfers have to be sorted and
 * of existing items and devices. */
const char *broken_rule(const mo_instance *x, const mo_schedule *s);

/* The test fails with the violated rule, unless the schedule is valid in its
 * regime, memory included. */
void check_valid(const mo_instance *x, const mo_schedule *s);

/* Peak memory by definition, by device. */
void peak_by_definition(const mo_instance *x, const mo_schedule *s,
                        int64_t *peak_bytes);

#endif
