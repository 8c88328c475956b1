/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "lib/engine.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exec/runtime/pipeline/pipeline.h"
#include "exec/tensor/mmap_file.h"

/* Milliseconds between two looks at a pipeline that has stopped by itself. */
enum { STOP_MS = 100 };

typedef struct request {
    struct request *next;
    int64_t ticket;
    int64_t number; /* of the pipeline; -1: not taken yet */
    int phase;      /* of the plan */
    const void *const *inputs;
    void *const *outputs;
    bool done;
    mo_error failure; /* MO_OK: none */
} request;

struct mo_lib_engine {
    atomic_int references;
    mo_lib_run run;
    mo_tensor_desc *outputs; /* by output of the plan */

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    request *requests; /* the oldest first */
    int64_t next_ticket;
    bool closing, ended;
    mo_error failure; /* of the pipeline */
};

const mo_lib_run *mo_lib_engine_run(const mo_lib_engine *e)
{
    return &e->run;
}

const mo_tensor_desc *mo_lib_engine_output(const mo_lib_engine *e, int i)
{
    return &e->outputs[i];
}

int mo_lib_engine_first_input(const mo_lib_engine *e, int phase)
{
    const mo_exec_plan *plan = e->run.job.plan;

    return plan->phases ? plan->phases[phase].start.input
                        : phase * plan->n_inputs;
}

int mo_lib_engine_first_output(const mo_lib_engine *e, int phase)
{
    const mo_exec_plan *plan = e->run.job.plan;

    return plan->phases ? plan->phases[phase].start.output
                        : phase * plan->n_outputs;
}

int mo_lib_engine_n_phases(const mo_lib_engine *e)
{
    return e->run.job.plan->phases ? e->run.job.plan->n_phases : 1;
}

/* The lock is held. Returns the oldest request that is not taken, or NULL. */
static request *first_waiting(const mo_lib_engine *e)
{
    request *r = e->requests;

    while (r && r->number >= 0)
        r = r->next;
    return r;
}

/* mo_pipeline_next: waits for a request, and borrows its inputs. */
static mo_status take_request(void *context, int64_t number,
                              const atomic_bool *stopped,
                              mo_tensor_dense *inputs, bool *end, mo_error *err)
{
    mo_lib_engine *e = context;
    const mo_exec_plan *plan = e->run.job.plan;
    request *r;

    (void) err;
    pthread_mutex_lock(&e->lock);
    while (!(r = first_waiting(e)) && !e->closing && !atomic_load(stopped)) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += STOP_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&e->changed, &e->lock, &until);
    }
    if (r)
        r->number = number;
    pthread_mutex_unlock(&e->lock);
    *end = !r;
    for (int i = r ? mo_lib_engine_first_input(e, r->phase) : 0, n = 0;
         r && i < mo_lib_engine_first_input(e, r->phase + 1); i++, n++)
        inputs[i] = (mo_tensor_dense){
            .desc = plan->inputs[i].desc,
            .data = (void *) (uintptr_t) r->inputs[n],
        };
    return MO_OK;
}

/* Returns a request that the pipeline has taken, or NULL. */
static request *find_taken(mo_lib_engine *e, int64_t number)
{
    request *r;

    pthread_mutex_lock(&e->lock);
    for (r = e->requests; r && r->number != number;)
        r = r->next;
    pthread_mutex_unlock(&e->lock);
    return r;
}

/* phase of mo_pipeline_options */
static int find_phase(void *context, int64_t number)
{
    const request *r = find_taken(context, number);

    return r ? r->phase : 0;
}

/* mo_pipeline_sink: copies outputs into the buffers of the request. */
static mo_status finish_request(void *context, int64_t number,
                                const mo_tensor_dense *outputs,
                                const mo_error *failure, mo_error *err)
{
    mo_lib_engine *e = context;
    request *r = find_taken(e, number);

    if (!r)
        return mo_fail(err, MO_E_USAGE, "a request has vanished");
    for (int i = mo_lib_engine_first_output(e, r->phase), n = 0;
         outputs && i < mo_lib_engine_first_output(e, r->phase + 1); i++, n++)
        if (r->outputs[n])
            memcpy(r->outputs[n], outputs[i].data,
                   (size_t) mo_tensor_desc_bytes(&outputs[i].desc));
    if (failure)
        r->failure = *failure;
    else if (mo_mmap_file_has_failed())
        mo_mmap_file_check_all(&r->failure);
    pthread_mutex_lock(&e->lock);
    r->done = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    return MO_OK;
}

/* When the pipeline ends by itself, what was submitted fails with its error. */
static void *serve(void *context)
{
    mo_lib_engine *e = context;
    mo_error err = { 0 };
    const mo_pipeline_options options = { .n_requests = INT64_MAX / 4,
                                          .next = take_request,
                                          .sink = finish_request,
                                          .phase = find_phase,
                                          .context = e };
    mo_status status = mo_lib_run_pipeline(&e->run, options, &err);

    pthread_mutex_lock(&e->lock);
    e->ended = true;
    e->failure = err;
    if (status == MO_OK)
        mo_fail(&e->failure, MO_E_USAGE, "the executor has ended");
    for (request *r = e->requests; r; r = r->next)
        if (!r->done) {
            r->failure = e->failure;
            r->done = true;
        }
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

static mo_status start_thread(mo_lib_engine *e, mo_error *err)
{
    int failure = pthread_create(&e->thread, NULL, serve, e);

    e->has_thread = failure == 0;
    if (failure == 0)
        return MO_OK;
    errno = failure;
    return mo_fail_errno(err, NULL, "cannot start a thread");
}

void mo_lib_engine_retain(mo_lib_engine *e)
{
    mo_lib_retain(&e->references);
}

void mo_lib_engine_release(mo_lib_engine *e)
{
    if (!e || !mo_lib_release(&e->references))
        return;
    if (e->has_thread) {
        pthread_mutex_lock(&e->lock);
        e->closing = true;
        pthread_cond_broadcast(&e->changed);
        pthread_mutex_unlock(&e->lock);
        pthread_join(e->thread, NULL);
    }
    while (e->requests) {
        request *r = e->requests;

        e->requests = r->next;
        free(r);
    }
    mo_lib_run_clear(&e->run);
    free(e->outputs);
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

mo_status mo_lib_engine_open(const moirai_placement *placement,
                             const mo_exec_options *options,
                             mo_lib_engine **opened, mo_error *err)
{
    mo_lib_engine *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    atomic_init(&made->references, 1);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    status = mo_lib_run_open(placement, options, 0, &made->run, err);
    if (status == MO_OK) {
        const mo_exec_plan *plan = made->run.job.plan;
        int n = plan->n_outputs;

        /* States would be those of all requests. */
        for (int i = 0; i < n && status == MO_OK; i++)
            if (plan->outputs[i].state)
                status = mo_fail(err, MO_E_SUPPORT,
                                 "is a workload with states; run it with a "
                                 "generator, or run the graph of a phase");
    }
    if (status == MO_OK) {
        int n = made->run.job.plan->n_outputs;

        made->outputs = calloc((size_t) n + 1, sizeof *made->outputs);
        for (int i = 0; made->outputs && i < n; i++)
            made->outputs[i] = mo_plan_output_desc(made->run.job.plan, i);
        status = made->outputs ? MO_OK : mo_fail_memory(err);
    }
    if (status == MO_OK)
        status = start_thread(made, err);
    if (status == MO_OK)
        *opened = made;
    else
        mo_lib_engine_release(made);
    return status;
}

mo_status mo_lib_engine_submit(mo_lib_engine *e, int phase,
                               const void *const *inputs, void *const *outputs,
                               int64_t *ticket, mo_error *err)
{
    request **end = &e->requests, *r = calloc(1, sizeof *r);

    if (!r)
        return mo_fail_memory(err);
    r->number = -1;
    r->phase = phase;
    r->inputs = inputs;
    r->outputs = outputs;
    pthread_mutex_lock(&e->lock);
    r->ticket = *ticket = e->next_ticket++;
    r->done = e->ended;
    if (e->ended)
        r->failure = e->failure;
    while (*end)
        end = &(*end)->next;
    *end = r;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    return MO_OK;
}

mo_status mo_lib_engine_wait(mo_lib_engine *e, int64_t ticket, mo_error *err)
{
    request **at = &e->requests, *r;
    mo_status status;

    pthread_mutex_lock(&e->lock);
    while (*at && (*at)->ticket != ticket)
        at = &(*at)->next;
    r = *at;
    while (r && !r->done)
        pthread_cond_wait(&e->changed, &e->lock);
    /* Others may have been removed meanwhile. */
    for (at = &e->requests; *at && *at != r;)
        at = &(*at)->next;
    if (r)
        *at = r->next;
    pthread_mutex_unlock(&e->lock);
    if (!r)
        return mo_fail(err, MO_E_USAGE, "there is no request %lld to wait for",
                       (long long) ticket);
    status = r->failure.status;
    if (status != MO_OK && err)
        *err = r->failure;
    free(r);
    return status;
}
