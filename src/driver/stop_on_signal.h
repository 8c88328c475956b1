/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop_on_signal.h - a first SIGINT or SIGTERM requests a stop, a second one
 * terminates the process.
 */
#ifndef MO_DRIVER_STOP_ON_SIGNAL_H
#define MO_DRIVER_STOP_ON_SIGNAL_H

#include <stdbool.h>

#include "base/error.h"

typedef struct mo_driver_signals mo_driver_signals;

/* Called for each signal, with how many there were, by a thread of its own.
 * Returns whether the process is to be terminated. */
typedef bool mo_driver_on_signal(void *context, int number, int count);

/* From here on signals do not terminate the process; mo_interrupt_last_signal
 * returns the last one. on_signal NULL: the second one does. To be called
 * before the first temporary file is made. */
mo_status mo_driver_signals_begin(mo_driver_on_signal *on_signal, void *context,
                                  mo_driver_signals **watch, mo_error *err);
/* watch may be NULL. */
void mo_driver_signals_end(mo_driver_signals *watch);

#endif
