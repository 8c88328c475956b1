/* SPDX-License-Identifier: Apache-2.0 */
/*
 * separate_memory.h - a backend with separate memory, for tests of the
 * runtime.
 *
 * It computes on the CPU, but its memory cannot be accessed by the process
 * (its addresses are invalid), kernels run only when a caller waits for them,
 * and a replayed program executes its calls in a random order that streams and
 * dependencies allow, another one each time, on all of its units. A unit
 * accesses only its own memory, except for direct transfers, one value at a
 * time each way. A hook called from another thread than the one that entered
 * the unit aborts the test.
 */
#ifndef MO_TESTS_EXEC_SUPPORT_SEPARATE_MEMORY_H
#define MO_TESTS_EXEC_SUPPORT_SEPARATE_MEMORY_H

#include <stdint.h>

#include "exec/backend/backend.h"

extern const mo_backend separate_backend;

/* The same, but timing calls fails. */
mo_backend separate_without_timer(void);

/* The free memory it reports; set before a run. */
extern int64_t separate_free_bytes;

/* Simulated times: the first timed call of a device takes SEPARATE_FIRST_NS,
 * each one behind it SEPARATE_CALL_NS more; and a timestamp behind each adds
 * SEPARATE_TIMER_NS. */
enum {
    SEPARATE_FIRST_NS = 20000,
    SEPARATE_CALL_NS = 1000,
    SEPARATE_TIMER_NS = 700
};

#endif
