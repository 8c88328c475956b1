/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eventcount.h - eventcount: condition variable over lock-free state (Reed and
 * Kanodia, 1979), with spinning before blocking.
 *
 * A waiter evaluates a predicate for a few microseconds, then blocks. A thread
 * that changes the state calls notify afterwards, which costs one load while
 * there is no waiter. The state is in atomics that are written and read in
 * sequentially consistent order: so either the waiter sees the change or the
 * notifier sees the waiter.
 *
 * The caller owns the struct; all functions but init and destroy may be called
 * from any thread.
 */
#ifndef MO_EXEC_THREAD_EVENTCOUNT_H
#define MO_EXEC_THREAD_EVENTCOUNT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct mo_eventcount {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    atomic_int n_waiters;
} mo_eventcount;

typedef bool mo_eventcount_predicate(void *context);

void mo_eventcount_init(mo_eventcount *event);
void mo_eventcount_destroy(mo_eventcount *event);

void mo_eventcount_notify(mo_eventcount *event);

/* Returns once ready(context) is true. */
void mo_eventcount_wait(mo_eventcount *event, mo_eventcount_predicate *ready,
                        void *context);

/* Returns once ready(context) is true, or after at_most_ns; blocks at once,
 * without spinning. */
void mo_eventcount_wait_timed(mo_eventcount *event,
                              mo_eventcount_predicate *ready, void *context,
                              int64_t at_most_ns);

#endif
