/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One slot of the devices of this rank that are driven together: receives a
 * request, runs their program, and sends outputs and results to the frontend.
 */
#include "exec/runtime/pipeline/pipeline_internal.h"

#include <stdlib.h>

#include "exec/tensor/mmap_file.h"

mo_status mo_pipeline_open_joint(mo_pipeline *p, mo_error *err)
{
    int n_values = p->plan->n_values;
    bool *inputs = calloc((size_t) n_values + 1, sizeof *inputs);
    const mo_joint_slots_options options = { .run = p->options->run,
                                             .chosen = p->chosen,
                                             .inputs = inputs,
                                             .n_slots = p->slots.n_slots,
                                             .n_slot_transfers =
                                                 p->slots.n_transfers,
                                             .time_calls =
                                                 p->options->time_calls };
    mo_joint_slots *joint = NULL;
    mo_status status;

    if (!inputs)
        return mo_fail_memory(err);
    for (int v = 0; v < n_values; v++)
        inputs[v] = p->slots.inputs[v] != MO_PLAN_NONE;
    status = mo_joint_slots_new(p->plan, &options, &joint, err);
    free(inputs);
    pthread_mutex_lock(&p->lock);
    p->joint = joint;
    pthread_mutex_unlock(&p->lock);
    return status;
}

void mo_pipeline_leave_joint(mo_pipeline *p)
{
    bool last;

    pthread_mutex_lock(&p->lock);
    last = ++p->n_joint_ended == p->slots.n_slots;
    pthread_mutex_unlock(&p->lock);
    if (last && p->joint)
        mo_joint_slots_free_programs(p->joint);
}

/* All devices of the group start with the same request. */
static mo_status receive_request(mo_pipeline_thread *t, mo_error *err)
{
    const mo_pipeline *p = t->pipeline;
    mo_status status = MO_OK;

    for (int d = 0; d < p->plan->n_devices && status == MO_OK; d++)
        if (p->chosen[d])
            status = mo_pipeline_receive(p, t->slot, p->slots.first_start + d,
                                         &t->start, err);
    if (status == MO_OK)
        status = mo_pipeline_decode_start(&t->start, err);
    if (status != MO_OK || t->start.request < 0)
        return status;
    for (int v = 0; v < p->plan->n_values && status == MO_OK; v++) {
        void *data = mo_joint_slots_input(p->joint, t->slot, v);

        if (data)
            status =
                mo_pipeline_receive(p, t->slot, p->slots.inputs[v], data, err);
    }
    return status;
}

static mo_status send_results(mo_pipeline_thread *t, mo_error *err)
{
    const mo_pipeline *p = t->pipeline;
    mo_status status = MO_OK;

    for (int i = 0; i < p->plan->n_outputs && status == MO_OK; i++) {
        const void *data = mo_joint_slots_output(p->joint, t->slot, i);

        if (data && p->slots.outputs[i] != MO_PLAN_NONE)
            status =
                mo_pipeline_send(p, t->slot, p->slots.outputs[i], data, err);
    }
    for (int d = 0; d < p->plan->n_devices && status == MO_OK; d++) {
        const mo_joint_slots_device *measured;

        if (!p->chosen[d])
            continue;
        measured = mo_joint_slots_device_of(p->joint, d);
        t->done = (mo_pipeline_done){ .busy_ns = measured->load_ns,
                                      .slot_bytes = measured->slot_bytes,
                                      .shared_bytes = measured->shared_bytes };
        status = mo_pipeline_send(p, t->slot, p->slots.first_done + d, &t->done,
                                  err);
    }
    return status;
}

mo_status mo_pipeline_serve_group(mo_pipeline_thread *t, mo_error *err)
{
    mo_pipeline *p = t->pipeline;
    const mo_run_plan_options *o = p->options->run;
    mo_status status = MO_OK;
    bool stop = false;

    if (t->slot == 0)
        status = mo_pipeline_open_joint(p, err);
    /* Weights are copied there, and their files are not read again. */
    if (status == MO_OK)
        status = mo_mmap_file_check_all(err);
    if (status == MO_OK)
        status = o->transport->barrier(o->world, &stop, err);
    while (status == MO_OK) {
        status = receive_request(t, err);
        if (status != MO_OK || t->start.request < 0)
            break;
        status = mo_joint_slots_run(p->joint, t->slot, err);
        /* Results of weights whose file was truncated meanwhile are never
         * sent. */
        if (status == MO_OK && mo_mmap_file_has_failed())
            status = mo_mmap_file_check_all(err);
        if (status == MO_OK)
            status = send_results(t, err);
    }
    mo_pipeline_leave_joint(p);
    return status;
}
