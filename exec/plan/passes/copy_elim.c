/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/passes/passes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "exec/plan/passes/copy_map.h"
#include "exec/plan/passes/def_use.h"
#include "exec/plan/ir/value_table.h"

typedef struct absorbing {
    mo_exec_plan *plan;
    mo_plan_values values;
    int n_values; /* at the beginning; the lists below are of these */
    mo_pass_def_use uses;
    int *shown; /* the value that now looks as it did: itself, or a view */
} absorbing;

static mo_plan_value *at(absorbing *a, int value)
{
    return &a->values.items[value];
}

/* If what value holds was only moved there by a call of this device: how, and
 * from which value. */
static bool find_moved(absorbing *a, int value, int device,
                       mo_tensor_copy_map *moved, int *source)
{
    int root = mo_plan_value_root(a->values.items, value);
    int maker = root < a->n_values ? a->uses.maker[root] : MO_PLAN_NONE;
    const mo_plan_call *copy;

    if (maker == MO_PLAN_NONE)
        return false;
    copy = &a->plan->calls[maker];
    if (copy->device != device ||
        !mo_pass_copy_map_of_call(
            &copy->call, mo_tensor_desc_elements(&at(a, root)->desc), moved))
        return false;
    *source = copy->call.in[copy->call.u.copy.boxes[0].from];
    return at(a, *source)->device == device;
}

/* As mo_tensor_view_compose, for what a call can express: strides that do not
 * fall, and no more dimensions than a shape has. */
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

/* -------------------------------------------------------------- of a copy --
 */

static bool walk_box(const mo_tensor_copy_map *moved,
                     const mo_call_copy_box *box, mo_call_copy_box *result)
{
    mo_tensor_view walk = { .rank = box->rank, .offset = box->in_offset },
                   found;
    mo_tensor_dim_split parts;

    memcpy(walk.extent, box->extent, sizeof box->extent);
    memcpy(walk.stride, box->in_stride, sizeof box->in_stride);
    if (!compose_with_copy(moved, &walk, &found, &parts))
        return false;
    *result = *box;
    result->rank = found.rank;
    result->in_offset = found.offset;
    memcpy(result->extent, found.extent, sizeof result->extent);
    memcpy(result->in_stride, found.stride, sizeof result->in_stride);
    for (int d = 0; d < found.rank; d++)
        result->out_stride[d] =
            box->out_stride[parts.part[d]] * parts.weight[d];
    return true;
}

/* All boxes that read operand i, or none. */
static mo_status absorb_in_copy(absorbing *a, mo_plan_call *reader, int i,
                                bool *absorbs, mo_error *err)
{
    mo_call_copy *copy = &reader->call.u.copy;
    size_t n = (size_t) copy->n_boxes;
    mo_call_copy_box *boxes;
    mo_tensor_copy_map moved;
    int source;

    *absorbs = false;
    if (copy->fill_in == i ||
        !find_moved(a, reader->call.in[i], reader->device, &moved, &source))
        return MO_OK;
    boxes = mo_arena_array(a->plan->arena, n, sizeof *boxes);
    if (!boxes)
        return mo_fail_memory(err);
    for (size_t k = 0; k < n; k++) {
        boxes[k] = copy->boxes[k];
        if (boxes[k].from == i && !walk_box(&moved, &copy->boxes[k], &boxes[k]))
            return MO_OK;
    }
    copy->boxes = boxes;
    reader->call.in[i] = source;
    *absorbs = true;
    return MO_OK;
}

/* ----------------------------------------------------- of elementwise work --
 */

static mo_tensor_view walk_of(const mo_shape *shape,
                              const mo_point_access *access)
{
    mo_tensor_view walk = { .rank = shape->rank, .offset = access->offset };

    memcpy(walk.extent, shape->dims, sizeof shape->dims);
    memcpy(walk.stride, access->stride, sizeof access->stride);
    return walk;
}

static bool is_whole(const mo_tensor_view *before, const mo_tensor_view *after)
{
    return before->rank == after->rank;
}

static void cut_access(mo_point_access *access, const mo_tensor_view *found,
                       const mo_tensor_dim_split *parts)
{
    mo_point_access cut = { .offset = access->offset };

    for (int d = 0; d < found->rank; d++)
        cut.stride[d] = access->stride[parts->part[d]] * parts->weight[d];
    *access = cut;
}

/* The result of a program gets a shape with more dimensions; who reads it is
 * shown a view of that, as it was. */
static mo_status cut_result(absorbing *a, int value,
                            const mo_tensor_view *found, mo_error *err)
{
    mo_plan_value view = *at(a, value);
    mo_shape *shape = &at(a, value)->desc.shape;

    shape->rank = found->rank;
    memcpy(shape->dims, found->extent, sizeof shape->dims);
    if (a->shown[value] != value)
        return MO_OK;
    view.view_of = value;
    return mo_plan_values_add(&a->values, &view, &a->shown[value], err);
}

static void read_source(mo_point_program *point, int operand,
                        const mo_tensor_view *found)
{
    mo_point_access *access = &point->operands[operand].access;

    access->offset = found->offset;
    memcpy(access->stride, found->stride, sizeof access->stride);
}

/* Operand `operand` of a program is in[i] of the call.  An epilogue cannot have
 * its result cut: that is its call's. */
static mo_status absorb_in_program(absorbing *a, mo_plan_call *reader,
                                   mo_point_program *point, int operand, int i,
                                   bool may_cut, bool *absorbs, mo_error *err)
{
    mo_plan_value *out = at(a, reader->call.out[0]);
    mo_tensor_view walk =
        walk_of(&out->desc.shape, &point->operands[operand].access);
    mo_tensor_view found;
    mo_tensor_dim_split parts;
    mo_tensor_copy_map moved;
    int source;
    bool cuts;

    *absorbs = false;
    if (!find_moved(a, reader->call.in[i], reader->device, &moved, &source) ||
        !compose_with_copy(&moved, &walk, &found, &parts))
        return MO_OK;
    cuts = !is_whole(&walk, &found);
    if (cuts && (!may_cut || out->channels_last))
        return MO_OK;
    if (cuts) {
        mo_status status = cut_result(a, reader->call.out[0], &found, err);

        if (status != MO_OK)
            return status;
        for (int k = 0; k < point->n_operands; k++)
            cut_access(&point->operands[k].access, &found, &parts);
        cut_access(&point->out, &found, &parts);
    }
    read_source(point, operand, &found);
    reader->call.in[i] = source;
    *absorbs = true;
    return MO_OK;
}

/* -------------------------------------------------------------- of products --
 */

/* A side of a product has two dimensions, of which one must stay contiguous. */
static mo_status absorb_in_product(absorbing *a, mo_plan_call *reader, int i,
                                   bool *absorbs)
{
    mo_call_matmul *m = &reader->call.u.matmul;
    mo_call_matmul_operand *side = i == 0 ? &m->a : &m->b;
    mo_tensor_view walk = { .rank = m->n_batch + 2 }, found;
    mo_tensor_dim_split parts;
    mo_tensor_copy_map moved;
    int source, n = m->n_batch;

    *absorbs = false;
    if (n + 2 > MO_MAX_RANK ||
        !find_moved(a, reader->call.in[i], reader->device, &moved, &source) ||
        moved.offset != 0)
        return MO_OK;
    memcpy(walk.extent, m->extent, (size_t) n * sizeof *walk.extent);
    memcpy(walk.stride, side->batch, (size_t) n * sizeof *walk.stride);
    walk.extent[n] = i == 0 ? m->m : m->k;
    walk.extent[n + 1] = i == 0 ? m->k : m->n;
    walk.stride[n] = side->row;
    walk.stride[n + 1] = side->column;
    if (!compose_with_copy(&moved, &walk, &found, &parts) ||
        !is_whole(&walk, &found) || found.offset != 0 ||
        (found.stride[n] != 1 && found.stride[n + 1] != 1))
        return MO_OK;
    memcpy(side->batch, found.stride, (size_t) n * sizeof *side->batch);
    side->row = found.stride[n];
    side->column = found.stride[n + 1];
    reader->call.in[i] = source;
    *absorbs = true;
    return MO_OK;
}

/* ---------------------------------------------------------------------------
 */

static mo_status absorb_operand(absorbing *a, mo_plan_call *reader, int i,
                                bool *absorbs, mo_error *err)
{
    mo_call *call = &reader->call;

    *absorbs = false;
    if (call->after && i >= call->first_extra)
        return absorb_in_program(a, reader, call->after,
                                 i - call->first_extra + 1, i, false, absorbs,
                                 err);
    switch (call->kind) {
    case MO_CALL_COPY:
        return absorb_in_copy(a, reader, i, absorbs, err);
    case MO_CALL_POINT:
        return absorb_in_program(a, reader, &call->u.point, i, i, true, absorbs,
                                 err);
    case MO_CALL_MATMUL:
        return absorb_in_product(a, reader, i, absorbs);
    default:
        return MO_OK;
    }
}

/* Operands and programs are changed: others may share them. */
static mo_status own(absorbing *a, mo_call *call, mo_error *err)
{
    int *in =
        mo_arena_array(a->plan->arena, (size_t) call->n_in + 1, sizeof *in);
    mo_point_program *after = NULL;

    if (!in)
        return mo_fail_memory(err);
    for (int i = 0; i < call->n_in; i++)
        in[i] = a->shown[call->in[i]];
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

/* As long as there is anything: a copy may be of a copy. */
static mo_status absorb_call(absorbing *a, mo_plan_call *reader, bool wants,
                             mo_error *err)
{
    mo_status status = own(a, &reader->call, err);

    for (int i = 0; wants && i < reader->call.n_in && status == MO_OK; i++) {
        bool absorbs = true;

        while (absorbs && status == MO_OK)
            status = absorb_operand(a, reader, i, &absorbs, err);
    }
    return status;
}

static mo_status begin(absorbing *a, mo_error *err)
{
    mo_exec_plan *plan = a->plan;
    mo_status status = mo_pass_def_use_build(plan, &a->uses, err);

    if (status != MO_OK)
        return status;
    a->n_values = plan->n_values;
    a->shown = calloc((size_t) plan->n_values + 1, sizeof *a->shown);
    if (!a->shown)
        return mo_fail_memory(err);
    for (int v = 0; v < plan->n_values; v++)
        a->shown[v] = v;
    return mo_plan_values_copy(plan, &a->values, err);
}

static mo_status end(absorbing *a, mo_error *err)
{
    mo_exec_plan *plan = a->plan;

    for (int i = 0; i < plan->n_outputs; i++)
        plan->outputs[i].value = a->shown[plan->outputs[i].value];
    return mo_plan_values_commit(&a->values, plan, err);
}

mo_status mo_pass_copy_elim(const bool *wants, mo_exec_plan *plan,
                            mo_error *err)
{
    absorbing a = { .plan = plan };
    mo_status status;

    assert(plan->n_transfers == 0);
    if (!wants)
        return MO_OK;
    status = begin(&a, err);
    for (int c = 0; c < plan->n_calls && status == MO_OK; c++)
        status =
            absorb_call(&a, &plan->calls[c], wants[plan->calls[c].device], err);
    if (status == MO_OK)
        status = end(&a, err);
    mo_plan_values_clear(&a.values);
    free(a.shown);
    mo_pass_def_use_clear(&a.uses);
    return status;
}
