/* SPDX-License-Identifier: Apache-2.0 */
/* Interpreter of an operation graph of the stand-in cuDNN. */
#include "tests/standin/cudnn/standin_cudnn.h"

#include <stdlib.h>

/* Tensors in memory, and the values of the last virtual one. */
typedef struct state {
    const int64_t *ids;
    void *const *pointers;
    int64_t n;
    bool rounds;
    double *values;
} state;

static void *memory_of(const state *s, const tensor *t)
{
    for (int64_t i = 0; i < s->n; i++)
        if (s->ids[i] == t->id)
            return s->pointers[i];
    return NULL;
}

static int64_t elements(const tensor *t)
{
    int64_t n = 1;

    for (int d = 0; d < t->rank; d++)
        n *= t->dims[d];
    return n;
}

/* Decomposes a linear index. */
static void indices(const tensor *t, int64_t i, int64_t *at)
{
    for (int d = t->rank - 1; d >= 0; d--) {
        at[d] = i % t->dims[d];
        i /= t->dims[d];
    }
}

/* Offset in memory; a dimension of 1 is broadcast. */
static int64_t place(const tensor *t, const int64_t *at)
{
    int64_t place = 0;

    for (int d = 0; d < t->rank; d++)
        place += t->dims[d] == 1 ? 0 : at[d] * t->strides[d];
    return place;
}

/* Rounds as a tensor core does. */
static double rounded(const state *s, real_type type, double x)
{
    if (!s->rounds || type != REAL_F32)
        return x;
    return mo_f32_from_bits(mo_f32_to_bits((float) x) & 0xffffe000u);
}

static double product(const state *s, const operation *op, const int64_t *from,
                      const int64_t *with)
{
    double x = real_load(op->from.type, memory_of(s, &op->from),
                         place(&op->from, from));
    double w = real_load(op->with.type, memory_of(s, &op->with),
                         place(&op->with, with));

    return rounded(s, op->from.type, x) * rounded(s, op->with.type, w);
}

/* Input index of a tap for the window at at; returns false outside of the
 * input. */
static bool forward_place(const operation *op, const int64_t *at,
                          const int64_t *tap, int64_t *from)
{
    for (int d = 2; d < op->from.rank; d++) {
        from[d] = at[d] * op->stride[d - 2] + tap[d] * op->dilation[d - 2] -
                  op->before[d - 2];
        if (from[d] < 0 || from[d] >= op->from.dims[d])
            return false;
    }
    return true;
}

/* The window that contributes to at by a tap; returns false where there is
 * none. */
static bool backward_place(const operation *op, const int64_t *at,
                           const int64_t *tap, int64_t *from)
{
    for (int d = 2; d < op->from.rank; d++) {
        int64_t x = at[d] + op->before[d - 2] - tap[d] * op->dilation[d - 2];

        if (x < 0 || x % op->stride[d - 2] != 0)
            return false;
        from[d] = x / op->stride[d - 2];
        if (from[d] >= op->from.dims[d])
            return false;
    }
    return true;
}

/* with is [small channels][large channels of a group][taps]; a result of the
 * small ones reads its own row of them. */
static double convolve(const state *s, const operation *op, const int64_t *at)
{
    bool forward = op->kind == FORWARD;
    const tensor *large = forward ? &op->from : &op->to;
    int64_t ins = op->with.dims[1], groups = large->dims[1] / ins;
    int64_t outs = op->with.dims[0] / groups;
    int64_t row = elements(&op->with) / op->with.dims[0];
    int64_t begin = forward ? at[1] * row : 0;
    int64_t end = forward ? begin + row : elements(&op->with);
    double sum = 0;

    for (int64_t i = begin; i < end; i++) {
        int64_t tap[MOST_RANK], from[MOST_RANK] = { at[0] }, channel;

        indices(&op->with, i, tap);
        channel = tap[0] / outs * ins + tap[1];
        from[1] = forward ? channel : tap[0];
        if (!forward && at[1] != channel)
            continue;
        if (forward ? forward_place(op, at, tap, from)
                    : backward_place(op, at, tap, from))
            sum += product(s, op, from, tap);
    }
    return sum;
}

static double do_operation(const state *s, const operation *op, int64_t i,
                           const int64_t *at)
{
    double x = op->kind > BACKWARD ? s->values[i] : 0;

    switch (op->kind) {
    case ADD:
        if (op->factor == 0)
            return x;
        return x + op->factor * real_load(op->with.type,
                                          memory_of(s, &op->with),
                                          place(&op->with, at));
    case RELU:
        return x < op->lower ? op->lower : x > op->upper ? op->upper : x;
    default:
        return convolve(s, op, at);
    }
}

static bool has_memory(const state *s, const tensor *t)
{
    return t->is_virtual || memory_of(s, t);
}

cudnnStatus_t run_program(const program *p, const int64_t *ids,
                          void *const *pointers, int64_t n, bool rounds)
{
    const tensor *out = &p->ops[p->n - 1].to;
    state s = { ids, pointers, n, rounds, NULL };
    int64_t at[MOST_RANK];

    for (int k = 0; k < p->n; k++)
        if (!has_memory(&s, &p->ops[k].from) || !has_memory(&s, out) ||
            (p->ops[k].kind != RELU && !has_memory(&s, &p->ops[k].with)))
            return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    s.values = calloc((size_t) elements(out), sizeof *s.values);
    if (!s.values)
        return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
    for (int k = 0; k < p->n; k++)
        for (int64_t i = 0; i < elements(out); i++) {
            indices(out, i, at);
            s.values[i] = do_operation(&s, &p->ops[k], i, at);
        }
    for (int64_t i = 0; i < elements(out); i++) {
        indices(out, i, at);
        real_store(out->type, memory_of(&s, out), place(out, at), s.values[i]);
    }
    free(s.values);
    return CUDNN_STATUS_SUCCESS;
}
