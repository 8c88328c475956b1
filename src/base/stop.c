/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/stop.h"

#include <math.h>
#include <stddef.h>
#include <time.h>

int64_t mo_stop_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

void mo_stop_after(mo_stop *stop, double seconds)
{
    atomic_init(&stop->requested, false);
    stop->signaled = NULL;
    stop->work = NULL;
    stop->max_work = 0;
    stop->outer = NULL;
    stop->deadline_ns = INT64_MAX;
    if (seconds > 0 && seconds < 1e9)
        stop->deadline_ns = mo_stop_clock_ns() + (int64_t) (seconds * 1e9);
}

bool mo_stop_is_requested(const mo_stop *stop)
{
    for (; stop; stop = stop->outer)
        if (atomic_load_explicit(&stop->requested, memory_order_relaxed) ||
            (stop->signaled && stop->signaled()))
            return true;
    return false;
}

static int64_t first_deadline_ns(const mo_stop *stop)
{
    int64_t first_ns = INT64_MAX;

    for (; stop; stop = stop->outer)
        if (stop->deadline_ns < first_ns)
            first_ns = stop->deadline_ns;
    return first_ns;
}

/* Reads the clock at most once, and not without a deadline. */
bool mo_stop_spend(const mo_stop *stop, int64_t units)
{
    int64_t end_ns = first_deadline_ns(stop);
    bool spent = false;

    for (const mo_stop *s = stop; s; s = s->outer)
        if (s->work) {
            int64_t before =
                atomic_fetch_add_explicit(s->work, units, memory_order_relaxed);

            spent |= s->max_work > 0 && before + units >= s->max_work;
        }
    return spent || mo_stop_is_requested(stop) ||
           (end_ns != INT64_MAX && mo_stop_clock_ns() >= end_ns);
}

bool mo_stop_reached(const mo_stop *stop)
{
    return mo_stop_spend(stop, 0);
}

double mo_stop_remaining_s(const mo_stop *stop)
{
    int64_t end_ns = first_deadline_ns(stop);

    return end_ns != INT64_MAX ? 1e-9 * (double) (end_ns - mo_stop_clock_ns())
                               : INFINITY;
}

void mo_stop_request(mo_stop *stop)
{
    atomic_store_explicit(&stop->requested, true, memory_order_relaxed);
}
