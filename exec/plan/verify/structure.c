/* SPDX-License-Identifier: Apache-2.0 */
/* Verifier: well-formed values, transfers, inputs, outputs and calls. */
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

static mo_status check_counts(const mo_exec_plan *plan, mo_error *err)
{
    if (plan->n_devices < 1 || plan->n_values < 0 || plan->n_calls < 0 ||
        plan->n_transfers < 0 || plan->n_items < 0 || plan->n_inputs < 0 ||
        plan->n_outputs < 0 ||
        !((plan->n_values == 0 || plan->values) &&
          (plan->n_calls == 0 || plan->calls) &&
          (plan->n_transfers == 0 || plan->transfers) &&
          (plan->n_items == 0 || plan->items) &&
          (plan->n_inputs == 0 || plan->inputs) &&
          (plan->n_outputs == 0 || plan->outputs) && plan->devices))
        return mo_fail(err, MO_E_INPUT,
                       "plan: has no devices, or counts that are wrong");
    for (int d = 0; d < plan->n_devices; d++) {
        const mo_plan_device *device = &plan->devices[d];

        if (device->n_steps < 0 || (device->n_steps > 0 && !device->steps) ||
            device->arena_bytes < 0 || device->weight_bytes < 0 ||
            device->state_bytes < 0 ||
            device->state_bytes > device->arena_bytes)
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

/* Inputs of f32 may be rounded when they are loaded. */
static bool is_input(const mo_tensor_desc *given, const mo_tensor_desc *value)
{
    bool rounded = given->elem == MO_ELEM_F32 &&
                   (value->elem == MO_ELEM_F16 || value->elem == MO_ELEM_BF16);

    return mo_shape_equal(&given->shape, &value->shape) &&
           (given->elem == value->elem || rounded);
}

/* A value has one source at most. */
static mo_status check_source(const mo_exec_plan *plan, int v, mo_error *err)
{
    const mo_plan_value *value = &plan->values[v];
    int sources = (value->constant != NULL) + (value->view_of != MO_PLAN_NONE) +
                  (value->input != MO_PLAN_NONE) +
                  (value->transfer != MO_PLAN_NONE);
    const mo_plan_value *seen;

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
    if (value->view_of == MO_PLAN_NONE)
        return MO_OK;
    seen = &plan->values[value->view_of];
    if (seen->device != value->device)
        return fail_value(plan, v, err, "is a view of another device's");
    if (seen->desc.elem != value->desc.elem ||
        mo_tensor_desc_bytes(&seen->desc) != mo_tensor_desc_bytes(&value->desc))
        return fail_value(plan, v, err, "is a view of another size or type");
    if (seen->offset != value->offset)
        return fail_value(plan, v, err, "is not where what it views is");
    return MO_OK;
}

/* Chains of views must end. A chain known to end is not followed again. */
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
    if (status != MO_OK)
        return status;

    bool *ends = calloc((size_t) plan->n_values + 1, sizeof *ends);
    status = ends ? check_ends(plan, ends, err) : mo_fail_memory(err);

    free(ends);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds check of attention calls: strided views must stay within the values.
 */
#include "base/array.h"
#include "exec/tensor/strided_view.h"
#include "exec/plan/verify/verify_internal.h"

/* Extends the lowest and highest element of a view by one dimension. */
static bool extend_bounds(int64_t extent, int64_t stride, int64_t *low,
                          int64_t *high)
{
    int64_t far;

    if (!mo_int64_mul(extent - 1, stride, &far))
        return false;
    return far < 0 ? mo_int64_add(*low, far, low)
                   : mo_int64_add(*high, far, high);
}

/* A matrix for every batch of an attention, as strides into a value. */
typedef struct matrices {
    int64_t offset;
    const int64_t *batch;
    int64_t rows, row, columns, column;
} matrices;

static bool is_within(const mo_exec_plan *plan, int value,
                      const mo_call_attention *c, const matrices *m)
{
    mo_tensor_view view = { .offset = m->offset };

    for (int d = 0; d < c->n_batch; d++)
        mo_tensor_view_append_dim(&view, c->extent[d], m->batch[d]);
    mo_tensor_view_append_dim(&view, m->rows, m->row);
    mo_tensor_view_append_dim(&view, m->columns, m->column);

    int64_t low = view.offset, high = low;

    for (int d = 0; d < view.rank; d++)
        if (view.extent[d] == 0)
            return true;
    for (int d = 0; d < view.rank; d++)
        if (!extend_bounds(view.extent[d], view.stride[d], &low, &high))
            return false;
    return low >= 0 &&
           high < mo_tensor_desc_elements(&plan->values[value].desc);
}

static bool has_valid_sizes(const mo_call_attention *c)
{
    if (c->n_batch < 0 || c->n_batch > MO_CALL_MATMUL_MAX_BATCH ||
        c->queries < 0 || c->keys < 0 || c->width < 0 || c->v_width < 0)
        return false;
    for (int d = 0; d < c->n_batch; d++)
        if (c->extent[d] < 0)
            return false;
    return true;
}

static bool is_valid_score(const mo_exec_plan *plan, const mo_call *call)
{
    const mo_call_attention *c = &call->u.attention;
    const mo_point_program *score = c->score;

    if (!score)
        return true;
    if (c->n_batch + 2 > MO_MAX_RANK || score->operands[0].elem != MO_ELEM_F32)
        return false;
    for (int i = 1; i < score->n_operands; i++) {
        int value = call->in[3 + c->has_mask + i - 1];
        const mo_point_access *access = &score->operands[i].access;
        const int64_t *last = access->stride + c->n_batch;

        if (plan->values[value].desc.elem != score->operands[i].elem ||
            !is_within(plan, value, c,
                       &(matrices){ access->offset, access->stride, c->queries,
                                    last[0], c->keys, last[1] }))
            return false;
    }
    return true;
}

static bool is_valid_attention(const mo_exec_plan *plan, const mo_call *call)
{
    const mo_call_attention *c = &call->u.attention;
    int own = 3 + c->has_mask + c->has_sinks +
              (c->score ? c->score->n_operands - 1 : 0);

    if (call->n_out != 1 || call->first_extra != own || own > call->n_in ||
        !has_valid_sizes(c))
        return false;
    return is_within(plan, call->in[0], c,
                     &(matrices){ c->q_offset, c->q_batch, c->queries, c->q_row,
                                  c->width, 1 }) &&
           is_within(plan, call->in[1], c,
                     &(matrices){ c->k_offset, c->k_batch, c->keys, c->k_row,
                                  c->width, 1 }) &&
           is_within(plan, call->in[2], c,
                     &(matrices){ c->v_offset, c->v_batch, c->keys, c->v_row,
                                  c->v_width, 1 }) &&
           is_within(plan, call->out[0], c,
                     &(matrices){ 0, c->out_batch, c->queries, c->out_row,
                                  c->v_width, 1 }) &&
           (!c->has_mask ||
            is_within(plan, call->in[3], c,
                      &(matrices){ c->mask_offset, c->mask_batch, c->queries,
                                   c->mask_row, c->keys, c->mask_column })) &&
           is_valid_score(plan, call);
}

static mo_status fail_transfer(const mo_exec_plan *plan, int t, mo_error *err,
                               const char *what)
{
    return mo_fail(err, MO_E_INPUT, "plan: transfer %d of %d %s", t,
                   plan->n_transfers, what);
}

static mo_status check_transfer(const mo_exec_plan *plan, int t, mo_error *err)
{
    const mo_plan_transfer *it = &plan->transfers[t];
    const mo_plan_value *from, *to;

    if (!is_index(it->from_value, plan->n_values) ||
        !is_index(it->to_value, plan->n_values))
        return fail_transfer(plan, t, err, "is of values that do not exist");
    from = &plan->values[it->from_value];
    to = &plan->values[it->to_value];
    if (it->from == it->to || from->device != it->from || to->device != it->to)
        return fail_transfer(plan, t, err,
                             "is not between the devices of its values");
    if (!mo_tensor_desc_equal(&from->desc, &to->desc) ||
        from->channels_last != to->channels_last ||
        mo_tensor_desc_bytes(&from->desc) != it->bytes)
        return fail_transfer(plan, t, err,
                             "has ends that differ in size or type");
    if (to->transfer != t)
        return fail_transfer(plan, t, err, "brings what comes another way");
    return MO_OK;
}

static mo_status check_input(const mo_exec_plan *plan, int i, mo_error *err)
{
    const mo_plan_input *input = &plan->inputs[i];

    if (input->n_values < 0 || (input->n_values > 0 && !input->values))
        return mo_fail(err, MO_E_INPUT, "plan: input %d has wrong counts", i);
    for (int k = 0; k < input->n_values; k++)
        if (!is_index(input->values[k], plan->n_values) ||
            plan->values[input->values[k]].input != i)
            return mo_fail(err, MO_E_INPUT,
                           "plan: input %d is fed to what is no input", i);
    return MO_OK;
}

mo_status mo_verify_transfers_and_io(const mo_exec_plan *plan, mo_error *err)
{
    mo_status status = MO_OK;

    for (int t = 0; t < plan->n_transfers && status == MO_OK; t++)
        status = check_transfer(plan, t, err);
    for (int i = 0; i < plan->n_inputs && status == MO_OK; i++)
        status = check_input(plan, i, err);
    if (status == MO_OK) {
        /* Every value that is an input is listed once. */
        char *fed = calloc((size_t) plan->n_values + 1, sizeof *fed);
        status = fed ? MO_OK : mo_fail_memory(err);

        for (int i = 0; i < plan->n_inputs && status == MO_OK; i++)
            for (int k = 0; k < plan->inputs[i].n_values && status == MO_OK;
                 k++)
                if (fed[plan->inputs[i].values[k]]++)
                    status =
                        mo_fail(err, MO_E_INPUT,
                                "plan: input %d is fed twice to one value", i);
        for (int v = 0; v < plan->n_values && status == MO_OK; v++)
            if (plan->values[v].input != MO_PLAN_NONE && !fed[v])
                status =
                    mo_fail(err, MO_E_INPUT,
                            "plan: value %d is an input that nobody feeds", v);
        free(fed);
    }
    for (int i = 0; i < plan->n_outputs && status == MO_OK; i++) {
        const mo_plan_output *output = &plan->outputs[i];
        mo_elem elem;

        if (!is_index(output->value, plan->n_values))
            return mo_fail(err, MO_E_INPUT, "plan: output %d is no value of it",
                           i);
        elem = plan->values[output->value].desc.elem;
        if (output->widened && elem != MO_ELEM_F16 && elem != MO_ELEM_BF16)
            status = mo_fail(err, MO_E_INPUT,
                             "plan: output %d is widened, but not narrow", i);
    }
    return status;
}

static mo_status fail_call(const mo_exec_plan *plan, int c, mo_error *err,
                           const char *what)
{
    return mo_fail(err, MO_E_INPUT, "plan: call %d of %d %s", c, plan->n_calls,
                   what);
}

static bool has_valid_operands(const mo_exec_plan *plan, const int *operands,
                               int n, int device)
{
    if (n < 0 || n > MO_CALL_MAX_OPERANDS || (n > 0 && !operands))
        return false;
    for (int i = 0; i < n; i++)
        if (!is_index(operands[i], plan->n_values) ||
            plan->values[operands[i]].device != device)
            return false;
    return true;
}

/* Operand 0 of an epilogue is the call's result. */
static bool is_epilogue(const mo_call *call)
{
    int extra = call->n_in - call->first_extra;

    return call->first_extra >= 0 && extra >= 0 &&
           (call->after
                ? call->n_out >= 1 && call->after->n_operands == extra + 1
                : extra == 0);
}

static mo_status check_call(const mo_exec_plan *plan, int c, mo_error *err)
{
    const mo_plan_call *it = &plan->calls[c];
    const mo_call *call = &it->call;

    if (!is_index(it->device, plan->n_devices) ||
        !is_index(it->item, plan->n_items) ||
        !is_index(it->timed_as, plan->n_items) ||
        plan->items[it->item].device != it->device)
        return fail_call(plan, c, err, "is not on the device of its item");
    if ((unsigned) call->kind >= MO_CALL_KINDS || call->kind == MO_CALL_VIEW)
        return fail_call(plan, c, err, "is nothing that a device can do");
    if (!has_valid_operands(plan, call->in, call->n_in, it->device) ||
        !has_valid_operands(plan, call->out, call->n_out, it->device))
        return fail_call(plan, c, err,
                         "has operands that are not on its device");
    if (!is_epilogue(call))
        return fail_call(plan, c, err, "has an epilogue of other operands");
    if (call->kind == MO_CALL_ATTENTION && !is_valid_attention(plan, call))
        return fail_call(plan, c, err, "is attention beyond its operands");
    return MO_OK;
}

mo_status mo_verify_calls(const mo_exec_plan *plan, mo_error *err)
{
    mo_status status = MO_OK;

    for (int c = 0; c < plan->n_calls && status == MO_OK; c++)
        status = check_call(plan, c, err);
    return status;
}
