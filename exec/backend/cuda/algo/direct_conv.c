/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/direct.h"
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/jit/codegen_window.h"
#include "exec/op/window_geometry.h"

/*
 * A convolution as a product: rows are the places of the result, columns the
 * channels of a group, and k runs over the taps of a window and the channels
 * they see, in the order in which these lie.  Transposed, a place sees those
 * elements that would have gone there.
 */
static const char functions[] =
    "#define IMAGE (z / GROUPS)\n"
    "#define GROUP (z % GROUPS)\n"
    "#define TAP(k) (LAST ? (k) / IN_GROUP : (k) % TAPS)\n"
    "#define CHANNEL(k) (LAST ? (k) % IN_GROUP : (k) / TAPS)\n"
    /* What a window at o sees through tap k, or -1. */
    "MO_DEVICE PLACE seen(PLACE o, PLACE k, PLACE in, PLACE stride,\n"
    "                     PLACE dilation, PLACE pad)\n"
    "{\n"
    "    PLACE i = o * stride - pad + k * dilation;\n"
    "#if TRANSPOSED\n"
    "    i = o + pad - k * dilation;\n"
    "    if (i < 0 || i % stride != 0)\n"
    "        return -1;\n"
    "    i /= stride;\n"
    "#endif\n"
    "    return i >= 0 && i < in ? i : -1;\n"
    "}\n"
    "MO_DEVICE A left(const T *a, PLACE z, PLACE m, PLACE k)\n"
    "{\n"
    "    const PLACE t = TAP(k), c = GROUP * IN_GROUP + CHANNEL(k);\n"
    "    const PLACE i0 = seen(m / (O1 * O2), t / (K1 * K2), I0, S0, D0, P0);\n"
    "    const PLACE i1 = seen(m / O2 % O1, t / K2 % K1, I1, S1, D1, P1);\n"
    "    const PLACE i2 = seen(m % O2, t % K2, I2, S2, D2, P2);\n"
    "    const PLACE at = (i0 * I1 + i1) * I2 + i2;\n"
    "    if (i0 < 0 || i1 < 0 || i2 < 0)\n"
    "        return 0;\n"
    "    return load(a[LAST ? (IMAGE * I + at) * IN_CHANNELS + c\n"
    "                       : (IMAGE * IN_CHANNELS + c) * I + at]);\n"
    "}\n"
    "MO_DEVICE A right(const T *b, PLACE z, PLACE k, PLACE n)\n"
    "{\n"
    "    const PLACE t = TAP(k), c = CHANNEL(k);\n"
    "    const PLACE own = GROUP * OUT_GROUP + n;\n"
    "#if PACKED\n"
    "    return load(b[(own * TAPS + t) * IN_GROUP + c]);\n"
    "#elif TRANSPOSED\n"
    "    return load(b[((GROUP * IN_GROUP + c) * OUT_GROUP + n) * TAPS + t]);\n"
    "#else\n"
    "    return load(b[(own * IN_GROUP + c) * TAPS + t]);\n"
    "#endif\n"
    "}\n"
    "MO_DEVICE PLACE to(PLACE z, PLACE m, PLACE n)\n"
    "{\n"
    "    const PLACE c = GROUP * OUT_GROUP + n;\n"
    "    return LAST ? (IMAGE * O + m) * OUT_CHANNELS + c\n"
    "                : (IMAGE * OUT_CHANNELS + c) * O + m;\n"
    "}\n";

static void add_functions(mo_cuda_source *code, const mo_call_conv *c,
                          mo_elem elem, bool packed)
{
    mo_cuda_source_printf(
        code,
        "typedef %s A;\n#define LAST %d\n#define TRANSPOSED %d\n"
        "#define PACKED %d\n#define GROUPS ((PLACE) %lld)\n"
        "#define IN_CHANNELS ((PLACE) %lld)\n"
        "#define OUT_CHANNELS ((PLACE) %lld)\n"
        "#define IN_GROUP (IN_CHANNELS / GROUPS)\n"
        "#define OUT_GROUP (OUT_CHANNELS / GROUPS)\n",
        elem == MO_ELEM_F64 ? "double" : "float", c->channels_last,
        c->transposed, packed, (long long) c->groups,
        (long long) c->in_channels, (long long) c->out_channels);
    mo_cuda_source_append(code, functions);
}

/* Weights that another order was made for are read in that. */
static bool is_packed(const mo_cuda_algo_problem *task)
{
    return task->weights && !task->call->u.conv.transposed;
}

mo_status mo_cuda_emit_direct_conv(mo_backend_unit *unit,
                                   const mo_cuda_algo_problem *task,
                                   mo_cuda_source *code,
                                   mo_cuda_direct_algo *way, mo_error *err)
{
    const mo_call_conv *c = &task->call->u.conv;
    mo_call_window sweep = mo_call_window_to_3d(&c->sweep);
    int64_t elements = mo_tensor_desc_elements(&task->out[0]);
    int64_t others[] = { mo_tensor_desc_elements(&task->in[0].desc),
                         mo_tensor_desc_elements(&task->in[1].desc) };
    mo_cuda_tiled_gemm tiles = { .z = c->batch * c->groups,
                                 .m = mo_call_window_volume(sweep.out),
                                 .n = c->out_channels / c->groups,
                                 .k = c->in_channels / c->groups *
                                      mo_call_window_volume(sweep.kernel),
                                 .left_by_k = c->channels_last,
                                 .right_by_k = !c->transposed,
                                 .to_by_m = !c->channels_last };

    for (int i = 0; i < 2; i++)
        elements = others[i] > elements ? others[i] : elements;
    if (is_packed(task)) {
        way->weights = task->weights;
        way->base.consumed |= (uint64_t) 1 << 1;
    }
    mo_cuda_emit_types(code, task->out[0].elem, 1,
                       mo_cuda_window_max_index(&sweep, elements));
    mo_cuda_emit_epilogue(code, task->call, &task->out[0], 1);
    mo_cuda_emit_window(code, &sweep);
    add_functions(code, c, task->out[0].elem, is_packed(task));
    return mo_cuda_emit_tiled_gemm(unit, &tiles, code, &way->grid, err);
}
