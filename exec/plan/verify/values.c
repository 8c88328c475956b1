/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "exec/plan/verify/verify_internal.h"

static bool is_index(int number, int count)
{
    return number >= 0 && number < count;
}

static bool is_none_or_index(int number, int count)
{
    return number == MO_PLAN_NONE || is_index(number, count);
}

static mo_status fail_value(const mo_exec_plan *plan, int v, mo_error *err,
                            const char *what)
{
    return mo_fail(err, MO_E_INPUT, "plan: value %d '%.160s' %s", v,
                   mo_verify_name(plan->values[v].name), what);
}

static bool has_arrays(const mo_exec_plan *plan)
{
    return (plan->n_values == 0 || plan->values) &&
           (plan->n_calls == 0 || plan->calls) &&
           (plan->n_transfers == 0 || plan->transfers) &&
           (plan->n_items == 0 || plan->items) &&
           (plan->n_inputs == 0 || plan->inputs) &&
           (plan->n_outputs == 0 || plan->outputs) && plan->devices;
}

static mo_status check_counts(const mo_exec_plan *plan, mo_error *err)
{
    if (plan->n_devices < 1 || plan->n_values < 0 || plan->n_calls < 0 ||
        plan->n_transfers < 0 || plan->n_items < 0 || plan->n_inputs < 0 ||
        plan->n_outputs < 0 || !has_arrays(plan))
        return mo_fail(err, MO_E_INPUT,
                       "plan: has no devices, or counts that are wrong");
    for (int d = 0; d < plan->n_devices; d++) {
        const mo_plan_device *device = &plan->devices[d];

        if (device->n_steps < 0 || (device->n_steps > 0 && !device->steps) ||
            device->arena_bytes < 0 || device->weight_bytes < 0)
            return mo_fail(err, MO_E_INPUT, "plan: device %d has wrong sizes",
                           d);
    }
    return MO_OK;
}

static bool is_desc(const mo_tensor_desc *desc)
{
    return (unsigned) desc->elem < MO_ELEM_COUNT && desc->shape.rank >= 0 &&
           desc->shape.rank <= MO_MAX_RANK &&
           mo_shape_is_static(&desc->shape) && mo_shape_fits(&desc->shape);
}

static mo_status check_numbers(const mo_exec_plan *plan, int v, mo_error *err)
{
    const mo_plan_value *value = &plan->values[v];

    if (!is_index(value->device, plan->n_devices))
        return fail_value(plan, v, err, "is on no device");
    if (!is_desc(&value->desc))
        return fail_value(plan, v, err, "has no type or no fixed shape");
    if (!is_none_or_index(value->view_of, plan->n_values) ||
        !is_none_or_index(value->input, plan->n_inputs) ||
        !is_none_or_index(value->transfer, plan->n_transfers) ||
        !is_none_or_index(value->item, plan->n_items))
        return fail_value(plan, v, err, "refers to what does not exist");
    return MO_OK;
}

static mo_status check_view(const mo_exec_plan *plan, int v, mo_error *err)
{
    const mo_plan_value *value = &plan->values[v];
    const mo_plan_value *seen = &plan->values[value->view_of];

    if (seen->device != value->device)
        return fail_value(plan, v, err, "is a view of another device's");
    if (seen->desc.elem != value->desc.elem ||
        mo_tensor_desc_bytes(&seen->desc) != mo_tensor_desc_bytes(&value->desc))
        return fail_value(plan, v, err, "is a view of another size or type");
    if (seen->offset != value->offset)
        return fail_value(plan, v, err, "is not where what it views is");
    return MO_OK;
}

/* Inputs of f32 may be rounded when they are loaded. */
static bool is_input(const mo_tensor_desc *given, const mo_tensor_desc *value)
{
    bool rounded = given->elem == MO_ELEM_F32 &&
                   (value->elem == MO_ELEM_F16 || value->elem == MO_ELEM_BF16);

    return mo_shape_equal(&given->shape, &value->shape) &&
           (given->elem == value->elem || rounded);
}

/* It comes from one source at most. */
static mo_status check_source(const mo_exec_plan *plan, int v, mo_error *err)
{
    const mo_plan_value *value = &plan->values[v];
    int sources = (value->constant != NULL) + (value->view_of != MO_PLAN_NONE) +
                  (value->input != MO_PLAN_NONE) +
                  (value->transfer != MO_PLAN_NONE);

    if (sources > 1)
        return fail_value(plan, v, err, "comes from several sources");
    if (value->constant &&
        (!mo_tensor_desc_equal(&value->constant->desc, &value->desc) ||
         (!value->constant->data && mo_tensor_desc_bytes(&value->desc) > 0)))
        return fail_value(plan, v, err, "is not like its constant");
    if (value->input != MO_PLAN_NONE &&
        !is_input(&plan->inputs[value->input].desc, &value->desc))
        return fail_value(plan, v, err, "is not like the input it is");
    if (value->transfer != MO_PLAN_NONE &&
        plan->transfers[value->transfer].to_value != v)
        return fail_value(plan, v, err, "does not arrive by its transfer");
    return value->view_of == MO_PLAN_NONE ? MO_OK : check_view(plan, v, err);
}

/* Views of views must come to an end.  What is known to is not walked again. */
static mo_status check_ends(const mo_exec_plan *plan, bool *ends, mo_error *err)
{
    for (int v = 0; v < plan->n_values; v++) {
        int at = v, n = 0;

        for (; !ends[at] && plan->values[at].view_of != MO_PLAN_NONE; n++) {
            if (n > plan->n_values)
                return fail_value(plan, v, err, "is a view of itself");
            at = plan->values[at].view_of;
        }
        ends[at] = true;
        for (at = v; !ends[at]; at = plan->values[at].view_of)
            ends[at] = true;
    }
    return MO_OK;
}

static mo_status check_chains(const mo_exec_plan *plan, mo_error *err)
{
    bool *ends = calloc((size_t) plan->n_values + 1, sizeof *ends);
    mo_status status = ends ? check_ends(plan, ends, err) : mo_fail_memory(err);

    free(ends);
    return status;
}

mo_status mo_verify_values(const mo_exec_plan *plan, mo_error *err)
{
    mo_status status = check_counts(plan, err);

    for (int v = 0; v < plan->n_values && status == MO_OK; v++)
        status = check_numbers(plan, v, err);
    for (int i = 0; i < plan->n_inputs && status == MO_OK; i++)
        if (!is_desc(&plan->inputs[i].desc))
            status = mo_fail(err, MO_E_INPUT,
                             "plan: input %d has no type or no fixed shape", i);
    for (int v = 0; v < plan->n_values && status == MO_OK; v++)
        status = check_source(plan, v, err);
    return status == MO_OK ? check_chains(plan, err) : status;
}
