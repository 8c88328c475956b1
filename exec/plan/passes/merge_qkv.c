/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QKV merging: queries, keys and values that are products of the same rows
 * become parts of one product, with the weights concatenated:
 *
 *     x - [Wq] - q                          x - [Wq Wk Wv] - q k v
 *     x - [Wk] - k     attention    ->                        attention
 *     x - [Wv] - v
 *
 * Attention reads rows at any stride, and one wide product utilizes a device
 * better than several narrow ones.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "exec/plan/ir/value_table.h"
#include "exec/plan/passes/fuse_attention_internal.h"
#include "exec/plan/passes/passes.h"

typedef struct qkv_state {
    mo_exec_plan *plan;
    mo_plan_values values;
    mo_pass_def_use uses; /* of the values before the pass */
    bool *dropped;        /* by call: merged into another */
} qkv_state;

/* Products of the same rows with constant weights, equal but for the number of
 * columns. */
enum { MAX_PRODUCTS = 3 };

typedef struct product_group {
    int n;
    int calls[MAX_PRODUCTS];
    int operands[MAX_PRODUCTS]; /* operands of the attention they produce */
    int last;                   /* the last of the calls */
    int64_t columns;            /* the sum of all */
} product_group;

static const mo_plan_value *value_at(const qkv_state *m, int value)
{
    return &m->values.items[value];
}

static const mo_call *group_call(const qkv_state *m, const product_group *g,
                                 int i)
{
    return &m->plan->calls[g->calls[i]].call;
}

/* Adds a constant of the plan and a value for it. */
static mo_status add_constant(qkv_state *m, const product_group *g,
                              const mo_tensor_desc *desc, mo_tensor_dense *data,
                              int *value, mo_error *err)
{
    const mo_plan_call *call = &m->plan->calls[g->calls[0]];
    mo_tensor_dense *constant;
    mo_plan_value it = mo_plan_value_init(value_at(m, call->call.out[0])->name,
                                          desc, call->device);
    mo_status status;

    status = mo_plan_add_constant(m->plan, desc, &constant, err);
    if (status != MO_OK)
        return status;
    it.constant = constant;
    *data = *constant;
    return mo_plan_values_add(&m->values, &it, value, err);
}

/* Copies the columns of the weights as rows; contiguous where they lie so. */
static void copy_weights(const mo_call *call, const mo_tensor_dense *from,
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

static mo_status concat_weights(qkv_state *m, const product_group *g,
                                int *value, mo_error *err)
{
    const mo_call *first = group_call(m, g, 0);
    int64_t k = first->u.matmul.k;
    mo_tensor_desc desc = { value_at(m, first->in[1])->desc.elem,
                            { 2, { g->columns, k } } };
    mo_tensor_dense data = { .own = false };
    mo_status status = add_constant(m, g, &desc, &data, value, err);
    char *to = data.data;

    for (int i = 0; i < g->n && status == MO_OK; i++) {
        const mo_call *call = group_call(m, g, i);

        copy_weights(call, mo_plan_value_constant(m->values.items, call->in[1]),
                     to);
        to += (size_t) (k * call->u.matmul.n) * mo_elem_size(desc.elem);
    }
    return status;
}

static mo_status concat_bias(qkv_state *m, const product_group *g, int operand,
                             int *value, mo_error *err)
{
    mo_tensor_desc desc = { group_call(m, g, 0)->after->operands[operand].elem,
                            { 1, { g->columns } } };
    mo_tensor_dense data = { .own = false };
    mo_status status = add_constant(m, g, &desc, &data, value, err);
    char *to = data.data;

    for (int i = 0; i < g->n && status == MO_OK; i++) {
        const mo_call *call = group_call(m, g, i);
        size_t bytes = (size_t) call->u.matmul.n * mo_elem_size(desc.elem);

        memcpy(to,
               mo_plan_value_constant(m->values.items, call->in[1 + operand])
                   ->data,
               bytes);
        to += bytes;
    }
    return status;
}

/* Builds the merged call; adds the values it needs. */
static mo_status concat_products(qkv_state *m, const product_group *g,
                                 mo_call *joined, mo_error *err)
{
    const mo_call *first = group_call(m, g, 0);
    mo_arena *arena = m->plan->arena;
    mo_plan_value result = *value_at(m, first->out[0]);
    mo_status status;

    result.desc.shape.dims[result.desc.shape.rank - 1] = g->columns;
    result.item = m->plan->calls[g->last].item;
    *joined = *first;
    joined->in = mo_arena_array(arena, (size_t) first->n_in, sizeof(int));
    joined->out = mo_arena_array(arena, 1, sizeof(int));
    if (!joined->in || !joined->out)
        return mo_fail_memory(err);
    joined->in[0] = first->in[0];

    mo_call_matmul *f = &joined->u.matmul;

    f->b.row = 1;
    f->b.column = f->k;
    f->c.row = g->columns;
    for (int d = 0; d < f->n_batch; d++)
        f->c.batch[d] = f->c.batch[d] / f->n * g->columns;
    f->n = g->columns;
    status = concat_weights(m, g, &joined->in[1], err);
    if (status == MO_OK)
        status = mo_plan_values_add(&m->values, &result, &joined->out[0], err);
    if (status == MO_OK && first->after) {
        const mo_shape shape = value_at(m, joined->out[0])->desc.shape;
        mo_point_program *after = mo_arena_alloc(m->plan->arena, sizeof *after);
        status = after ? MO_OK : mo_fail_memory(err);

        if (status == MO_OK) {
            *after = *group_call(m, g, 0)->after;
            after->out = after->operands[0].access =
                mo_point_access_dense(&shape);
            for (int i = 1; i < after->n_operands && status == MO_OK; i++) {
                after->operands[i].access = (mo_point_access){ 0 };
                after->operands[i].access.stride[shape.rank - 1] = 1;
                status = concat_bias(m, g, i, &joined->in[1 + i], err);
            }
            joined->after = after;
        }
    }
    return status;
}

/* The product that produces a value without other readers, or MO_PLAN_NONE. */
static int find_product(const qkv_state *m, int value)
{
    int c;

    if (value >= m->plan->n_values)
        return MO_PLAN_NONE; /* merged already */
    for (;; value = value_at(m, value)->view_of) {
        if (m->uses.reads[value] != 1)
            return MO_PLAN_NONE;
        if (value_at(m, value)->view_of == MO_PLAN_NONE)
            break;
    }
    c = m->uses.maker[value];
    return c != MO_PLAN_NONE && !m->dropped[c] &&
                   m->plan->calls[c].call.kind == MO_CALL_MATMUL
               ? c
               : MO_PLAN_NONE;
}

/* A constant matrix for all batches. */
static bool has_weights(const qkv_state *m, const mo_call *call)
{
    const mo_call_matmul *p = &call->u.matmul;
    const mo_tensor_dense *weights =
        mo_plan_value_constant(m->values.items, call->in[1]);

    for (int d = 0; d < p->n_batch; d++)
        if (p->b.batch[d] != 0)
            return false;
    return weights && mo_tensor_desc_elements(&weights->desc) == p->k * p->n &&
           ((p->b.row == 1 && p->b.column == p->k) ||
            (p->b.row == p->n && p->b.column == 1));
}

/* Dense rows of the result. */
static bool has_dense_rows(const qkv_state *m, const mo_call *call)
{
    const mo_call_matmul *p = &call->u.matmul;
    const mo_shape *shape = &value_at(m, call->out[0])->desc.shape;
    int64_t stride = p->m * p->n;

    if (p->c.column != 1 || (p->m != 1 && p->c.row != p->n) ||
        shape->rank < 1 || shape->dims[shape->rank - 1] != p->n || p->n < 1)
        return false;
    for (int d = p->n_batch; d-- > 0; stride *= p->extent[d])
        if (p->extent[d] != 1 && p->c.batch[d] != stride)
            return false;
    return true;
}

/* One number per column: a bias. */
static bool is_column_bias(const qkv_state *m, const mo_call *call, int operand)
{
    const mo_shape *shape = &value_at(m, call->out[0])->desc.shape;
    const mo_point_access *access = &call->after->operands[operand].access;
    const mo_tensor_dense *bias = mo_plan_value_constant(
        m->values.items, call->in[call->first_extra + operand - 1]);
    int last = shape->rank - 1;

    for (int d = 0; d < last; d++)
        if (shape->dims[d] != 1 && access->stride[d] != 0)
            return false;
    return bias && access->offset == 0 &&
           (access->stride[last] == 1 || shape->dims[last] == 1) &&
           mo_tensor_desc_elements(&bias->desc) == shape->dims[last];
}

static bool can_merge(const qkv_state *m, const mo_call *call)
{
    if (call->first_extra != 2 || !has_weights(m, call) ||
        !has_dense_rows(m, call))
        return false;
    for (int i = 1; call->after && i < call->after->n_operands; i++)
        if (!is_column_bias(m, call, i))
            return false;
    return true;
}

static bool has_same_rows(const mo_call_matmul *a, const mo_call_matmul *b)
{
    size_t batches = (size_t) a->n_batch * sizeof *a->extent;

    return a->m == b->m && a->k == b->k && a->n_batch == b->n_batch &&
           a->a.row == b->a.row && a->a.column == b->a.column &&
           memcmp(a->extent, b->extent, batches) == 0 &&
           memcmp(a->a.batch, b->a.batch, batches) == 0;
}

static bool can_share_product(const qkv_state *m, int first, int second)
{
    const mo_plan_call *a = &m->plan->calls[first];
    const mo_plan_call *b = &m->plan->calls[second];
    const mo_tensor_desc *out = &value_at(m, a->call.out[0])->desc;
    const mo_tensor_desc *other = &value_at(m, b->call.out[0])->desc;

    return a->device == b->device && a->call.in[0] == b->call.in[0] &&
           out->elem == other->elem &&
           value_at(m, a->call.in[1])->desc.elem ==
               value_at(m, b->call.in[1])->desc.elem &&
           out->shape.rank == other->shape.rank &&
           memcmp(out->shape.dims, other->shape.dims,
                  (size_t) (out->shape.rank - 1) * sizeof *out->shape.dims) ==
               0 &&
           has_same_rows(&a->call.u.matmul, &b->call.u.matmul) &&
           (a->call.after && b->call.after
                ? mo_point_program_computes_same(a->call.after, b->call.after)
                : a->call.after == b->call.after);
}

/* The products that can be merged with operand first of the attention, and
 * that one. */
static product_group find_group(const qkv_state *m, const mo_call *attention,
                                int first)
{
    product_group g = { 0 };
    int leader = find_product(m, attention->in[first]);

    if (leader == MO_PLAN_NONE || !can_merge(m, &m->plan->calls[leader].call))
        return g;
    for (int i = first; i < MAX_PRODUCTS; i++) {
        int c = find_product(m, attention->in[i]);

        if (c == MO_PLAN_NONE || !can_merge(m, &m->plan->calls[c].call) ||
            !can_share_product(m, leader, c))
            continue;
        g.calls[g.n] = c;
        g.operands[g.n++] = i;
        g.columns += m->plan->calls[c].call.u.matmul.n;
        g.last = c > g.last ? c : g.last;
    }
    return g;
}

/* Each operand reads its range of columns of the merged result; false, with
 * ends invalid, where the strides do not allow it. */
static bool split_operand_views(const qkv_state *m, const product_group *g,
                                mo_pass_attention_operands *ends)
{
    mo_pass_attention_operand *readers[MAX_PRODUCTS] = { &ends->q, &ends->k,
                                                         &ends->v };
    int64_t first = 0;

    for (int i = 0; i < g->n; i++) {
        const mo_call *call = &m->plan->calls[g->calls[i]].call;
        int64_t columns = call->u.matmul.n;
        int64_t elements =
            mo_tensor_desc_elements(&value_at(m, call->out[0])->desc);
        const int64_t extent[] = { elements / columns, columns };
        const int64_t from[] = { g->columns, 1 }, to[] = { columns, 1 };
        mo_tensor_view *view = &readers[g->operands[i]]->view;
        mo_tensor_copy_map map;

        if (!mo_tensor_copy_map_init(&map, 2, extent, first, from, 0, to) ||
            !mo_tensor_view_compose_unsplit(&map, view) ||
            !mo_tensor_view_has_unit_stride(view))
            return false;
        first += columns;
    }
    return true;
}

static mo_status merge_group(qkv_state *m, mo_call *attention,
                             const product_group *g, mo_error *err)
{
    mo_pass_attention_operands ends = mo_pass_attention_get_operands(attention);
    mo_call joined;
    mo_status status;

    if (!split_operand_views(m, g, &ends))
        return MO_OK;
    status = concat_products(m, g, &joined, err);
    if (status != MO_OK)
        return status;
    mo_pass_attention_set_operands(&ends, &attention->u.attention);
    for (int i = 0; i < g->n; i++) {
        attention->in[g->operands[i]] = joined.out[0];
        m->dropped[g->calls[i]] = true;
    }
    m->dropped[g->last] = false;
    m->plan->calls[g->last].call = joined;
    return MO_OK;
}

mo_status mo_pass_merge_qkv(const bool *enabled, mo_exec_plan *plan,
                            mo_error *err)
{
    qkv_state m = { .plan = plan };
    mo_status status;

    assert(plan->n_transfers == 0);
    if (!enabled)
        return MO_OK;
    m.dropped = calloc((size_t) plan->n_calls + 1, sizeof *m.dropped);
    status = m.dropped ? mo_pass_def_use_build(plan, &m.uses, err)
                       : mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_plan_values_copy(plan, &m.values, err);
    if (status == MO_OK) {
        for (int c = 0; c < m.plan->n_calls; c++) {
            mo_plan_call *call = &m.plan->calls[c];

            if (call->call.kind != MO_CALL_ATTENTION || !enabled[call->device])
                continue;
            for (int i = 0; i + 1 < MAX_PRODUCTS && status == MO_OK; i++) {
                product_group g = find_group(&m, &call->call, i);

                if (g.n > 1)
                    status = merge_group(&m, &call->call, &g, err);
            }
        }
    }
    if (status == MO_OK)
        status = mo_plan_values_commit(&m.values, plan, err);
    if (status == MO_OK)
        mo_pass_drop_calls(plan, m.dropped);
    mo_plan_values_clear(&m.values);
    mo_pass_def_use_clear(&m.uses);
    free(m.dropped);
    return status;
}
