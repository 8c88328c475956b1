/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/thread/eventcount.h"

#include <sched.h>
#include <time.h>

#include "base/stop.h"
#include "exec/thread/cpu_pause.h"

/* About what it takes to fall asleep and be woken. */
enum { LOOK_NS = 30000, LOOKS_PER_CLOCK = 16 };

void mo_eventcount_init(mo_eventcount *bell)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&bell->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&bell->rung, &attributes);
    pthread_condattr_destroy(&attributes);
    atomic_init(&bell->sleepers, 0);
}

void mo_eventcount_destroy(mo_eventcount *bell)
{
    pthread_cond_destroy(&bell->rung);
    pthread_mutex_destroy(&bell->lock);
}

void mo_eventcount_notify(mo_eventcount *bell)
{
    if (atomic_load(&bell->sleepers) == 0)
        return;
    pthread_mutex_lock(&bell->lock);
    pthread_cond_broadcast(&bell->rung);
    pthread_mutex_unlock(&bell->lock);
}

static bool look(mo_eventcount_predicate *ready, void *context)
{
    int64_t end = mo_stop_clock_ns() + LOOK_NS;

    do {
        for (int i = 0; i < LOOKS_PER_CLOCK; i++) {
            if (ready(context))
                return true;
            mo_thread_pause();
        }
        /* On a full machine the one we wait for may need this core. */
        sched_yield();
    } while (mo_stop_clock_ns() < end);
    return false;
}

void mo_eventcount_wait(mo_eventcount *bell, mo_eventcount_predicate *ready,
                        void *context)
{
    if (look(ready, context))
        return;
    atomic_fetch_add(&bell->sleepers, 1);
    pthread_mutex_lock(&bell->lock);
    while (!ready(context))
        pthread_cond_wait(&bell->rung, &bell->lock);
    pthread_mutex_unlock(&bell->lock);
    atomic_fetch_sub(&bell->sleepers, 1);
}

void mo_eventcount_wait_timed(mo_eventcount *bell,
                              mo_eventcount_predicate *ready, void *context,
                              int64_t at_most_ns)
{
    int64_t end = mo_stop_clock_ns() + at_most_ns;
    struct timespec until = { .tv_sec = (time_t) (end / 1000000000),
                              .tv_nsec = (long) (end % 1000000000) };

    atomic_fetch_add(&bell->sleepers, 1);
    pthread_mutex_lock(&bell->lock);
    while (!ready(context))
        if (pthread_cond_timedwait(&bell->rung, &bell->lock, &until) != 0)
            break;
    pthread_mutex_unlock(&bell->lock);
    atomic_fetch_sub(&bell->sleepers, 1);
}
