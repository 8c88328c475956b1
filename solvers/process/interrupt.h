/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupt.h - SIGINT and SIGTERM as something to wait for.
 *
 * While at least one watch is open these signals do not end us: each of them
 * makes every watch readable.  A command that wants to write down what it has
 * before it goes opens one at its beginning; running children open their own.
 */
#ifndef MO_SOLVERS_PROCESS_INTERRUPT_H
#define MO_SOLVERS_PROCESS_INTERRUPT_H

#include <stdbool.h>

#include "base/error.h"

/* *fd is for poll and read: a byte, the signal's number, for each signal. */
mo_status mo_interrupt_open(int *fd, mo_error *err);
void mo_interrupt_close(int fd);

/* The last of them since the process began, 0 when there was none: for one who
 * does not wait. */
int mo_interrupt_last_signal(void);

/* What is under way shall stop, though nobody sent us a signal. */
void mo_interrupt_all(void);

#endif
