/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One slot of a group of devices: receives a request, runs the steps of the
 * devices for it, and sends outputs and results to the frontend.
 */
#include "exec/runtime/pipeline/pipeline_internal.h"

#include <stdlib.h>
#include <string.h>

#include "exec/tensor/mmap_file.h"

mo_status mo_pipeline_open_group(mo_pipeline *p, mo_pipeline_group *g,
                                 mo_error *err)
{
    int n_values = p->plan->n_values;
    bool *inputs = calloc((size_t) n_values + 1, sizeof *inputs);
    const mo_joint_slots_options options = {
        .run = p->options->run,
        .chosen = g->chosen,
        .inputs = inputs,
        .n_slots = p->shares[g->share].n_slots,
        .first_slot = p->shares[g->share].first_slot,
        .n_all_slots = p->slots.n_slots,
        .n_slot_transfers = p->slots.n_transfers,
        .time_calls = p->options->time_calls && g->separate_memory
    };
    mo_joint_slots *slots = NULL;
    mo_status status;

    if (!inputs)
        return mo_fail_memory(err);
    for (int v = 0; v < n_values; v++)
        inputs[v] = p->slots.inputs[v] != MO_PLAN_NONE;
    status = mo_joint_slots_new(p->plan, &options, &slots, err);
    free(inputs);
    pthread_mutex_lock(&p->lock);
    g->slots = slots;
    pthread_mutex_unlock(&p->lock);
    if (status == MO_OK && p->options->load_states)
        status =
            mo_joint_slots_load_states(slots, p->options->load_states, err);
    return status;
}

mo_status mo_pipeline_save_group(const mo_pipeline *p,
                                 const mo_pipeline_group *g, mo_error *err)
{
    if (!p->options->save_states)
        return MO_OK;
    return mo_joint_slots_save_states(g->slots, p->options->save_states, err);
}

void mo_pipeline_leave_group(mo_pipeline *p, mo_pipeline_group *g)
{
    bool last;

    pthread_mutex_lock(&p->lock);
    last = ++g->n_ended == p->shares[g->share].n_slots;
    pthread_mutex_unlock(&p->lock);
    if (last && g->slots)
        mo_joint_slots_free_programs(g->slots);
}

/* Posts a transfer of a slot and waits for it. */
static mo_status receive(const mo_pipeline *p, int slot, int transfer,
                         void *data, mo_error *err)
{
    const mo_run_plan_options *o = p->options->run;
    int t = mo_pipeline_transfer(&p->slots, slot, transfer);
    mo_status status = o->transport->receive(o->world, t, data, err);

    return status == MO_OK ? o->transport->wait(o->world, t, false, err)
                           : status;
}

static mo_status send(const mo_pipeline *p, int slot, int transfer,
                      const void *data, mo_error *err)
{
    const mo_run_plan_options *o = p->options->run;
    int t = mo_pipeline_transfer(&p->slots, slot, transfer);
    mo_status status = o->transport->send(o->world, t, data, err);

    return status == MO_OK ? o->transport->wait(o->world, t, true, err)
                           : status;
}

/* The slot among those of the group. */
static int own_slot(const mo_pipeline_thread *t)
{
    return t->slot - t->pipeline->shares[t->group->share].first_slot;
}

/* All devices of the group start with the same request. */
static mo_status receive_request(mo_pipeline_thread *t, mo_error *err)
{
    const mo_pipeline *p = t->pipeline;
    mo_status status = MO_OK;

    for (int d = 0; d < p->plan->n_devices && status == MO_OK; d++)
        if (t->group->chosen[d])
            status =
                receive(p, t->slot, p->slots.first_start + d, &t->start, err);
    if (status == MO_OK)
        status = mo_pipeline_decode_start(&t->start, err);
    if (status != MO_OK || t->start.request < 0)
        return status;
    for (int v = 0; v < p->plan->n_values && status == MO_OK; v++) {
        void *data = mo_joint_slots_input(t->group->slots, own_slot(t), v);

        if (data && MO_PLAN_PHASE_OF(p->plan, value, v) == t->start.phase)
            status = receive(p, t->slot, p->slots.inputs[v], data, err);
    }
    return status;
}

void mo_pipeline_fill_done(const mo_pipeline_group *g, int device,
                           const mo_joint_slots_run_result *result,
                           mo_pipeline_done *done)
{
    const mo_joint_slots_device *of =
        mo_joint_slots_device_of(g->slots, device);

    *done = (mo_pipeline_done){ .busy_ns = of->load_ns + result->busy_ns,
                                .slot_bytes = of->slot_bytes,
                                .shared_bytes = of->shared_bytes,
                                .status = result->failure.status };
    memcpy(done->text, result->failure.text, sizeof done->text);
}

/* Serves requests until there are no more. Results of weights whose file was
 * truncated or rewritten meanwhile are never sent; those that were copied to
 * separate memory are not read again. */
static mo_status serve_slot(mo_pipeline_thread *t, mo_error *err)
{
    mo_pipeline_group *g = t->group;
    mo_status status = MO_OK;

    for (;;) {
        mo_joint_slots_run_result result = { 0 };

        status = receive_request(t, err);
        if (status != MO_OK || t->start.request < 0)
            return status;
        status = mo_joint_slots_run(g->slots, own_slot(t), t->start.request,
                                    (int) t->start.phase, &result, err);
        if (status == MO_OK &&
            (!g->separate_memory || mo_mmap_file_has_failed()))
            status = mo_mmap_file_check_all(err);
        if (status == MO_OK) {
            const mo_pipeline *p = t->pipeline;

            for (int i = 0; i < p->plan->n_outputs && status == MO_OK; i++) {
                const void *data;

                if (p->slots.outputs[i] == MO_PLAN_NONE ||
                    MO_PLAN_PHASE_OF(p->plan, output, i) != t->start.phase)
                    continue;
                data = mo_joint_slots_output(t->group->slots, own_slot(t), i);
                if (data)
                    status = send(p, t->slot, p->slots.outputs[i], data, err);
            }
            for (int d = 0; d < p->plan->n_devices && status == MO_OK; d++) {
                if (!t->group->chosen[d])
                    continue;
                mo_pipeline_fill_done(t->group, d, &result, &t->done);
                status =
                    send(p, t->slot, p->slots.first_done + d, &t->done, err);
            }
        }
        if (status != MO_OK)
            return status;
    }
}

mo_status mo_pipeline_serve_devices(mo_pipeline_thread *t, mo_error *err)
{
    mo_pipeline *p = t->pipeline;
    const mo_run_plan_options *o = p->options->run;
    mo_status status = MO_OK;
    bool stop = false;

    if (t->group && own_slot(t) == 0)
        status = mo_pipeline_open_group(p, t->group, err);
    if (status == MO_OK && t->group && t->group->separate_memory)
        status = mo_mmap_file_check_all(err);
    if (status == MO_OK)
        status = o->transport->barrier(o->world, &stop, err);
    if (status == MO_OK && t->group)
        status = serve_slot(t, err);
    if (status == MO_OK && t->group)
        status = mo_pipeline_save_group(p, t->group, err);
    if (t->group)
        mo_pipeline_leave_group(p, t->group);
    return status;
}
