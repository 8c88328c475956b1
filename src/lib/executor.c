/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executor of the library: a pipeline of requests (exec/runtime/pipeline)
 * that a thread of its own runs until the executor is freed.
 *
 *     submit -> queue -> next -> slots of the devices -> sink -> wait
 *
 * A request is a node of a list from its submission to its wait. The pipeline
 * numbers requests in the order in which it takes them from the queue.
 */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exec/plan/ir/plan_json.h"
#include "exec/runtime/pipeline/pipeline.h"
#include "exec/tensor/mmap_file.h"
#include "lib/run_setup.h"

/* Milliseconds between two looks at a pipeline that has stopped by itself. */
enum { STOP_MS = 100 };

typedef struct request {
    struct request *next;
    int64_t ticket;
    int64_t number; /* of the pipeline; -1: not taken yet */
    const void *const *inputs;
    void *const *outputs;
    bool done;
    mo_error failure; /* MO_OK: none */
} request;

struct moirai_executor {
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

/* The lock is held. Returns the oldest request that is not taken, or NULL. */
static request *first_waiting(const moirai_executor *e)
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
    moirai_executor *e = context;
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
    for (int i = 0; r && i < plan->n_inputs; i++)
        inputs[i] = (mo_tensor_dense){
            .desc = plan->inputs[i].desc,
            .data = (void *) (uintptr_t) r->inputs[i],
        };
    return MO_OK;
}

/* mo_pipeline_sink: copies outputs into the buffers of the request. */
static mo_status finish_request(void *context, int64_t number,
                                const mo_tensor_dense *outputs,
                                const mo_error *failure, mo_error *err)
{
    moirai_executor *e = context;
    const mo_exec_plan *plan = e->run.job.plan;
    request *r;

    pthread_mutex_lock(&e->lock);
    for (r = e->requests; r && r->number != number;)
        r = r->next;
    pthread_mutex_unlock(&e->lock);
    if (!r)
        return mo_fail(err, MO_E_USAGE, "a request has vanished");
    for (int i = 0; outputs && i < plan->n_outputs; i++)
        if (r->outputs[i])
            memcpy(r->outputs[i], outputs[i].data,
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
    moirai_executor *e = context;
    mo_error err = { 0 };
    const mo_pipeline_options options = { .n_requests = INT64_MAX / 4,
                                          .next = take_request,
                                          .sink = finish_request,
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

static mo_status start_thread(moirai_executor *e, mo_error *err)
{
    int failure = pthread_create(&e->thread, NULL, serve, e);

    e->has_thread = failure == 0;
    if (failure == 0)
        return MO_OK;
    errno = failure;
    return mo_fail_errno(err, NULL, "cannot start a thread");
}

moirai_status moirai_executor_open(const moirai_placement *placement,
                                   const moirai_options *options,
                                   moirai_executor **executor,
                                   moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    moirai_executor *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made)
        return mo_lib_status(mo_fail_memory(e));
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    status = mo_lib_run_open(placement, options, 0, &made->run, e);
    if (status == MO_OK) {
        int n = made->run.job.plan->n_outputs;

        made->outputs = calloc((size_t) n + 1, sizeof *made->outputs);
        for (int i = 0; made->outputs && i < n; i++)
            made->outputs[i] = mo_plan_output_desc(made->run.job.plan, i);
        status = made->outputs ? MO_OK : mo_fail_memory(e);
    }
    if (status == MO_OK)
        status = start_thread(made, e);
    if (status == MO_OK)
        *executor = made;
    else
        moirai_executor_free(made);
    return mo_lib_status(status);
}

void moirai_executor_free(moirai_executor *executor)
{
    moirai_executor *e = executor;

    if (!e)
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

static void describe(const char *name, const mo_tensor_desc *desc,
                     moirai_tensor *tensor)
{
    _Static_assert(sizeof desc->shape.dims[0] == sizeof(int64_t), "dims");
    *tensor = (moirai_tensor){
        .name = name,
        .dtype = desc->elem == MO_ELEM_BOOL ? "bool" : mo_elem_name(desc->elem),
        .rank = desc->shape.rank,
        .dims = desc->shape.dims,
        .bytes = (size_t) mo_tensor_desc_bytes(desc),
    };
}

int moirai_executor_n_inputs(const moirai_executor *executor)
{
    return executor->run.job.plan->n_inputs;
}

int moirai_executor_n_outputs(const moirai_executor *executor)
{
    return executor->run.job.plan->n_outputs;
}

int moirai_executor_input(const moirai_executor *executor, int i,
                          moirai_tensor *tensor)
{
    const mo_exec_plan *plan = executor->run.job.plan;

    if (i < 0 || i >= plan->n_inputs)
        return -1;
    describe(plan->inputs[i].name, &plan->inputs[i].desc, tensor);
    return 0;
}

int moirai_executor_output(const moirai_executor *executor, int i,
                           moirai_tensor *tensor)
{
    const mo_exec_plan *plan = executor->run.job.plan;

    if (i < 0 || i >= plan->n_outputs)
        return -1;
    describe(plan->outputs[i].name, &executor->outputs[i], tensor);
    return 0;
}

moirai_status moirai_executor_submit(moirai_executor *executor,
                                     const void *const *inputs,
                                     void *const *outputs, int64_t *ticket,
                                     moirai_error *err)
{
    moirai_executor *e = executor;
    request **end = &e->requests, *r = calloc(1, sizeof *r);
    mo_status status = MO_OK;

    for (int i = 0; i < e->run.job.plan->n_inputs; i++)
        if (!inputs[i])
            status = mo_fail(mo_lib_error(err), MO_E_USAGE,
                             "input '%.80s' has no bytes",
                             e->run.job.plan->inputs[i].name);
    if (!r)
        status = mo_fail_memory(mo_lib_error(err));
    if (status != MO_OK) {
        free(r);
        return mo_lib_status(status);
    }
    r->number = -1;
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
    return MOIRAI_OK;
}

moirai_status moirai_executor_wait(moirai_executor *executor, int64_t ticket,
                                   moirai_error *err)
{
    moirai_executor *e = executor;
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
        return mo_lib_status(mo_fail(mo_lib_error(err), MO_E_USAGE,
                                     "there is no request %lld to wait for",
                                     (long long) ticket));
    status = r->failure.status;
    if (status != MO_OK && err)
        *mo_lib_error(err) = r->failure;
    free(r);
    return mo_lib_status(status);
}

moirai_status moirai_executor_run(moirai_executor *executor,
                                  const void *const *inputs,
                                  void *const *outputs, moirai_error *err)
{
    int64_t ticket;
    moirai_status status =
        moirai_executor_submit(executor, inputs, outputs, &ticket, err);

    return status == MOIRAI_OK ? moirai_executor_wait(executor, ticket, err)
                               : status;
}

moirai_status moirai_executor_write_plan(const moirai_executor *executor,
                                         const char *path,
                                         moirai_write_fn *write, void *context,
                                         moirai_error *err)
{
    mo_out *out = NULL;
    mo_status status =
        mo_lib_open_output(path, write, context, &out, mo_lib_error(err));

    if (status == MO_OK)
        mo_plan_write_json(executor->run.job.plan, out);
    return mo_lib_status(mo_lib_close_output(out, status, mo_lib_error(err)));
}
