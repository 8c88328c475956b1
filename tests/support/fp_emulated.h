/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emulated.h - whether the arithmetic here is the processor's.
 *
 * Valgrind 3.19 rounds halves to even on arm64 where llround wants them away
 * from zero, and says that the larger of a number and NaN is NaN.  It is there
 * to watch memory: claims about such numbers are held against them only where
 * they are right, which without valgrind they must be.
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
