/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_cost.h - what looking at the clock costs, taken out of times.
 *
 * On a GPU the look between two kernels makes the second one wait until the
 * first has gone, where it would have been on its way already: 5 us on an H200,
 * 8 in a part of one, whatever the kernels do.  Times of calls with a look
 * behind each are therefore held against the time of all of them without any.
 */
#ifndef MO_EXEC_RUNTIME_DEVICE_TIMER_OVERHEAD_H
#define MO_EXEC_RUNTIME_DEVICE_TIMER_OVERHEAD_H

#include <stdint.h>

/* Takes the same from each of n times, none of them negative, until they sum up
 * to whole; but leaves each a quarter of what would be its even share.  Times
 * whose sum is whole or less stay as they are. */
void mo_run_remove_timer_overhead(int64_t *ns, int n, int64_t whole);

#endif
