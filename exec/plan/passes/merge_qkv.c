/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries, keys and values that are products of the same rows become parts of
 * one product, with the weights side by side:
 *
 *     x - [Wq] - q                          x - [Wq Wk Wv] - q k v
 *     x - [Wk] - k     attention    ->                        attention
 *     x - [Wv] - v
 *
 * Attention reads its rows wherever they are, and a wide product fills a device
 * better than narrow ones.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "exec/plan/passes/merge_qkv_internal.h"
#include "exec/plan/passes/passes.h"

/* ---- which products fit together */

/* The product that makes what is read here and nowhere else, or
 * MO_PLAN_NONE. */
static int maker_of(const mo_pass_qkv *m, int value)
{
    int c;

    if (value >= m->plan->n_values)
        return MO_PLAN_NONE; /* merged already */
    for (;; value = mo_pass_qkv_value(m, value)->view_of) {
        if (m->uses.reads[value] != 1)
            return MO_PLAN_NONE;
        if (mo_pass_qkv_value(m, value)->view_of == MO_PLAN_NONE)
            break;
    }
    c = m->uses.maker[value];
    return c != MO_PLAN_NONE && !m->gone[c] &&
                   m->plan->calls[c].call.kind == MO_CALL_MATMUL
               ? c
               : MO_PLAN_NONE;
}

/* A constant matrix for all batches. */
static bool has_weights(const mo_pass_qkv *m, const mo_call *call)
{
    const mo_call_matmul *p = &call->u.matmul;
    const mo_tensor_dense *weights = mo_pass_qkv_constant(m, call->in[1]);

    for (int d = 0; d < p->n_batch; d++)
        if (p->b.batch[d] != 0)
            return false;
    return weights && mo_tensor_desc_elements(&weights->desc) == p->k * p->n &&
           ((p->b.row == 1 && p->b.column == p->k) ||
            (p->b.row == p->n && p->b.column == 1));
}

/* Rows of its result as they lie, one behind the other. */
static bool has_rows(const mo_pass_qkv *m, const mo_call *call)
{
    const mo_call_matmul *p = &call->u.matmul;
    const mo_shape *shape = &mo_pass_qkv_value(m, call->out[0])->desc.shape;
    int64_t stride = p->m * p->n;

    if (p->c.column != 1 || (p->m != 1 && p->c.row != p->n) ||
        shape->rank < 1 || shape->dims[shape->rank - 1] != p->n || p->n < 1)
        return false;
    for (int d = p->n_batch; d-- > 0; stride *= p->extent[d])
        if (p->extent[d] != 1 && p->c.batch[d] != stride)
            return false;
    return true;
}

/* A number for each column: a bias. */
static bool is_by_column(const mo_pass_qkv *m, const mo_call *call, int operand)
{
    const mo_shape *shape = &mo_pass_qkv_value(m, call->out[0])->desc.shape;
    const mo_point_access *access = &call->after->operands[operand].access;
    const mo_tensor_dense *bias =
        mo_pass_qkv_constant(m, call->in[call->first_extra + operand - 1]);
    int last = shape->rank - 1;

    for (int d = 0; d < last; d++)
        if (shape->dims[d] != 1 && access->stride[d] != 0)
            return false;
    return bias && access->offset == 0 &&
           (access->stride[last] == 1 || shape->dims[last] == 1) &&
           mo_tensor_desc_elements(&bias->desc) == shape->dims[last];
}

static bool can_merge(const mo_pass_qkv *m, const mo_call *call)
{
    if (call->first_extra != 2 || !has_weights(m, call) || !has_rows(m, call))
        return false;
    for (int i = 1; call->after && i < call->after->n_operands; i++)
        if (!is_by_column(m, call, i))
            return false;
    return true;
}

static bool is_same_step(const mo_point_step *a, const mo_point_step *b)
{
    return a->op == b->op && a->a == b->a && a->b == b->b && a->c == b->c &&
           a->x == b->x && a->y == b->y && a->elem == b->elem;
}

static bool is_same_program(const mo_point_program *a,
                            const mo_point_program *b)
{
    if (!a || !b)
        return a == b;
    if (a->n_operands != b->n_operands || a->n_steps != b->n_steps ||
        a->result != b->result)
        return false;
    for (int i = 0; i < a->n_operands; i++)
        if (a->operands[i].elem != b->operands[i].elem)
            return false;
    for (int i = 0; i < a->n_steps; i++)
        if (!is_same_step(&a->steps[i], &b->steps[i]))
            return false;
    return true;
}

static bool is_same_left(const mo_call_matmul *a, const mo_call_matmul *b)
{
    size_t batches = (size_t) a->n_batch * sizeof *a->extent;

    return a->m == b->m && a->k == b->k && a->n_batch == b->n_batch &&
           a->a.row == b->a.row && a->a.column == b->a.column &&
           memcmp(a->extent, b->extent, batches) == 0 &&
           memcmp(a->a.batch, b->a.batch, batches) == 0;
}

static bool fit_together(const mo_pass_qkv *m, int first, int second)
{
    const mo_plan_call *a = &m->plan->calls[first];
    const mo_plan_call *b = &m->plan->calls[second];
    const mo_tensor_desc *out = &mo_pass_qkv_value(m, a->call.out[0])->desc;
    const mo_tensor_desc *other = &mo_pass_qkv_value(m, b->call.out[0])->desc;

    return a->device == b->device && a->call.in[0] == b->call.in[0] &&
           out->elem == other->elem &&
           mo_pass_qkv_value(m, a->call.in[1])->desc.elem ==
               mo_pass_qkv_value(m, b->call.in[1])->desc.elem &&
           out->shape.rank == other->shape.rank &&
           memcmp(out->shape.dims, other->shape.dims,
                  (size_t) (out->shape.rank - 1) * sizeof *out->shape.dims) ==
               0 &&
           is_same_left(&a->call.u.matmul, &b->call.u.matmul) &&
           is_same_program(a->call.after, b->call.after);
}

/* What can be one with operand first of the attention, and that itself. */
static mo_pass_qkv_group group_of(const mo_pass_qkv *m,
                                  const mo_call *attention, int first)
{
    mo_pass_qkv_group g = { 0 };
    int leader = maker_of(m, attention->in[first]);

    if (leader == MO_PLAN_NONE || !can_merge(m, &m->plan->calls[leader].call))
        return g;
    for (int i = first; i < MO_PASS_QKV_MAX_PRODUCTS; i++) {
        int c = maker_of(m, attention->in[i]);

        if (c == MO_PLAN_NONE || !can_merge(m, &m->plan->calls[c].call) ||
            !fit_together(m, leader, c))
            continue;
        g.calls[g.n] = c;
        g.operands[g.n++] = i;
        g.columns += m->plan->calls[c].call.u.matmul.n;
        g.last = c > g.last ? c : g.last;
    }
    return g;
}

/* ---- who reads it */

/* Each reads its part of the columns instead of a value of its own; false where
 * heads do not end with rows, and ends are no good then. */
static bool read_parts(const mo_pass_qkv *m, const mo_pass_qkv_group *g,
                       mo_pass_attention_operands *ends)
{
    mo_pass_attention_operand *reaches[MO_PASS_QKV_MAX_PRODUCTS] = { &ends->q,
                                                                     &ends->k,
                                                                     &ends->v };
    int64_t first = 0;

    for (int i = 0; i < g->n; i++) {
        const mo_call *call = &m->plan->calls[g->calls[i]].call;
        int64_t columns = call->u.matmul.n;
        int64_t elements =
            mo_tensor_desc_elements(&mo_pass_qkv_value(m, call->out[0])->desc);
        const int64_t extent[] = { elements / columns, columns };
        const int64_t from[] = { g->columns, 1 }, to[] = { columns, 1 };
        mo_tensor_view *trail = &reaches[g->operands[i]]->trail;
        mo_tensor_copy_map map;

        if (!mo_tensor_copy_map_init(&map, 2, extent, first, from, 0, to) ||
            !mo_tensor_view_compose_unsplit(&map, trail) ||
            !mo_tensor_view_has_unit_stride(trail))
            return false;
        first += columns;
    }
    return true;
}

static mo_status merge(mo_pass_qkv *m, mo_call *attention,
                       const mo_pass_qkv_group *g, mo_error *err)
{
    mo_pass_attention_operands ends = mo_pass_attention_get_operands(attention);
    mo_call joined;
    mo_status status;

    if (!read_parts(m, g, &ends))
        return MO_OK;
    status = mo_pass_qkv_concat(m, g, &joined, err);
    if (status != MO_OK)
        return status;
    mo_pass_attention_set_operands(&ends, &attention->u.attention);
    for (int i = 0; i < g->n; i++) {
        attention->in[g->operands[i]] = joined.out[0];
        m->gone[g->calls[i]] = true;
    }
    m->gone[g->last] = false;
    m->plan->calls[g->last].call = joined;
    return MO_OK;
}

/* ---- the pass */

static mo_status merge_all(mo_pass_qkv *m, const bool *wants, mo_error *err)
{
    mo_status status = MO_OK;

    for (int c = 0; c < m->plan->n_calls; c++) {
        mo_plan_call *call = &m->plan->calls[c];

        if (call->call.kind != MO_CALL_ATTENTION || !wants[call->device])
            continue;
        for (int i = 0; i + 1 < MO_PASS_QKV_MAX_PRODUCTS && status == MO_OK;
             i++) {
            mo_pass_qkv_group g = group_of(m, &call->call, i);

            if (g.n > 1)
                status = merge(m, &call->call, &g, err);
        }
    }
    return status;
}

mo_status mo_pass_merge_qkv(const bool *wants, mo_exec_plan *plan,
                            mo_error *err)
{
    mo_pass_qkv m = { .plan = plan };
    mo_status status;

    assert(plan->n_transfers == 0);
    if (!wants)
        return MO_OK;
    m.gone = calloc((size_t) plan->n_calls + 1, sizeof *m.gone);
    status = m.gone ? mo_pass_def_use_build(plan, &m.uses, err)
                    : mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_plan_values_copy(plan, &m.values, err);
    if (status == MO_OK)
        status = merge_all(&m, wants, err);
    if (status == MO_OK)
        status = mo_plan_values_commit(&m.values, plan, err);
    if (status == MO_OK)
        mo_pass_drop_calls(plan, m.gone);
    mo_plan_values_clear(&m.values);
    mo_pass_def_use_clear(&m.uses);
    free(m.gone);
    return status;
}
