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

/* The devices of one thread: one, or those that are driven together. */
typedef struct device_group {
    mo_run_device **devices;
    int n;
    const mo_run_plan_options *options;
    mo_joint_runs runs;
    pthread_t thread;
} device_group;

typedef struct run {
    const mo_exec_plan *plan;
    const mo_run_plan_options *options;
    mo_run_device *devices; /* of this rank */
    int n_here;
    mo_run_device **members; /* of all groups */
    device_group *groups;
    int n_groups;
    mo_run_device_record *records; /* by device of the plan */
} run;

/* Results that were computed from weights that were cut meanwhile are never
 * gathered: the check is part of the run. */
static void *run_group(void *context)
{
    device_group *g = context;
    const mo_run_plan_options *o = g->options;
    mo_error err = { 0 };
    mo_status status = mo_joint_run_devices(g->devices, g->n, &g->runs, &err);

    if (status == MO_OK)
        status = mo_mmap_file_check_all(&err);
    if (status != MO_OK)
        o->transport->fail(o->world, &err);
    o->transport->leave(o->world);
    return NULL;
}

/* If a thread cannot be started all ranks are notified. */
static mo_status run_threads(run *r, mo_error *err)
{
    const mo_run_plan_options *o = r->options;
    int n_started = 0, failed = 0;
    mo_error why = { 0 };
    mo_status status;

    while (failed == 0 && n_started < r->n_groups) {
        device_group *g = &r->groups[n_started];

        failed = pthread_create(&g->thread, NULL, run_group, g);
        n_started += failed == 0;
    }
    if (failed != 0) {
        mo_thread_fail_start(failed, &why);
        o->transport->fail(o->world, &why);
    }
    status = o->transport->serve(o->world, n_started, err);
    for (int i = 0; i < n_started; i++)
        pthread_join(r->groups[i].thread, NULL);
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
    result->n_warm_ups = r->groups->runs.n_warm_ups;
    result->stopped = result->n_runs < r->options->runs;
    /* Devices that are driven together are the first group. */
    memcpy(result->eager_reason, r->groups->runs.eager_reason,
           sizeof result->eager_reason);
    result->chain_ns = r->groups->runs.chain_ns;
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

/* One group of the devices that are driven together, and one of each other. */
static mo_status make_groups(run *r, mo_error *err)
{
    bool *chosen = calloc((size_t) r->plan->n_devices + 1, sizeof *chosen);
    int n = 0;

    if (!chosen)
        return mo_fail_memory(err);
    if (mo_joint_select_devices(r->plan, r->options, chosen) > 0) {
        for (int i = 0; i < r->n_here; i++)
            if (chosen[r->devices[i].device])
                r->members[n++] = &r->devices[i];
        r->groups[r->n_groups++] = (device_group){ .devices = r->members,
                                                   .n = n,
                                                   .options = r->options };
    }
    for (int i = 0; i < r->n_here; i++) {
        int d = r->devices[i].device;

        if (d != MO_PLAN_NONE && chosen[d])
            continue;
        r->members[n] = &r->devices[i];
        r->groups[r->n_groups++] = (device_group){ .devices = &r->members[n++],
                                                   .n = 1,
                                                   .options = r->options };
    }
    free(chosen);
    return MO_OK;
}

static mo_status begin_world(run *r, mo_error *err)
{
    const mo_run_plan_options *o = r->options;
    uint64_t digest = 0;
    int rank = o->transport->rank(o->world);
    mo_status status = MO_OK;

    /* The inputs that devices of this rank read. */
    for (int i = 0; i < r->plan->n_inputs; i++)
        for (int k = 0; k < r->plan->inputs[i].n_values && status == MO_OK;
             k++) {
            int v = r->plan->inputs[i].values[k];

            if (o->rank_of[r->plan->values[v].device] == rank)
                status = mo_run_check_input(r->plan, i, &o->inputs[i], err);
        }
    if (status == MO_OK)
        status = mo_run_config_digest(r->plan, o, &digest, err);
    if (status == MO_OK && o->transport->set_backends)
        status = o->transport->set_backends(o->world, o->backends,
                                            r->plan->n_devices, err);
    if (status == MO_OK)
        status = o->transport->begin(o->world, r->plan, o->rank_of, r->n_groups,
                                     digest, err);
    if (status == MO_OK)
        status = mo_run_check_same_inputs(r->plan, o, err);
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
    if (status == MO_OK) {
        const mo_run_plan_options *o = r.options;
        size_t n_devices = (size_t) r.plan->n_devices + 1;
        int rank = o->transport->rank(o->world);

        r.devices = calloc(n_devices, sizeof *r.devices);
        r.members = calloc(n_devices, sizeof *r.members);
        r.groups = calloc(n_devices, sizeof *r.groups);
        r.records = calloc(n_devices, sizeof *r.records);
        if (!r.devices || !r.members || !r.groups || !r.records)
            status = mo_fail_memory(e);
        else {
            for (int d = 0; d < r.plan->n_devices; d++)
                if (o->rank_of[d] == rank)
                    add_device(&r, d);
            if (r.n_here == 0)
                add_device(&r, MO_PLAN_NONE);
            status = make_groups(&r, e);
        }
    }
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
    free(r.members);
    free(r.groups);
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
