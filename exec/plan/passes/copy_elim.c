/* SPDX-License-Identifier: Apache-2.0 */
/* Copy elimination: readers of a copy read its source by strides. */
#include "exec/plan/passes/passes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "exec/op/copy_builder.h"
#include "exec/plan/passes/copy_map.h"
#include "exec/plan/passes/def_use.h"
#include "exec/plan/ir/value_table.h"

typedef struct elim_state {
    mo_exec_plan *plan;
    mo_plan_values values;
    int n_values; /* before the pass; the arrays below are of these */
    mo_pass_def_use uses;
    int *visible; /* the value with the original shape: itself, or a view */
} elim_state;

static mo_plan_value *value_at(elim_state *a, int value)
{
    return &a->values.items[value];
}

/* The only box that writes to a result, or NULL. */
static const mo_call_copy_box *sole_box(const mo_call *call, int result)
{
    const mo_call_copy_box *found = NULL;

    if (call->kind != MO_CALL_COPY)
        return NULL;
    for (int i = 0; i < call->u.copy.n_boxes; i++) {
        const mo_call_copy_box *box = &call->u.copy.boxes[i];

        if (call->out[box->to] != result)
            continue;
        if (found || box->from == MO_CALL_COPY_FILL)
            return NULL;
        found = box;
    }
    return found;
}

/* If a call of this device only copied value from another one: that value, and
 * the map of the copy. */
static bool find_copy(elim_state *a, int value, int device,
                      mo_tensor_copy_map *map, int *copied_value)
{
    int root = mo_plan_value_root(a->values.items, value);
    int maker = root < a->n_values ? a->uses.maker[root] : MO_PLAN_NONE;
    const mo_call_copy_box *box;
    const mo_plan_call *copy;

    if (maker == MO_PLAN_NONE)
        return false;
    copy = &a->plan->calls[maker];
    box = sole_box(&copy->call, root);
    if (copy->device != device || !box || !mo_pass_copy_map(box, map) ||
        map->elements != mo_tensor_desc_elements(&value_at(a, root)->desc))
        return false;
    *copied_value = copy->call.in[box->from];
    return value_at(a, *copied_value)->device == device;
}

/* As mo_tensor_view_compose, for the views a call can express: no negative
 * strides, and at most MO_MAX_RANK dimensions. */
static bool compose_with_copy(const mo_tensor_copy_map *map,
                              const mo_tensor_view *view,
                              mo_tensor_view *source,
                              mo_tensor_dim_split *split)
{
    for (int d = 0; d < view->rank; d++)
        if (view->stride[d] < 0)
            return false;
    return mo_tensor_view_compose(map, view, source, split) &&
           source->rank <= MO_MAX_RANK;
}

static bool compose_box(const mo_tensor_copy_map *map,
                        const mo_call_copy_box *box, mo_call_copy_box *result)
{
    mo_tensor_view view = { .rank = box->rank, .offset = box->in_offset },
                   source;
    mo_tensor_dim_split parts;

    memcpy(view.extent, box->extent, sizeof box->extent);
    memcpy(view.stride, box->in_stride, sizeof box->in_stride);
    if (!compose_with_copy(map, &view, &source, &parts))
        return false;
    *result = *box;
    result->rank = source.rank;
    result->in_offset = source.offset;
    memcpy(result->extent, source.extent, sizeof result->extent);
    memcpy(result->in_stride, source.stride, sizeof result->in_stride);
    for (int d = 0; d < source.rank; d++)
        result->out_stride[d] =
            box->out_stride[parts.part[d]] * parts.weight[d];
    return true;
}

/* All boxes that read operand i, or none. */
static mo_status eliminate_in_copy(elim_state *a, mo_plan_call *reader, int i,
                                   bool *eliminated, mo_error *err)
{
    mo_call_copy *copy = &reader->call.u.copy;
    size_t n = (size_t) copy->n_boxes;
    mo_call_copy_box *boxes;
    mo_tensor_copy_map map;
    int copied_value;

    *eliminated = false;
    if (copy->fill_in == i ||
        !find_copy(a, reader->call.in[i], reader->device, &map, &copied_value))
        return MO_OK;
    boxes = mo_arena_array(a->plan->arena, n, sizeof *boxes);
    if (!boxes)
        return mo_fail_memory(err);
    for (size_t k = 0; k < n; k++) {
        boxes[k] = copy->boxes[k];
        if (boxes[k].from == i &&
            !compose_box(&map, &copy->boxes[k], &boxes[k]))
            return MO_OK;
    }
    copy->boxes = boxes;
    reader->call.in[i] = copied_value;
    *eliminated = true;
    return MO_OK;
}

static bool is_unsplit(const mo_tensor_view *before,
                       const mo_tensor_view *after)
{
    return before->rank == after->rank;
}

static void split_access(mo_point_access *access, const mo_tensor_view *source,
                         const mo_tensor_dim_split *parts)
{
    mo_point_access cut = { .offset = access->offset };

    for (int d = 0; d < source->rank; d++)
        cut.stride[d] = access->stride[parts->part[d]] * parts->weight[d];
    *access = cut;
}

/* The result of a program gets a shape with more dimensions; its readers read
 * a view of the original shape. */
static mo_status split_result(elim_state *a, int value,
                              const mo_tensor_view *source, mo_error *err)
{
    mo_plan_value view = *value_at(a, value);
    mo_shape *shape = &value_at(a, value)->desc.shape;

    shape->rank = source->rank;
    memcpy(shape->dims, source->extent, sizeof shape->dims);
    if (a->visible[value] != value)
        return MO_OK;
    view.view_of = value;
    return mo_plan_values_add(&a->values, &view, &a->visible[value], err);
}

/* Operand `operand` of a program is in[i] of the call. The result of an
 * epilogue cannot be split: its shape is the call's. */
static mo_status eliminate_in_program(elim_state *a, mo_plan_call *reader,
                                      int i, bool *eliminated, mo_error *err)
{
    mo_call *call = &reader->call;
    bool epilogue = call->after && i >= call->first_extra;
    mo_point_program *point = epilogue ? call->after : &call->u.point;
    int operand = epilogue ? i - call->first_extra + 1 : i;
    mo_plan_value *out = value_at(a, reader->call.out[0]);
    mo_point_access *access = &point->operands[operand].access;
    mo_tensor_view view = { .rank = out->desc.shape.rank,
                            .offset = access->offset };
    mo_tensor_view source;
    mo_tensor_dim_split parts;
    mo_tensor_copy_map map;
    int copied_value;
    bool splits;

    memcpy(view.extent, out->desc.shape.dims, sizeof view.extent);
    memcpy(view.stride, access->stride, sizeof view.stride);
    *eliminated = false;
    if (!find_copy(a, reader->call.in[i], reader->device, &map,
                   &copied_value) ||
        !compose_with_copy(&map, &view, &source, &parts))
        return MO_OK;
    splits = !is_unsplit(&view, &source);
    if (splits && (epilogue || out->channels_last))
        return MO_OK;
    if (splits) {
        mo_status status = split_result(a, reader->call.out[0], &source, err);

        if (status != MO_OK)
            return status;
        for (int k = 0; k < point->n_operands; k++)
            split_access(&point->operands[k].access, &source, &parts);
        split_access(&point->out, &source, &parts);
    }
    access->offset = source.offset;
    memcpy(access->stride, source.stride, sizeof access->stride);
    reader->call.in[i] = copied_value;
    *eliminated = true;
    return MO_OK;
}

/* An operand of a matrix product has two matrix dimensions, of which one must
 * stay contiguous. */
static mo_status eliminate_in_product(elim_state *a, mo_plan_call *reader,
                                      int i, bool *eliminated)
{
    mo_call_matmul *m = &reader->call.u.matmul;
    mo_call_matmul_operand *side = i == 0 ? &m->a : &m->b;
    mo_tensor_view view = { .rank = m->n_batch + 2 }, source;
    mo_tensor_dim_split parts;
    mo_tensor_copy_map map;
    int copied_value, n = m->n_batch;

    *eliminated = false;
    if (n + 2 > MO_MAX_RANK ||
        !find_copy(a, reader->call.in[i], reader->device, &map,
                   &copied_value) ||
        map.offset != 0)
        return MO_OK;
    memcpy(view.extent, m->extent, (size_t) n * sizeof *view.extent);
    memcpy(view.stride, side->batch, (size_t) n * sizeof *view.stride);
    view.extent[n] = i == 0 ? m->m : m->k;
    view.extent[n + 1] = i == 0 ? m->k : m->n;
    view.stride[n] = side->row;
    view.stride[n + 1] = side->column;
    if (!compose_with_copy(&map, &view, &source, &parts) ||
        !is_unsplit(&view, &source) || source.offset != 0 ||
        (source.stride[n] != 1 && source.stride[n + 1] != 1))
        return MO_OK;
    memcpy(side->batch, source.stride, (size_t) n * sizeof *side->batch);
    side->row = source.stride[n];
    side->column = source.stride[n + 1];
    reader->call.in[i] = copied_value;
    *eliminated = true;
    return MO_OK;
}

static mo_status eliminate_operand(elim_state *a, mo_plan_call *reader, int i,
                                   bool *eliminated, mo_error *err)
{
    mo_call *call = &reader->call;

    *eliminated = false;
    if (call->after && i >= call->first_extra)
        return eliminate_in_program(a, reader, i, eliminated, err);
    switch (call->kind) {
    case MO_CALL_COPY:
        return eliminate_in_copy(a, reader, i, eliminated, err);
    case MO_CALL_POINT:
        return eliminate_in_program(a, reader, i, eliminated, err);
    case MO_CALL_MATMUL:
        return eliminate_in_product(a, reader, i, eliminated);
    default:
        return MO_OK;
    }
}

/* Joins two boxes of one source and shape: halves that are exchanged. */
static mo_status join_boxes(elim_state *a, mo_plan_call *place, mo_error *err)
{
    mo_call_copy *copy = &place->call.u.copy;
    const mo_call_copy_box *b, *c;
    mo_call_copy_box *joined;
    bool same;

    if (place->call.kind != MO_CALL_COPY || copy->n_boxes != 2)
        return MO_OK;
    b = &copy->boxes[0];
    c = &copy->boxes[1];
    if (b->from == MO_CALL_COPY_FILL || c->from == MO_CALL_COPY_FILL)
        return MO_OK;
    same = b->to == c->to && b->rank == c->rank && b->rank < MO_MAX_RANK &&
           place->call.in[b->from] == place->call.in[c->from];
    for (int d = 0; same && d < b->rank; d++)
        same = b->extent[d] == c->extent[d] &&
               b->in_stride[d] == c->in_stride[d] &&
               b->out_stride[d] == c->out_stride[d];
    if (!same)
        return MO_OK;
    joined = mo_arena_alloc(a->plan->arena, sizeof *joined);
    if (!joined)
        return mo_fail_memory(err);
    *joined = *b;
    mo_lower_copy_box_push(joined, 2, c->in_offset - b->in_offset,
                           c->out_offset - b->out_offset);
    copy->boxes = joined;
    copy->n_boxes = 1;
    return MO_OK;
}

/* Copies what the pass modifies, since calls may share operand lists and
 * programs. */
static mo_status copy_operands(elim_state *a, mo_call *call, mo_error *err)
{
    int *in =
        mo_arena_array(a->plan->arena, (size_t) call->n_in + 1, sizeof *in);
    mo_point_program *after = NULL;

    if (!in)
        return mo_fail_memory(err);
    for (int i = 0; i < call->n_in; i++)
        in[i] = a->visible[call->in[i]];
    call->in = in;
    if (call->after) {
        after = mo_arena_alloc(a->plan->arena, sizeof *after);
        if (!after)
            return mo_fail_memory(err);
        *after = *call->after;
        call->after = after;
    }
    return MO_OK;
}

static mo_status init_state(elim_state *a, mo_error *err)
{
    mo_exec_plan *plan = a->plan;
    mo_status status = mo_pass_def_use_build(plan, &a->uses, err);

    if (status != MO_OK)
        return status;
    a->n_values = plan->n_values;
    a->visible = calloc((size_t) plan->n_values + 1, sizeof *a->visible);
    if (!a->visible)
        return mo_fail_memory(err);
    for (int v = 0; v < plan->n_values; v++)
        a->visible[v] = v;
    return mo_plan_values_copy(plan, &a->values, err);
}

mo_status mo_pass_copy_elim(const bool *enabled, mo_exec_plan *plan,
                            mo_error *err)
{
    elim_state a = { .plan = plan };
    mo_status status;

    assert(plan->n_transfers == 0);
    if (!enabled)
        return MO_OK;
    status = init_state(&a, err);
    for (int c = 0; c < plan->n_calls && status == MO_OK; c++) {
        /* Repeats while there is anything to eliminate: a copy may read a copy.
         */
        status = copy_operands(&a, &plan->calls[c].call, err);
        for (int i = 0; enabled[plan->calls[c].device] &&
                        i < plan->calls[c].call.n_in && status == MO_OK;
             i++) {
            bool eliminated = true;

            while (eliminated && status == MO_OK)
                status =
                    eliminate_operand(&a, &plan->calls[c], i, &eliminated, err);
        }
        if (status == MO_OK && enabled[plan->calls[c].device])
            status = join_boxes(&a, &plan->calls[c], err);
    }
    for (int i = 0; i < plan->n_outputs && status == MO_OK; i++)
        plan->outputs[i].value = a.visible[plan->outputs[i].value];
    if (status == MO_OK)
        status = mo_plan_values_commit(&a.values, plan, err);
    mo_plan_values_clear(&a.values);
    free(a.visible);
    mo_pass_def_use_clear(&a.uses);
    return status;
}
