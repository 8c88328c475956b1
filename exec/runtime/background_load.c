/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/runtime/background_load.h"

#include <assert.h>

#include "exec/runtime/device/device_run_internal.h"

/* So many are begun before anybody waits: the device never looks around for
 * what comes next.  Others wait for all of them where they give memory back. */
enum { AT_ONCE = 2 };

/* Call by call, and then as a program: see run_work.c. */
static mo_status prepare(mo_run_device *d, mo_error *err)
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

/* Others may have taken the place of inputs since the last time. */
static mo_status replay(const mo_run_device *d, mo_error *err)
{
    mo_status status = mo_run_load_inputs(d, err);

    for (int i = 0; i < d->n_programs && status == MO_OK; i++)
        status = d->backend->replay(d->unit, d->programs[i].recorded, err);
    return status;
}

static mo_status work(const mo_run_device *d, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < AT_ONCE && status == MO_OK; i++)
        status = replay(d, err);
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

    once.runs = 1; /* nothing is kept of more */
    assert(plan->n_devices == 1 && options->backends[0]->apart);
    status = prepare(&d, err);
    if (status == MO_OK)
        status = work(&d, err);
    if (status == MO_OK)
        begun(context);
    while (status == MO_OK && !mo_stop_reached(enough))
        status = work(&d, err);
    mo_run_device_close(&d);
    return status;
}
