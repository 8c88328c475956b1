/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop_on_signal.h - a first SIGINT or SIGTERM requests a stop, a second one
 * terminates the process.
 */
#ifndef MO_DRIVER_PLACE_STOP_ON_SIGNAL_H
#define MO_DRIVER_PLACE_STOP_ON_SIGNAL_H

#include "base/error.h"

typedef struct mo_place_signals mo_place_signals;

/* From here on signals do not terminate the process; mo_interrupt_last_signal
 * returns the last one. */
mo_status mo_place_signals_begin(mo_place_signals **watch, mo_error *err);
void mo_place_signals_end(mo_place_signals *watch);

#endif
