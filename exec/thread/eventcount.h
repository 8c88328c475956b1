/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bell.h - waiting for something that another thread does.
 *
 * Whoever waits looks for a few microseconds, then sleeps.  Whoever changes
 * what others wait for rings afterwards, which costs next to nothing while
 * nobody sleeps.  What is waited for lies in atomics, changed and looked at in
 * sequentially consistent order: then either the sleeper sees the change or the
 * ringer sees the sleeper.
 */
#ifndef MO_EXEC_THREAD_EVENTCOUNT_H
#define MO_EXEC_THREAD_EVENTCOUNT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct mo_eventcount {
    pthread_mutex_t lock;
    pthread_cond_t rung;
    atomic_int sleepers;
} mo_eventcount;

typedef bool mo_eventcount_predicate(void *context);

void mo_eventcount_init(mo_eventcount *bell);
void mo_eventcount_destroy(mo_eventcount *bell);

void mo_eventcount_notify(mo_eventcount *bell);

/* Returns when ready says so. */
void mo_eventcount_wait(mo_eventcount *bell, mo_eventcount_predicate *ready,
                        void *context);

/* The same without looking first, and at most for that long. */
void mo_eventcount_wait_timed(mo_eventcount *bell,
                              mo_eventcount_predicate *ready, void *context,
                              int64_t at_most_ns);

#endif
