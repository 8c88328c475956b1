/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/runtime/run.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "exec/runtime/consistency.h"
#include "exec/runtime/device/device_run.h"
#include "exec/runtime/gather.h"
#include "exec/runtime/joint/joint.h"
#include "exec/tensor/mmap_file.h"
#include "exec/thread/worker.h"

typedef struct run {
    const mo_exec_plan *plan;
    const mo_run_plan_options *options;
    mo_run_device *devices; /* of this rank */
    int n_here;
    mo_run_device **joint; /* those of them that one thread drives together */
    int n_joint;
    char eager_reason[MO_RUN_REASON_SIZE]; /* of these */
    int64_t chain_ns;                      /* likewise */
    pthread_t *threads;
    mo_run_device_record *records; /* by device of the plan */
} run;

static void report_thread_end(const mo_run_plan_options *o, mo_status status,
                              const mo_error *err)
{
    if (status != MO_OK)
        o->transport->fail(o->world, err);
    o->transport->leave(o->world);
}

/* Results that were computed from weights that were cut meanwhile are never
 * gathered: the check is part of the run. */
static void *run_device(void *context)
{
    mo_run_device *d = context;
    mo_error err = { 0 };
    mo_status status = mo_run_device_open(d, &err);

    if (status == MO_OK)
        status = mo_run_device_execute(d, &err);
    if (status == MO_OK)
        status = mo_mmap_file_check_all(&err);
    report_thread_end(d->options, status, &err);
    return NULL;
}

static void *run_joint(void *context)
{
    run *r = context;
    mo_error err = { 0 };
    mo_status status = mo_joint_run_devices(
        r->joint, r->n_joint, r->eager_reason, &r->chain_ns, &err);

    if (status == MO_OK)
        status = mo_mmap_file_check_all(&err);
    report_thread_end(r->options, status, &err);
    return NULL;
}

static bool is_joint(const run *r, const mo_run_device *device)
{
    for (int i = 0; i < r->n_joint; i++)
        if (r->joint[i] == device)
            return true;
    return false;
}

/* On failure all ranks are notified. */
static bool start_thread(run *r, int *n_started, void *(*run_threads)(void *),
                         void *context)
{
    const mo_run_plan_options *o = r->options;
    mo_error err = { 0 };
    int failed =
        pthread_create(&r->threads[*n_started], NULL, run_threads, context);

    if (failed == 0) {
        ++*n_started;
        return true;
    }
    mo_thread_fail_start(failed, &err);
    o->transport->fail(o->world, &err);
    return false;
}

/* Returns the number of started threads. */
static int start_threads(run *r)
{
    int n = 0;

    if (r->n_joint > 0 && !start_thread(r, &n, run_joint, r))
        return n;
    for (int i = 0; i < r->n_here; i++)
        if (!is_joint(r, &r->devices[i]) &&
            !start_thread(r, &n, run_device, &r->devices[i]))
            return n;
    return n;
}

static mo_status run_threads(run *r, mo_error *err)
{
    const mo_run_plan_options *o = r->options;
    int n_started = start_threads(r);
    mo_status status = o->transport->serve(o->world, n_started, err);

    for (int i = 0; i < n_started; i++)
        pthread_join(r->threads[i], NULL);
    return status;
}

/* The inputs that devices of this rank read. */
static mo_status check_inputs(const mo_exec_plan *plan,
                              const mo_run_plan_options *o, mo_error *err)
{
    int rank = o->transport->rank(o->world);
    mo_status status = MO_OK;

    for (int i = 0; i < plan->n_inputs; i++)
        for (int k = 0; k < plan->inputs[i].n_values && status == MO_OK; k++) {
            int v = plan->inputs[i].values[k];

            if (o->rank_of[plan->values[v].device] == rank)
                status = mo_run_check_input(plan, i, &o->inputs[i], err);
        }
    return status;
}

static mo_status alloc_result(const mo_exec_plan *plan,
                              const mo_run_plan_options *o,
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
    result->wait_ns = calloc(n_devices, sizeof *result->wait_ns);
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
        !result->busy_ns || !result->wait_ns || !result->workspace_bytes ||
        !result->allocated_bytes || (result->n_outputs > 0 && !result->outputs))
        return mo_fail_memory(err);
    return MO_OK;
}

static mo_status gather_and_aggregate(run *r, mo_run_result *result,
                                      mo_error *err)
{
    mo_status status;

    result->n_runs = r->devices->n_runs;
    result->n_warm_ups = r->devices->n_warm_ups;
    result->stopped = result->n_runs < r->options->runs;
    memcpy(result->eager_reason, r->eager_reason, sizeof result->eager_reason);
    result->chain_ns = r->chain_ns;
    status =
        mo_run_gather_results(r->devices, r->n_here, r->records, result, err);
    if (status == MO_OK)
        status = mo_run_aggregate(r->plan, r->records, r->options, result, err);
    if (status == MO_OK && r->options->trace && result->n_runs > 0 &&
        r->options->transport->n_ranks(r->options->world) > 1 &&
        r->options->transport->rank(r->options->world) == 0)
        status = mo_run_align_timeline(r->plan, r->records, result, err);
    return status;
}

static void add_device(run *r, int device)
{
    mo_run_device *d = &r->devices[r->n_here++];

    d->plan = r->plan;
    d->options = r->options;
    d->device = device;
}

/* Devices that may be driven together; direct transfers are known later. */
static mo_status add_joint_devices(run *r, mo_error *err)
{
    bool *chosen = calloc((size_t) r->plan->n_devices + 1, sizeof *chosen);

    if (!chosen)
        return mo_fail_memory(err);
    if (mo_joint_select_devices(r->plan, r->options, chosen) > 0)
        for (int i = 0; i < r->n_here; i++)
            if (chosen[r->devices[i].device])
                r->joint[r->n_joint++] = &r->devices[i];
    free(chosen);
    return MO_OK;
}

static mo_status init_run(run *r, mo_error *err)
{
    const mo_run_plan_options *o = r->options;
    size_t n_devices = (size_t) r->plan->n_devices + 1;
    int rank = o->transport->rank(o->world);

    r->devices = calloc(n_devices, sizeof *r->devices);
    r->joint = calloc(n_devices, sizeof *r->joint);
    r->threads = calloc(n_devices, sizeof *r->threads);
    r->records = calloc(n_devices, sizeof *r->records);
    if (!r->devices || !r->joint || !r->threads || !r->records)
        return mo_fail_memory(err);
    for (int d = 0; d < r->plan->n_devices; d++)
        if (o->rank_of[d] == rank)
            add_device(r, d);
    if (r->n_here == 0)
        add_device(r, MO_PLAN_NONE);
    return add_joint_devices(r, err);
}

static mo_status begin_world(run *r, mo_error *err)
{
    const mo_run_plan_options *o = r->options;
    int n_threads = r->n_here - r->n_joint + (r->n_joint > 0);
    uint64_t digest = 0;
    mo_status status = check_inputs(r->plan, o, err);

    if (status == MO_OK)
        status = mo_run_config_digest(r->plan, o, &digest, err);
    if (status == MO_OK && o->transport->set_backends)
        status = o->transport->set_backends(o->world, o->backends,
                                            r->plan->n_devices, err);
    if (status == MO_OK)
        status = o->transport->begin(o->world, r->plan, o->rank_of, n_threads,
                                     digest, err);
    if (status == MO_OK)
        status = mo_run_check_same_inputs(r->plan, o, err);
    if (status == MO_OK) {
        /* A device without direct transfers runs in a thread of its own and
         * records no more than it needs. */
        if (r->n_joint == 1 && !mo_joint_uses_carrier(r->joint[0]))
            r->n_joint = 0;
    }
    return status;
}

mo_status mo_run_plan(const mo_exec_plan *plan,
                      const mo_run_plan_options *options, mo_run_result *result,
                      mo_error *err)
{
    run r = { .plan = plan, .options = options };
    mo_error own = { 0 }, *e = err ? err : &own;
    mo_status status = alloc_result(plan, options, result, e);

    assert(!(options->whole && options->trace));
    if (status == MO_OK)
        status = init_run(&r, e);
    if (status == MO_OK)
        status = begin_world(&r, e);
    if (status == MO_OK)
        status = run_threads(&r, e);
    if (status == MO_OK)
        status = gather_and_aggregate(&r, result, e);
    if (status != MO_OK)
        options->transport->fail(options->world, e);
    for (int i = 0; i < r.n_here; i++)
        mo_run_device_close(&r.devices[i]);
    if (r.records)
        mo_run_device_records_clear(r.records, r.plan->n_devices);
    free(r.devices);
    free(r.joint);
    free(r.threads);
    free(r.records);
    return status;
}

void mo_run_result_clear(mo_run_result *result)
{
    for (int d = 0; result->steps && d < result->n_devices; d++)
        free(result->steps[d]);
    for (int i = 0; result->outputs && i < result->n_outputs; i++)
        mo_tensor_clear(&result->outputs[i]);
    free(result->steps);
    free(result->outputs);
    free(result->makespan_ns);
    free(result->call_ns);
    free(result->busy_ns);
    free(result->wait_ns);
    free(result->workspace_bytes);
    free(result->allocated_bytes);
    *result = (mo_run_result){ 0 };
}
