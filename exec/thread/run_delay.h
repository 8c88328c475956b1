/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_delay.h - run delay of a thread: the time for which it could run and had
 * no processor, by the scheduler of Linux (schedstat).
 */
#ifndef MO_EXEC_THREAD_RUN_DELAY_H
#define MO_EXEC_THREAD_RUN_DELAY_H

#include <stdint.h>

/* Returns a file descriptor of the calling thread's scheduler statistics, or -1
 * where the system has none. The caller closes it, from any thread. */
int mo_thread_run_delay_open(void);

/* Returns the run delay of that thread in nanoseconds since it started, or -1
 * if it is unknown. From any thread, as long as that thread exists. */
int64_t mo_thread_run_delay_ns(int file);

#endif
