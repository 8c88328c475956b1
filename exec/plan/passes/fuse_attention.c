/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention fusion: the pattern matmul - softmax - matmul becomes one
 * attention call (scaled dot-product attention, Vaswani et al. 2017). Then
 * that call, and any that was there before, reads queries, keys and values
 * where a product left them and writes where the next one reads: transposes,
 * splits and slices around it become superfluous.
 *
 * Like any fused call it takes the position of its last part.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "exec/plan/passes/fuse_attention_internal.h"
#include "exec/plan/passes/passes.h"
#include "exec/plan/ir/value_table.h"

/* A match: views are over [batches ..., rows, columns]. */
typedef struct attention_match {
    mo_call_attention attention;
    mo_pass_attention_operands ends;
    mo_pass_attention_scores scores;
    int at;       /* the call it replaces */
    int timed_as; /* an item */
} attention_match;

/* The view of a product's operand over its batches and the two dimensions of
 * its matrix in the order given. */
static mo_tensor_view operand_view(const mo_call_matmul *m,
                                   const mo_call_matmul_operand *side,
                                   int64_t rows, int64_t row, int64_t columns,
                                   int64_t column)
{
    mo_tensor_view view = { 0 };

    for (int d = 0; d < m->n_batch; d++)
        if (m->extent[d] != 1)
            mo_tensor_view_append_dim(&view, m->extent[d], side->batch[d]);
    mo_tensor_view_append_dim(&view, rows, row);
    mo_tensor_view_append_dim(&view, columns, column);
    return view;
}

/* Returns whether the view covers a whole value in order. */
static bool covers_value(const mo_pass_attention *a, const mo_tensor_view *view,
                         int value)
{
    return mo_tensor_view_is_dense(view) &&
           mo_tensor_view_elements(view) ==
               mo_tensor_desc_elements(&a->plan->values[value].desc);
}

static void read_second_product(const mo_call *call, attention_match *f)
{
    const mo_call_matmul *m = &call->u.matmul;

    f->attention.v_width = m->n;
    f->ends.v = (mo_pass_attention_operand){
        call->in[1], operand_view(m, &m->b, m->k, m->b.row, m->n, m->b.column)
    };
    f->ends.out = (mo_pass_attention_operand){
        call->out[0], operand_view(m, &m->c, m->m, m->c.row, m->n, m->c.column)
    };
}

/* Returns whether both products have the same batches, and the scores between
 * them are dense. */
static bool products_match(const mo_pass_attention *a, const mo_call *first,
                           const mo_call *second)
{
    const mo_call_matmul *m = &first->u.matmul, *n = &second->u.matmul;
    mo_tensor_view made =
        operand_view(m, &m->c, m->m, m->c.row, m->n, m->c.column);
    mo_tensor_view read =
        operand_view(n, &n->a, n->m, n->a.row, n->k, n->a.column);

    return made.rank == read.rank &&
           memcmp(made.extent, read.extent,
                  (size_t) made.rank * sizeof *made.extent) == 0 &&
           made.rank <= MO_MAX_RANK && mo_tensor_view_elements(&made) > 0 &&
           covers_value(a, &made, first->out[0]) &&
           covers_value(a, &read, second->in[0]);
}

/* The only reader of call c's result, maybe through a view or a conversion; or
 * MO_PLAN_NONE. */
static int sole_reader(const mo_pass_attention *a, int c)
{
    int value = a->plan->calls[c].call.out[0];

    while (a->uses.reads[value] == 1 && a->uses.view[value] != MO_PLAN_NONE)
        value = a->uses.view[value];
    return a->uses.reads[value] == 1 ? a->uses.reader[value] : MO_PLAN_NONE;
}

static bool is_conversion(const mo_pass_attention *a, const mo_call *call)
{
    return call->kind == MO_CALL_POINT && call->n_in == 1 &&
           call->u.point.n_steps == 0 &&
           mo_pass_attention_is_elementwise(a->plan, call, 0) &&
           mo_elem_is_float(call->u.point.operands[0].elem) &&
           mo_elem_is_float(a->plan->values[call->out[0]].desc.elem);
}

/* The product that reads the softmax; *between is removed with it. */
static int find_second_product(const mo_pass_attention *a, int softmax,
                               int *between)
{
    int device = a->plan->calls[softmax].device;
    int c = sole_reader(a, softmax);

    *between = MO_PLAN_NONE;
    if (c != MO_PLAN_NONE && is_conversion(a, &a->plan->calls[c].call)) {
        *between = c;
        c = sole_reader(a, c);
    }
    if (c == MO_PLAN_NONE || a->plan->calls[c].device != device ||
        a->plan->calls[c].call.kind != MO_CALL_MATMUL ||
        a->plan->calls[c].call.after)
        return MO_PLAN_NONE;
    return c;
}

static bool is_over_keys(const mo_call *softmax, int64_t keys)
{
    return softmax->kind == MO_CALL_SOFTMAX && !softmax->after &&
           !softmax->u.softmax.log && softmax->u.softmax.inner == 1 &&
           softmax->u.softmax.count == keys;
}

/* Returns whether all operands and the result have one type. */
static bool has_one_type(const mo_pass_attention *a, const attention_match *f)
{
    const mo_plan_value *values = a->plan->values;
    mo_elem elem = values[f->ends.out.value].desc.elem;

    return (mo_elem_is_float(elem) && elem != MO_ELEM_F64) &&
           values[f->ends.q.value].desc.elem == elem &&
           values[f->ends.k.value].desc.elem == elem &&
           values[f->ends.v.value].desc.elem == elem;
}

static mo_shape scores_shape(const attention_match *f)
{
    mo_shape shape = { .rank = f->ends.q.view.rank };

    memcpy(shape.dims, f->ends.q.view.extent, sizeof shape.dims);
    shape.dims[shape.rank - 1] = f->attention.keys;
    return shape;
}

static void trace_sources(const mo_pass_attention *a, int device,
                          attention_match *f)
{
    double factor = 1;

    mo_pass_attention_trace_source(a, device, &f->ends.q, &factor);
    mo_pass_attention_trace_source(a, device, &f->ends.k, &factor);
    mo_pass_attention_trace_source(a, device, &f->ends.v, NULL);
    f->attention.scale *= factor;
}

static void trace_result(mo_pass_attention *a, attention_match *f)
{
    int copy = mo_pass_attention_trace_sink(a, f->at, &f->ends.out);

    if (copy == MO_PLAN_NONE)
        return;
    a->dropped[f->at] = true;
    a->dropped[copy] = false;
    f->at = copy;
}

static mo_status write_fused_call(mo_pass_attention *a, attention_match *f,
                                  mo_error *err)
{
    mo_plan_call *place = &a->plan->calls[f->at];
    mo_call call = { .kind = MO_CALL_ATTENTION };
    mo_status status;

    mo_pass_attention_set_operands(&f->ends, &f->attention);
    f->attention.score = f->scores.program;
    call.u.attention = f->attention;

    const mo_point_program *program = f->scores.program;
    int extra = program ? program->n_operands - 1 : 0;

    call.n_in = 3 + f->attention.has_mask + extra;
    call.n_out = 1;
    call.in =
        mo_arena_array(a->plan->arena, (size_t) call.n_in, sizeof *call.in);
    call.out = mo_arena_array(a->plan->arena, 1, sizeof *call.out);
    if (!call.in || !call.out)
        status = mo_fail_memory(err);
    else {
        call.in[0] = f->ends.q.value;
        call.in[1] = f->ends.k.value;
        call.in[2] = f->ends.v.value;
        if (f->attention.has_mask)
            call.in[3] = f->ends.mask.value;
        for (int i = 0; i < extra; i++)
            call.in[3 + f->attention.has_mask + i] = f->scores.operands[i + 1];
        call.out[0] = f->ends.out.value;
        call.first_extra = call.n_in;
        status = MO_OK;
    }
    if (status != MO_OK)
        return status;
    place->call = call;
    place->timed_as = f->timed_as;
    return MO_OK;
}

/* Matches two products around the softmax of call c and fuses them. */
static mo_status fuse_pattern(mo_pass_attention *a, int c, mo_error *err)
{
    mo_exec_plan *plan = a->plan;
    attention_match f = { .attention = { .scale = 1 } };
    int between, second = find_second_product(a, c, &between);
    mo_shape shape;
    bool works;
    mo_status status;

    if (second == MO_PLAN_NONE ||
        !mo_pass_attention_match_scores(a, plan->calls[c].device,
                                        plan->calls[c].call.in[0], &f.scores) ||
        !products_match(a, &plan->calls[f.scores.product].call,
                        &plan->calls[second].call))
        return MO_OK;

    const mo_call *call = &plan->calls[f.scores.product].call;
    const mo_call_matmul *m = &call->u.matmul;

    f.attention.queries = m->m;
    f.attention.keys = m->n;
    f.attention.width = m->k;
    f.ends.q = (mo_pass_attention_operand){
        call->in[0], operand_view(m, &m->a, m->m, m->a.row, m->k, m->a.column)
    };
    f.ends.k = (mo_pass_attention_operand){
        call->in[1], operand_view(m, &m->b, m->n, m->b.column, m->k, m->b.row)
    };
    read_second_product(&plan->calls[second].call, &f);
    f.at = second;
    f.timed_as = plan->calls[f.scores.product].timed_as;
    if (!is_over_keys(&plan->calls[c].call, f.attention.keys) ||
        !has_one_type(a, &f))
        return MO_OK;
    trace_sources(a, plan->calls[c].device, &f);
    shape = scores_shape(&f);
    status = mo_pass_attention_score_program(a, &shape, &f.scores, &works, err);
    if (status != MO_OK || !works ||
        !(mo_tensor_view_has_unit_stride(&f.ends.q.view) &&
          mo_tensor_view_has_unit_stride(&f.ends.k.view) &&
          mo_tensor_view_has_unit_stride(&f.ends.v.view) &&
          mo_tensor_view_has_unit_stride(&f.ends.out.view)))
        return status;
    f.attention.scale *= f.scores.scale;
    f.attention.causal = f.scores.causal;
    a->dropped[f.scores.product] = a->dropped[c] = true;
    if (between != MO_PLAN_NONE)
        a->dropped[between] = true;
    for (int i = 0; i < f.scores.n; i++)
        a->dropped[f.scores.links[i].call] = true;
    trace_result(a, &f);
    return write_fused_call(a, &f, err);
}

/* Removes a mask that hides nothing, or replaces it by the causal flag. */
static void simplify_mask(const mo_pass_attention *a, attention_match *f)
{
    const mo_tensor_view *view = &f->ends.mask.view;
    const mo_tensor_dense *mask =
        mo_pass_attention_constant(a->plan, f->ends.mask.value);
    mo_point_access access = { .offset = view->offset };
    mo_shape shape;
    mo_pass_attention_mask sight;

    if (!mask || view->rank > MO_MAX_RANK)
        return;
    shape = scores_shape(f);
    memcpy(access.stride, view->stride, (size_t) view->rank * sizeof(int64_t));
    sight = mo_pass_attention_classify_mask(mask, &access, &shape, false);
    f->attention.has_mask = sight == MO_PASS_ATTENTION_MASK_GENERAL;
    f->attention.causal =
        f->attention.causal || sight == MO_PASS_ATTENTION_MASK_CAUSAL;
}

mo_status mo_pass_fuse_attention(const mo_plan_source *source,
                                 mo_exec_plan *plan, mo_error *err)
{
    mo_pass_attention a = { .plan = plan };
    mo_status status;

    assert(plan->n_transfers == 0);
    if (!source->fuses_attention)
        return MO_OK;
    a.dropped = calloc((size_t) plan->n_calls + 1, sizeof *a.dropped);
    status = a.dropped ? mo_pass_def_use_build(plan, &a.uses, err)
                       : mo_fail_memory(err);
    for (int c = 0; c < a.plan->n_calls && status == MO_OK; c++) {
        const mo_plan_call *call = &a.plan->calls[c];

        if (a.dropped[c] || !source->fuses_attention[call->device])
            continue;
        if (call->call.kind == MO_CALL_SOFTMAX)
            status = fuse_pattern(&a, c, err);
        else if (call->call.kind == MO_CALL_ATTENTION) {
            const mo_plan_call *place = &a.plan->calls[c];
            attention_match f = { .at = c, .timed_as = place->timed_as };

            f.attention = place->call.u.attention;
            f.ends = mo_pass_attention_get_operands(&place->call);
            if (place->call.after || f.attention.score ||
                mo_tensor_view_elements(&f.ends.q.view) < 1 ||
                f.attention.keys < 1 || f.attention.v_width < 1)
                status = MO_OK; /* stays as it is */
            else {
                if (f.attention.has_mask) {
                    mo_pass_attention_trace_source(&a, place->device,
                                                   &f.ends.mask, NULL);
                    simplify_mask(&a, &f);
                }
                if (!f.attention.has_mask)
                    f.ends.mask = f.ends.q; /* unused, but of its shape */
                if (!f.attention.has_sinks) {
                    mo_pass_attention_split_batches(&a, place->device,
                                                    &f.ends.k, &f.ends);
                    mo_pass_attention_split_batches(&a, place->device,
                                                    &f.ends.v, &f.ends);
                }
                trace_sources(&a, place->device, &f);
                trace_result(&a, &f);
                if (!f.attention.has_sinks && !f.attention.causal)
                    f.attention.queries =
                        mo_pass_attention_group_queries(&f.ends);
                status = write_fused_call(&a, &f, err);
            }
        }
    }
    if (status == MO_OK)
        mo_pass_drop_calls(plan, a.dropped);
    mo_pass_def_use_clear(&a.uses);
    free(a.dropped);
    return status;
}
