/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fp_emulated.h - detects emulated floating-point arithmetic.
 *
 * Valgrind 3.19 rounds halves to even on arm64 where llround rounds away from
 * zero, and computes the maximum of a number and NaN as NaN.  It is used for
 * memory checks: tests of such numbers are skipped where the emulation is
 * wrong; without valgrind they must pass.
 */
#ifndef MO_TESTS_SUPPORT_FP_EMULATED_H
#define MO_TESTS_SUPPORT_FP_EMULATED_H

#include <math.h>
#include <stdbool.h>

#include "tests/support/suite.h"

static inline bool is_miscalculated(void)
{
    volatile double half = 2.5, nothing = NAN;

    return is_watched() && (llround(half) != 3 || isnan(fmax(nothing, 1)));
}

#endif
