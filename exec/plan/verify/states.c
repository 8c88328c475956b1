/* SPDX-License-Identifier: Apache-2.0 */
/* Verifier: states. Each has bytes of its own at the begin of its device's
 * arena, and none of an old value is read after it was overwritten. */
#include <stdlib.h>
#include <string.h>

#include "exec/plan/ir/value_table.h"
#include "exec/plan/verify/verify_internal.h"

static mo_status fail_state(const mo_exec_plan *plan, int v, mo_error *err,
                            const char *what)
{
    return mo_fail(err, MO_E_INPUT, "plan: value %d '%.160s' %s", v,
                   mo_verify_name(plan->values[v].name), what);
}

static bool is_same_state(const mo_plan_value *a, const mo_plan_value *b)
{
    return a->device == b->device && strcmp(a->state, b->state) == 0;
}

/* Two values share all bytes or none. */
static mo_status check_pair(const mo_exec_plan *plan, int a, int b,
                            mo_error *err)
{
    const mo_plan_value *x = &plan->values[a], *y = &plan->values[b];
    int64_t x_bytes = mo_tensor_desc_bytes(&x->desc);
    int64_t y_bytes = mo_tensor_desc_bytes(&y->desc);

    if (x->device != y->device)
        return strcmp(x->state, y->state) == 0
                   ? fail_state(plan, b, err, "has a state of two devices")
                   : MO_OK;
    if (is_same_state(x, y))
        return x->offset == y->offset && x_bytes == y_bytes
                   ? MO_OK
                   : fail_state(plan, b, err, "is not where its state is");
    return x->offset + x_bytes <= y->offset || y->offset + y_bytes <= x->offset
               ? MO_OK
               : fail_state(plan, b, err, "lies in another state");
}

static mo_status check_place(const mo_exec_plan *plan, int v, mo_error *err)
{
    const mo_plan_value *value = &plan->values[v];
    const mo_plan_device *device = &plan->devices[value->device];
    int64_t bytes = mo_tensor_desc_bytes(&value->desc);

    if (value->constant || value->view_of != MO_PLAN_NONE || value->part ||
        value->transfer != MO_PLAN_NONE)
        return fail_state(plan, v, err, "is a state and something else");
    if (value->offset < 0 || bytes > device->state_bytes ||
        value->offset > device->state_bytes - bytes)
        return fail_state(plan, v, err, "does not lie among the states");
    return MO_OK;
}

/* Values of states on a device, while its steps are replayed. */
typedef struct replay {
    const mo_exec_plan *plan;
    const int *values; /* of all states */
    int n;
    bool *is_stale; /* by value: overwritten */
    int *sends;     /* by value: posted and not awaited */
} replay;

static mo_status check_read(const replay *r, int device, int step, int value,
                            mo_error *err)
{
    int root = mo_plan_value_root(r->plan->values, value);

    if (!r->is_stale[root])
        return MO_OK;
    return mo_verify_fail(r->plan, device, step, err,
                          "reads '%.160s', which was overwritten",
                          mo_verify_name(r->plan->values[root].name));
}

/* Only these calls may write the bytes that they read. */
static bool is_updated(const replay *r, const mo_call *call, int old)
{
    for (int i = 0; i < call->n_in; i++)
        if (mo_plan_value_root(r->plan->values, call->in[i]) == old &&
            (call->kind != MO_CALL_SCATTER || i > 0))
            return false;
    return true;
}

/* Calls of other streams end before those that read what they make. */
static bool waits_for_readers(const replay *r, int device, int step,
                              const mo_call *call, int old)
{
    const mo_plan_device *on = &r->plan->devices[device];

    for (int i = 0; i < step && on->n_streams > 1; i++) {
        const mo_call *other = &r->plan->calls[on->steps[i].what].call;
        bool reads = false, is_read = false;

        if (on->steps[i].kind != MO_PLAN_STEP_COMPUTE)
            continue;
        for (int k = 0; k < other->n_in; k++)
            reads |= mo_plan_value_root(r->plan->values, other->in[k]) == old;
        for (int k = 0; k < call->n_in; k++)
            is_read |= mo_plan_value_root(r->plan->values, call->in[k]) ==
                       mo_plan_value_root(r->plan->values, other->out[0]);
        if (reads && !is_read)
            return false;
    }
    return true;
}

static mo_status check_write(replay *r, int device, int step,
                             const mo_call *call, int made, mo_error *err)
{
    const mo_plan_value *value = &r->plan->values[made];

    for (int i = 0; i < r->n && value->state; i++) {
        int old = r->values[i];

        if (old == made || !is_same_state(value, &r->plan->values[old]))
            continue;
        if (r->sends[old] > 0 || !is_updated(r, call, old) ||
            !waits_for_readers(r, device, step, call, old))
            return mo_verify_fail(r->plan, device, step, err,
                                  "writes '%.160s' while '%.160s' is in use",
                                  mo_verify_name(value->name),
                                  mo_verify_name(r->plan->values[old].name));
        r->is_stale[old] = true;
    }
    return MO_OK;
}

static mo_status check_step(replay *r, int device, int step, mo_error *err)
{
    const mo_plan_step *it = &r->plan->devices[device].steps[step];
    const mo_plan_transfer *transfer;
    mo_status status = MO_OK;
    int root;

    if (it->kind == MO_PLAN_STEP_COMPUTE) {
        const mo_call *call = &r->plan->calls[it->what].call;

        for (int i = 0; i < call->n_in && status == MO_OK; i++)
            status = check_read(r, device, step, call->in[i], err);
        for (int i = 0; i < call->n_out && status == MO_OK; i++)
            status = check_write(r, device, step, call, call->out[i], err);
        return status;
    }
    transfer = &r->plan->transfers[it->what];
    if (transfer->from != device)
        return MO_OK;
    root = mo_plan_value_root(r->plan->values, transfer->from_value);
    if (it->kind == MO_PLAN_STEP_SEND)
        status = check_read(r, device, step, root, err);
    r->sends[root] += it->kind == MO_PLAN_STEP_SEND ? 1 : -1;
    return status;
}

static mo_status replay_steps(replay *r, mo_error *err)
{
    const mo_exec_plan *plan = r->plan;
    mo_status status = MO_OK;

    r->is_stale = calloc((size_t) plan->n_values + 1, sizeof *r->is_stale);
    r->sends = calloc((size_t) plan->n_values + 1, sizeof *r->sends);
    if (!r->is_stale || !r->sends)
        status = mo_fail_memory(err);
    for (int d = 0; d < plan->n_devices; d++)
        for (int i = 0; i < plan->devices[d].n_steps && status == MO_OK; i++)
            status = check_step(r, d, i, err);
    for (int i = 0; i < plan->n_outputs && status == MO_OK; i++)
        if (r->is_stale[mo_plan_value_root(plan->values,
                                           plan->outputs[i].value)])
            status =
                mo_fail(err, MO_E_INPUT,
                        "plan: output %d is a state that was overwritten", i);
    free(r->sends);
    free(r->is_stale);
    return status;
}

mo_status mo_verify_states(const mo_exec_plan *plan, mo_error *err)
{
    int *values = calloc((size_t) plan->n_values + 1, sizeof *values), n = 0;
    mo_status status = values ? MO_OK : mo_fail_memory(err);

    for (int v = 0; v < plan->n_values && status == MO_OK; v++)
        if (plan->values[v].state) {
            status = check_place(plan, v, err);
            for (int i = 0; i < n && status == MO_OK; i++)
                status = check_pair(plan, values[i], v, err);
            values[n++] = v;
        }
    if (status == MO_OK && n > 0)
        status = replay_steps(
            &(replay){ .plan = plan, .values = values, .n = n }, err);
    free(values);
    return status;
}
