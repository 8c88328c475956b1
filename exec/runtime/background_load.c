/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/runtime/background_load.h"

#include <assert.h>

#include "exec/runtime/device/device_run_internal.h"

/* Replays in flight: the device always has the next one queued. Other threads
 * wait for all of them where they free memory. */
enum { IN_FLIGHT = 2 };

/* Call by call first, and then as a program: see
 * exec/runtime/device/device_run.c. */
static mo_status open_and_record(mo_run_device *d, mo_error *err)
{
    mo_status status = mo_run_device_open(d, err);

    if (status == MO_OK)
        status = mo_run_load_inputs(d, err);
    for (int i = 0; i < d->n_actions && status == MO_OK; i++)
        status = mo_run_execute_step(d, &d->actions[i], err);
    if (status == MO_OK)
        status = d->backend->wait(d->unit, err);
    if (status == MO_OK)
        status = mo_run_record_programs(d, err);
    return status;
}

/* Values may have overwritten the inputs in the last run. */
static mo_status replay_once(const mo_run_device *d, mo_error *err)
{
    mo_status status = mo_run_load_inputs(d, err);

    for (int i = 0; i < d->n_programs && status == MO_OK; i++)
        status = d->backend->replay(d->unit, d->programs[i].recorded, err);
    return status;
}

static mo_status run_until_stopped(const mo_run_device *d, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < IN_FLIGHT && status == MO_OK; i++)
        status = replay_once(d, err);
    return status == MO_OK ? d->backend->wait(d->unit, err) : status;
}

mo_status mo_run_background_load(const mo_exec_plan *plan,
                                 const mo_run_plan_options *options,
                                 const mo_stop *enough,
                                 mo_run_background_started *begun,
                                 void *context, mo_error *err)
{
    mo_run_plan_options once = *options;
    mo_run_device d = { .plan = plan, .options = &once };
    mo_status status;

    once.runs = 1; /* timestamps of more are not kept */
    assert(plan->n_devices == 1 && options->backends[0]->separate_memory);
    status = open_and_record(&d, err);
    if (status == MO_OK)
        status = run_until_stopped(&d, err);
    if (status == MO_OK)
        begun(context);
    while (status == MO_OK && !mo_stop_reached(enough))
        status = run_until_stopped(&d, err);
    mo_run_device_close(&d);
    return status;
}
