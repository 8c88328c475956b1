/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/schedule/liveness.h"

#include <limits.h>
#include <stdlib.h>

#include "exec/plan/ir/value_table.h"

static const mo_plan_live_range no_life = { INT_MAX,
                                            MO_PLAN_LIVE_FROM_INPUT - 1 };

bool mo_plan_live_range_is_nonempty(const mo_plan_live_range *life)
{
    return life->begin <= life->end;
}

/* The value is touched at step. */
static void touch(const mo_exec_plan *plan, mo_plan_live_range *lives,
                  int value, int step)
{
    int root = mo_plan_value_root(plan->values, value);
    mo_plan_live_range *life = &lives[root];

    if (plan->values[root].constant)
        return;
    if (step < life->begin)
        life->begin = step;
    if (step > life->end)
        life->end = step;
}

static void touch_call(const mo_exec_plan *plan, mo_plan_live_range *lives,
                       int number, int step)
{
    const mo_call *call = &plan->calls[number].call;

    for (int i = 0; i < call->n_in; i++)
        touch(plan, lives, call->in[i], step);
    for (int i = 0; i < call->n_out; i++)
        touch(plan, lives, call->out[i], step);
}

static void touch_step(const mo_exec_plan *plan, mo_plan_live_range *lives,
                       int device, int number)
{
    const mo_plan_step *step = &plan->devices[device].steps[number];
    const mo_plan_transfer *transfer;

    if (step->kind == MO_PLAN_STEP_COMPUTE) {
        touch_call(plan, lives, step->what, number);
        return;
    }
    transfer = &plan->transfers[step->what];
    touch(plan, lives,
          transfer->from == device ? transfer->from_value : transfer->to_value,
          number);
}

/* The bytes of a part are those of the whole, from the moment the first of them
 * matters. */
static void give_to_wholes(const mo_exec_plan *plan, mo_plan_live_range *lives)
{
    for (int v = 0; v < plan->n_values; v++) {
        const mo_plan_slice *part = plan->values[v].part;

        if (!part || !mo_plan_live_range_is_nonempty(&lives[v]))
            continue;
        touch(plan, lives, part->of, lives[v].begin);
        touch(plan, lives, part->of, lives[v].end);
        lives[v] = no_life;
    }
}

mo_status mo_plan_liveness(const mo_exec_plan *plan, mo_plan_live_range **lives,
                           mo_error *err)
{
    mo_plan_live_range *made =
        malloc(((size_t) plan->n_values + 1) * sizeof *made);

    if (!made)
        return mo_fail_memory(err);
    for (int v = 0; v < plan->n_values; v++)
        made[v] = no_life;
    for (int d = 0; d < plan->n_devices; d++)
        for (int s = 0; s < plan->devices[d].n_steps; s++)
            touch_step(plan, made, d, s);
    for (int v = 0; v < plan->n_values; v++)
        if (plan->values[v].input != MO_PLAN_NONE)
            touch(plan, made, v, MO_PLAN_LIVE_FROM_INPUT);
    for (int i = 0; i < plan->n_outputs; i++) {
        int v = plan->outputs[i].value;

        touch(plan, made, v, plan->devices[plan->values[v].device].n_steps);
    }
    give_to_wholes(plan, made);
    *lives = made;
    return MO_OK;
}
