/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention reads and writes by strides of its own: all of these must stay
 * within the values.
 */
#include "base/array.h"
#include "exec/tensor/strided_view.h"
#include "exec/plan/verify/verify_internal.h"

/* Adds all steps along a dimension to where a trail may go at least or at
 * most. */
static bool add_reach(int64_t extent, int64_t stride, int64_t *low,
                      int64_t *high)
{
    int64_t far;

    if (!mo_int64_mul(extent - 1, stride, &far))
        return false;
    return far < 0 ? mo_int64_add(*low, far, low)
                   : mo_int64_add(*high, far, high);
}

static bool stays_within(const mo_tensor_view *view, const mo_tensor_desc *desc)
{
    int64_t low = view->offset, high = view->offset;

    for (int d = 0; d < view->rank; d++)
        if (view->extent[d] == 0)
            return true;
    for (int d = 0; d < view->rank; d++)
        if (!add_reach(view->extent[d], view->stride[d], &low, &high))
            return false;
    return low >= 0 && high < mo_tensor_desc_elements(desc);
}

static mo_tensor_view trail_of(const mo_call_attention *c, int64_t offset,
                               const int64_t *batch)
{
    mo_tensor_view view = { .offset = offset };

    for (int d = 0; d < c->n_batch; d++)
        mo_tensor_view_append_dim(&view, c->extent[d], batch[d]);
    return view;
}

static bool is_within(const mo_exec_plan *plan, int value,
                      const mo_call_attention *c, int64_t offset,
                      const int64_t *batch, int64_t rows, int64_t row,
                      int64_t columns, int64_t column)
{
    mo_tensor_view view = trail_of(c, offset, batch);

    mo_tensor_view_append_dim(&view, rows, row);
    mo_tensor_view_append_dim(&view, columns, column);
    return stays_within(&view, &plan->values[value].desc);
}

static bool are_sizes(const mo_call_attention *c)
{
    if (c->n_batch < 0 || c->n_batch > MO_CALL_MATMUL_MAX_BATCH ||
        c->queries < 0 || c->keys < 0 || c->width < 0 || c->v_width < 0)
        return false;
    for (int d = 0; d < c->n_batch; d++)
        if (c->extent[d] < 0)
            return false;
    return true;
}

static bool is_score(const mo_exec_plan *plan, const mo_call *call)
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
            !is_within(plan, value, c, access->offset, access->stride,
                       c->queries, last[0], c->keys, last[1]))
            return false;
    }
    return true;
}

bool mo_verify_attention(const mo_exec_plan *plan, const mo_call *call)
{
    const mo_call_attention *c = &call->u.attention;
    int own = 3 + c->has_mask + (c->score ? c->score->n_operands - 1 : 0);

    if (call->n_out != 1 || call->first_extra != own || own > call->n_in ||
        !are_sizes(c))
        return false;
    return is_within(plan, call->in[0], c, c->q_offset, c->q_batch, c->queries,
                     c->q_row, c->width, 1) &&
           is_within(plan, call->in[1], c, c->k_offset, c->k_batch, c->keys,
                     c->k_row, c->width, 1) &&
           is_within(plan, call->in[2], c, c->v_offset, c->v_batch, c->keys,
                     c->v_row, c->v_width, 1) &&
           is_within(plan, call->out[0], c, 0, c->out_batch, c->queries,
                     c->out_row, c->v_width, 1) &&
           (!c->has_mask ||
            is_within(plan, call->in[3], c, c->mask_offset, c->mask_batch,
                      c->queries, c->mask_row, c->keys, c->mask_column)) &&
           is_score(plan, call);
}
