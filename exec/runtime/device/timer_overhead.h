/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer_overhead.h - subtracts the overhead of timestamps from measured times.
 *
 * On a GPU a timestamp between two kernels makes the second one wait until the
 * first has left, where it would have been launching already: 5 us on an H200,
 * 8 in a part of one, whatever the kernels do. Times of calls with a timestamp
 * behind each are therefore corrected by the time of all of them without any.
 */
#ifndef MO_EXEC_RUNTIME_DEVICE_TIMER_OVERHEAD_H
#define MO_EXEC_RUNTIME_DEVICE_TIMER_OVERHEAD_H

#include <stdint.h>

/* Subtracts the same overhead from each of n times, none of them negative,
 * until they sum up to whole; but leaves each a quarter of its even share.
 * Times with a sum of whole or less stay unchanged. */
void mo_run_remove_timer_overhead(int64_t *ns, int n, int64_t whole);

#endif
