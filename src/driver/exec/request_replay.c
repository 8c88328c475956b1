/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/request_replay.h"

#include <stdlib.h>
#include <time.h>

#include "base/stop.h"
#include "exec/thread/worker.h"

/* More than the pipeline holds; interval at which a run that has ended is
 * noticed. */
enum { ROOM = MO_EXEC_REQUEST_PHASES, POLL_NS = 20000000 };

/* A request that was read; end: there is none. */
typedef struct kept {
    mo_tensor_dense *inputs;
    bool end;
    mo_error failure;
} kept;

struct mo_exec_replay {
    mo_exec_requests *requests;
    pthread_t reader;
    atomic_bool stopped; /* the reader ends */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t n_wanted, n_read;
    kept all[ROOM]; /* by request, modulo ROOM */
};

static void clear(const mo_exec_replay *r, kept *k)
{
    for (int i = 0; k->inputs && i < r->requests->plan->n_inputs; i++)
        mo_tensor_clear(&k->inputs[i]);
    free(k->inputs);
    *k = (kept){ .inputs = NULL };
}

static void read_one(mo_exec_replay *r, int64_t request, kept *k)
{
    k->inputs =
        calloc((size_t) r->requests->plan->n_inputs + 1, sizeof *k->inputs);
    if (!k->inputs)
        mo_fail_memory(&k->failure);
    else
        mo_exec_requests_next(r->requests, request, &r->stopped, k->inputs,
                              &k->end, &k->failure);
}

static void *run_reader(void *context)
{
    mo_exec_replay *r = context;
    bool end = false;

    while (!end) {
        kept next = { .inputs = NULL };
        int64_t request;

        pthread_mutex_lock(&r->lock);
        while (r->n_wanted <= r->n_read && !atomic_load(&r->stopped))
            pthread_cond_wait(&r->changed, &r->lock);
        request = r->n_read;
        pthread_mutex_unlock(&r->lock);
        if (atomic_load(&r->stopped))
            break;
        read_one(r, request, &next);
        end = next.end;
        pthread_mutex_lock(&r->lock);
        r->all[request % ROOM] = next;
        r->n_read++;
        pthread_cond_broadcast(&r->changed);
        pthread_mutex_unlock(&r->lock);
    }
    return NULL;
}

mo_status mo_exec_replay_new(mo_exec_requests *requests,
                             mo_exec_replay **replay, mo_error *err)
{
    mo_exec_replay *r = calloc(1, sizeof *r);
    int failed;

    if (!r)
        return mo_fail_memory(err);
    r->requests = requests;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    failed = pthread_create(&r->reader, NULL, run_reader, r);
    if (failed == 0) {
        *replay = r;
        return MO_OK;
    }
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    free(r);
    return mo_thread_fail_start(failed, err);
}

void mo_exec_replay_free(mo_exec_replay *replay)
{
    if (!replay)
        return;
    atomic_store(&replay->stopped, true);
    pthread_mutex_lock(&replay->lock);
    pthread_cond_broadcast(&replay->changed);
    pthread_mutex_unlock(&replay->lock);
    pthread_join(replay->reader, NULL);
    for (int i = 0; i < ROOM; i++)
        clear(replay, &replay->all[i]);
    pthread_cond_destroy(&replay->changed);
    pthread_mutex_destroy(&replay->lock);
    free(replay);
}

/* Waits until the request is read; false where the run has ended before. */
static bool await_read(mo_exec_replay *r, int64_t request,
                       const atomic_bool *stopped)
{
    bool is_read;

    pthread_mutex_lock(&r->lock);
    if (r->n_wanted <= request) {
        r->n_wanted = request + 1;
        pthread_cond_broadcast(&r->changed);
    }
    while (r->n_read <= request && !atomic_load(stopped)) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += POLL_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&r->changed, &r->lock, &until);
    }
    is_read = r->n_read > request;
    pthread_mutex_unlock(&r->lock);
    return is_read;
}

mo_status mo_exec_replay_next(void *replay, int64_t request,
                              const atomic_bool *stopped,
                              mo_tensor_dense *inputs, bool *end, mo_error *err)
{
    mo_exec_replay *r = replay;
    const kept *k = &r->all[request % ROOM];
    mo_error why;

    *end = !await_read(r, request, stopped) || k->end;
    if (*end)
        return MO_OK;
    if (r->requests->intake_ns == 0)
        r->requests->intake_ns = mo_stop_clock_ns();
    for (int i = 0; k->inputs && i < r->requests->plan->n_inputs; i++) {
        inputs[i] = k->inputs[i];
        inputs[i].own = false;
    }
    why = k->failure;
    if (why.status != MO_OK && err)
        *err = why;
    return why.status;
}

mo_status mo_exec_replay_write(void *replay, int64_t request,
                               const mo_tensor_dense *outputs,
                               const mo_error *failure, mo_error *err)
{
    mo_exec_replay *r = replay;
    mo_status status =
        mo_exec_requests_write(r->requests, request, outputs, failure, err);

    if (status == MO_OK)
        clear(r, &r->all[request % ROOM]);
    return status;
}
