/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frontend at rank 0: intake of requests.
 *
 * Each slot has a thread here. It takes the next request, sends its inputs to
 * the devices and receives the outputs, which delivery.c delivers.
 */
#include "exec/runtime/pipeline/pipeline_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/stop.h"
#include "exec/runtime/consistency.h"
#include "exec/runtime/device/device_run_internal.h"
#include "exec/runtime/gather.h"

typedef struct mo_pipeline_frontend {
    mo_pipeline *p;
    const mo_run_plan_options *options;
    int slot, share;
    mo_tensor_dense *inputs;                /* of the current request */
    void *(*converted)[MO_RUN_N_CONVERTED]; /* by value: buffers of its input */
    const void **sent;        /* by value: bytes of its input, or NULL */
    void **received;          /* by output */
    mo_tensor_dense *outputs; /* by output, with direct delivery; else NULL */
    mo_pipeline_start start;  /* sent to all devices; phase: of the request */
    mo_pipeline_done *done;   /* by device */
} slot_frontend;

static void clear_inputs(slot_frontend *f)
{
    for (int i = 0; i < f->p->plan->n_inputs; i++)
        mo_tensor_clear(&f->inputs[i]);
}

/* Whether a request of the current phase sets the input. */
static bool is_given(const slot_frontend *f, int input)
{
    const mo_exec_plan *plan = f->p->plan;

    return !plan->inputs[input].state &&
           MO_PLAN_PHASE_OF(plan, input, input) == f->start.phase;
}

/* Whether the bytes of the value are sent for a request of the current phase.
 */
static bool is_sent(const slot_frontend *f, int value)
{
    return f->p->slots.inputs[value] != MO_PLAN_NONE &&
           MO_PLAN_PHASE_OF(f->p->plan, value, value) == f->start.phase;
}

/* Whether a request of the current phase makes the output, and sends it. */
static bool is_made(const slot_frontend *f, int output)
{
    return !f->p->plan->outputs[output].state &&
           MO_PLAN_PHASE_OF(f->p->plan, output, output) == f->start.phase;
}

static bool is_received(const slot_frontend *f, int output)
{
    return f->p->slots.outputs[output] != MO_PLAN_NONE && is_made(f, output);
}

/* Takes a request and makes its inputs; *status is that of making them. Returns
 * false when there are no more. */
static bool take_request(slot_frontend *f, int64_t *request, mo_status *status,
                         mo_error *err)
{
    mo_pipeline *p = f->p;
    const mo_pipeline_options *o = p->options;
    mo_tensor_dense *inputs = f->inputs + mo_pipeline_first_input(p, f->share);
    bool more = mo_pipeline_take(p, f->share, inputs, request, err);

    *status = err->status;
    if (more && !o->next)
        *status = o->source(o->context, *request, inputs, err);
    if (more && o->phase)
        f->start.phase = o->phase(o->context, *request);
    for (int i = 0; more && i < p->plan->n_inputs && *status == MO_OK; i++)
        if (is_given(f, i))
            *status = mo_run_check_input(p->plan, i, &f->inputs[i], err);
    return more;
}

static int slot_transfer(const slot_frontend *f, int transfer)
{
    return mo_pipeline_transfer(&f->p->slots, f->slot, transfer);
}

/* Whether the slot has the device. */
static bool has_device(const slot_frontend *f, int d)
{
    return f->p->n_shares == 1 || f->p->share_of[d] == f->share;
}

static mo_status post_starts(slot_frontend *f, int64_t request, mo_error *err)
{
    const mo_run_plan_options *o = f->options;
    mo_status status = MO_OK;

    f->start.request = request;
    for (int d = 0; d < f->p->plan->n_devices && status == MO_OK; d++)
        if (has_device(f, d))
            status = o->transport->send(
                o->world, slot_transfer(f, f->p->slots.first_start + d),
                &f->start, err);
    return status;
}

static mo_status await(const slot_frontend *f, int transfer, bool sending,
                       mo_error *err)
{
    const mo_run_plan_options *o = f->options;

    return o->transport->wait(o->world, slot_transfer(f, transfer), sending,
                              err);
}

/* Of the starts or results of all devices. */
static mo_status await_devices(const slot_frontend *f, int first, bool sending,
                               mo_error *err)
{
    mo_status status = MO_OK;

    for (int d = 0; d < f->p->slots.n_devices && status == MO_OK; d++)
        if (has_device(f, d))
            status = await(f, first + d, sending, err);
    return status;
}

/* Sends a request to all devices, and receives outputs and results. */
static mo_status exchange(slot_frontend *f, int64_t request, mo_error *err)
{
    const mo_run_plan_options *o = f->options;
    const mo_exec_plan *plan = f->p->plan;
    const mo_pipeline_slots *slots = &f->p->slots;
    mo_status status = post_starts(f, request, err);

    for (int v = 0; v < plan->n_values && status == MO_OK; v++)
        if (is_sent(f, v))
            status = o->transport->send(
                o->world, slot_transfer(f, slots->inputs[v]), f->sent[v], err);
    for (int i = 0; i < plan->n_outputs && status == MO_OK; i++)
        if (is_received(f, i))
            status = o->transport->receive(o->world,
                                           slot_transfer(f, slots->outputs[i]),
                                           f->received[i], err);
    for (int d = 0; d < slots->n_devices && status == MO_OK; d++)
        if (has_device(f, d))
            status = o->transport->receive(
                o->world, slot_transfer(f, slots->first_done + d), &f->done[d],
                err);
    if (status == MO_OK)
        status = await_devices(f, slots->first_start, true, err);
    for (int v = 0; v < plan->n_values && status == MO_OK; v++)
        if (is_sent(f, v))
            status = await(f, slots->inputs[v], true, err);
    for (int i = 0; i < plan->n_outputs && status == MO_OK; i++)
        if (is_received(f, i))
            status = await(f, slots->outputs[i], false, err);
    if (status == MO_OK)
        status = await_devices(f, slots->first_done, false, err);
    for (int d = 0; d < slots->n_devices && status == MO_OK; d++)
        status = mo_pipeline_decode_done(&f->done[d], err);
    return status;
}

static mo_status add_times(const slot_frontend *f, int64_t request,
                           int64_t begin_ns, mo_error *err)
{
    const mo_pipeline_times times = { begin_ns, mo_stop_clock_ns(), f->share };
    mo_pipeline *p = f->p;
    bool steady = request >= mo_pipeline_first_steady(p->options);
    mo_status status = MO_OK;

    pthread_mutex_lock(&p->lock);
    if (!p->options->untimed && request >= p->n_times) {
        size_t room = 2 * (size_t) request + 64, had = (size_t) p->n_times;
        mo_pipeline_times *more = realloc(p->times, room * sizeof *more);

        if (more) {
            memset(more + had, 0, (room - had) * sizeof *more);
            p->times = more;
            p->n_times = (int64_t) room;
        } else
            status = mo_fail_memory(err);
    }
    if (!p->options->untimed && status == MO_OK)
        p->times[request] = times;
    for (int d = 0; d < p->plan->n_devices; d++) {
        if (!has_device(f, d))
            continue;
        p->loads[d].load_ns += steady ? f->done[d].busy_ns : 0;
        p->loads[d].slot_bytes = f->done[d].slot_bytes;
        p->loads[d].shared_bytes = f->done[d].shared_bytes;
    }
    p->shares[f->share].n_loads += steady;
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* All devices are driven by this thread. */
static mo_status run_joint(slot_frontend *f, int64_t request, mo_error *err)
{
    const mo_exec_plan *plan = f->p->plan;
    mo_joint_slots *joint = f->p->joint->slots;
    mo_joint_slots_run_result result = { 0 };
    mo_status status;

    for (int i = 0; i < plan->n_inputs; i++)
        for (int k = 0; k < plan->inputs[i].n_values; k++) {
            int v = plan->inputs[i].values[k];
            void *input = mo_joint_slots_input(joint, f->slot, v);

            if (input && is_sent(f, v))
                memcpy(input, f->sent[v],
                       (size_t) mo_tensor_desc_bytes(&plan->values[v].desc));
        }
    status = mo_joint_slots_run(joint, f->slot, request, (int) f->start.phase,
                                &result, err);
    for (int i = 0; i < plan->n_outputs && status == MO_OK; i++)
        if (is_received(f, i)) {
            int v = plan->outputs[i].value;

            memcpy(f->received[i], mo_joint_slots_output(joint, f->slot, i),
                   (size_t) mo_tensor_desc_bytes(&plan->values[v].desc));
        }
    for (int d = 0; d < plan->n_devices && status == MO_OK; d++)
        mo_pipeline_fill_done(f->p->joint, d, &result, &f->done[d]);
    return status;
}

/* Whether the received bytes are the output. */
static bool is_as_received(const slot_frontend *f, int output)
{
    const mo_exec_plan *plan = f->p->plan;
    const mo_plan_value *value = &plan->values[plan->outputs[output].value];

    return f->received[output] && !plan->outputs[output].widened &&
           !value->channels_last;
}

static mo_status deliver_now(slot_frontend *f, int64_t request,
                             const mo_error *failure, mo_error *err)
{
    const mo_exec_plan *plan = f->p->plan;
    bool failed = failure->status != MO_OK;
    mo_status status = MO_OK;

    for (int i = 0; i < plan->n_outputs && status == MO_OK && !failed; i++)
        if (is_made(f, i) && !is_as_received(f, i))
            status = mo_run_fill_output(plan, i, f->received[i], &f->outputs[i],
                                        err);
    return status == MO_OK
               ? mo_pipeline_deliver_direct(f->p, request,
                                            failed ? NULL : f->outputs,
                                            failed ? failure : NULL, err)
               : status;
}

/* Runs a request and stores its outcome. Fails where the run fails; a failed
 * request is an outcome. */
static mo_status run_request(slot_frontend *f, int64_t request, mo_error *err)
{
    mo_pipeline *p = f->p;
    const mo_exec_plan *plan = p->plan;
    mo_tensor_dense *outputs = NULL;
    int64_t begin_ns = mo_stop_clock_ns();
    mo_error why = { 0 };
    mo_status status = MO_OK;

    for (int i = 0; i < plan->n_inputs && status == MO_OK; i++)
        for (int k = 0; k < plan->inputs[i].n_values && status == MO_OK; k++) {
            int v = plan->inputs[i].values[k];

            if (is_sent(f, v))
                status =
                    mo_run_convert_input(&plan->values[v], &f->inputs[i],
                                         f->converted[v], &f->sent[v], err);
        }
    if (status == MO_OK)
        status =
            p->joint ? run_joint(f, request, err) : exchange(f, request, err);
    if (status != MO_OK)
        return status;
    for (int d = 0; d < plan->n_devices && why.status == MO_OK; d++)
        if (f->done[d].status != MO_OK)
            mo_fail(&why, (mo_status) f->done[d].status, "%s", f->done[d].text);
    if (why.status == MO_OK)
        status = add_times(f, request, begin_ns, err);
    if (status == MO_OK && p->options->direct)
        return deliver_now(f, request, &why, err);
    if (status == MO_OK && why.status == MO_OK) {
        outputs = calloc((size_t) plan->n_outputs + 1, sizeof *outputs);
        if (!outputs)
            status = mo_fail_memory(err);
        for (int i = 0; i < plan->n_outputs && status == MO_OK; i++)
            if (is_made(f, i))
                status = mo_run_make_output(plan, i, f->received[i],
                                            &outputs[i], err);
    }
    if (status == MO_OK)
        mo_pipeline_store_outcome(p, request, outputs, &why);
    else
        mo_pipeline_clear_outputs(plan, outputs);
    return status;
}

/* Outputs of direct delivery: what was received, or a buffer for what is made
 * of it. */
static mo_status alloc_outputs(slot_frontend *f, mo_error *err)
{
    const mo_exec_plan *plan = f->p->plan;
    mo_status status = MO_OK;

    f->outputs = calloc((size_t) plan->n_outputs + 1, sizeof *f->outputs);
    if (!f->outputs)
        return mo_fail_memory(err);
    for (int i = 0; i < plan->n_outputs && status == MO_OK; i++) {
        const mo_tensor_desc desc = mo_plan_output_desc(plan, i);

        if (is_as_received(f, i))
            f->outputs[i] =
                (mo_tensor_dense){ .desc = desc, .data = f->received[i] };
        else if (!plan->outputs[i].state)
            status = mo_tensor_new(&desc, &f->outputs[i], err);
    }
    return status;
}

static mo_status alloc_frontend(slot_frontend *f, mo_error *err)
{
    const mo_exec_plan *plan = f->p->plan;

    f->inputs = calloc((size_t) plan->n_inputs + 1, sizeof *f->inputs);
    f->converted = calloc((size_t) plan->n_values + 1, sizeof *f->converted);
    f->sent = calloc((size_t) plan->n_values + 1, sizeof *f->sent);
    f->received = calloc((size_t) plan->n_outputs + 1, sizeof *f->received);
    f->done = calloc((size_t) plan->n_devices + 1, sizeof *f->done);
    if (!f->inputs || !f->converted || !f->sent || !f->received || !f->done)
        return mo_fail_memory(err);
    for (int i = 0; i < plan->n_outputs; i++) {
        const mo_plan_value *value = &plan->values[plan->outputs[i].value];

        if (f->p->slots.outputs[i] == MO_PLAN_NONE ||
            (f->p->n_shares > 1 && !is_made(f, i)))
            continue;
        f->received[i] = malloc((size_t) mo_tensor_desc_bytes(&value->desc));
        if (!f->received[i])
            return mo_fail_memory(err);
    }
    return f->p->options->direct ? alloc_outputs(f, err) : MO_OK;
}

void mo_pipeline_frontend_free(slot_frontend *f)
{
    const mo_exec_plan *plan = f ? f->p->plan : NULL;

    if (!f)
        return;
    for (int v = 0; f->converted && v < plan->n_values; v++)
        for (int i = 0; i < MO_RUN_N_CONVERTED; i++)
            free(f->converted[v][i]);
    for (int i = 0; f->received && i < plan->n_outputs; i++)
        free(f->received[i]);
    if (f->inputs)
        clear_inputs(f);
    for (int i = 0; f->outputs && i < plan->n_outputs; i++)
        mo_tensor_clear(&f->outputs[i]);
    free(f->outputs);
    free(f->inputs);
    free(f->converted);
    free(f->sent);
    free(f->received);
    free(f->done);
    free(f);
}

static mo_status serve_slot(slot_frontend *f, mo_error *err)
{
    mo_status status = MO_OK, made = MO_OK;
    mo_error why = { 0 };
    int64_t request;

    while (status == MO_OK && take_request(f, &request, &made, &why)) {
        if (made == MO_OK)
            status = run_request(f, request, err);
        else if (f->p->options->direct)
            status = deliver_now(f, request, &why, err);
        else
            mo_pipeline_store_outcome(f->p, request, NULL, &why);
        /* After a failure a transfer may still read them. */
        if (status == MO_OK)
            clear_inputs(f);
        made = MO_OK;
        why = (mo_error){ 0 };
    }
    if (status == MO_OK && !f->p->joint)
        status = post_starts(f, -1, err);
    if (status == MO_OK && !f->p->joint)
        status = await_devices(f, f->p->slots.first_start, true, err);
    return status;
}

mo_status mo_pipeline_serve_requests(mo_pipeline_thread *t, mo_error *err)
{
    slot_frontend *f = calloc(1, sizeof *f);
    bool stop = false;
    mo_status status;

    if (!f)
        return mo_fail_memory(err);
    t->frontend = f;
    f->p = t->pipeline;
    f->options = t->pipeline->options->run;
    f->slot = t->slot;
    f->share = mo_pipeline_share_of(f->p, f->slot);
    f->start.phase = f->share; /* of copies */
    status = alloc_frontend(f, err);
    if (status == MO_OK && f->p->joint && f->slot == 0)
        status = mo_pipeline_open_group(f->p, f->p->joint, err);
    if (status == MO_OK)
        status = f->options->transport->barrier(f->options->world, &stop, err);
    if (status == MO_OK)
        status = serve_slot(f, err);
    if (status == MO_OK && f->p->joint)
        status = mo_pipeline_save_group(f->p, f->p->joint, err);
    if (f->p->joint)
        mo_pipeline_leave_group(f->p, f->p->joint);
    return status;
}
