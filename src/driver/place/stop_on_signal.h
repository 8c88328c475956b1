/*
 * place_watch.h - a first SIGINT or SIGTERM asks to stop, a second one ends us
 * at once.
 */
#ifndef MO_DRIVER_PLACE_STOP_ON_SIGNAL_H
#define MO_DRIVER_PLACE_STOP_ON_SIGNAL_H

#include "base/error.h"

typedef struct mo_place_watch mo_place_watch;

/* From here on signals do not end us, but mo_interrupt_last tells of them. */
mo_status mo_place_watch_begin(mo_place_watch **watch, mo_error *err);
void mo_place_watch_end(mo_place_watch *watch);

#endif
