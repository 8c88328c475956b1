/*
 * place_watch.h - a first SIGINT or SIGTERM asks to stop, a second one ends us
 * at once.
 */
#ifndef MO_CLI_PLACE_WATCH_H
#define MO_CLI_PLACE_WATCH_H

#include <pthread.h>
#include <signal.h>

#include "base/error.h"

typedef struct mo_place_watch {
    int signals; /* readable when one has come */
    int quit[2]; /* the thread ends when its other end is closed */
    struct sigaction before_int, before_term; /* what they did until then */
    pthread_t thread;
} mo_place_watch;

/* From here on signals do not end us, but mo_interrupt_last tells of them. */
mo_status mo_place_watch_begin(mo_place_watch *watch, mo_error *err);
void mo_place_watch_end(mo_place_watch *watch);

#endif
