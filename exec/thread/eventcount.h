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

typedef struct mo_bell {
    pthread_mutex_t lock;
    pthread_cond_t rung;
    atomic_int sleepers;
} mo_bell;

typedef bool mo_bell_ready(void *context);

void mo_bell_init(mo_bell *bell);
void mo_bell_destroy(mo_bell *bell);

void mo_bell_ring(mo_bell *bell);

/* Returns when ready says so. */
void mo_bell_wait(mo_bell *bell, mo_bell_ready *ready, void *context);

/* The same without looking first, and at most for that long. */
void mo_bell_sleep(mo_bell *bell, mo_bell_ready *ready, void *context,
                   int64_t at_most_ns);

#endif
