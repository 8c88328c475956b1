/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/fold_batchnorm.h"

#include <stdlib.h>
#include <string.h>

/* State of the analysis: register `last` is an affine function of the product,
 * per channel. */
typedef struct fold_state {
    const mo_call *call;
    const mo_backend_operand *in;
    const mo_tensor_desc *out;
    int channel; /* the dimension of the result */
    int64_t channels;
    int last;    /* the register that equals scale * product + bias */
    int n_steps; /* steps folded so far */
    bool scales; /* a scale was folded, not only a bias */
    double *scale, *bias;
} fold_state;

static bool has_channels(const mo_call *call, const mo_tensor_desc *out)
{
    const mo_call_matmul *m = &call->u.matmul;

    if (call->kind == MO_CALL_CONV)
        return out->shape.rank > 1 && !call->u.conv.transposed &&
               out->shape.dims[1] == call->u.conv.out_channels;
    /* A product with one matrix of weights: its columns are the channels. */
    if (call->kind != MO_CALL_MATMUL || out->shape.rank < 1 ||
        out->shape.dims[out->shape.rank - 1] != m->n || m->c.column != 1)
        return false;
    for (int d = 0; d < m->n_batch; d++)
        if (m->b.batch[d] != 0 && m->extent[d] > 1)
            return false;
    return true;
}

/* Returns whether the operand of the epilogue is a constant per channel. */
static bool is_by_channel(const fold_state *f, int reg)
{
    const mo_point_operand *operand = &f->call->after->operands[reg];
    const mo_backend_operand *in;

    if (reg < 1 || reg >= f->call->after->n_operands)
        return false;
    in = &f->in[f->call->first_extra + reg - 1];
    if (!in->constant || !mo_elem_is_float(operand->elem) ||
        operand->access.offset != 0)
        return false;
    for (int d = 0; d < f->out->shape.rank; d++)
        if (operand->access.stride[d] != 0 && f->out->shape.dims[d] > 1 &&
            (d != f->channel || operand->access.stride[d] != 1))
            return false;
    return true;
}

static double constant_at(const fold_state *f, int reg, int64_t c)
{
    const mo_backend_operand *in = &f->in[f->call->first_extra + reg - 1];
    const mo_point_operand *operand = &f->call->after->operands[reg];
    /* mo_tensor_dense only reads it. */
    union {
        const void *constant;
        void *data;
    } bytes = { in->constant };
    mo_tensor_dense dense = { .desc = in->desc, .data = bytes.data };

    return mo_tensor_get_double(&dense, c * operand->access.stride[f->channel]);
}

static bool is_used_later(const mo_point_program *after, int reg, int from)
{
    for (int s = from; s < after->n_steps; s++) {
        const mo_point_step *step = &after->steps[s];
        int arity = mo_point_op_signature(step->op).arity;

        if ((arity > 0 && step->a == reg) || (arity > 1 && step->b == reg) ||
            (arity > 2 && step->c == reg))
            return true;
    }
    return after->result == reg;
}

static void apply_step(fold_state *f, const mo_point_step *step, int other,
                       bool first)
{
    for (int64_t c = 0; c < f->channels; c++) {
        double x = other > 0 ? constant_at(f, other, c) : 0;
        double *scale = &f->scale[c], *bias = &f->bias[c];

        switch (step->op) {
        case MO_POINT_ADD:
            *bias += x;
            break;
        case MO_POINT_SUBTRACT:
            *scale = first ? *scale : -*scale;
            *bias = first ? *bias - x : x - *bias;
            break;
        case MO_POINT_MULTIPLY:
            *scale *= x;
            *bias *= x;
            break;
        case MO_POINT_DIVIDE:
            *scale /= x;
            *bias /= x;
            break;
        case MO_POINT_AFFINE:
            *scale *= step->x;
            *bias = *bias * step->x + step->y;
            break;
        default: /* rounding to a narrower type is applied at the end */
            break;
        }
    }
}

/* Folds step s, if it combines the last register with constants. */
static bool fold_step(fold_state *f, int s)
{
    const mo_point_step *step = &f->call->after->steps[s];
    bool first = step->a == f->last;
    int other = first ? step->b : step->a;

    switch (step->op) {
    case MO_POINT_ADD:
    case MO_POINT_MULTIPLY:
    case MO_POINT_SUBTRACT:
        if ((!first && step->b != f->last) || !is_by_channel(f, other))
            return false;
        break;
    case MO_POINT_DIVIDE:
        if (!first || !is_by_channel(f, other))
            return false;
        break;
    case MO_POINT_AFFINE:
    case MO_POINT_ROUND_TO:
        if (!first)
            return false;
        other = 0;
        break;
    default:
        return false;
    }
    if (is_used_later(f->call->after, f->last, s + 1))
        return false;
    apply_step(f, step, other, first);
    f->scales |= step->op != MO_POINT_ADD && step->op != MO_POINT_ROUND_TO;
    f->last = f->call->after->n_operands + s;
    return true;
}

static float *convert_to_floats(const double *numbers, int64_t n)
{
    float *floats = malloc(((size_t) n + 1) * sizeof *floats);

    for (int64_t i = 0; floats && i < n; i++)
        floats[i] = (float) numbers[i];
    return floats;
}

/* Operands of the remaining program: the product, the bias, and those still
 * read; where[] maps old registers to new ones. */
static void collect_operands(const fold_state *f, mo_cuda_folded_call *to,
                             int *where)
{
    const mo_point_program *after = f->call->after;
    mo_point_program *rest = &to->after;
    mo_point_operand bias = { .elem = MO_ELEM_F32 };

    bias.access.stride[f->channel] = 1;
    rest->operands[0] = after->operands[0];
    rest->operands[1] = bias;
    rest->n_operands = 2;
    to->from[2] = MO_CUDA_FOLDED_BIAS;
    for (int i = 1; i < after->n_operands; i++) {
        if (!is_used_later(after, i, f->n_steps))
            continue;
        where[i] = rest->n_operands;
        to->from[rest->n_operands + 1] = f->call->first_extra + i - 1;
        rest->operands[rest->n_operands++] = after->operands[i];
    }
}

static mo_status fold_steps(fold_state *f, mo_cuda_folded_call *folded,
                            bool *folds, mo_error *err)
{
    for (int64_t c = 0; c < f->channels; c++)
        f->scale[c] = 1;
    while (f->n_steps < f->call->after->n_steps && fold_step(f, f->n_steps))
        f->n_steps++;
    /* The folded program has one more operand and one more step. */
    *folds = f->scales && f->call->after->n_operands < MO_POINT_MAX_OPERANDS;
    if (!*folds)
        return MO_OK;
    folded->channels = f->channels;
    folded->scale = convert_to_floats(f->scale, f->channels);
    folded->bias = convert_to_floats(f->bias, f->channels);
    if (!folded->scale || !folded->bias) {
        mo_cuda_folded_call_clear(folded);
        return mo_fail_memory(err);
    }

    int where[MO_POINT_MAX_OPERANDS + MO_POINT_MAX_STEPS] = { 0 };
    const mo_point_program *after = f->call->after;

    collect_operands(f, folded, where);
    where[f->last] = mo_point_push_step(
        &folded->after, (mo_point_step){ .op = MO_POINT_ADD, .a = 0, .b = 1 });
    for (int s = f->n_steps; s < after->n_steps; s++) {
        mo_point_step step = after->steps[s];

        step.a = where[step.a];
        step.b = where[step.b];
        step.c = where[step.c];
        where[after->n_operands + s] = mo_point_push_step(&folded->after, step);
    }
    folded->after.result = where[after->result];
    folded->after.out = after->out;
    folded->call = *f->call;
    folded->call.n_in = folded->after.n_operands + 1;
    folded->call.in = folded->in;
    folded->call.out = folded->out;
    folded->call.n_out = 1;
    folded->call.after = &folded->after;
    folded->call.first_extra = 2;
    folded->from[0] = 0;
    folded->from[1] = 1;
    for (int i = 0; i < folded->call.n_in; i++)
        folded->in[i] = i;
    folded->out[0] = folded->call.n_in;
    return MO_OK;
}

mo_status mo_cuda_fold_batchnorm(const mo_call *call,
                                 const mo_backend_operand *in,
                                 const mo_tensor_desc *out,
                                 mo_cuda_folded_call *folded, bool *folds,
                                 mo_error *err)
{
    fold_state f = { .call = call, .in = in, .out = out };
    mo_status status;

    memset(folded, 0, sizeof *folded);
    *folds = false;
    if (!call->after || !has_channels(call, out) || !in[1].constant ||
        in[1].desc.elem != out->elem ||
        (out->elem != MO_ELEM_F32 && out->elem != MO_ELEM_F16 &&
         out->elem != MO_ELEM_BF16))
        return MO_OK;
    f.channel = call->kind == MO_CALL_CONV ? 1 : out->shape.rank - 1;
    f.channels = out->shape.dims[f.channel];
    f.scale = calloc((size_t) f.channels + 1, sizeof *f.scale);
    f.bias = calloc((size_t) f.channels + 1, sizeof *f.bias);
    status = f.scale && f.bias ? fold_steps(&f, folded, folds, err)
                               : mo_fail_memory(err);
    free(f.scale);
    free(f.bias);
    return status;
}

void mo_cuda_folded_call_clear(mo_cuda_folded_call *folded)
{
    free(folded->scale);
    free(folded->bias);
    folded->scale = folded->bias = NULL;
}

/* Element i of a channel is at channel * across + i * along. */
typedef struct channel_layout {
    int64_t count, across, along;
} channel_layout;

static channel_layout weight_layout(const mo_cuda_folded_call *folded,
                                    const mo_tensor_desc *weights)
{
    const mo_call_matmul *m = &folded->call.u.matmul;
    int64_t count = mo_tensor_desc_elements(weights) / folded->channels;

    if (folded->call.kind == MO_CALL_CONV)
        return (channel_layout){ count, count, 1 };
    return (channel_layout){ m->k, m->b.column, m->b.row };
}

mo_status mo_cuda_fold_batchnorm_weights(const mo_cuda_folded_call *folded,
                                         const mo_backend_operand *weights,
                                         void **scaled, mo_error *err)
{
    size_t bytes = (size_t) mo_tensor_desc_bytes(&weights->desc);
    channel_layout lies = weight_layout(folded, &weights->desc);
    mo_tensor_dense dense = { .desc = weights->desc,
                              .data = malloc(bytes + 1) };

    if (!dense.data)
        return mo_fail_memory(err);
    memcpy(dense.data, weights->constant, bytes);
    if (weights->desc.elem == MO_ELEM_F32) {
        float *x = dense.data;

        for (int64_t i = 0; i < lies.count; i++)
            for (int64_t c = 0; c < folded->channels && lies.along != 1; c++)
                x[c * lies.across + i * lies.along] *= folded->scale[c];
        for (int64_t c = 0; c < folded->channels && lies.along == 1; c++)
            for (int64_t i = 0; i < lies.count; i++)
                x[c * lies.across + i] *= folded->scale[c];
    } else {
        for (int64_t c = 0; c < folded->channels; c++)
            for (int64_t i = 0; i < lies.count; i++) {
                int64_t at = c * lies.across + i * lies.along;

                mo_tensor_set_double(&dense, at,
                                     mo_tensor_get_double(&dense, at) *
                                         (double) folded->scale[c]);
            }
    }
    *scaled = dense.data;
    return MO_OK;
}
