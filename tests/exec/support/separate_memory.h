/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apart.h - a backend with memory of its own, for tests of what runs plans.
 *
 * It computes as the CPU does, but its memory cannot be read by the process (an
 * address of it is none), kernels only run when somebody waits for them, and a
 * program that is replayed does its calls in any order that lanes and waits
 * allow, another one each time, on all of its units.  A unit only touches
 * memory of its own, but for what is carried, one value at a time each way.  A
 * hook that is called from another thread than the one that entered the unit
 * ends the test.
 */
#ifndef MO_TESTS_EXEC_SUPPORT_SEPARATE_MEMORY_H
#define MO_TESTS_EXEC_SUPPORT_SEPARATE_MEMORY_H

#include <stdint.h>

#include "exec/backend/backend.h"

extern const mo_backend apart_backend;

/* The same, but whoever times calls fails. */
mo_backend apart_without_clock(void);

/* What it says of its memory; set before a run. */
extern int64_t apart_free_bytes;

/* The first call of a device that is timed takes so long, each one behind it so
 * much longer; and all of them where somebody looks at the clock. */
enum { APART_FIRST_NS = 20000, APART_CALL_NS = 1000, APART_LOOK_NS = 700 };

#endif
