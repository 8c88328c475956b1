/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop.h - stop condition of long work: a deadline, a limit of counted work, or
 * a request (cancellation token).
 *
 * Work is counted by the loops that do it, in steps weighted with their cost: a
 * unit is about a nanosecond of one core (of 2024, measured once).  A limit of
 * work ends a loop at the same step on every machine, so that results do not
 * depend on the clock; a deadline or a request only prevents further steps.
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
    _Atomic int64_t *work;  /* counts the work below this condition; or NULL */
    int64_t max_work;       /* of it; 0: no limit */
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

/* Adds units of work to this and the enclosing conditions, then returns whether
 * to stop. */
bool mo_stop_spend(const mo_stop *stop, int64_t units);

/* The same without deadlines: only requests and signals count. */
bool mo_stop_is_requested(const mo_stop *stop);

/* Returns the seconds until the earliest deadline of this and the enclosing
 * conditions: negative after it, INFINITY without one. */
double mo_stop_remaining_s(const mo_stop *stop);

/* Requests a stop; callable from any thread. */
void mo_stop_request(mo_stop *stop);

#endif
