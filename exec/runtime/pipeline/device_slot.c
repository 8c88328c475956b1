/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One slot of a device: receives a request, runs the steps of the device for
 * it, and sends outputs and result to the frontend.
 *
 * The device belongs to the slot while it computes, not while it waits for a
 * transfer. Between two calls it is handed to an older request.
 */
#include "exec/runtime/pipeline/pipeline_internal.h"

#include <stdio.h>

#include "base/stop.h"
#include "exec/runtime/device/device_run_internal.h"
#include "exec/tensor/mmap_file.h"

typedef struct slot_run {
    mo_pipeline *p;
    const mo_run_plan_options *options;
    mo_run_device *device;
    mo_pipeline_gate *gate;
    int slot;
    int64_t request;
    bool owns_device;       /* as of the gate */
    int64_t entered_ns;     /* since when */
    mo_pipeline_done *done; /* of the thread: outlives a failed transfer */
} slot_run;

static mo_status open_slots(mo_pipeline_thread *t, mo_error *err)
{
    mo_pipeline *p = t->pipeline;
    mo_run_device *first =
        &p->devices[(size_t) t->device * (size_t) p->slots.n_slots];
    mo_status status = mo_run_device_open(first, err);

    for (int s = 1; s < p->slots.n_slots && status == MO_OK; s++)
        status = mo_run_device_open_slot(
            first, mo_pipeline_transfer(&p->slots, s, 0), first + s, err);
    return status;
}

mo_status mo_pipeline_receive(const mo_pipeline *p, int slot, int transfer,
                              void *data, mo_error *err)
{
    const mo_run_plan_options *o = p->options->run;
    int t = mo_pipeline_transfer(&p->slots, slot, transfer);
    mo_status status = o->transport->receive(o->world, t, data, err);

    return status == MO_OK ? o->transport->wait(o->world, t, false, err)
                           : status;
}

mo_status mo_pipeline_send(const mo_pipeline *p, int slot, int transfer,
                           const void *data, mo_error *err)
{
    const mo_run_plan_options *o = p->options->run;
    int t = mo_pipeline_transfer(&p->slots, slot, transfer);
    mo_status status = o->transport->send(o->world, t, data, err);

    return status == MO_OK ? o->transport->wait(o->world, t, true, err)
                           : status;
}

/* Takes the device, or, where the slot has it, yields it to older requests. */
static void enter_device(slot_run *r)
{
    if (r->owns_device) {
        int64_t now = mo_stop_clock_ns();

        if (mo_pipeline_gate_yield(r->gate, r->slot, r->request)) {
            r->done->busy_ns += now - r->entered_ns;
            r->entered_ns = mo_stop_clock_ns();
        }
        return;
    }
    mo_pipeline_gate_enter(r->gate, r->slot, r->request);
    r->owns_device = true;
    r->entered_ns = mo_stop_clock_ns();
}

static void leave_device(slot_run *r)
{
    if (!r->owns_device)
        return;
    r->done->busy_ns += mo_stop_clock_ns() - r->entered_ns;
    mo_pipeline_gate_leave(r->gate);
    r->owns_device = false;
}

/* A failed call is the end of the request, not of the run: its transfers go on,
 * with any bytes, since the other devices wait for them. */
static void run_call(slot_run *r, const mo_run_action *a)
{
    mo_error why = { 0 };

    if (r->done->status != MO_OK)
        return;
    enter_device(r);
    if (mo_run_execute_step(r->device, a, &why) == MO_OK)
        return;
    r->done->status = why.status;
    snprintf(r->done->text, sizeof r->done->text, "device '%.80s': %.900s",
             r->p->plan->devices[r->device->device].id, why.text);
}

/* Returns whether the transfer that the action awaits is known to be complete.
 */
static bool is_complete(const slot_run *r, const mo_run_action *a)
{
    const mo_transport *transport = r->options->transport;

    return transport->is_done &&
           transport->is_done(r->options->world, a->what, a->sending);
}

static mo_status run_steps(slot_run *r, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < r->device->n_actions && status == MO_OK; i++) {
        const mo_run_action *a = &r->device->actions[i];

        if (a->kind == MO_PLAN_STEP_COMPUTE) {
            run_call(r, a);
            continue;
        }
        if (a->kind == MO_PLAN_STEP_AWAIT && !is_complete(r, a))
            leave_device(r);
        status = mo_run_execute_step(r->device, a, err);
    }
    leave_device(r);
    return status;
}

static mo_status receive_inputs(const slot_run *r, mo_error *err)
{
    const mo_exec_plan *plan = r->p->plan;
    mo_status status = MO_OK;

    for (int v = 0; v < plan->n_values && status == MO_OK; v++)
        if (r->p->slots.inputs[v] != MO_PLAN_NONE &&
            plan->values[v].device == r->device->device)
            status = mo_pipeline_receive(r->p, r->slot, r->p->slots.inputs[v],
                                         r->device->where[v], err);
    return status;
}

static mo_status send_outputs(const slot_run *r, mo_error *err)
{
    const mo_exec_plan *plan = r->p->plan;
    mo_status status = MO_OK;

    for (int i = 0; i < plan->n_outputs && status == MO_OK; i++) {
        int value = plan->outputs[i].value;

        if (r->p->slots.outputs[i] != MO_PLAN_NONE &&
            plan->values[value].device == r->device->device)
            status =
                mo_pipeline_send(r->p, r->slot, r->p->slots.outputs[i],
                                 mo_run_device_output(r->device, value), err);
    }
    return status;
}

static mo_status run_request(slot_run *r, mo_error *err)
{
    const mo_run_device *first = &r->p->devices[(size_t) r->device->device *
                                                (size_t) r->p->slots.n_slots];
    mo_status status;

    *r->done = (mo_pipeline_done){
        .slot_bytes = r->device->slot_bytes,
        .shared_bytes = first->allocated_bytes - first->slot_bytes,
    };
    status = receive_inputs(r, err);
    if (status == MO_OK)
        status = run_steps(r, err);
    /* Results of weights whose file was truncated or rewritten meanwhile are
     * never sent. */
    if (status == MO_OK)
        status = mo_mmap_file_check_all(err);
    if (status == MO_OK)
        status = send_outputs(r, err);
    if (status == MO_OK)
        status = mo_pipeline_send(r->p, r->slot,
                                  r->p->slots.first_done + r->device->device,
                                  r->done, err);
    return status;
}

mo_status mo_pipeline_serve_device(mo_pipeline_thread *t, mo_error *err)
{
    mo_pipeline *p = t->pipeline;
    slot_run r = {
        .p = p, .options = p->options->run, .slot = t->slot, .done = &t->done
    };
    mo_status status = MO_OK;
    bool stop = false;

    if (t->device != MO_PIPELINE_NO_DEVICE && t->slot == 0)
        status = open_slots(t, err);
    if (status == MO_OK)
        status = r.options->transport->barrier(r.options->world, &stop, err);
    if (status != MO_OK || t->device == MO_PIPELINE_NO_DEVICE)
        return status;
    r.device = &p->devices[t->device * p->slots.n_slots + t->slot];
    r.gate = &p->gates[t->device];
    for (;;) {
        status = mo_pipeline_receive(
            p, t->slot, p->slots.first_start + t->device, &t->start, err);
        if (status == MO_OK)
            status = mo_pipeline_decode_start(&t->start, err);
        if (status != MO_OK || t->start.request < 0)
            return status;
        r.request = t->start.request;
        status = run_request(&r, err);
        if (status != MO_OK)
            return status;
    }
}
