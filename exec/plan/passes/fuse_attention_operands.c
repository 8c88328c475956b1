/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copy elimination around attention: traces operands back to the values they
 * were copied from, and the result forward to where it is copied.
 */
#include "exec/plan/passes/fuse_attention_internal.h"

#include <string.h>

#include "exec/plan/ir/value_table.h"

const mo_tensor_dense *mo_pass_attention_constant(const mo_exec_plan *plan,
                                                  int value)
{
    const mo_tensor_dense *constant =
        mo_plan_value_constant(plan->values, value);
    bool readable =
        constant &&
        (uintptr_t) constant->data % mo_elem_size(constant->desc.elem) == 0;

    return readable ? constant : NULL;
}

static int64_t value_elements(const mo_exec_plan *plan, int value)
{
    return mo_tensor_desc_elements(&plan->values[value].desc);
}

static int64_t box_elements(const mo_call_copy_box *box)
{
    int64_t elements = 1;

    for (int d = 0; d < box->rank; d++)
        elements *= box->extent[d];
    return elements;
}

/* Returns the only box that writes to out[to], if it fills the whole value;
 * otherwise NULL. */
static const mo_call_copy_box *filling_box(const mo_exec_plan *plan,
                                           const mo_call *call, int to)
{
    const mo_call_copy_box *found = NULL;

    for (int i = 0; i < call->u.copy.n_boxes; i++) {
        const mo_call_copy_box *box = &call->u.copy.boxes[i];

        if (box->to != to || box_elements(box) == 0)
            continue;
        if (found || box->from == MO_CALL_COPY_FILL)
            return NULL;
        found = box;
    }
    return found && box_elements(found) == value_elements(plan, call->out[to])
               ? found
               : NULL;
}

/* A gather with one constant index is a slice. */
static bool trace_gather(const mo_exec_plan *plan, const mo_call *call,
                         mo_pass_attention_operand *from)
{
    const mo_call_gather *g = &call->u.gather;
    const mo_tensor_dense *index =
        mo_pass_attention_constant(plan, call->in[1]);
    int64_t at, rows = g->batch * g->outer;
    mo_call_copy_box box = { .rank = 2,
                             .extent = { rows, g->inner },
                             .in_stride = { g->axis * g->inner, 1 },
                             .out_stride = { g->inner, 1 } };
    mo_tensor_copy_map map;

    if (g->kind != MO_CALL_GATHER_AXIS || g->count != 1 || g->batch != 1 ||
        !index)
        return false;
    at = mo_tensor_get_int(index, 0);
    at += at < 0 ? g->axis : 0;
    if (at < 0 || at >= g->axis)
        return false;
    box.in_offset = at * g->inner;
    if (!mo_pass_copy_map(&box, &map) ||
        !mo_tensor_view_compose_unsplit(&map, &from->view))
        return false;
    from->value = call->in[0];
    return true;
}

static bool trace_scaling(const mo_exec_plan *plan, const mo_call *call,
                          mo_pass_attention_operand *from, double *factor)
{
    double more;

    for (int at = 0; factor && at < call->n_in; at++)
        if (mo_pass_attention_is_elementwise(plan, call, at) &&
            mo_pass_attention_is_scaling(plan, call, at, &more)) {
            from->value = call->in[at];
            *factor *= more;
            return true;
        }
    return false;
}

/* A copy that fills the value from one box is a view of its source. */
static bool trace_copy(const mo_exec_plan *plan, const mo_call *call,
                       mo_pass_attention_operand *from)
{
    const mo_call_copy_box *box;
    mo_tensor_copy_map map;
    int to = 0;

    while (call->out[to] != from->value)
        to++;
    box = filling_box(plan, call, to);
    if (!box || !mo_pass_copy_map(box, &map) ||
        !mo_tensor_view_compose_unsplit(&map, &from->view))
        return false;
    from->value = call->in[box->from];
    return true;
}

/* Replaces the operand by that of the call which makes it, if that call is a
 * copy, a slice or a scaling on the device; the factor of the latter multiplies
 * *factor. Returns false, with *from undefined, if it is not. */
static bool trace_back(const mo_pass_attention *a, int device,
                       mo_pass_attention_operand *from, double *factor)
{
    const mo_exec_plan *plan = a->plan;
    mo_elem elem = plan->values[from->value].desc.elem;
    const mo_plan_call *call;
    bool traced = false;
    int c;

    from->value = mo_plan_value_root(plan->values, from->value);
    c = a->uses.maker[from->value];
    if (c == MO_PLAN_NONE || plan->calls[c].device != device)
        return false;
    call = &plan->calls[c];
    if (call->call.kind == MO_CALL_COPY)
        traced = trace_copy(plan, &call->call, from);
    else if (call->call.kind == MO_CALL_GATHER)
        traced = trace_gather(plan, &call->call, from);
    else if (call->call.kind == MO_CALL_POINT)
        traced = trace_scaling(plan, &call->call, from, factor);
    return traced && plan->values[from->value].device == device &&
           plan->values[from->value].desc.elem == elem;
}

void mo_pass_attention_trace_source(const mo_pass_attention *a, int device,
                                    mo_pass_attention_operand *from,
                                    double *factor)
{
    mo_pass_attention_operand at = *from;
    double pending = 1;

    while (trace_back(a, device, &at, factor ? &pending : NULL))
        if (mo_tensor_view_has_unit_stride(&at.view)) {
            *from = at;
            if (factor) {
                *factor *= pending;
                pending = 1;
            }
        }
}

/* Returns the last view of a chain that begins with value, as long as each one
 * is the only reader of the one before. */
static int last_sole_view(const mo_pass_attention *a, int value)
{
    while (value != MO_PLAN_NONE && a->uses.reads[value] == 1 &&
           a->uses.view[value] != MO_PLAN_NONE)
        value = a->uses.view[value];
    return value;
}

int mo_pass_attention_trace_sink(const mo_pass_attention *a, int c,
                                 mo_pass_attention_operand *to)
{
    const mo_exec_plan *plan = a->plan;
    int value = last_sole_view(a, to->value), reader = a->uses.reader[value];
    const mo_call_copy_box *box;
    const mo_call *copy;
    mo_tensor_view view = to->view;
    mo_tensor_copy_map map;

    if (a->uses.reads[value] != 1 || reader == MO_PLAN_NONE)
        return MO_PLAN_NONE;
    copy = &plan->calls[reader].call;
    if (copy->kind != MO_CALL_COPY || copy->n_out != 1 ||
        plan->calls[reader].device != plan->calls[c].device)
        return MO_PLAN_NONE;
    box = filling_box(plan, copy, 0);
    if (!box || copy->in[box->from] != value ||
        box_elements(box) != value_elements(plan, value) ||
        !mo_pass_copy_map_inverse(box, &map) ||
        !mo_tensor_view_compose_unsplit(&map, &view) ||
        !mo_tensor_view_has_unit_stride(&view) || view.offset != 0)
        return MO_PLAN_NONE;
    to->value = copy->out[0];
    to->view = view;
    return reader;
}

/* Splits the batches of a view; rows and columns stay. */
static void split_view(const mo_tensor_view *source,
                       const mo_tensor_dim_split *parts, mo_tensor_view *view)
{
    mo_tensor_view made = { .rank = source->rank, .offset = view->offset };

    for (int d = 0; d < source->rank; d++) {
        made.extent[d] = d < source->rank - 2 ? source->extent[d]
                                              : view->extent[parts->part[d]];
        made.stride[d] = view->stride[parts->part[d]] * parts->weight[d];
    }
    *view = made;
}

/* Returns whether only batches are split. */
static bool keeps_matrix(const mo_tensor_view *view,
                         const mo_tensor_view *source,
                         const mo_tensor_dim_split *parts)
{
    int n = view->rank, m = source->rank;

    return m > n && m <= MO_MAX_RANK && parts->part[m - 2] == n - 2 &&
           parts->part[m - 1] == n - 1 && parts->part[m - 3] < n - 2;
}

void mo_pass_attention_split_batches(const mo_pass_attention *a, int device,
                                     mo_pass_attention_operand *from,
                                     mo_pass_attention_operands *ends)
{
    int root = mo_plan_value_root(a->plan->values, from->value);
    int c = a->uses.maker[root], to = 0;
    mo_tensor_view source;
    mo_tensor_dim_split parts;
    const mo_call_copy_box *box;
    mo_tensor_copy_map map;
    const mo_call *call;

    if (c == MO_PLAN_NONE || a->plan->calls[c].device != device ||
        a->plan->calls[c].call.kind != MO_CALL_COPY)
        return;
    call = &a->plan->calls[c].call;
    while (call->out[to] != root)
        to++;
    box = filling_box(a->plan, call, to);
    if (!box || !mo_pass_copy_map(box, &map) ||
        !mo_tensor_view_compose(&map, &from->view, &source, &parts) ||
        !keeps_matrix(&from->view, &source, &parts))
        return;
    split_view(&source, &parts, &ends->q.view);
    split_view(&source, &parts, &ends->k.view);
    split_view(&source, &parts, &ends->v.view);
    split_view(&source, &parts, &ends->out.view);
    split_view(&source, &parts, &ends->mask.view);
}

static void drop_batch(mo_tensor_view *view, int d)
{
    for (; d < view->rank - 1; d++) {
        view->extent[d] = view->extent[d + 1];
        view->stride[d] = view->stride[d + 1];
    }
    view->rank--;
}

static void move_batch_to_rows(mo_tensor_view *view, int d)
{
    int rows = view->rank - 2;

    view->extent[rows] = view->extent[d];
    view->stride[rows] = view->stride[d];
    drop_batch(view, d);
}

int64_t mo_pass_attention_group_queries(mo_pass_attention_operands *ends)
{
    const mo_tensor_view *q = &ends->q.view;
    int d = q->rank - 3;
    int64_t queries = q->extent[q->rank - 2];

    while (d >= 0 && (q->extent[d] < 2 || ends->k.view.stride[d] != 0 ||
                      ends->v.view.stride[d] != 0))
        d--;
    if (queries != 1 || d < 0)
        return queries;
    queries = q->extent[d];
    move_batch_to_rows(&ends->q.view, d);
    move_batch_to_rows(&ends->out.view, d);
    move_batch_to_rows(&ends->mask.view, d);
    drop_batch(&ends->k.view, d);
    drop_batch(&ends->v.view, d);
    return queries;
}

/*
 * Operands of an attention call as strided views, and back.
 */
static mo_tensor_view read_view(const mo_call_attention *c, int64_t offset,
                                const int64_t *batch, int64_t rows, int64_t row,
                                int64_t columns)
{
    mo_tensor_view view = { .offset = offset };

    for (int d = 0; d < c->n_batch; d++)
        mo_tensor_view_append_dim(&view, c->extent[d], batch[d]);
    mo_tensor_view_append_dim(&view, rows, row);
    mo_tensor_view_append_dim(&view, columns, 1);
    return view;
}

mo_pass_attention_operands mo_pass_attention_get_operands(const mo_call *call)
{
    const mo_call_attention *c = &call->u.attention;
    mo_pass_attention_operands ends = { .q.value = call->in[0],
                                        .k.value = call->in[1],
                                        .v.value = call->in[2],
                                        .out.value = call->out[0] };

    ends.q.view =
        read_view(c, c->q_offset, c->q_batch, c->queries, c->q_row, c->width);
    ends.k.view =
        read_view(c, c->k_offset, c->k_batch, c->keys, c->k_row, c->width);
    ends.v.view =
        read_view(c, c->v_offset, c->v_batch, c->keys, c->v_row, c->v_width);
    ends.out.view =
        read_view(c, 0, c->out_batch, c->queries, c->out_row, c->v_width);
    if (c->has_mask) {
        ends.mask.value = call->in[3];
        ends.mask.view = read_view(c, c->mask_offset, c->mask_batch, c->queries,
                                   c->mask_row, c->keys);
        ends.mask.view.stride[c->n_batch + 1] = c->mask_column;
    }
    return ends;
}

static void write_view(const mo_tensor_view *view, int64_t *batch, int64_t *row)
{
    int n = view->rank - 2;

    memset(batch, 0, MO_CALL_MATMUL_MAX_BATCH * sizeof *batch);
    memcpy(batch, view->stride, (size_t) n * sizeof *batch);
    *row = view->stride[n];
}

/* The result's offset is 0: attention writes whole values. */
void mo_pass_attention_set_operands(const mo_pass_attention_operands *ends,
                                    mo_call_attention *c)
{
    c->n_batch = ends->q.view.rank - 2;
    memset(c->extent, 0, sizeof c->extent);
    memcpy(c->extent, ends->q.view.extent,
           (size_t) c->n_batch * sizeof *c->extent);
    write_view(&ends->q.view, c->q_batch, &c->q_row);
    write_view(&ends->k.view, c->k_batch, &c->k_row);
    write_view(&ends->v.view, c->v_batch, &c->v_row);
    write_view(&ends->out.view, c->out_batch, &c->out_row);
    c->q_offset = ends->q.view.offset;
    c->k_offset = ends->k.view.offset;
    c->v_offset = ends->v.view.offset;
    if (c->has_mask) {
        write_view(&ends->mask.view, c->mask_batch, &c->mask_row);
        c->mask_offset = ends->mask.view.offset;
        c->mask_column = ends->mask.view.stride[ends->mask.view.rank - 1];
    }
}
