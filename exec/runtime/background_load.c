/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/runtime/run.h"

#include <assert.h>

#include "exec/runtime/joint/joint_internal.h"

/* Replays in flight: the device always has the next one queued. Other threads
 * wait for all of them where they free memory. */
enum { IN_FLIGHT = 2 };

/* Values may have overwritten the inputs in the last run. */
static mo_status run_some(const mo_joint_state *j, mo_error *err)
{
    mo_run_device *d = j->devices[0];
    mo_status status = MO_OK;

    for (int k = 0; k < IN_FLIGHT && status == MO_OK; k++) {
        status = mo_run_load_inputs(d, err);
        for (int i = 0; i < j->n_segments && status == MO_OK; i++)
            if (j->segments[i].recorded)
                status =
                    d->backend->replay(d->unit, j->segments[i].recorded, err);
    }
    return status == MO_OK ? d->backend->wait(d->unit, err) : status;
}

mo_status mo_run_background_load(const mo_exec_plan *plan,
                                 const mo_run_plan_options *options,
                                 const mo_stop *enough,
                                 mo_run_background_started *begun,
                                 void *context, mo_error *err)
{
    mo_run_plan_options once = *options;
    mo_run_device d = { .plan = plan, .options = &once }, *devices = &d;
    char eager_reason[MO_RUN_REASON_SIZE] = "";
    mo_joint_state j = { .plan = plan,
                         .options = &once,
                         .backend = options->backends[0],
                         .devices = &devices,
                         .n_local = 1,
                         .eager_reason = eager_reason };
    mo_status status;

    once.runs = 1; /* timestamps of more are not kept */
    assert(plan->n_devices == 1 && options->backends[0]->separate_memory);
    /* Call by call first, and then as a program: see
     * exec/runtime/joint/joint.c. */
    status = mo_joint_open(&j, err);
    if (status == MO_OK)
        status = mo_run_load_inputs(&d, err);
    if (status == MO_OK)
        status = mo_joint_execute(&j, &(mo_joint_request){ 0 }, err);
    if (status == MO_OK)
        status = mo_joint_record_programs(&j, err);
    if (status == MO_OK)
        status = run_some(&j, err);
    if (status == MO_OK)
        begun(context);
    while (status == MO_OK && !mo_stop_reached(enough))
        status = run_some(&j, err);
    mo_joint_free_programs(&j);
    mo_run_device_close(&d);
    mo_arena_free(j.arena);
    return status;
}
