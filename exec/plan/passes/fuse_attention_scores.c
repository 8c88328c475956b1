/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The score program: pointwise calls between the first product and the
 * softmax, as scale, causal flag and one program.
 */
#include <math.h>

#include "base/array.h"
#include "exec/plan/passes/fuse_attention_internal.h"
#include "exec/plan/ir/value_table.h"

bool mo_pass_attention_is_elementwise(const mo_exec_plan *plan,
                                      const mo_call *call, int at)
{
    const mo_plan_value *from = &plan->values[call->in[at]];
    const mo_plan_value *to = &plan->values[call->out[0]];
    const mo_point_access *in = &call->u.point.operands[at].access;
    const mo_point_access *out = &call->u.point.out;
    mo_point_access dense = mo_point_access_dense(&to->desc.shape);

    if (mo_tensor_desc_elements(&from->desc) !=
            mo_tensor_desc_elements(&to->desc) ||
        in->offset != 0 || out->offset != 0)
        return false;
    for (int d = 0; d < to->desc.shape.rank; d++)
        if (to->desc.shape.dims[d] != 1 && (in->stride[d] != dense.stride[d] ||
                                            out->stride[d] != dense.stride[d]))
            return false;
    return true;
}

/* Abstract value of a register: a number, or a multiple of the operand. */
typedef struct register_state {
    bool is_number;
    double x;
} register_state;

static bool apply_scale_step(const mo_point_step *step, const register_state *a,
                             const register_state *b, register_state *to)
{
    switch (step->op) {
    case MO_POINT_NEGATE:
        *to = (register_state){ a->is_number, -a->x };
        return true;
    case MO_POINT_AFFINE:
        *to = (register_state){ a->is_number, a->x * step->x };
        return step->y == 0;
    case MO_POINT_MULTIPLY:
        *to = (register_state){ a->is_number && b->is_number, a->x * b->x };
        return a->is_number || b->is_number;
    case MO_POINT_DIVIDE:
        *to = (register_state){ a->is_number, a->x / b->x };
        return b->is_number;
    default:
        return false;
    }
}

static bool init_operand(const mo_exec_plan *plan, const mo_call *call, int i,
                         int at, register_state *to)
{
    const mo_tensor_dense *constant;

    *to = (register_state){ i != at, 1 };
    if (i == at)
        return true;
    constant = mo_pass_attention_constant(plan, call->in[i]);
    if (!constant || !mo_elem_is_float(constant->desc.elem) ||
        mo_tensor_desc_elements(&constant->desc) != 1)
        return false;
    to->x = mo_tensor_get_double(constant, 0);
    return true;
}

bool mo_pass_attention_is_scaling(const mo_exec_plan *plan, const mo_call *call,
                                  int at, double *factor)
{
    const mo_point_program *p = &call->u.point;
    register_state regs[MO_POINT_MAX_OPERANDS + MO_POINT_MAX_STEPS];

    if (!mo_elem_is_float(p->operands[at].elem) ||
        p->operands[at].elem != plan->values[call->out[0]].desc.elem)
        return false;
    for (int i = 0; i < p->n_operands; i++)
        if (!init_operand(plan, call, i, at, &regs[i]))
            return false;
    for (int i = 0; i < p->n_steps; i++) {
        const mo_point_step *step = &p->steps[i];

        if (!apply_scale_step(step, &regs[step->a], &regs[step->b],
                              &regs[p->n_operands + i]))
            return false;
    }
    *factor = regs[p->result].x;
    return !regs[p->result].is_number && isfinite(*factor);
}

/* The root of a value, if that has no other readers. */
static int sole_root(const mo_pass_attention *a, int value)
{
    for (;;) {
        if (a->uses.reads[value] != 1)
            return MO_PLAN_NONE;
        if (a->plan->values[value].view_of == MO_PLAN_NONE)
            return value;
        value = a->plan->values[value].view_of;
    }
}

bool mo_pass_attention_match_scores(const mo_pass_attention *a, int device,
                                    int value, mo_pass_attention_scores *scores)
{
    int root = sole_root(a, value);
    int c = root == MO_PLAN_NONE ? MO_PLAN_NONE : a->uses.maker[root];
    const mo_call *call;

    if (c == MO_PLAN_NONE || a->plan->calls[c].device != device)
        return false;
    call = &a->plan->calls[c].call;
    if (call->kind == MO_CALL_MATMUL && !call->after) {
        scores->product = c;
        return true;
    }
    if (call->kind != MO_CALL_POINT ||
        scores->n == MO_PASS_ATTENTION_MAX_SCORE_CALLS)
        return false;
    for (int at = 0; at < call->n_in; at++) {
        if (!mo_pass_attention_is_elementwise(a->plan, call, at))
            continue;
        scores->links[scores->n++] = (mo_pass_attention_score_call){ c, at };
        if (mo_pass_attention_match_scores(a, device, call->in[at], scores))
            return true;
        scores->n--;
    }
    return false;
}

/* The access of a pointwise operand over the dimensions of the scores. */
static bool restride_access(const mo_shape *over, const mo_point_access *access,
                            const mo_shape *shape, mo_point_access *to)
{
    mo_point_access dense = mo_point_access_dense(shape),
                    rows = mo_point_access_dense(over);
    mo_tensor_copy_map map;
    mo_tensor_view view = { 0 };

    for (int d = 0; d < shape->rank; d++)
        mo_tensor_view_append_dim(&view, shape->dims[d], dense.stride[d]);
    if (!mo_tensor_copy_map_init(&map, over->rank, over->dims, access->offset,
                                 access->stride, 0, rows.stride) ||
        !mo_tensor_view_compose_unsplit(&map, &view))
        return false;
    *to = (mo_point_access){ .offset = view.offset };
    for (int d = 0; d < shape->rank; d++)
        to->stride[d] = view.stride[d];
    return true;
}

/* The program of a pointwise call over the dimensions of the scores. */
static bool reshape_program(const mo_exec_plan *plan,
                            const mo_pass_attention_score_call *link,
                            const mo_shape *shape, mo_point_program *to)
{
    const mo_call *call = &plan->calls[link->call].call;
    const mo_shape *over = &plan->values[call->out[0]].desc.shape;

    *to = call->u.point;
    to->out = mo_point_access_dense(shape);
    for (int i = 0; i < to->n_operands; i++)
        if (i == link->at)
            to->operands[i].access = to->out;
        else if (!restride_access(over, &call->u.point.operands[i].access,
                                  shape, &to->operands[i].access))
            return false;
    return true;
}

/* So low that its exponential vanishes. */
static bool is_hidden(mo_elem elem, double x)
{
    return x <= (elem == MO_ELEM_F16 ? -6e4 : -1e30);
}

enum { MOST_LOOKED_AT = 1 << 26 };

static bool is_for_all_heads(const mo_point_access *access, int rank)
{
    for (int d = 0; d < rank - 2; d++)
        if (access->stride[d] != 0)
            return false;
    return true;
}

mo_pass_attention_mask
mo_pass_attention_classify_mask(const mo_tensor_dense *mask,
                                const mo_point_access *access,
                                const mo_shape *shape, bool hides)
{
    const int64_t *dims = shape->dims + shape->rank - 2;
    const int64_t *stride = access->stride + shape->rank - 2;
    bool truth = mask->desc.elem == MO_ELEM_BOOL, all = true, past = true;

    if (!is_for_all_heads(access, shape->rank) ||
        dims[0] > MOST_LOOKED_AT / dims[1])
        return MO_PASS_ATTENTION_MASK_GENERAL;
    for (int64_t i = 0; i < dims[0] && (all || past); i++)
        for (int64_t j = 0; j < dims[1] && (all || past); j++) {
            double x = mo_tensor_get_double(
                mask, access->offset + i * stride[0] + j * stride[1]);
            bool kept = truth ? (x != 0) != hides : x == 0;
            bool hidden = truth ? !kept : is_hidden(mask->desc.elem, x);

            all = all && kept;
            past = past && (j > i ? hidden : kept);
        }
    return all    ? MO_PASS_ATTENTION_MASK_NONE
           : past ? MO_PASS_ATTENTION_MASK_CAUSAL
                  : MO_PASS_ATTENTION_MASK_GENERAL;
}

static bool is_sum(const mo_point_program *p)
{
    return p->n_operands == 2 && p->n_steps == 1 && p->result == 2 &&
           p->steps[0].op == MO_POINT_ADD && p->steps[0].a != p->steps[0].b;
}

/* Returns whether the call replaces scores by a hiding number. *mask: the
 * operand that selects; *hides: where it is true. */
static bool is_masking(const mo_exec_plan *plan, const mo_call *call, int at,
                       int *mask, bool *hides)
{
    const mo_point_program *p = &call->u.point;
    const mo_point_step *step = &p->steps[0];
    const mo_tensor_dense *number;
    int other;

    if (p->n_operands != 3 || p->n_steps != 1 || p->result != 3 ||
        step->op != MO_POINT_SELECT || (step->b != at && step->c != at))
        return false;
    *hides = step->c == at;
    other = *hides ? step->b : step->c;
    *mask = step->a;
    number = mo_pass_attention_constant(plan, call->in[other]);
    return p->operands[*mask].elem == MO_ELEM_BOOL && other != at && number &&
           mo_tensor_desc_elements(&number->desc) == 1 &&
           is_hidden(number->desc.elem, mo_tensor_get_double(number, 0));
}

/* Classifies a call that does nothing but hide. */
static mo_pass_attention_mask
classify_link(const mo_exec_plan *plan,
              const mo_pass_attention_score_call *link,
              const mo_point_program *p, const mo_shape *shape)
{
    const mo_call *call = &plan->calls[link->call].call;
    const mo_tensor_dense *constant;
    bool hides = false;
    int mask = 1 - link->at;

    if (!is_sum(p) && !is_masking(plan, call, link->at, &mask, &hides))
        return MO_PASS_ATTENTION_MASK_GENERAL;
    constant = mo_pass_attention_constant(plan, call->in[mask]);
    if (!constant || (constant->desc.elem != MO_ELEM_BOOL &&
                      !mo_elem_is_float(constant->desc.elem)))
        return MO_PASS_ATTENTION_MASK_GENERAL;
    return mo_pass_attention_classify_mask(constant, &p->operands[mask].access,
                                           shape, hides);
}

static bool append_link(const mo_exec_plan *plan,
                        const mo_pass_attention_score_call *link,
                        const mo_point_program *p,
                        mo_pass_attention_scores *scores)
{
    const mo_call *call = &plan->calls[link->call].call;
    mo_elem stored = plan->values[call->in[link->at]].desc.elem;
    int n = scores->program->n_operands;
    mo_point_program joined;

    if (!mo_point_fuse(scores->program, stored, p, link->at, &joined))
        return false;
    for (int i = 0; i < call->n_in; i++)
        if (i != link->at)
            scores->operands[n++] = call->in[i];
    *scores->program = joined;
    return true;
}

/* Adds one call: to the scale, the causal flag or the program; or ignores
 * it. */
static bool absorb_link(const mo_exec_plan *plan,
                        const mo_pass_attention_score_call *link,
                        const mo_shape *shape, mo_pass_attention_scores *scores)
{
    const mo_call *call = &plan->calls[link->call].call;
    mo_pass_attention_mask sight;
    double factor;
    mo_point_program p;

    if (!reshape_program(plan, link, shape, &p))
        return false;
    if (p.n_steps == 0 && p.result == link->at &&
        mo_point_register_is_real(&p, p.result))
        return true; /* a type conversion */
    sight = classify_link(plan, link, &p, shape);
    if (sight != MO_PASS_ATTENTION_MASK_GENERAL) {
        scores->causal =
            scores->causal || sight == MO_PASS_ATTENTION_MASK_CAUSAL;
        return true;
    }
    /* Hidden scores must stay hidden. */
    if (scores->causal && !is_sum(&p))
        return false;
    if (scores->program->n_steps == 0 &&
        mo_pass_attention_is_scaling(plan, call, link->at, &factor)) {
        scores->scale *= factor;
        return true;
    }
    return append_link(plan, link, &p, scores);
}

/* Returns whether programs over floats can read all operand types. */
static bool has_readable_types(const mo_point_program *p)
{
    for (int i = 0; i < p->n_operands; i++)
        if (p->operands[i].elem == MO_ELEM_F64)
            return false;
    return mo_point_register_is_real(p, p->result);
}

mo_status mo_pass_attention_score_program(const mo_pass_attention *a,
                                          const mo_shape *shape,
                                          mo_pass_attention_scores *scores,
                                          bool *works, mo_error *err)
{
    mo_point_program *program = mo_arena_alloc(a->plan->arena, sizeof *program);

    if (!program)
        return mo_fail_memory(err);
    *program = mo_point_program_identity(MO_ELEM_F32, shape);
    scores->program = program;
    scores->scale = 1;
    scores->causal = false;
    *works = true;
    for (int i = scores->n; i-- > 0 && *works;)
        *works = absorb_link(a->plan, &scores->links[i], shape, scores);
    *works = *works && has_readable_types(program);
    if (program->n_steps == 0)
        scores->program = NULL;
    return MO_OK;
}
