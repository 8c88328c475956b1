/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop.h - when long work shall end: at a moment, or because somebody says so.
 *
 * What is done until then is counted in steps and not by the clock; a stop only
 * says that no further step begins, so that two runs that end by themselves end
 * alike.
 */
#ifndef MO_BASE_STOP_H
#define MO_BASE_STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct mo_stop {
    int64_t deadline_ns;         /* by mo_stop_clock_ns; INT64_MAX: never */
    atomic_bool said;            /* somebody has enough */
    bool (*asked)(void);         /* NULL, or: has a signal come? */
    const struct mo_stop *outer; /* NULL, or one that stops this, too */
} mo_stop;

/* A clock that only runs forward; only differences mean anything. */
int64_t mo_stop_clock_ns(void);

/* That many seconds from now; 0 or less: never. */
void mo_stop_after(mo_stop *stop, double seconds);

/* Is it time?  Cheap enough for every few hundred steps, from any thread.  NULL
 * never stops. */
bool mo_stop_reached(const mo_stop *stop);

/* The same, but that time has run out is no reason. */
bool mo_stop_is_requested(const mo_stop *stop);

/* Seconds until the clock stops it, or one of those around it: less than 0 when
 * it has, INFINITY when it never will. */
double mo_stop_remaining_s(const mo_stop *stop);

/* Now. */
void mo_stop_request(mo_stop *stop);

#endif
