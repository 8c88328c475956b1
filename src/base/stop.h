/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop.h - stop condition of long work: a deadline, or a request (cancellation
 * token).
 *
 * Work until then is counted in steps and not by the clock; a stop only
 * prevents further steps, so that two runs that finish by themselves have
 * equal results.
 */
#ifndef MO_BASE_STOP_H
#define MO_BASE_STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct mo_stop {
    int64_t deadline_ns;    /* by mo_stop_clock_ns; INT64_MAX: never */
    atomic_bool requested;  /* mo_stop_request was called */
    bool (*signaled)(void); /* returns whether a signal arrived; or NULL */
    _Atomic int64_t *polls; /* counts calls of mo_stop_reached: work that does
                               not depend on the clock; or NULL */
    const struct mo_stop
        *outer; /* an enclosing condition that stops this one, too; or NULL */
} mo_stop;

/* Returns a monotonic clock in nanoseconds; only differences are meaningful. */
int64_t mo_stop_clock_ns(void);

/* Sets the deadline that many seconds from now; 0 or less: none. */
void mo_stop_after(mo_stop *stop, double seconds);

/* Returns whether to stop. Cheap enough for every few hundred steps, callable
 * from any thread. NULL never stops. */
bool mo_stop_reached(const mo_stop *stop);

/* The same without deadlines: only requests and signals count. */
bool mo_stop_is_requested(const mo_stop *stop);

/* Returns the seconds until the earliest deadline of this and the enclosing
 * conditions: negative after it, INFINITY without one. */
double mo_stop_remaining_s(const mo_stop *stop);

/* Requests a stop; callable from any thread. */
void mo_stop_request(mo_stop *stop);

#endif
