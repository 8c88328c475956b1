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
#include <libgen.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver/exec/device_units.h"
#include "driver/exec/exec_job.h"
#include "driver/exec/request_files.h"
#include "exec/plan/ir/plan_json.h"
#include "exec/runtime/pipeline/pipeline.h"
#include "exec/tensor/mmap_file.h"
#include "lib/handles.h"

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
    moirai_placement *placement; /* retained */
    mo_arena *arena;             /* texts of the options */
    mo_exec_options options;
    mo_exec_job job; /* its review is borrowed from the placement */
    mo_exec_units units;
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
    const mo_exec_plan *plan = e->job.plan;
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
    const mo_exec_plan *plan = e->job.plan;
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
    const mo_transport *transport = &mo_transport_local;
    const mo_transport_world_options none = { .note = NULL };
    mo_transport_world *world = NULL;
    mo_pipeline_result result = { 0 };
    mo_status status = transport->open(&none, &world, &err);

    if (status == MO_OK) {
        const mo_run_plan_options run = { .transport = transport,
                                          .world = world,
                                          .backends = e->units.backends,
                                          .units = e->units.options,
                                          .rank_of = e->units.rank_of,
                                          .runs = 1 };
        const mo_pipeline_options options = {
            .run = &run,
            .n_slots = (int) e->options.in_flight,
            .n_requests = INT64_MAX / 4,
            .next = take_request,
            .sink = finish_request,
            .context = e,
            .untimed = true,
        };

        status = mo_pipeline_run(e->job.plan, &options, &result, &err);
        mo_pipeline_result_clear(&result);
        transport->close(world);
    }
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

static mo_status keep_text(mo_arena *arena, const char **text, mo_error *err)
{
    if (!*text)
        return MO_OK;
    *text = mo_arena_text(arena, *text, strlen(*text));
    return *text ? MO_OK : mo_fail_memory(err);
}

/* Copies the options of execution: those of the caller may be freed. */
static mo_status keep_options(moirai_executor *e, const moirai_options *options,
                              mo_error *err)
{
    mo_exec_config *wants = &e->options.wants;
    const char **items;
    mo_status status = MO_OK;

    e->options = mo_lib_settings_of(options)->exec;
    e->options.logger = (mo_driver_log){ .command = "moirai",
                                         .quiet = true,
                                         .print = mo_lib_print_message };
    if (e->options.in_flight < 1)
        e->options.in_flight = 1;
    if (!wants->precision) {
        const moirai_graph *graph = e->placement->instance->graph;
        mo_math own = graph->formats.precision;

        wants->precision = mo_math_name(own > MO_MATH_BF16 ? MO_MATH_F16 : own);
    }
    items =
        mo_arena_array(e->arena, wants->weights_from.count + 1, sizeof *items);
    if (!items)
        return mo_fail_memory(err);
    for (size_t i = 0; i < wants->weights_from.count && status == MO_OK; i++) {
        items[i] = wants->weights_from.items[i];
        status = keep_text(e->arena, &items[i], err);
    }
    wants->weights_from.items = items;
    if (status == MO_OK)
        status = keep_text(e->arena, &wants->backend, err);
    if (status == MO_OK)
        status = keep_text(e->arena, &wants->precision, err);
    if (status == MO_OK)
        status = keep_text(e->arena, &wants->cache, err);
    if (status == MO_OK)
        status = keep_text(e->arena, &wants->pin, err);
    return status;
}

static mo_status make_plan(moirai_executor *e, mo_error *err)
{
    const moirai_placement *p = e->placement;
    const mo_exec_options *o = &e->options;
    mo_review *r = &e->job.review;
    mo_status status = MO_OK;

    if (moirai_placement_n_violations(p) > 0)
        return mo_fail(err, MO_E_INPUT, "the placement is not valid: %.900s",
                       moirai_placement_violation(p, 0));
    *r = mo_lib_instance_review(p->instance);
    r->evaluation = p->evaluation;
    e->job.valid = true;
    /* The folder of the graph is where its weights are. */
    char *copy = strdup(r->located.graph);

    e->job.folder = copy ? strdup(dirname(copy)) : NULL;
    free(copy);
    status = e->job.folder ? MO_OK : mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_exec_units_make(p->instance->cluster->cluster, 1, 0,
                                    &o->wants, &e->units, err);
    if (status == MO_OK)
        status = mo_exec_job_plan(o, &e->units, false, &e->job, err);
    if (status == MO_OK)
        status = mo_exec_requests_check_memory(
            e->job.plan, &e->units, 0, (int) o->in_flight,
            mo_exec_job_memory_left(o, &e->job), err);
    return status;
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
    made->placement = mo_lib_retain_placement(placement);
    made->arena = mo_arena_new();
    status = made->arena ? keep_options(made, options, e) : mo_fail_memory(e);
    if (status == MO_OK)
        status = make_plan(made, e);
    if (status == MO_OK) {
        int n = made->job.plan->n_outputs;

        made->outputs = calloc((size_t) n + 1, sizeof *made->outputs);
        for (int i = 0; made->outputs && i < n; i++)
            made->outputs[i] = mo_plan_output_desc(made->job.plan, i);
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
    mo_plan_free(e->job.plan);
    mo_weights_free(e->job.constants);
    free(e->job.folder);
    mo_exec_units_clear(&e->units);
    free(e->outputs);
    mo_arena_free(e->arena);
    moirai_placement_free(e->placement);
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
    return executor->job.plan->n_inputs;
}

int moirai_executor_n_outputs(const moirai_executor *executor)
{
    return executor->job.plan->n_outputs;
}

int moirai_executor_input(const moirai_executor *executor, int i,
                          moirai_tensor *tensor)
{
    const mo_exec_plan *plan = executor->job.plan;

    if (i < 0 || i >= plan->n_inputs)
        return -1;
    describe(plan->inputs[i].name, &plan->inputs[i].desc, tensor);
    return 0;
}

int moirai_executor_output(const moirai_executor *executor, int i,
                           moirai_tensor *tensor)
{
    const mo_exec_plan *plan = executor->job.plan;

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

    for (int i = 0; i < e->job.plan->n_inputs; i++)
        if (!inputs[i])
            status = mo_fail(mo_lib_error(err), MO_E_USAGE,
                             "input '%.80s' has no bytes",
                             e->job.plan->inputs[i].name);
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
        mo_plan_write_json(executor->job.plan, out);
    return mo_lib_status(mo_lib_close_output(out, status, mo_lib_error(err)));
}
