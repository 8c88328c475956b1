/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Epilogues that libraries know: the steps of a program followed from the
 * product on, each of which must go on with what the one before has made.
 */
#include "exec/backend/cuda/algo/algo.h"

typedef struct reader {
    const mo_call *call;
    const mo_backend_operand *in;
    const mo_tensor_desc *out;
    mo_cuda_epilogue *e;
} reader;

/* Do both reach the same elements? */
static bool same_access(const mo_tensor_desc *out, const mo_point_access *a,
                        const mo_point_access *b)
{
    for (int d = 0; d < out->shape.rank; d++)
        if (out->shape.dims[d] > 1 && a->stride[d] != b->stride[d])
            return false;
    return a->offset == b->offset;
}

/* The dimension of the result that has a bias, or -1. */
static int bias_dimension(const reader *r)
{
    const mo_shape *shape = &r->out->shape;
    const mo_call_matmul *matmul = &r->call->u.matmul;
    int last = shape->rank - 1;

    if (r->call->kind == MO_CALL_CONV)
        return shape->rank > 1 ? 1 : -1;
    if (last < 0 || shape->dims[last] != matmul->n ||
        (matmul->n > 1 && matmul->c.column != 1))
        return -1;
    return last;
}

static bool is_bias(const reader *r, const mo_point_access *access)
{
    mo_point_access bias = { 0 };
    int d = bias_dimension(r);

    if (d < 0)
        return false;
    bias.stride[d] = 1;
    return same_access(r->out, access, &bias);
}

/* Takes operand i of the program as bias or residual. */
static bool take_operand(const reader *r, int i)
{
    const mo_point_program *after = r->call->after;
    const mo_point_operand *operand = &after->operands[i];
    mo_cuda_epilogue *e = r->e;
    int in = r->call->first_extra + i - 1;

    if (operand->elem != r->out->elem || r->in[in].desc.elem != operand->elem)
        return false;
    if (e->bias < 0 && e->act == MO_CUDA_ACT_NONE &&
        is_bias(r, &operand->access)) {
        e->bias = in;
        return true;
    }
    if (e->residual < 0 && same_access(r->out, &operand->access, &after->out)) {
        e->residual = in;
        e->residual_last = e->act != MO_CUDA_ACT_NONE;
        return true;
    }
    return false;
}

static mo_cuda_activation act_of(mo_point_op op)
{
    switch (op) {
    case MO_POINT_RELU:
        return MO_CUDA_ACT_RELU;
    case MO_POINT_GELU_TANH:
        return MO_CUDA_ACT_GELU_TANH;
    case MO_POINT_GELU_ERF:
        return MO_CUDA_ACT_GELU_ERF;
    case MO_POINT_SIGMOID:
        return MO_CUDA_ACT_SIGMOID;
    case MO_POINT_SWISH:
        return MO_CUDA_ACT_SWISH;
    case MO_POINT_TANH:
        return MO_CUDA_ACT_TANH;
    case MO_POINT_CLAMP:
        return MO_CUDA_ACT_CLAMP;
    default:
        return MO_CUDA_ACT_NONE;
    }
}

static bool take_act(const reader *r, const mo_point_step *step)
{
    mo_cuda_activation act = act_of(step->op);
    mo_cuda_epilogue *e = r->e;

    if (act == MO_CUDA_ACT_NONE || e->act != MO_CUDA_ACT_NONE)
        return false;
    e->act = act;
    e->x = step->x;
    e->y = step->y;
    return true;
}

/* now: the register of what the steps before have made. */
static bool take_step(const reader *r, const mo_point_step *step, int now)
{
    int operands = r->call->after->n_operands;
    int other = step->a == now ? step->b : step->a;

    if (step->op == MO_POINT_ADD)
        return (step->a == now) != (step->b == now) && other > 0 &&
               other < operands && take_operand(r, other);
    if (step->a != now)
        return false;
    /* What follows is not less exact for more bits. */
    if (step->op == MO_POINT_ROUND_TO)
        return step->elem == r->out->elem;
    return take_act(r, step);
}

bool mo_cuda_epilogue_match(const mo_call *call, const mo_backend_operand *in,
                            const mo_tensor_desc *out,
                            mo_cuda_epilogue *epilogue)
{
    const mo_point_program *after = call->after;
    reader r = { .call = call, .in = in, .out = out, .e = epilogue };
    int now = 0;

    *epilogue = (mo_cuda_epilogue){ .bias = -1, .residual = -1 };
    if (!after)
        return true;
    for (int i = 0; i < after->n_steps; i++) {
        if (!take_step(&r, &after->steps[i], now))
            return false;
        now = after->n_operands + i;
    }
    return after->result == now;
}
