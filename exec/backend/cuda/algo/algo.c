/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/algo.h"

#include <stdlib.h>
#include <string.h>

bool mo_cuda_algo_kind_wanted(const mo_cuda_algo_problem *problem,
                              const char *word)
{
    size_t n = strlen(word);

    return !problem->only ||
           (strncmp(problem->only, word, n) == 0 &&
            (problem->only[n] == ' ' || problem->only[n] == 0));
}

bool mo_cuda_algo_wanted(const mo_cuda_algo_problem *problem, const char *name)
{
    return !problem->only || strcmp(problem->only, name) == 0;
}

mo_status mo_cuda_algo_list_add(mo_backend_unit *unit, mo_cuda_algo_list *algos,
                                mo_cuda_algo *algo, mo_error *err)
{
    mo_cuda_algo **more =
        realloc(algos->algos, ((size_t) algos->n + 1) * sizeof *more);

    if (!more) {
        algo->kind->drop(unit, algo);
        return mo_fail_memory(err);
    }
    algos->algos = more;
    algos->algos[algos->n++] = algo;
    return MO_OK;
}

/* Epilogues that libraries support: the steps of a program are followed from
 * the product on, each of which must use the result of the previous one. */

typedef struct epilogue_matcher {
    const mo_call *call;
    const mo_backend_operand *in;
    const mo_tensor_desc *out;
    mo_cuda_epilogue *e;
} epilogue_matcher;

/* Returns whether both address the same elements. */
static bool same_access(const mo_tensor_desc *out, const mo_point_access *a,
                        const mo_point_access *b)
{
    for (int d = 0; d < out->shape.rank; d++)
        if (out->shape.dims[d] > 1 && a->stride[d] != b->stride[d])
            return false;
    return a->offset == b->offset;
}

/* Returns the dimension of the result that a bias varies along, or -1. */
static int bias_dimension(const epilogue_matcher *r)
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

static bool is_bias(const epilogue_matcher *r, const mo_point_access *access)
{
    mo_point_access bias = { 0 };
    int d = bias_dimension(r);

    if (d < 0)
        return false;
    bias.stride[d] = 1;
    return same_access(r->out, access, &bias);
}

/* Matches operand i of the program as bias or residual. */
static bool match_operand(const epilogue_matcher *r, int i)
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

static mo_cuda_activation activation_of(mo_point_op op)
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

/* current: the register with the result of the previous steps. */
static bool match_step(const epilogue_matcher *r, const mo_point_step *step,
                       int current)
{
    int operands = r->call->after->n_operands;
    int other = step->a == current ? step->b : step->a;
    mo_cuda_activation act;
    mo_cuda_epilogue *e = r->e;

    if (step->op == MO_POINT_ADD)
        return (step->a == current) != (step->b == current) && other > 0 &&
               other < operands && match_operand(r, other);
    if (step->a != current)
        return false;
    /* Later steps lose nothing by more bits. */
    if (step->op == MO_POINT_ROUND_TO)
        return step->elem == r->out->elem;
    act = activation_of(step->op);
    if (act == MO_CUDA_ACT_NONE || e->act != MO_CUDA_ACT_NONE)
        return false;
    e->act = act;
    e->x = step->x;
    e->y = step->y;
    return true;
}

bool mo_cuda_epilogue_match(const mo_call *call, const mo_backend_operand *in,
                            const mo_tensor_desc *out,
                            mo_cuda_epilogue *epilogue)
{
    const mo_point_program *after = call->after;
    epilogue_matcher r = { .call = call, .in = in, .out = out, .e = epilogue };
    int current = 0;

    *epilogue = (mo_cuda_epilogue){ .bias = -1, .residual = -1 };
    if (!after)
        return true;
    for (int i = 0; i < after->n_steps; i++) {
        if (!match_step(&r, &after->steps[i], current))
            return false;
        current = after->n_operands + i;
    }
    return after->result == current;
}
