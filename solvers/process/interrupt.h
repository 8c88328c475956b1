/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupt.h - SIGINT and SIGTERM as readable file descriptors (self-pipe
 * trick).
 *
 * While at least one descriptor is open these signals do not end the process:
 * each of them makes every descriptor readable. A command that writes its
 * results before it exits opens one at its start; running children open their
 * own. A handler that was installed before is called as well: the signal is its
 * process's then, and counts for no later call.
 */
#ifndef MO_SOLVERS_PROCESS_INTERRUPT_H
#define MO_SOLVERS_PROCESS_INTERRUPT_H

#include <stdbool.h>

#include "base/error.h"

/* *fd is for poll() and read(): one byte, the signal's number, for each
 * signal. The caller closes it with mo_interrupt_close(). */
mo_status mo_interrupt_open(int *fd, mo_error *err);
void mo_interrupt_close(int fd);

/* Returns the last of them since the process started, 0 when there was none. */
int mo_interrupt_last_signal(void);

/* Simulates a signal: everything that is running stops. */
void mo_interrupt_all(void);

#endif
