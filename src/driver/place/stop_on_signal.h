/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_watch.h - a first SIGINT or SIGTERM asks to stop, a second one ends us
 * at once.
 */
#ifndef MO_DRIVER_PLACE_STOP_ON_SIGNAL_H
#define MO_DRIVER_PLACE_STOP_ON_SIGNAL_H

#include "base/error.h"

typedef struct mo_place_signals mo_place_signals;

/* From here on signals do not end us, but mo_interrupt_last_signal tells of
 * them. */
mo_status mo_place_signals_begin(mo_place_signals **watch, mo_error *err);
void mo_place_signals_end(mo_place_signals *watch);

#endif
