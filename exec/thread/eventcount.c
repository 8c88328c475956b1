/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/thread/eventcount.h"

#include <sched.h>
#include <time.h>

#include "base/stop.h"
#include "exec/thread/cpu_pause.h"

/* Spinning lasts about as long as a thread needs to block and be woken. */
enum { SPIN_NS = 30000, SPINS_PER_CLOCK = 16 };

void mo_eventcount_init(mo_eventcount *event)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&event->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&event->cond, &attributes);
    pthread_condattr_destroy(&attributes);
    atomic_init(&event->n_waiters, 0);
}

void mo_eventcount_destroy(mo_eventcount *event)
{
    pthread_cond_destroy(&event->cond);
    pthread_mutex_destroy(&event->lock);
}

void mo_eventcount_notify(mo_eventcount *event)
{
    if (atomic_load(&event->n_waiters) == 0)
        return;
    pthread_mutex_lock(&event->lock);
    pthread_cond_broadcast(&event->cond);
    pthread_mutex_unlock(&event->lock);
}

static bool spin(mo_eventcount_predicate *ready, void *context)
{
    int64_t end = mo_stop_clock_ns() + SPIN_NS;

    do {
        for (int i = 0; i < SPINS_PER_CLOCK; i++) {
            if (ready(context))
                return true;
            mo_thread_pause();
        }
        /* The thread that makes the predicate true may need this core. */
        sched_yield();
    } while (mo_stop_clock_ns() < end);
    return false;
}

void mo_eventcount_wait(mo_eventcount *event, mo_eventcount_predicate *ready,
                        void *context)
{
    if (spin(ready, context))
        return;
    atomic_fetch_add(&event->n_waiters, 1);
    pthread_mutex_lock(&event->lock);
    while (!ready(context))
        pthread_cond_wait(&event->cond, &event->lock);
    pthread_mutex_unlock(&event->lock);
    atomic_fetch_sub(&event->n_waiters, 1);
}

void mo_eventcount_wait_timed(mo_eventcount *event,
                              mo_eventcount_predicate *ready, void *context,
                              int64_t at_most_ns)
{
    int64_t end = mo_stop_clock_ns() + at_most_ns;
    struct timespec until = { .tv_sec = (time_t) (end / 1000000000),
                              .tv_nsec = (long) (end % 1000000000) };

    atomic_fetch_add(&event->n_waiters, 1);
    pthread_mutex_lock(&event->lock);
    while (!ready(context))
        if (pthread_cond_timedwait(&event->cond, &event->lock, &until) != 0)
            break;
    pthread_mutex_unlock(&event->lock);
    atomic_fetch_sub(&event->n_waiters, 1);
}
