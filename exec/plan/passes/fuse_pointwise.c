/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointwise (epilogue) fusion: elementwise work on the result of a call, if
 * nothing else reads it, becomes that call's epilogue, done before the store.
 * Within an item, between items that the default coarsening rules would fuse,
 * and on devices with a JIT-compiling backend (can_jit) this applies wherever a
 * backend supports it. Other items are fused with calls whose results are long
 * contiguous ranges: an epilogue is interpreted, once for each range.
 *
 * The fused call takes the position of its last part: all its operands are
 * available by then, and nothing read the intermediate value.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "coarsen/gcof.h"
#include "coarsen/fusion_rules.h"
#include "exec/plan/passes/passes.h"
#include "exec/plan/passes/def_use.h"

typedef struct fusion_state {
    mo_exec_plan *plan;
    const bool *can_jit; /* as in mo_plan_source */
    bool as_placed;
    int *group; /* fusion group by op of the placed graph */
    mo_pass_def_use uses;
    bool *dropped; /* by call: fused into another */
} fusion_state;

static mo_status init_state(const mo_plan_source *source, mo_exec_plan *plan,
                            fusion_state *f, mo_error *err)
{
    mo_fusion_rules *rules = NULL;
    int n_groups;
    mo_status status = mo_pass_def_use_build(plan, &f->uses, err);

    f->plan = plan;
    f->can_jit = source->can_jit;
    f->as_placed = source->as_placed;
    f->group = calloc((size_t) source->placed->n_ops + 1, sizeof *f->group);
    f->dropped = calloc((size_t) plan->n_calls + 1, sizeof *f->dropped);
    if (status != MO_OK)
        return status;
    if (!f->group || !f->dropped)
        return mo_fail_memory(err);
    status = mo_fusion_rules_load("default", &rules, err);
    if (status == MO_OK)
        status = mo_gcof_match(source->placed, rules, f->group, &n_groups, err);
    mo_fusion_rules_free(rules);
    return status;
}

/* Returns whether the call's kernels support an epilogue: not those that move
 * elements or compute in integers. */
static bool supports_epilogue(const mo_exec_plan *plan, const mo_call *call)
{
    switch (call->kind) {
    case MO_CALL_POINT:
        return true;
    case MO_CALL_MATMUL:
    case MO_CALL_CONV:
    case MO_CALL_POOL:
    case MO_CALL_REDUCE:
    case MO_CALL_SOFTMAX:
    case MO_CALL_NORM:
    case MO_CALL_CUMSUM:
    case MO_CALL_ATTENTION:
    case MO_CALL_LINEAR:
        return call->n_out == 1 &&
               mo_elem_is_float(plan->values[call->out[0]].desc.elem);
    default:
        return false;
    }
}

/* Returns whether the call writes its result as long contiguous ranges. */
static bool makes_ranges(const mo_call *call)
{
    return call->kind == MO_CALL_POINT || call->kind == MO_CALL_MATMUL ||
           call->kind == MO_CALL_LINEAR ||
           (call->kind == MO_CALL_CONV && !call->u.conv.transposed);
}

/* Returns whether the call computes reals as doubles. */
static bool is_wide(const mo_exec_plan *plan, const mo_call *call)
{
    mo_elem elem = plan->values[call->out[0]].desc.elem;
    const mo_point_program *program =
        call->kind == MO_CALL_POINT ? &call->u.point : call->after;

    return program ? mo_point_is_wide(program, elem) : elem == MO_ELEM_F64;
}

/* Returns whether the call reads a value of another device. Fused with it, an
 * earlier call would wait for that value, too. */
static bool reads_remote(const mo_exec_plan *plan, const mo_plan_call *call)
{
    for (int i = 0; i < call->call.n_in; i++)
        if (plan->values[call->call.in[i]].device != call->device)
            return true;
    return false;
}

static bool may_fuse_items(const fusion_state *f, const mo_plan_call *first,
                           const mo_plan_call *second)
{
    int a, b;

    if (first->item == second->item)
        return true;
    if (f->as_placed || first->item == MO_PLAN_NONE ||
        second->item == MO_PLAN_NONE || reads_remote(f->plan, second))
        return false;
    if (f->can_jit && f->can_jit[second->device])
        return true;
    /* Floats that are fused with doubles would round differently. */
    if (makes_ranges(&first->call) &&
        is_wide(f->plan, &first->call) == is_wide(f->plan, &second->call))
        return true;
    a = f->plan->items[first->item].op;
    b = f->plan->items[second->item].op;
    return a != MO_PLAN_NONE && b != MO_PLAN_NONE && f->group[a] == f->group[b];
}

/* Returns whether each element of the result reads operand at only at its own
 * position. */
static bool is_aligned(const mo_exec_plan *plan, const mo_call *second, int at)
{
    const mo_plan_value *from = &plan->values[second->in[at]];
    const mo_plan_value *to = &plan->values[second->out[0]];
    const mo_point_access *access = &second->u.point.operands[at].access;
    mo_point_access dense = mo_point_access_dense(&to->desc.shape);

    return mo_tensor_desc_equal(&from->desc, &to->desc) &&
           mo_point_access_equal(access, &dense, &to->desc.shape);
}

/* Returns the value that value is a view of, through any number of views, or
 * value itself; MO_PLAN_NONE if one of them has another reader. */
static int sole_producer(const fusion_state *f, int value)
{
    while (f->uses.reads[value] == 1 &&
           f->plan->values[value].view_of != MO_PLAN_NONE)
        value = f->plan->values[value].view_of;
    return f->uses.reads[value] == 1 ? value : MO_PLAN_NONE;
}

/* Returns whether the call stays correct when its result has another shape with
 * as many elements. Layout passes transpose images by their shape. */
static bool ignores_shape(const mo_call *call)
{
    return call->kind == MO_CALL_POINT || call->kind == MO_CALL_MATMUL ||
           call->kind == MO_CALL_LINEAR || call->kind == MO_CALL_NORM ||
           call->kind == MO_CALL_SOFTMAX;
}

/* The call that can take the program of call c as epilogue on operand at, or
 * MO_PLAN_NONE. */
static int fusion_base(const fusion_state *f, int c, int at)
{
    const mo_plan_call *second = &f->plan->calls[c];
    int value = second->call.in[at], source = sole_producer(f, value);
    int p = source == MO_PLAN_NONE ? MO_PLAN_NONE : f->uses.maker[source];
    const mo_plan_call *first;

    if (p == MO_PLAN_NONE)
        return MO_PLAN_NONE;
    first = &f->plan->calls[p];
    if (first->device != second->device ||
        !supports_epilogue(f->plan, &first->call) ||
        (source != value && (!ignores_shape(&first->call) ||
                             mo_ablated(MO_ABLATION_fuse_views))) ||
        !may_fuse_items(f, first, second) ||
        !is_aligned(f->plan, &second->call, at))
        return MO_PLAN_NONE;
    return p;
}

/* The program of first, over the shape under which second reads its result;
 * false when the strides do not allow it. */
static bool reshape_first_program(const fusion_state *f, const mo_call *first,
                                  const mo_tensor_desc *seen,
                                  mo_point_program *program)
{
    const mo_shape *shape = &f->plan->values[first->out[0]].desc.shape;

    if (first->kind != MO_CALL_POINT && !first->after) {
        *program = mo_point_program_identity(seen->elem, &seen->shape);
        return true;
    }
    *program = first->kind == MO_CALL_POINT ? first->u.point : *first->after;
    for (int i = -1; i < program->n_operands; i++) {
        mo_point_access *access =
            i < 0 ? &program->out : &program->operands[i].access;
        mo_point_access old = *access;

        if (!mo_point_access_reshape(&old, shape, &seen->shape, access))
            return false;
    }
    return true;
}

/* Common subexpressions: operands read twice in the same way are read once.
 * Operands from first on are the call's in[first_in ...]. */
static void merge_equal_operands(fusion_state *f, mo_call *call,
                                 mo_point_program *program, int first,
                                 int first_in)
{
    const mo_shape *shape = &f->plan->values[call->out[0]].desc.shape;
    int *in = call->in + first_in - first;

    if (mo_ablated(MO_ABLATION_equal_operands))
        return;
    for (int i = program->n_operands - 1; i > first; i--) {
        int k = first;

        /* Operand i of the program is in[i]. */
        while (k < i &&
               !(in[i] == in[k] &&
                 program->operands[i].elem == program->operands[k].elem &&
                 mo_point_access_equal(&program->operands[i].access,
                                       &program->operands[k].access, shape)))
            k++;
        if (k == i)
            continue;
        f->uses.reads[in[i]]--;
        memmove(&in[i], &in[i + 1],
                (size_t) (program->n_operands - 1 - i) * sizeof *in);
        mo_point_unify_operands(program, k, i);
        call->n_in--;
    }
}

/* Call p takes over the program and the position of call c. */
static mo_status fuse_into(fusion_state *f, int p, int c, int at, bool *fused,
                           mo_error *err)
{
    const mo_call *first = &f->plan->calls[p].call;
    mo_call *second = &f->plan->calls[c].call, joined = *first;
    const mo_tensor_desc *desc = &f->plan->values[second->in[at]].desc;
    mo_point_program program, *whole;
    int n = first->n_in, *in;

    whole = mo_arena_alloc(f->plan->arena, sizeof *whole);
    if (!whole)
        return mo_fail_memory(err);
    *fused = reshape_first_program(f, first, desc, &program) &&
             mo_point_fuse(&program, desc->elem, &second->u.point, at, whole);
    if (!*fused)
        return MO_OK;

    /* The operands of first, then those of second but for operand at. */
    in = mo_arena_array(f->plan->arena,
                        (size_t) first->n_in + (size_t) second->n_in,
                        sizeof *in);
    if (!in)
        return mo_fail_memory(err);
    memcpy(in, first->in, (size_t) first->n_in * sizeof *in);
    for (int i = 0; i < second->n_in; i++)
        if (i != at)
            in[n++] = second->in[i];
    joined.in = in;
    joined.n_in = n;
    joined.out = second->out;
    if (first->kind == MO_CALL_POINT) {
        merge_equal_operands(f, &joined, whole, 0, 0);
        joined.u.point = *whole;
        joined.first_extra = joined.n_in;
    } else {
        joined.first_extra = first->after ? first->first_extra : first->n_in;
        merge_equal_operands(f, &joined, whole, 1, joined.first_extra);
        joined.after = whole;
    }
    *second = joined;
    f->plan->calls[c].timed_as = f->plan->calls[p].timed_as;
    f->dropped[p] = true;
    return MO_OK;
}

/* Returns the operand of call c with whose producer c is fused, or -1.
 * Producers that are not pointwise are preferred, of these the last one: the
 * sum of two products goes to the later product. */
static int choose_operand(const fusion_state *f, int c)
{
    const mo_call *call = &f->plan->calls[c].call;
    int best = -1, best_base = MO_PLAN_NONE;
    bool best_is_kernel = false;

    for (int i = 0; i < call->n_in; i++) {
        int base = fusion_base(f, c, i);
        bool is_kernel = base != MO_PLAN_NONE &&
                         f->plan->calls[base].call.kind != MO_CALL_POINT;

        if (base == MO_PLAN_NONE || is_kernel < best_is_kernel ||
            (is_kernel == best_is_kernel && base < best_base))
            continue;
        best = i;
        best_base = base;
        best_is_kernel = is_kernel;
    }
    return best;
}

mo_status mo_pass_fuse_pointwise(const mo_plan_source *source,
                                 mo_exec_plan *plan, mo_error *err)
{
    fusion_state f = { 0 };
    mo_status status = init_state(source, plan, &f, err);

    assert(plan->n_transfers == 0);
    for (int c = 0; c < plan->n_calls && status == MO_OK; c++) {
        const mo_call *call = &f.plan->calls[c].call;
        bool fused = true;

        while (status == MO_OK && fused && call->kind == MO_CALL_POINT) {
            int at = choose_operand(&f, c);

            if (at < 0)
                break;
            status = fuse_into(&f, fusion_base(&f, c, at), c, at, &fused, err);
        }
    }
    if (status == MO_OK)
        mo_pass_drop_calls(plan, f.dropped);
    free(f.dropped);
    mo_pass_def_use_clear(&f.uses);
    free(f.group);
    return status;
}
