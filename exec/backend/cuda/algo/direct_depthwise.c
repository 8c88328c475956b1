/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Depthwise convolution: direct_depthwise.cu.
 */
#include <stdlib.h>
#include <string.h>

#include "exec/backend/cuda/algo/direct.h"
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/single_kernel.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/op/call.h"

enum { BLOCK = 128, MAX_ALONG = 4, MAX_ROW = 12 };

#include "exec/backend/cuda/algo/direct_depthwise.inc"

bool mo_cuda_direct_depthwise_fits(const mo_cuda_algo_problem *problem)
{
    const mo_call_conv *c = &problem->call->u.conv;

    return c->channels_last && !c->transposed && c->groups > 1 &&
           c->groups == c->in_channels && c->groups == c->out_channels;
}

/* From [channel][tap] to [tap][channel]. */
static void transpose_weights(const char *from, int64_t channels, int64_t taps,
                              size_t bytes, char *to)
{
    for (int64_t t = 0; t < taps; t++)
        for (int64_t c = 0; c < channels; c++)
            memcpy(to + (size_t) (t * channels + c) * bytes,
                   from + (size_t) (c * taps + t) * bytes, bytes);
}

static mo_status pack_weights(mo_backend_unit *unit,
                              const mo_backend_operand *weights,
                              int64_t channels, int64_t taps,
                              mo_cuda_direct_algo *algo, mo_error *err)
{
    size_t bytes = (size_t) mo_tensor_desc_bytes(&weights->desc);
    char *turned = malloc(bytes + 1);
    mo_status status = turned ? mo_cuda_alloc(unit, bytes, &algo->weights, err)
                              : mo_fail_memory(err);

    if (status == MO_OK) {
        algo->owns = true;
        algo->base.consumed |= (uint64_t) 1 << 1;
        transpose_weights(weights->constant, channels, taps,
                          mo_elem_size(weights->desc.elem), turned);
        status =
            mo_cuda_copy_to_device(unit, algo->weights, turned, bytes, err);
    }
    free(turned);
    return status;
}

/* Elements of an input row under the windows of so many places; a double,
 * since it may overflow. */
static double row_elements(const mo_call_window *s, int along)
{
    return (along - 1) * (double) s->stride[2] +
           (double) (s->kernel[2] - 1) * (double) s->dilation[2] + 1;
}

/* As many as leave work for the whole device and fit into registers. */
static int choose_along(const mo_backend_unit *unit, const mo_call_window *s,
                        int64_t items)
{
    int along = MAX_ALONG;

    while (along > 1 && (items / along < (int64_t) unit->sms * 2 * BLOCK ||
                         along > s->out[2] || row_elements(s, along) > MAX_ROW))
        along /= 2;
    return along;
}

static void emit_sizes(mo_cuda_source *code, const mo_call_window *s,
                       int64_t channels, int along, int64_t items, bool packed)
{
    bool unrolls = s->kernel[1] <= 7 && s->kernel[2] <= 7;

    mo_cuda_emit_window(code, s);
    mo_cuda_source_printf(
        code,
        "#define CHANNELS ((PLACE) %lld)\n#define ALONG %d\n"
        "#define ITEMS %lldLL\n#define PACKED %d\n#define BLOCK %d\n"
        "#define LONG_ROWS %d\n#define UNROLL %s\n",
        (long long) channels, along, (long long) items, packed, BLOCK,
        row_elements(s, along) > MAX_ROW, unrolls ? "_Pragma(\"unroll\")" : "");
}

mo_status mo_cuda_emit_direct_depthwise(mo_backend_unit *unit,
                                        const mo_cuda_algo_problem *problem,
                                        mo_cuda_source *code,
                                        mo_cuda_direct_algo *algo,
                                        mo_error *err)
{
    const mo_call_conv *c = &problem->call->u.conv;
    mo_call_window s = mo_call_window_to_3d(&c->sweep);
    int width = mo_cuda_epilogue_vector_width(problem->call, &problem->out[0],
                                              c->in_channels);
    int64_t rows = c->batch * s.out[0] * s.out[1];
    int64_t vectors = c->in_channels / width;
    int along = choose_along(unit, &s, rows * s.out[2] * vectors);
    int64_t items = rows * ((s.out[2] + along - 1) / along) * vectors;
    int64_t elements = mo_tensor_desc_elements(&problem->in[0].desc);
    bool packed = problem->in[1].constant != NULL;
    mo_status status = MO_OK;

    if (elements < mo_tensor_desc_elements(&problem->out[0]))
        elements = mo_tensor_desc_elements(&problem->out[0]);
    if (packed)
        status = pack_weights(unit, &problem->in[1], c->in_channels,
                              mo_call_window_volume(s.kernel), algo, err);
    if (status != MO_OK)
        return status;
    mo_cuda_emit_types(code, problem->out[0].elem, width,
                       mo_cuda_window_max_index(&s, elements));
    mo_cuda_emit_epilogue(code, problem->call, &problem->out[0], width);
    emit_sizes(code, &s, c->in_channels, along, items, packed);
    mo_cuda_source_append(code, kernel_source);
    return mo_cuda_grid_1d(items, BLOCK, BLOCK, &algo->grid, err);
}
