/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One product out of several: weights, biases and results side by side.
 */
#include <string.h>

#include "exec/plan/passes/merge_qkv_internal.h"

const mo_tensor_dense *mo_pass_qkv_constant(const mo_pass_qkv *m, int value)
{
    return mo_pass_qkv_value(m, mo_plan_value_root(m->values.items, value))
        ->constant;
}

static const mo_call *part(const mo_pass_qkv *m, const mo_pass_qkv_group *g,
                           int i)
{
    return &m->plan->calls[g->calls[i]].call;
}

/* A constant of the plan, and a value that is it. */
static mo_status add_constant(mo_pass_qkv *m, const mo_pass_qkv_group *g,
                              const mo_tensor_desc *desc, mo_tensor_dense *data,
                              int *value, mo_error *err)
{
    const mo_plan_call *call = &m->plan->calls[g->calls[0]];
    mo_plan_owned_constant *made = mo_arena_alloc(m->plan->arena, sizeof *made);
    mo_plan_value it = mo_plan_value_init(
        mo_pass_qkv_value(m, call->call.out[0])->name, desc, call->device);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    status = mo_tensor_new(desc, &made->value, err);
    if (status != MO_OK)
        return status;
    made->next = m->plan->made;
    m->plan->made = made;
    it.constant = &made->value;
    *data = made->value;
    return mo_plan_values_add(&m->values, &it, value, err);
}

/* Columns of weights as rows: a plain copy where they lie so. */
static void put_weights(const mo_call *call, const mo_tensor_dense *from,
                        char *to)
{
    const mo_call_matmul *p = &call->u.matmul;
    size_t bytes = mo_elem_size(from->desc.elem);

    if (p->b.column == p->k) {
        memcpy(to, from->data, (size_t) (p->k * p->n) * bytes);
        return;
    }
    for (int64_t n = 0; n < p->n; n++)
        for (int64_t k = 0; k < p->k; k++)
            memcpy(to + (size_t) (n * p->k + k) * bytes,
                   (const char *) from->data + (size_t) (k * p->n + n) * bytes,
                   bytes);
}

static mo_status join_weights(mo_pass_qkv *m, const mo_pass_qkv_group *g,
                              int *value, mo_error *err)
{
    const mo_call *first = part(m, g, 0);
    int64_t k = first->u.matmul.k;
    mo_tensor_desc desc = { mo_pass_qkv_value(m, first->in[1])->desc.elem,
                            { 2, { g->columns, k } } };
    mo_tensor_dense data = { .own = false };
    mo_status status = add_constant(m, g, &desc, &data, value, err);
    char *to = data.data;

    for (int i = 0; i < g->n && status == MO_OK; i++) {
        const mo_call *call = part(m, g, i);

        put_weights(call, mo_pass_qkv_constant(m, call->in[1]), to);
        to += (size_t) (k * call->u.matmul.n) * mo_elem_size(desc.elem);
    }
    return status;
}

static mo_status join_bias(mo_pass_qkv *m, const mo_pass_qkv_group *g,
                           int operand, int *value, mo_error *err)
{
    mo_tensor_desc desc = { part(m, g, 0)->after->operands[operand].elem,
                            { 1, { g->columns } } };
    mo_tensor_dense data = { .own = false };
    mo_status status = add_constant(m, g, &desc, &data, value, err);
    char *to = data.data;

    for (int i = 0; i < g->n && status == MO_OK; i++) {
        const mo_call *call = part(m, g, i);
        size_t bytes = (size_t) call->u.matmul.n * mo_elem_size(desc.elem);

        memcpy(to, mo_pass_qkv_constant(m, call->in[1 + operand])->data, bytes);
        to += bytes;
    }
    return status;
}

static mo_status join_program(mo_pass_qkv *m, const mo_pass_qkv_group *g,
                              mo_call *call, mo_error *err)
{
    const mo_shape shape = mo_pass_qkv_value(m, call->out[0])->desc.shape;
    mo_point_program *after = mo_arena_alloc(m->plan->arena, sizeof *after);
    mo_status status = after ? MO_OK : mo_fail_memory(err);

    if (status != MO_OK)
        return status;
    *after = *part(m, g, 0)->after;
    after->out = after->operands[0].access = mo_point_access_dense(&shape);
    for (int i = 1; i < after->n_operands && status == MO_OK; i++) {
        after->operands[i].access = (mo_point_access){ 0 };
        after->operands[i].access.stride[shape.rank - 1] = 1;
        status = join_bias(m, g, i, &call->in[1 + i], err);
    }
    call->after = after;
    return status;
}

/* The result of all of them. */
static mo_status add_result(mo_pass_qkv *m, const mo_pass_qkv_group *g,
                            int *value, mo_error *err)
{
    mo_plan_value it = *mo_pass_qkv_value(m, part(m, g, 0)->out[0]);

    it.desc.shape.dims[it.desc.shape.rank - 1] = g->columns;
    it.item = m->plan->calls[g->last].item;
    return mo_plan_values_add(&m->values, &it, value, err);
}

static void widen(mo_call_matmul *p, int64_t columns)
{
    p->b.row = 1;
    p->b.column = p->k;
    p->c.row = columns;
    for (int d = 0; d < p->n_batch; d++)
        p->c.batch[d] = p->c.batch[d] / p->n * columns;
    p->n = columns;
}

mo_status mo_pass_qkv_concat(mo_pass_qkv *m, const mo_pass_qkv_group *g,
                             mo_call *joined, mo_error *err)
{
    const mo_call *first = part(m, g, 0);
    mo_arena *arena = m->plan->arena;
    mo_status status;

    *joined = *first;
    joined->in = mo_arena_array(arena, (size_t) first->n_in, sizeof(int));
    joined->out = mo_arena_array(arena, 1, sizeof(int));
    if (!joined->in || !joined->out)
        return mo_fail_memory(err);
    joined->in[0] = first->in[0];
    widen(&joined->u.matmul, g->columns);
    status = join_weights(m, g, &joined->in[1], err);
    if (status == MO_OK)
        status = add_result(m, g, &joined->out[0], err);
    if (status == MO_OK && first->after)
        status = join_program(m, g, joined, err);
    return status;
}
