#include "exec/run_device.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/lay.h"

/* ------------------------------------------------------------------- values */

static void *alloc(mo_run_device *d, int64_t bytes, mo_status *status,
                   mo_error *err)
{
    void *memory = NULL;

    *status = bytes < 0 || (uint64_t) bytes > SIZE_MAX
                  ? MO_E_MEMORY
                  : d->backend->alloc(d->unit, (size_t) bytes, &memory, err);
    if (*status == MO_OK)
        d->allocated_bytes += bytes;
    if (*status == MO_E_MEMORY)
        mo_fail(err, MO_E_MEMORY,
                "device '%s': there is no memory for %lld bytes; place less on "
                "it",
                d->plan->devices[d->device].id, (long long) bytes);
    return memory;
}

/* Weights are read where the file is mapped, unless kernels could not: an
 * offset in a file may be any, and a layout another one. */
static bool is_readable(const mo_plan_value *value)
{
    uintptr_t at = (uintptr_t) value->constant->data;

    return !value->channels_last &&
           at % mo_elem_bytes(value->constant->desc.elem) == 0;
}

static mo_status copy_constant(mo_run_device *d, int v, mo_error *err)
{
    const mo_plan_value *value = &d->plan->values[v];
    int64_t bytes = mo_desc_bytes(&value->desc);
    mo_status status;
    void *copy;

    copy = alloc(d, bytes, &status, err);
    if (status != MO_OK)
        return status;
    d->copies[d->n_copies++] = copy;
    if (bytes > 0)
        memcpy(copy, value->constant->data, (size_t) bytes);
    d->where[v] = copy;
    if (!value->channels_last)
        return MO_OK;
    /* The bytes are aligned now; they are turned into a second copy. */
    d->where[v] = alloc(d, bytes, &status, err);
    if (status != MO_OK)
        return status;
    d->copies[d->n_copies++] = d->where[v];
    mo_lay_last(&value->desc, copy, d->where[v]);
    return MO_OK;
}

static mo_status place_value(mo_run_device *d, int v, mo_error *err)
{
    const mo_plan_value *value = &d->plan->values[v];

    if (value->constant && !is_readable(value))
        return copy_constant(d, v, err);
    if (value->constant)
        d->where[v] = value->constant->data;
    else if (value->offset != MO_PLAN_NONE)
        d->where[v] = d->memory + value->offset;
    return MO_OK;
}

/* The value whose bytes v shares. */
static int root_of(const mo_plan *plan, int v)
{
    while (plan->values[v].view_of != MO_PLAN_NONE)
        v = plan->values[v].view_of;
    return v;
}

static mo_status place_values(mo_run_device *d, mo_error *err)
{
    const mo_plan *plan = d->plan;
    mo_status status = MO_OK;

    for (int v = 0; v < plan->n_values && status == MO_OK; v++)
        if (plan->values[v].device == d->device &&
            plan->values[v].view_of == MO_PLAN_NONE)
            status = place_value(d, v, err);
    for (int v = 0; v < plan->n_values && status == MO_OK; v++)
        d->where[v] = d->where[root_of(plan, v)];
    return status;
}

/* ------------------------------------------------------------------ actions */

static mo_status prepare_call(mo_run_device *d, mo_run_action *action,
                              mo_error *err)
{
    const mo_call *call = &d->plan->calls[action->what].call;
    size_t n_in = (size_t) call->n_in, n_out = (size_t) call->n_out;
    mo_call_operand *in = mo_arena_array(d->arena, n_in, sizeof *in);
    mo_desc *out = mo_arena_array(d->arena, n_out, sizeof *out);
    const void **from = mo_arena_array(d->arena, n_in, sizeof *from);
    void **to = mo_arena_array(d->arena, n_out, sizeof *to);
    size_t workspace = 0;
    mo_status status;

    if (!in || !out || !from || !to)
        return mo_fail_memory(err);
    for (size_t i = 0; i < n_in; i++) {
        int v = call->in[i];

        from[i] = d->where[v];
        in[i].desc = d->plan->values[v].desc;
        if (d->plan->values[root_of(d->plan, v)].constant)
            in[i].constant = from[i];
    }
    for (size_t i = 0; i < n_out; i++) {
        out[i] = d->plan->values[call->out[i]].desc;
        to[i] = d->where[call->out[i]];
    }
    action->in = from;
    action->out = to;
    status = d->backend->prepare(d->unit, call, in, out, &action->kernel,
                                 &workspace, err);
    if (status == MO_OK && (int64_t) workspace > d->workspace_bytes)
        d->workspace_bytes = (int64_t) workspace;
    return status;
}

static mo_status prepare_step(mo_run_device *d, const mo_plan_step *step,
                              mo_run_action *action, mo_error *err)
{
    const mo_plan_transfer *transfer;

    action->kind = step->kind;
    action->what = step->what;
    if (step->kind == MO_STEP_COMPUTE)
        return prepare_call(d, action, err);
    transfer = &d->plan->transfers[step->what];
    action->sending = transfer->from == d->device;
    action->data =
        d->where[action->sending ? transfer->from_value : transfer->to_value];
    return MO_OK;
}

static mo_status prepare_steps(mo_run_device *d, mo_error *err)
{
    const mo_plan_device *planned = &d->plan->devices[d->device];
    mo_status status = MO_OK;

    d->actions = mo_arena_array(d->arena, (size_t) planned->n_steps + 1,
                                sizeof *d->actions);
    if (!d->actions)
        return mo_fail_memory(err);
    for (int i = 0; i < planned->n_steps && status == MO_OK; i++) {
        d->n_actions = i + 1;
        status = prepare_step(d, &planned->steps[i], &d->actions[i], err);
    }
    return status;
}

/* -------------------------------------------------------- opening and ending
 */

/* Touched before the first run, so that no page is missing in a timed one. */
static mo_status make_stamps(mo_run_device *d, mo_error *err)
{
    size_t row = mo_run_moments(d->n_actions), count;

    if (!mo_size_mul(row, (size_t) d->options->runs, &count) ||
        count > SIZE_MAX / sizeof *d->stamps)
        return mo_fail_memory(err);
    d->stamps = malloc(count * sizeof *d->stamps);
    d->warm_up_stamps = calloc(row, sizeof *d->warm_up_stamps);
    if (!d->stamps || !d->warm_up_stamps)
        return mo_fail_memory(err);
    memset(d->stamps, 0, count * sizeof *d->stamps);
    return MO_OK;
}

static mo_status make_room(mo_run_device *d, mo_error *err)
{
    size_t n_values = (size_t) d->plan->n_values;
    mo_status status;

    d->where = calloc(n_values + 1, sizeof *d->where);
    d->copies = calloc(2 * n_values + 1, sizeof *d->copies);
    d->arena = mo_arena_new();
    if (!d->where || !d->copies || !d->arena)
        return mo_fail_memory(err);
    d->memory = alloc(d, d->plan->devices[d->device].arena_bytes, &status, err);
    return status;
}

mo_status mo_run_device_open(mo_run_device *device, mo_error *err)
{
    mo_run_device *d = device;
    mo_status status;

    if (d->device == MO_PLAN_NONE)
        return make_stamps(d, err);
    d->backend = d->options->backends[d->device];
    status = d->backend->open(&d->options->units[d->device], &d->unit, err);
    if (status == MO_OK)
        status = make_room(d, err);
    if (status == MO_OK)
        status = place_values(d, err);
    if (status == MO_OK)
        status = prepare_steps(d, err);
    if (status == MO_OK)
        d->workspace = alloc(d, d->workspace_bytes, &status, err);
    if (status == MO_OK)
        status = make_stamps(d, err);
    return status;
}

void mo_run_device_close(mo_run_device *device)
{
    mo_run_device *d = device;

    for (int i = 0; i < d->n_actions; i++)
        if (d->actions[i].kernel)
            d->backend->drop(d->unit, d->actions[i].kernel);
    for (int i = 0; i < d->n_copies; i++)
        d->backend->release(d->unit, d->copies[i]);
    if (d->workspace)
        d->backend->release(d->unit, d->workspace);
    if (d->memory)
        d->backend->release(d->unit, d->memory);
    if (d->unit)
        d->backend->close(d->unit);
    mo_arena_free(d->arena);
    free(d->where);
    free(d->copies);
    free(d->stamps);
    free(d->warm_up_stamps);
}

int64_t *mo_run_device_stamps(const mo_run_device *device, int r)
{
    return device->stamps + (size_t) r * mo_run_moments(device->n_actions);
}

const void *mo_run_device_value(const mo_run_device *device, int value)
{
    return device->where[value];
}
