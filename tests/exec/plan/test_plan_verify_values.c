/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/plan/verify/verify.h: corrupted calls, transfers and values
 * are refused. */
#include <limits.h>

#include "exec/plan/schedule/liveness.h"
#include "exec/plan/ir/value_table.h"
#include "tests/support/suite.h"
#include "tests/exec/plan/corrupted_plan.h"

static mo_call *any_call(corrupted_plan *v)
{
    return &v->plan->calls[corrupted_plan_below(v, v->plan->n_calls)].call;
}

static bool reads_nothing_there_is(corrupted_plan *v)
{
    any_call(v)->in[0] = corrupted_plan_below(v, 2)
                             ? -1
                             : v->plan->n_values + corrupted_plan_below(v, 9);
    return true;
}

static bool reads_elsewhere(corrupted_plan *v)
{
    int c = corrupted_plan_below(v, v->plan->n_calls),
        value = corrupted_plan_below(v, v->plan->n_values);

    v->plan->calls[c].call.in[0] = value;
    return v->plan->values[value].device != v->plan->calls[c].device;
}

static bool writes_nothing_there_is(corrupted_plan *v)
{
    any_call(v)->out[0] = corrupted_plan_below(v, 2) ? INT_MIN : INT_MAX;
    return true;
}

/* Two calls produce the same value, or one produces its operand. */
static bool writes_twice(corrupted_plan *v)
{
    int a = corrupted_plan_below(v, v->plan->n_calls),
        b = corrupted_plan_below(v, v->plan->n_calls);

    v->plan->calls[a].call.out[0] = v->plan->calls[b].call.out[0];
    return a != b;
}

static bool writes_what_it_reads(corrupted_plan *v)
{
    mo_call *call = any_call(v);

    call->out[0] = call->in[0];
    return true;
}

static bool calls_for_no_item(corrupted_plan *v)
{
    v->plan->calls[corrupted_plan_below(v, v->plan->n_calls)].item =
        corrupted_plan_below(v, 2) ? MO_PLAN_NONE : v->plan->n_items;
    return true;
}

static bool calls_elsewhere(corrupted_plan *v)
{
    mo_plan_call *call =
        &v->plan->calls[corrupted_plan_below(v, v->plan->n_calls)];

    call->device = (call->device + 1) % VICTIM_DEVICES;
    return true;
}

static bool calls_a_view(corrupted_plan *v)
{
    any_call(v)->kind =
        corrupted_plan_below(v, 2) ? MO_CALL_VIEW : MO_CALL_KINDS;
    return true;
}

static bool has_half_an_epilogue(corrupted_plan *v)
{
    any_call(v)->first_extra += corrupted_plan_below(v, 2) ? 1 : -1;
    return true;
}

static mo_plan_transfer *any_transfer(corrupted_plan *v)
{
    if (v->plan->n_transfers == 0)
        return NULL;
    return &v->plan->transfers[corrupted_plan_below(v, v->plan->n_transfers)];
}

static bool sends_other_bytes(corrupted_plan *v)
{
    mo_plan_transfer *it = any_transfer(v);

    if (it)
        it->bytes += corrupted_plan_below(v, 2) ? 4 : -4;
    return it != NULL;
}

static bool sends_another_type(corrupted_plan *v)
{
    mo_plan_transfer *it = any_transfer(v);

    if (it)
        v->plan->values[it->to_value].desc.elem = MO_ELEM_I32;
    return it != NULL;
}

static bool sends_another_layout(corrupted_plan *v)
{
    mo_plan_transfer *it = any_transfer(v);

    if (it)
        v->plan->values[it->to_value].channels_last = true;
    return it != NULL;
}

static bool sends_to_itself(corrupted_plan *v)
{
    mo_plan_transfer *it = any_transfer(v);

    if (it)
        it->to = it->from;
    return it != NULL;
}

static bool sends_back(corrupted_plan *v)
{
    mo_plan_transfer *it = any_transfer(v);
    int from = it ? it->from : 0;

    if (it) {
        it->from = it->to;
        it->to = from;
    }
    return it != NULL;
}

static bool sends_no_value(corrupted_plan *v)
{
    mo_plan_transfer *it = any_transfer(v);

    if (it)
        it->from_value = v->plan->n_values;
    return it != NULL;
}

static bool brings_one_value_twice(corrupted_plan *v)
{
    mo_plan_transfer *a = any_transfer(v), *b = any_transfer(v);

    if (a)
        a->to_value = b->to_value;
    return a != b;
}

/* A call's result overlaps its operand. */
static bool overwrites_an_operand(corrupted_plan *v)
{
    mo_call *call = any_call(v);
    mo_plan_value *values = v->plan->values;
    int in = mo_plan_value_root(values, call->in[0]), out = call->out[0];
    bool seen = false;

    for (int i = 0; i < v->plan->n_values; i++)
        seen = seen || values[i].view_of == out;
    values[out].offset = values[in].offset;
    return !seen && !values[in].constant;
}

/* A value takes the bytes of a live one. */
static bool overwrites_a_living_value(corrupted_plan *v)
{
    mo_plan_value *values = v->plan->values;
    mo_plan_live_range *lives = NULL;
    bool done = false;

    MUST(mo_plan_liveness(v->plan, &lives, &err));
    for (int a = 0; a < v->plan->n_values && !done; a++)
        for (int b = 0; b < v->plan->n_values && !done; b++)
            if (a != b && values[a].device == values[b].device &&
                mo_plan_live_range_is_nonempty(&lives[a]) &&
                mo_plan_live_range_is_nonempty(&lives[b]) &&
                lives[a].begin <= lives[b].end &&
                lives[b].begin <= lives[a].end &&
                corrupted_plan_below(v, 4) == 0) {
                values[a].offset = values[b].offset;
                done = true;
            }
    free(lives);
    return done;
}

/* The first byte of a value is the last of another one. */
static bool overlaps_by_a_byte(corrupted_plan *v)
{
    mo_call *call = any_call(v);
    mo_plan_value *values = v->plan->values;
    int in = mo_plan_value_root(values, call->in[0]), out = call->out[0];
    int64_t end = values[in].offset + mo_tensor_desc_bytes(&values[in].desc);

    if (values[in].constant)
        return false;
    for (int i = 0; i < v->plan->n_values; i++)
        if (values[i].view_of == out)
            return false;
    values[out].offset = end - 1;
    v->plan->devices[values[out].device].arena_bytes += 1 << 20;
    return true;
}

static bool lies_outside(corrupted_plan *v)
{
    mo_plan_value *out = &v->plan->values[any_call(v)->out[0]];

    out->offset = corrupted_plan_below(v, 2) ? -64 : INT64_MAX - 63;
    return true;
}

static bool is_not_aligned(corrupted_plan *v)
{
    mo_plan_value *out = &v->plan->values[any_call(v)->out[0]];

    if (mo_elem_size(out->desc.elem) == 1)
        return false;
    out->offset = v->plan->devices[out->device].arena_bytes + 1;
    v->plan->devices[out->device].arena_bytes += 1 << 20;
    return true;
}

static bool has_too_small_an_arena(corrupted_plan *v)
{
    mo_plan_device *device =
        &v->plan->devices[corrupted_plan_below(v, VICTIM_DEVICES)];

    if (device->arena_bytes < 64)
        return false;
    device->arena_bytes -= 64;
    return true;
}

static int any_view(corrupted_plan *v)
{
    int found = MO_PLAN_NONE, seen = 0;

    for (int i = 0; i < v->plan->n_values; i++)
        if (v->plan->values[i].view_of != MO_PLAN_NONE &&
            corrupted_plan_below(v, ++seen) == 0)
            found = i;
    return found;
}

static bool views_itself(corrupted_plan *v)
{
    int view = any_view(v);

    if (view != MO_PLAN_NONE)
        v->plan->values[view].view_of = view;
    return view != MO_PLAN_NONE;
}

static bool views_in_a_circle(corrupted_plan *v)
{
    int view = any_view(v);

    if (view != MO_PLAN_NONE)
        v->plan->values[v->plan->values[view].view_of].view_of = view;
    return view != MO_PLAN_NONE;
}

static bool views_another_size(corrupted_plan *v)
{
    int view = any_view(v);

    if (view != MO_PLAN_NONE)
        v->plan->values[view].desc.shape.dims[0]++;
    return view != MO_PLAN_NONE;
}

static bool has_a_value_nowhere(corrupted_plan *v)
{
    mo_plan_value *value =
        &v->plan->values[corrupted_plan_below(v, v->plan->n_values)];

    value->device = corrupted_plan_below(v, 2) ? -1 : VICTIM_DEVICES;
    return true;
}

static bool has_no_shape(corrupted_plan *v)
{
    mo_tensor_desc *desc =
        &v->plan->values[corrupted_plan_below(v, v->plan->n_values)].desc;

    switch (corrupted_plan_below(v, 4)) {
    case 0:
        desc->shape.rank = MO_MAX_RANK + 1;
        break;
    case 1:
        desc->shape.dims[0] = -1;
        break;
    case 2:
        desc->shape.dims[1] = INT64_MAX;
        break;
    default:
        desc->elem = MO_ELEM_COUNT;
        break;
    }
    return true;
}

static bool feeds_nobody(corrupted_plan *v)
{
    v->plan->inputs[0].n_values = -1;
    return true;
}

static bool feeds_what_is_no_input(corrupted_plan *v)
{
    if (v->plan->inputs[0].n_values == 0)
        return false;
    v->plan->inputs[0].values[0] = any_call(v)->out[0];
    return true;
}

static bool forgets_an_output(corrupted_plan *v)
{
    /* Without the output its producer might be dead: the last call goes with
     * its step, and its result is an output. */
    mo_exec_plan *plan = v->plan;
    int last = plan->n_calls - 1, device = plan->calls[last].device;
    mo_plan_device *on = &plan->devices[device];

    for (int s = 0; s < on->n_steps; s++)
        if (on->steps[s].kind == MO_PLAN_STEP_COMPUTE &&
            on->steps[s].what == last) {
            memmove(on->steps + s, on->steps + s + 1,
                    (size_t) (on->n_steps - s - 1) * sizeof *on->steps);
            on->n_steps--;
            break;
        }
    plan->outputs[0].value = plan->calls[last].call.out[0];
    plan->n_calls--;
    return true;
}

static const plan_mutation of_values[] = {
    MUTATION(reads_nothing_there_is),
    MUTATION(reads_elsewhere),
    MUTATION(writes_nothing_there_is),
    MUTATION(writes_twice),
    MUTATION(writes_what_it_reads),
    MUTATION(calls_for_no_item),
    MUTATION(calls_elsewhere),
    MUTATION(calls_a_view),
    MUTATION(has_half_an_epilogue),
    MUTATION(sends_other_bytes),
    MUTATION(sends_another_type),
    MUTATION(sends_another_layout),
    MUTATION(sends_to_itself),
    MUTATION(sends_back),
    MUTATION(sends_no_value),
    MUTATION(brings_one_value_twice),
    MUTATION(overwrites_an_operand),
    MUTATION(overwrites_a_living_value),
    MUTATION(overlaps_by_a_byte),
    MUTATION(lies_outside),
    MUTATION(is_not_aligned),
    MUTATION(has_too_small_an_arena),
    MUTATION(views_itself),
    MUTATION(views_in_a_circle),
    MUTATION(views_another_size),
    MUTATION(has_a_value_nowhere),
    MUTATION(has_no_shape),
    MUTATION(feeds_nobody),
    MUTATION(feeds_what_is_no_input),
    MUTATION(forgets_an_output),
};

START_TEST(plans_with_broken_values_are_refused)
{
    corrupted_plan_check(&of_values[_i]);
}
END_TEST

SUITE(plan_verify_values)
{
    EACH(plans_with_broken_values_are_refused, COUNT(of_values));
}
