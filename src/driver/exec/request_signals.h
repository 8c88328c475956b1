/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_signals.h - SIGINT and SIGTERM during a stream of requests in one
 * process; ranks treat them as a failure (exec/transport/failure_detector.h).
 *
 * The first signal ends the intake; requests in flight are completed. A second
 * one terminates the process, or a third where all have their outputs and only
 * the report is missing; so does the first before a request was accepted.
 * Requests are delivered in order, so those without outputs are always
 * consecutive, and both signals name them on standard error.
 */
#ifndef MO_DRIVER_EXEC_REQUEST_SIGNALS_H
#define MO_DRIVER_EXEC_REQUEST_SIGNALS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "driver/stop_on_signal.h"

typedef struct mo_exec_signals {
    const char *command;
    atomic_int number; /* of the first signal; 0: none */
    /* Requests with outputs or a failure, and one more than the last that was
     * accepted. */
    _Atomic int64_t n_delivered, n_accepted;
    mo_driver_signals *watch; /* or NULL: not begun */
} mo_exec_signals;

/* s begins as zeros and the command; the caller ends it, also if it has not
 * begun. */
mo_status mo_exec_signals_begin(mo_exec_signals *s, mo_error *err);
void mo_exec_signals_end(mo_exec_signals *s);

/* A request was accepted; from any thread. */
void mo_exec_signals_accept(mo_exec_signals *s, int64_t request);

/* "SIGTERM", or "SIGINT"; static. */
const char *mo_exec_signals_name(int number);

#endif
