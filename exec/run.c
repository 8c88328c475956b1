#include <config.h>

#include "exec/run.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "exec/run_device.h"
#include "exec/run_gather.h"

typedef struct run {
    const mo_plan *plan;
    const mo_run_options *options;
    mo_run_device *devices; /* of this rank */
    pthread_t *threads;     /* the same */
    int n_here;
    mo_run_record *records; /* by device of the plan */
} run;

/* ------------------------------------------------------------------ threads */

static void *run_device(void *context)
{
    mo_run_device *d = context;
    const mo_run_options *o = d->options;
    mo_error err = { 0 };
    mo_status status = mo_run_device_open(d, &err);

    if (status == MO_OK)
        status = mo_run_device_work(d, &err);
    if (status != MO_OK)
        o->transport->fail(o->world, &err);
    o->transport->leave(o->world);
    return NULL;
}

/* Returns how many have been started: all, or everybody is told. */
static int start_threads(run *r)
{
    const mo_run_options *o = r->options;

    for (int i = 0; i < r->n_here; i++) {
        mo_error err = { 0 };
        int failed =
            pthread_create(&r->threads[i], NULL, run_device, &r->devices[i]);

        if (failed == 0)
            continue;
        mo_fail(&err, MO_E_MEMORY, "a thread cannot be started: %s",
                strerror(failed));
        o->transport->fail(o->world, &err);
        return i;
    }
    return r->n_here;
}

static mo_status work(run *r, mo_error *err)
{
    const mo_run_options *o = r->options;
    int n_started = start_threads(r);
    mo_status status = o->transport->serve(o->world, n_started, err);

    for (int i = 0; i < n_started; i++)
        pthread_join(r->threads[i], NULL);
    return status;
}

/* ----------------------------------------------------------------- checking */

static mo_status check_input(const mo_plan *plan, int i, const mo_dense *given,
                             mo_error *err)
{
    const mo_plan_input *input = &plan->inputs[i];
    char wanted[MO_DESC_TEXT_SIZE], got[MO_DESC_TEXT_SIZE];

    if (!mo_desc_equal(&given->desc, &input->desc))
        return mo_fail(err, MO_E_INPUT, "input '%s' is %s, but %s was given",
                       input->name, mo_desc_say(&input->desc, wanted),
                       mo_desc_say(&given->desc, got));
    if (!given->data && mo_desc_bytes(&input->desc) > 0)
        return mo_fail(err, MO_E_INPUT, "input '%s' has no value", input->name);
    return MO_OK;
}

/* Those that devices of this rank read. */
static mo_status check_inputs(const mo_plan *plan, const mo_run_options *o,
                              mo_error *err)
{
    int rank = o->transport->rank(o->world);
    mo_status status = MO_OK;

    for (int i = 0; i < plan->n_inputs; i++)
        for (int k = 0; k < plan->inputs[i].n_values && status == MO_OK; k++) {
            int v = plan->inputs[i].values[k];

            if (o->rank_of[plan->values[v].device] == rank)
                status = check_input(plan, i, &o->inputs[i], err);
        }
    return status;
}

static void digest_device(const mo_plan_device *device, mo_digest *digest)
{
    mo_digest_text(digest, device->id);
    mo_digest_int(digest, device->arena_bytes);
    for (int i = 0; i < device->n_steps; i++) {
        mo_digest_int(digest, (int64_t) device->steps[i].kind);
        mo_digest_int(digest, device->steps[i].what);
    }
}

/* Ranks with other files or options make another plan. */
static mo_status digest_plan(const mo_plan *plan, int runs, uint64_t *value,
                             mo_error *err)
{
    mo_digest *digest = mo_digest_new();

    if (!digest)
        return mo_fail_memory(err);
    mo_digest_int(digest, runs);
    for (int d = 0; d < plan->n_devices; d++)
        digest_device(&plan->devices[d], digest);
    for (int v = 0; v < plan->n_values; v++) {
        const mo_plan_value *p = &plan->values[v];

        mo_digest_text(digest, p->name);
        mo_digest_int(digest, (int64_t) p->desc.elem);
        mo_digest_int(digest, p->channels_last);
        mo_digest_ints(digest, p->desc.shape.dims, (size_t) p->desc.shape.rank);
    }
    for (int t = 0; t < plan->n_transfers; t++)
        mo_digest_int(digest, plan->transfers[t].bytes);
    *value = mo_digest_value(digest);
    mo_digest_free(digest);
    return MO_OK;
}

/* ------------------------------------------------------------------ results */

static mo_status make_result(const mo_plan *plan, const mo_run_options *o,
                             mo_run_result *result, mo_error *err)
{
    size_t n_devices = (size_t) plan->n_devices + 1;

    result->n_devices = plan->n_devices;
    result->makespan_ns =
        calloc((size_t) o->runs + 1, sizeof *result->makespan_ns);
    result->steps = calloc(n_devices, sizeof *result->steps);
    result->call_ns =
        calloc((size_t) plan->n_calls + 1, sizeof *result->call_ns);
    result->busy_ns = calloc(n_devices, sizeof *result->busy_ns);
    result->workspace_bytes =
        calloc(n_devices, sizeof *result->workspace_bytes);
    result->allocated_bytes =
        calloc(n_devices, sizeof *result->allocated_bytes);
    if (o->transport->rank(o->world) == 0) {
        result->outputs =
            calloc((size_t) plan->n_outputs + 1, sizeof *result->outputs);
        result->n_outputs = plan->n_outputs;
    }
    if (!result->makespan_ns || !result->steps || !result->call_ns ||
        !result->busy_ns || !result->workspace_bytes ||
        !result->allocated_bytes || (result->n_outputs > 0 && !result->outputs))
        return mo_fail_memory(err);
    return MO_OK;
}

static mo_status conclude(run *r, mo_run_result *result, mo_error *err)
{
    mo_status status;

    result->n_runs = r->devices->n_runs;
    result->stopped = result->n_runs < r->options->runs;
    status = mo_run_gather(r->devices, r->n_here, r->records, result, err);
    if (status == MO_OK)
        status =
            mo_run_sum_up(r->plan, r->records, r->options->trace, result, err);
    return status;
}

/* -------------------------------------------------------------------- a run */

static void seat_device(run *r, int device)
{
    mo_run_device *d = &r->devices[r->n_here++];

    d->plan = r->plan;
    d->options = r->options;
    d->device = device;
}

static mo_status make_run(run *r, mo_error *err)
{
    const mo_run_options *o = r->options;
    size_t n_devices = (size_t) r->plan->n_devices + 1;
    int rank = o->transport->rank(o->world);

    r->devices = calloc(n_devices, sizeof *r->devices);
    r->threads = calloc(n_devices, sizeof *r->threads);
    r->records = calloc(n_devices, sizeof *r->records);
    if (!r->devices || !r->threads || !r->records)
        return mo_fail_memory(err);
    for (int d = 0; d < r->plan->n_devices; d++)
        if (o->rank_of[d] == rank)
            seat_device(r, d);
    if (r->n_here == 0)
        seat_device(r, MO_PLAN_NONE);
    return MO_OK;
}

static void clear_run(run *r)
{
    for (int i = 0; i < r->n_here; i++)
        mo_run_device_close(&r->devices[i]);
    if (r->records)
        mo_run_records_clear(r->records, r->plan->n_devices);
    free(r->devices);
    free(r->threads);
    free(r->records);
}

static mo_status begin(const run *r, mo_error *err)
{
    const mo_run_options *o = r->options;
    uint64_t digest = 0;
    mo_status status = check_inputs(r->plan, o, err);

    if (status == MO_OK)
        status = digest_plan(r->plan, o->warm_ups + o->runs, &digest, err);
    if (status == MO_OK)
        status =
            o->transport->begin(o->world, r->plan, o->rank_of, 0, digest, err);
    return status;
}

mo_status mo_run_plan(const mo_plan *plan, const mo_run_options *options,
                      mo_run_result *result, mo_error *err)
{
    run r = { .plan = plan, .options = options };
    mo_error own = { 0 }, *e = err ? err : &own;
    mo_status status = make_result(plan, options, result, e);

    if (status == MO_OK)
        status = make_run(&r, e);
    if (status == MO_OK)
        status = begin(&r, e);
    if (status == MO_OK)
        status = work(&r, e);
    if (status == MO_OK)
        status = conclude(&r, result, e);
    if (status != MO_OK)
        options->transport->fail(options->world, e);
    clear_run(&r);
    return status;
}
