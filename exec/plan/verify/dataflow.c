/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "exec/plan/ir/value_table.h"
#include "exec/plan/verify/verify_internal.h"

/* What a value holds, by the value whose bytes they are. */
enum { NOTHING, ARRIVING, DATA };

typedef struct flow {
    const mo_exec_plan *plan;
    unsigned char *holds;
} flow;

static unsigned char *holds(const flow *f, int value)
{
    return &f->holds[mo_plan_value_root(f->plan->values, value)];
}

static const char *name_of(const mo_exec_plan *plan, int value)
{
    return mo_verify_name(plan->values[value].name);
}

static mo_status check_read(const flow *f, int device, int step, int value,
                            mo_error *err)
{
    unsigned char state = *holds(f, value);

    if (state == DATA)
        return MO_OK;
    return mo_verify_fail(f->plan, device, step, err,
                          state == ARRIVING
                              ? "reads '%.160s' before its transfer was awaited"
                              : "reads '%.160s' before it is written",
                          name_of(f->plan, value));
}

/* Views are ways to look at what is there, never written. */
static mo_status check_write(flow *f, int device, int step, int value,
                             unsigned char state, mo_error *err)
{
    const mo_plan_value *written = &f->plan->values[value];

    if (written->view_of != MO_PLAN_NONE || f->holds[value] != NOTHING)
        return mo_verify_fail(f->plan, device, step, err,
                              "writes '%.160s', which is there already",
                              name_of(f->plan, value));
    if (state == DATA && written->transfer != MO_PLAN_NONE)
        return mo_verify_fail(f->plan, device, step, err,
                              "writes '%.160s', which a transfer brings",
                              name_of(f->plan, value));
    f->holds[value] = state;
    return MO_OK;
}

static mo_status do_call(flow *f, int device, int step, mo_error *err)
{
    int number = f->plan->devices[device].steps[step].what;
    const mo_call *call = &f->plan->calls[number].call;
    mo_status status = MO_OK;

    for (int i = 0; i < call->n_in && status == MO_OK; i++)
        status = check_read(f, device, step, call->in[i], err);
    for (int i = 0; i < call->n_out && status == MO_OK; i++)
        status = check_write(f, device, step, call->out[i], DATA, err);
    return status;
}

static mo_status do_step(flow *f, int device, int step, mo_error *err)
{
    const mo_plan_step *it = &f->plan->devices[device].steps[step];
    const mo_plan_transfer *transfer;

    if (it->kind == MO_PLAN_STEP_COMPUTE)
        return do_call(f, device, step, err);
    transfer = &f->plan->transfers[it->what];
    if (it->kind == MO_PLAN_STEP_SEND)
        return check_read(f, device, step, transfer->from_value, err);
    if (it->kind == MO_PLAN_STEP_RECEIVE)
        return check_write(f, device, step, transfer->to_value, ARRIVING, err);
    if (transfer->to == device)
        f->holds[transfer->to_value] = DATA;
    return MO_OK;
}

static mo_status check_outputs(const flow *f, mo_error *err)
{
    for (int i = 0; i < f->plan->n_outputs; i++)
        if (*holds(f, f->plan->outputs[i].value) != DATA)
            return mo_fail(err, MO_E_INPUT,
                           "plan: output %d '%.160s' is made by nobody", i,
                           name_of(f->plan, f->plan->outputs[i].value));
    return MO_OK;
}

/* Each device alone is looked at: values belong to one, and what others do to
 * it are the transfers it begins and awaits itself. */
mo_status mo_verify_dataflow(const mo_exec_plan *plan, mo_error *err)
{
    flow f = { plan, calloc((size_t) plan->n_values + 1, sizeof *f.holds) };
    mo_status status = f.holds ? MO_OK : mo_fail_memory(err);

    for (int v = 0; v < plan->n_values && status == MO_OK; v++)
        if (plan->values[v].constant || plan->values[v].input != MO_PLAN_NONE)
            f.holds[v] = DATA;
    for (int d = 0; d < plan->n_devices; d++)
        for (int i = 0; i < plan->devices[d].n_steps && status == MO_OK; i++)
            status = do_step(&f, d, i, err);
    if (status == MO_OK)
        status = check_outputs(&f, err);
    free(f.holds);
    return status;
}
