/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/runtime/device/device_run.h"

#include "base/minmax.h"
#include "base/stop.h"
#include "exec/runtime/device/device_run_internal.h"
#include "exec/tensor/mmap_file.h"
#include "exec/thread/run_delay.h"

int64_t *mo_run_device_timestamps(const mo_run_device *device, int r)
{
    return device->timestamps +
           (size_t) r * mo_run_timestamp_count(device->n_actions);
}

static mo_status run_call(const mo_run_device *d, const mo_run_action *a,
                          mo_error *err)
{
    void *workspace = d->workspaces[d->plan->calls[a->what].stream];
    mo_status status =
        d->backend->run(d->unit, a->kernel, a->in, a->out, workspace, err);

    if (status != MO_OK)
        mo_run_error_add_op_name(d, a->what, err);
    return status;
}

/* A sent value is first copied to host memory. */
static mo_status post_send(const mo_run_device *d, const mo_run_action *a,
                           mo_error *err)
{
    mo_status status = MO_OK;

    if (a->data != a->value && a->bytes > 0)
        status =
            d->backend->download(d->unit, a->data, a->value, a->bytes, err);
    if (status == MO_OK)
        status = d->options->transport->send(d->options->world, a->what,
                                             a->data, err);
    return status;
}

static mo_status await_transfer(const mo_run_device *d, const mo_run_action *a,
                                mo_error *err)
{
    mo_status status = d->options->transport->wait(d->options->world, a->what,
                                                   a->sending, err);

    if (status == MO_OK && !a->sending && a->data != a->value && a->bytes > 0)
        status = d->backend->upload(d->unit, a->value, a->data, a->bytes, err);
    return status;
}

mo_status mo_run_execute_step(const mo_run_device *d, const mo_run_action *a,
                              mo_error *err)
{
    switch (a->kind) {
    case MO_PLAN_STEP_COMPUTE:
        return run_call(d, a, err);
    case MO_PLAN_STEP_SEND:
        return post_send(d, a, err);
    case MO_PLAN_STEP_RECEIVE:
        return d->options->transport->receive(d->options->world, a->what,
                                              a->data, err);
    case MO_PLAN_STEP_AWAIT:
        break;
    }
    return await_transfer(d, a, err);
}

/* One run, call by call. */
static mo_status run_steps(const mo_run_device *d, int64_t *timestamps,
                           mo_error *err)
{
    mo_status status = MO_OK;

    timestamps[0] = mo_stop_clock_ns();
    for (int i = 0; i < d->n_actions && status == MO_OK; i++) {
        timestamps[mo_run_timestamp_step_begin(i)] = mo_stop_clock_ns();
        status = mo_run_execute_step(d, &d->actions[i], err);
        timestamps[mo_run_timestamp_step_end(i)] = mo_stop_clock_ns();
    }
    return status;
}

/* All calls of a program get the timestamps of the program. */
static void set_program_timestamps(const mo_run_program *p, int64_t begun,
                                   int64_t ended, int64_t *timestamps)
{
    for (int i = p->first; i < p->first + p->n; i++) {
        timestamps[mo_run_timestamp_step_begin(i)] = begun;
        timestamps[mo_run_timestamp_step_end(i)] = ended;
    }
}

/* One run of recorded programs. */
static mo_status run_programs(const mo_run_device *d, int64_t *timestamps,
                              mo_error *err)
{
    const mo_run_program *p = d->programs;
    mo_status status = MO_OK;
    int64_t begun;

    timestamps[0] = mo_stop_clock_ns();
    for (int i = 0; i < d->n_actions && status == MO_OK;) {
        begun = mo_stop_clock_ns();
        if (d->actions[i].kind == MO_PLAN_STEP_COMPUTE) {
            status = d->backend->replay(d->unit, p->recorded, err);
            set_program_timestamps(p, begun, mo_stop_clock_ns(), timestamps);
            i += p++->n;
            continue;
        }
        status = mo_run_execute_step(d, &d->actions[i], err);
        timestamps[mo_run_timestamp_step_begin(i)] = begun;
        timestamps[mo_run_timestamp_step_end(i)] = mo_stop_clock_ns();
        i++;
    }
    return status;
}

static bool has_separate_memory(const mo_run_device *d)
{
    return d->backend && d->backend->separate_memory;
}

static mo_status run_once(mo_run_device *d, int64_t *timestamps, mo_error *err)
{
    mo_status status = d->are_recorded ? run_programs(d, timestamps, err)
                                       : run_steps(d, timestamps, err);

    if (status == MO_OK && has_separate_memory(d))
        status = d->backend->wait(d->unit, err);
    timestamps[mo_run_timestamp_run_end(d->n_actions)] = mo_stop_clock_ns();
    return status;
}

/* The first run triggers one-time initialization in libraries: it goes call by
 * call. */
static mo_status record_after_first(mo_run_device *d, mo_error *err)
{
    if (!has_separate_memory(d) || d->are_recorded || d->options->eager)
        return MO_OK;
    return mo_run_record_programs(d, err);
}

int64_t mo_run_delay_ns(const mo_run_device *d)
{
    int64_t ns = d->scheduled > 0 ? mo_thread_run_delay_ns(d->scheduled) : 0;

    ns = mo_max_i64(ns, 0);
    if (d->backend && d->backend->run_delay_ns)
        ns += d->backend->run_delay_ns(d->unit);
    return ns;
}

mo_status mo_run_more_warm_ups(const mo_run_plan_options *o, int64_t begun_ns,
                               bool *more, mo_error *err)
{
    *more = mo_stop_clock_ns() - begun_ns < o->warm_up_ns;
    return o->transport->barrier(o->world, more, err);
}

mo_status mo_run_device_execute(mo_run_device *device, mo_error *err)
{
    mo_run_device *d = device;
    const mo_run_plan_options *o = d->options;
    int64_t begun_ns = mo_stop_clock_ns(), delay_ns;
    bool warming = mo_run_warms_by_time(o);
    mo_status status = MO_OK;

    for (int r = -o->warm_ups; r < o->runs && status == MO_OK; r++) {
        bool stop = mo_stop_reached(o->stop);

        if (r >= 0 && warming)
            status = mo_run_more_warm_ups(o, begun_ns, &warming, err);
        if (r >= 0 && warming)
            r = -1; /* one more of them */
        if (mo_mmap_file_has_failed() && status == MO_OK)
            status = mo_mmap_file_check_all(err);
        if (d->n_warm_ups + d->n_runs > 0 && status == MO_OK)
            status = record_after_first(d, err);
        if (status == MO_OK)
            status = mo_run_load_inputs(d, err);
        delay_ns = mo_run_delay_ns(d);
        if (status == MO_OK)
            status = o->transport->barrier(o->world, &stop, err);
        if (status != MO_OK || stop)
            break;
        if (r < 0) {
            status = run_once(d, d->warm_up_timestamps, err);
            d->n_warm_ups++;
            continue;
        }
        status = run_once(d, mo_run_device_timestamps(d, r), err);
        d->wait_ns[r] = mo_run_delay_ns(d) - delay_ns;
        d->n_runs = r + 1;
    }
    if (status != MO_OK)
        return status;
    if (!has_separate_memory(d) || d->n_runs == 0)
        return MO_OK;
    status = mo_run_fetch_outputs(d, err);
    if (status != MO_OK || d->options->whole)
        return status;
    return mo_run_step_times(d, err);
}
