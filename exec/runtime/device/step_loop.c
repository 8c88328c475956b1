/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stop.h"
#include "exec/runtime/device/device_run_internal.h"

/* -------------------------------------------------------------------- steps */

static mo_status compute(const mo_run_device *d, const mo_run_action *a,
                         mo_error *err)
{
    void *workspace = d->workspaces[d->plan->calls[a->what].stream];
    mo_status status =
        d->backend->run(d->unit, a->kernel, a->in, a->out, workspace, err);

    if (status != MO_OK)
        mo_run_error_add_op_name(d, a->what, err);
    return status;
}

/* What is sent is copied to where the transport can read it first. */
static mo_status send(const mo_run_device *d, const mo_run_action *a,
                      mo_error *err)
{
    mo_status status = MO_OK;

    if (a->data != a->value && a->bytes > 0)
        status = d->backend->get(d->unit, a->data, a->value, a->bytes, err);
    if (status == MO_OK)
        status = d->options->transport->send(d->options->world, a->what,
                                             a->data, err);
    return status;
}

static mo_status await(const mo_run_device *d, const mo_run_action *a,
                       mo_error *err)
{
    mo_status status = d->options->transport->wait(d->options->world, a->what,
                                                    a->sending, err);

    if (status == MO_OK && !a->sending && a->data != a->value && a->bytes > 0)
        status = d->backend->put(d->unit, a->value, a->data, a->bytes, err);
    return status;
}

mo_status mo_run_execute_step(const mo_run_device *d, const mo_run_action *a,
                              mo_error *err)
{
    switch (a->kind) {
    case MO_PLAN_STEP_COMPUTE:
        return compute(d, a, err);
    case MO_PLAN_STEP_SEND:
        return send(d, a, err);
    case MO_PLAN_STEP_RECEIVE:
        return d->options->transport->receive(d->options->world, a->what,
                                              a->data, err);
    case MO_PLAN_STEP_AWAIT:
        break;
    }
    return await(d, a, err);
}

/* One run, call by call. */
static mo_status run_steps(const mo_run_device *d, int64_t *stamps,
                           mo_error *err)
{
    mo_status status = MO_OK;

    stamps[0] = mo_stop_clock_ns();
    for (int i = 0; i < d->n_actions && status == MO_OK; i++) {
        stamps[mo_run_timestamp_step_begin(i)] = mo_stop_clock_ns();
        status = mo_run_execute_step(d, &d->actions[i], err);
        stamps[mo_run_timestamp_step_end(i)] = mo_stop_clock_ns();
    }
    return status;
}

/* The moments of all calls of a program are those of the program. */
static void stamp_program(const mo_run_program *p, int64_t begun, int64_t ended,
                          int64_t *stamps)
{
    for (int i = p->first; i < p->first + p->n; i++) {
        stamps[mo_run_timestamp_step_begin(i)] = begun;
        stamps[mo_run_timestamp_step_end(i)] = ended;
    }
}

/* One run by programs that were recorded. */
static mo_status run_programs(const mo_run_device *d, int64_t *stamps,
                              mo_error *err)
{
    const mo_run_program *p = d->programs;
    mo_status status = MO_OK;
    int64_t begun;

    stamps[0] = mo_stop_clock_ns();
    for (int i = 0; i < d->n_actions && status == MO_OK;) {
        begun = mo_stop_clock_ns();
        if (d->actions[i].kind == MO_PLAN_STEP_COMPUTE) {
            status = d->backend->replay(d->unit, p->recorded, err);
            stamp_program(p, begun, mo_stop_clock_ns(), stamps);
            i += p++->n;
            continue;
        }
        status = mo_run_execute_step(d, &d->actions[i], err);
        stamps[mo_run_timestamp_step_begin(i)] = begun;
        stamps[mo_run_timestamp_step_end(i)] = mo_stop_clock_ns();
        i++;
    }
    return status;
}

/* --------------------------------------------------------------------- runs */

static bool is_apart(const mo_run_device *d)
{
    return d->backend && d->backend->apart;
}

static mo_status run_once(mo_run_device *d, int64_t *stamps, mo_error *err)
{
    mo_status status = d->are_recorded ? run_programs(d, stamps, err)
                                       : run_steps(d, stamps, err);

    if (status == MO_OK && is_apart(d))
        status = d->backend->wait(d->unit, err);
    stamps[mo_run_timestamp_run_end(d->n_actions)] = mo_stop_clock_ns();
    return status;
}

/* The first run finds out what libraries do only once: it goes call by call. */
static mo_status prepare_next(mo_run_device *d, mo_error *err)
{
    if (!is_apart(d) || d->are_recorded || d->options->eager)
        return MO_OK;
    return mo_run_record_programs(d, err);
}

static mo_status conclude(mo_run_device *d, mo_error *err)
{
    mo_status status = MO_OK;

    if (!is_apart(d) || d->n_runs == 0)
        return MO_OK;
    status = mo_run_fetch_outputs(d, err);
    if (status != MO_OK || d->options->whole)
        return status;
    return mo_run_step_times(d, err);
}

mo_status mo_run_device_execute(mo_run_device *device, mo_error *err)
{
    mo_run_device *d = device;
    const mo_run_plan_options *o = d->options;
    mo_status status = MO_OK;

    for (int r = -o->warm_ups; r < o->runs && status == MO_OK; r++) {
        bool stop = mo_stop_reached(o->stop);

        if (r > -o->warm_ups)
            status = prepare_next(d, err);
        if (status == MO_OK)
            status = mo_run_load_inputs(d, err);
        if (status == MO_OK)
            status = o->transport->barrier(o->world, &stop, err);
        if (status != MO_OK || stop)
            break;
        status = run_once(
            d, r < 0 ? d->warm_up_stamps : mo_run_device_timestamps(d, r), err);
        if (r >= 0)
            d->n_runs = r + 1;
    }
    return status == MO_OK ? conclude(d, err) : status;
}
