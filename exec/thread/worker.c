/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/thread/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NO_ITEM = -1, NOT_QUEUED = -2 };

struct mo_thread_worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int *next; /* by item: the next one in the queue, NO_ITEM, or NOT_QUEUED */
    int first, last;
    bool stopping;
    mo_thread_worker_fn *run;
    void *context;
};

/* Waits for the next item; returns NO_ITEM when the worker shall end. */
static int next_item(mo_thread_worker *c)
{
    int item;

    pthread_mutex_lock(&c->lock);
    while (c->first == NO_ITEM && !c->stopping)
        pthread_cond_wait(&c->wake, &c->lock);
    item = c->stopping ? NO_ITEM : c->first;
    if (item != NO_ITEM) {
        c->first = c->next[item];
        c->next[item] = NOT_QUEUED;
    }
    pthread_mutex_unlock(&c->lock);
    return item;
}

static void *run_thread(void *context)
{
    mo_thread_worker *c = context;
    int item;

    while ((item = next_item(c)) != NO_ITEM)
        c->run(c->context, item);
    return NULL;
}

void mo_thread_worker_submit(mo_thread_worker *worker, int item)
{
    mo_thread_worker *c = worker;

    pthread_mutex_lock(&c->lock);
    if (c->next[item] == NOT_QUEUED) {
        c->next[item] = NO_ITEM;
        if (c->first == NO_ITEM)
            c->first = item;
        else
            c->next[c->last] = item;
        c->last = item;
        pthread_cond_signal(&c->wake);
    }
    pthread_mutex_unlock(&c->lock);
}

mo_status mo_thread_fail_start(int error, mo_error *err)
{
    return mo_fail(err, MO_E_MEMORY, "a thread cannot be started: %s",
                   error == EAGAIN ? "out of memory, or more threads than the "
                                     "user may have (ulimit -u)"
                                   : strerror(error));
}

mo_status mo_thread_worker_new(int n_items, mo_thread_worker_fn *run,
                               void *context, mo_thread_worker **worker,
                               mo_error *err)
{
    mo_thread_worker *c = calloc(1, sizeof *c);
    int failed;

    *worker = NULL;
    if (!c || !(c->next = calloc((size_t) n_items + 1, sizeof *c->next))) {
        free(c);
        return mo_fail_memory(err);
    }
    for (int i = 0; i < n_items; i++)
        c->next[i] = NOT_QUEUED;
    c->first = NO_ITEM;
    c->run = run;
    c->context = context;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->wake, NULL);
    failed = pthread_create(&c->thread, NULL, run_thread, c);
    if (failed == 0) {
        *worker = c;
        return MO_OK;
    }
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->lock);
    free(c->next);
    free(c);
    return mo_thread_fail_start(failed, err);
}

void mo_thread_worker_free(mo_thread_worker *worker)
{
    mo_thread_worker *c = worker;

    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->stopping = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->lock);
    free(c->next);
    free(c);
}
