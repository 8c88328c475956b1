/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/thread/worker.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = -1, NOT_WAITING = -2 };

struct mo_thread_worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t called;
    int *next; /* by parcel: who waits behind it, NOBODY, or NOT_WAITING */
    int first, last;
    bool end;
    mo_thread_worker_fn *carry;
    void *context;
};

/* NOBODY when there is nothing left to do. */
static int next_parcel(mo_thread_worker *c)
{
    int parcel;

    pthread_mutex_lock(&c->lock);
    while (c->first == NOBODY && !c->end)
        pthread_cond_wait(&c->called, &c->lock);
    parcel = c->end ? NOBODY : c->first;
    if (parcel != NOBODY) {
        c->first = c->next[parcel];
        c->next[parcel] = NOT_WAITING;
    }
    pthread_mutex_unlock(&c->lock);
    return parcel;
}

static void *work(void *context)
{
    mo_thread_worker *c = context;
    int parcel;

    while ((parcel = next_parcel(c)) != NOBODY)
        c->carry(c->context, parcel);
    return NULL;
}

void mo_thread_worker_submit(mo_thread_worker *courier, int parcel)
{
    mo_thread_worker *c = courier;

    pthread_mutex_lock(&c->lock);
    if (c->next[parcel] == NOT_WAITING) {
        c->next[parcel] = NOBODY;
        if (c->first == NOBODY)
            c->first = parcel;
        else
            c->next[c->last] = parcel;
        c->last = parcel;
        pthread_cond_signal(&c->called);
    }
    pthread_mutex_unlock(&c->lock);
}

mo_status mo_thread_worker_new(int n_parcels, mo_thread_worker_fn *carry,
                               void *context, mo_thread_worker **courier,
                               mo_error *err)
{
    mo_thread_worker *c = calloc(1, sizeof *c);
    int failed;

    *courier = NULL;
    if (!c || !(c->next = calloc((size_t) n_parcels + 1, sizeof *c->next))) {
        free(c);
        return mo_fail_memory(err);
    }
    for (int i = 0; i < n_parcels; i++)
        c->next[i] = NOT_WAITING;
    c->first = NOBODY;
    c->carry = carry;
    c->context = context;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->called, NULL);
    failed = pthread_create(&c->thread, NULL, work, c);
    if (failed == 0) {
        *courier = c;
        return MO_OK;
    }
    pthread_cond_destroy(&c->called);
    pthread_mutex_destroy(&c->lock);
    free(c->next);
    free(c);
    return mo_fail(err, MO_E_MEMORY, "a thread cannot be started: %s",
                   strerror(failed));
}

void mo_thread_worker_free(mo_thread_worker *courier)
{
    mo_thread_worker *c = courier;

    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->end = true;
    pthread_cond_signal(&c->called);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    pthread_cond_destroy(&c->called);
    pthread_mutex_destroy(&c->lock);
    free(c->next);
    free(c);
}
