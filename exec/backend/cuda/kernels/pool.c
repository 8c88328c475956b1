/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "exec/backend/check_call.h"
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/single_kernel.h"
#include "exec/backend/cuda/jit/codegen_window.h"
#include "exec/op/window_geometry.h"

/*
 * A thread has WIDTH neighbours of the result, which are channels of one place
 * where channels lie last.  Small windows are read as a whole before anything
 * is done with them; of others a thread may have a part: DEEP of them share a
 * window.
 */
enum {
    BLOCK = 128,
    SIDE = 32, /* results next to each other in a block with parts */
    MOST_DEEP = 16,
    PER_PART = 4, /* elements that make a further part worth while */
    SMALL_WINDOW = 16
};

typedef struct pool_shape {
    mo_call_pool call; /* in three spatial dimensions */
    int64_t window;    /* elements of a window at most */
    int width, deep;
    bool small;
    bool has_indices;
} pool_shape;

static const char common_source[] =
    "typedef struct { PLACE first, count, step; } SPAN;\n"
    /* What of a window is not beyond the edges. */
    "MO_DEVICE SPAN span_of(PLACE o, PLACE in, PLACE out, PLACE kernel,\n"
    "                       PLACE stride, PLACE step, PLACE pad)\n"
    "{\n"
    "    const PLACE begin = o * stride - pad;\n"
    "    const PLACE skip = begin < 0 ? (-begin + step - 1) / step : 0;\n"
    "    PLACE end = begin < in ? (in - begin + step - 1) / step : 0;\n"
    "    SPAN s;\n"
    "    end = end < kernel ? end : kernel;\n"
    "    s.step = step;\n"
    "    s.first = begin + skip * step;\n"
    "    s.count = end > skip ? end - skip : 0;\n"
    "#if ADAPTIVE\n"
    "    s.first = (PLACE) ((long long) o * in / out);\n"
    "    s.count = (PLACE) (((long long) (o + 1) * in + out - 1) / out) -\n"
    "              s.first;\n"
    "    s.step = 1;\n"
    "#endif\n"
    "    return s;\n"
    "}\n"
    "typedef struct { R v[WIDTH]; PLACE place; } BEST;\n"
    /* What is no number is never the largest. */
    "MO_DEVICE void take(WIDE w, PLACE place, BEST *b)\n"
    "{\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < WIDTH; i++) {\n"
    "        const R x = load(w.x[i]);\n"
    "        if (AVERAGE) {\n"
    "            b->v[i] += x;\n"
    "        } else if (x > b->v[i] ||\n"
    "                   (INDICES && b->place < 0 && x == x)) {\n"
    "            b->v[i] = x;\n"
    "            b->place = place;\n"
    "        }\n"
    "    }\n"
    "}\n"
    "#define READ(place) \\\n"
    "    read_wide(in + from + (place) * (LAST ? CHANNELS : 1))\n";

/* All elements of a window first, so that their loads run side by side. */
static const char small_source[] =
    "#define EACH_TAP \\\n"
    "    _Pragma(\"unroll\") for (int k0 = 0; k0 < K0; k0++) \\\n"
    "    _Pragma(\"unroll\") for (int k1 = 0; k1 < K1; k1++) \\\n"
    "    _Pragma(\"unroll\") for (int k2 = 0; k2 < K2; k2++)\n"
    "#define TAP ((k0 * K1 + k1) * K2 + k2)\n"
    "MO_DEVICE void fold(const T *in, PLACE from, const PLACE *o,\n"
    "                    const SPAN *s, int deep, BEST *b)\n"
    "{\n"
    "    const PLACE a0 = o[0] * S0 - P0, a1 = o[1] * S1 - P1;\n"
    "    const PLACE a2 = o[2] * S2 - P2;\n"
    "    WIDE w[TAPS];\n"
    "    EACH_TAP {\n"
    "        const PLACE i0 = a0 + k0 * D0, i1 = a1 + k1 * D1;\n"
    "        const PLACE i2 = a2 + k2 * D2;\n"
    "        if (i0 >= 0 && i0 < I0 && i1 >= 0 && i1 < I1 && i2 >= 0 &&\n"
    "            i2 < I2)\n"
    "            w[TAP] = READ((i0 * I1 + i1) * I2 + i2);\n"
    "    }\n"
    "    EACH_TAP {\n"
    "        const PLACE i0 = a0 + k0 * D0, i1 = a1 + k1 * D1;\n"
    "        const PLACE i2 = a2 + k2 * D2;\n"
    "        if (i0 >= 0 && i0 < I0 && i1 >= 0 && i1 < I1 && i2 >= 0 &&\n"
    "            i2 < I2)\n"
    "            take(w[TAP], (i0 * I1 + i1) * I2 + i2, b);\n"
    "    }\n"
    "}\n";

static const char large_source[] =
    "MO_DEVICE void fold(const T *in, PLACE from, const PLACE *o,\n"
    "                    const SPAN *s, int deep, BEST *b)\n"
    "{\n"
    "    const PLACE row = s[2].count, plane = s[1].count * row;\n"
    "    const PLACE all = s[0].count * plane;\n"
    "#pragma unroll 4\n"
    "    for (PLACE i = deep; i < all; i += DEEP) {\n"
    "        const PLACE i0 = s[0].first + i / plane * s[0].step;\n"
    "        const PLACE i1 = s[1].first + i % plane / row * s[1].step;\n"
    "        const PLACE i2 = s[2].first + i % row * s[2].step;\n"
    "        const PLACE place = (i0 * I1 + i1) * I2 + i2;\n"
    "        take(READ(place), place, b);\n"
    "    }\n"
    "}\n";

static const char ending_source[] =
    "#define SIDE (BLOCK / DEEP)\n"
    /* What the parts have found, put together in their order. */
    "MO_DEVICE void join(BEST *b, int side, int deep)\n"
    "{\n"
    "    MO_SHARED R cells[DEEP][SIDE][WIDTH];\n"
    "    for (int i = 0; i < WIDTH; i++)\n"
    "        cells[deep][side][i] = b->v[i];\n"
    "    MO_SYNC();\n"
    "    for (int d = 1; d < DEEP; d++)\n"
    "        for (int i = 0; i < WIDTH && deep == 0; i++) {\n"
    "            const R x = cells[d][side][i];\n"
    "            if (AVERAGE)\n"
    "                b->v[i] += x;\n"
    "            else if (x > b->v[i])\n"
    "                b->v[i] = x;\n"
    "        }\n"
    "}\n"
    /* Elements of a dimension that an average counts; end: of the padding. */
    "MO_DEVICE PLACE counted(PLACE o, PLACE data, PLACE end, PLACE kernel,\n"
    "                        PLACE stride, PLACE step, PLACE pad)\n"
    "{\n"
    "    const PLACE left = end - (o * stride - pad);\n"
    "    const PLACE most = left > 0 ? (left + step - 1) / step : 0;\n"
    "    if (COUNT_DATA)\n"
    "        return data;\n"
    "    return COUNT_PADDED && most < kernel ? most : kernel;\n"
    "}\n"
    "MO_DEVICE R share_of(const PLACE *o, const SPAN *s)\n"
    "{\n"
    "    const double count =\n"
    "        (double) counted(o[0], s[0].count, E0, K0, S0, D0, P0) *\n"
    "        (double) counted(o[1], s[1].count, E1, K1, S1, D1, P1) *\n"
    "        (double) counted(o[2], s[2].count, E2, K2, S2, D2, P2);\n"
    "    return count > 0 ? (R) (1 / count) : 0;\n"
    "}\n";

static const char head[] =
    "MO_KERNEL_OF(pool, BLOCK)(const T *in, T *out, struct mo_extra p)\n";
static const char head_with_indices[] =
    "MO_KERNEL_OF(pool, BLOCK)(const T *in, T *out, INDEX *where, "
    "struct mo_extra p)\n";

static const char body[] =
    "{\n"
    "    const int side = (int) threadIdx.x % SIDE;\n"
    "    const int deep = (int) threadIdx.x / SIDE;\n"
    "    const PLACE self = (PLACE) blockIdx.x * SIDE + side;\n"
    "    const int live = self < (PLACE) ITEMS;\n"
    "    const PLACE e = (live ? self : 0) * WIDTH;\n"
    "    const PLACE row = LAST ? e / CHANNELS : e % PLACES;\n"
    "    const PLACE rest = LAST ? row / PLACES : e / PLACES;\n"
    "    const PLACE image = LAST ? rest : rest / CHANNELS;\n"
    "    const PLACE channel = LAST ? e % CHANNELS : rest % CHANNELS;\n"
    "    const PLACE place = row % PLACES;\n"
    "    const PLACE plain = (image * CHANNELS + channel) * I;\n"
    "    const PLACE from =\n"
    "        LAST ? image * I * CHANNELS + channel : plain;\n"
    "    const PLACE o[3] = { place / (O1 * O2), place / O2 % O1, place % O2 "
    "};\n"
    "    const SPAN s[3] = { span_of(o[0], I0, O0, K0, S0, D0, P0),\n"
    "                        span_of(o[1], I1, O1, K1, S1, D1, P1),\n"
    "                        span_of(o[2], I2, O2, K2, S2, D2, P2) };\n"
    "    const int empty = !s[0].count || !s[1].count || !s[2].count;\n"
    "    BEST b;\n"
    "    MO_BEGIN();\n"
    "    b.place = -1;\n"
    "    for (int i = 0; i < WIDTH; i++)\n"
    "        b.v[i] = AVERAGE ? 0 : empty ? -3.402823466e+38f : -MO_INF;\n"
    "    fold(in, from, o, s, deep, &b);\n"
    "    if (DEEP > 1)\n"
    "        join(&b, side, deep);\n"
    "    if (!live || deep > 0)\n"
    "        return;\n"
    "    for (int i = 0; i < WIDTH && AVERAGE; i++)\n"
    "        b.v[i] *= share_of(o, s);\n"
    "#if INDICES\n"
    "    where[e] = (INDEX) ((plain + (b.place < 0 ? 0 : b.place)) %\n"
    "                        INDEX_SIZE);\n"
    "#endif\n"
    "    finish(e, b.v, p, out);\n"
    "}\n";

/* ---- shape */

static int64_t window_of(const mo_call_pool *c)
{
    const mo_call_window *s = &c->sweep;
    int64_t window = 1;

    for (int d = 0; d < MO_CALL_MAX_SPATIAL; d++) {
        int64_t size = s->kernel[d];

        if (c->adaptive)
            size = s->out[d] > 0 ? s->in[d] / s->out[d] + 1 : 1;
        if (!mo_int64_mul(window, size, &window))
            return INT64_MAX;
    }
    return window;
}

static int deep_of(const mo_backend_unit *unit, const pool_shape *shape,
                   int64_t items)
{
    int deep = 1;

    if (shape->small || shape->has_indices ||
        items > (int64_t) unit->sms * 4 * SIDE)
        return 1;
    while (deep < MOST_DEEP && 2 * deep <= shape->window / PER_PART)
        deep *= 2;
    return deep;
}

static pool_shape shape_of(const mo_backend_unit *unit, const mo_call *call,
                           const mo_tensor_desc *out)
{
    pool_shape shape = { .call = call->u.pool, .width = 1 };
    const mo_call_pool *c = &shape.call;

    shape.call.sweep = mo_call_window_to_3d(&call->u.pool.sweep);
    shape.has_indices = call->n_out > 1;
    shape.window = window_of(c);
    shape.small = !c->adaptive && shape.window <= SMALL_WINDOW;
    if (c->channels_last && !shape.has_indices)
        shape.width = mo_cuda_epilogue_vector_width(call, out, c->channels);
    shape.deep =
        deep_of(unit, &shape, mo_tensor_desc_elements(out) / shape.width);
    return shape;
}

/* ---- code */

static void add_counts(mo_cuda_source *code, const mo_call_pool *c)
{
    const mo_call_window *s = &c->sweep;

    for (int d = 0; d < MO_CALL_MAX_SPATIAL; d++)
        mo_cuda_source_printf(code, "#define E%d ((PLACE) %lld)\n", d,
                              (long long) (s->in[d] + s->pad_end[d]));
    mo_cuda_source_printf(code,
                          "#define COUNT_DATA %d\n#define COUNT_PADDED %d\n",
                          c->count == MO_CALL_POOL_COUNT_DATA,
                          c->count == MO_CALL_POOL_COUNT_PADDED);
}

static void add_numbers(mo_cuda_source *code, const pool_shape *shape,
                        const mo_tensor_desc *out)
{
    const mo_call_pool *c = &shape->call;

    mo_cuda_emit_window(code, &c->sweep);
    mo_cuda_source_printf(
        code,
        "#define CHANNELS ((PLACE) %lld)\n#define PLACES O\n"
        "#define AVERAGE %d\n#define ADAPTIVE %d\n"
        "#define LAST %d\n#define DEEP %d\n#define BLOCK %d\n"
        "#define ITEMS %lldLL\n",
        (long long) c->channels, c->average, c->adaptive, c->channels_last,
        shape->deep, shape->deep > 1 ? SIDE * shape->deep : BLOCK,
        (long long) (mo_tensor_desc_elements(&out[0]) / shape->width));
}

static void add_indices(mo_cuda_source *code, const mo_call *call,
                        const mo_tensor_desc *out)
{
    bool has_indices = call->n_out > 1;

    mo_cuda_source_printf(code, "#define INDICES %d\n", has_indices);
    if (has_indices)
        mo_cuda_source_printf(
            code, "typedef %s INDEX;\n#define INDEX_SIZE ((PLACE) %lld)\n",
            mo_cuda_elem_type_name(out[1].elem),
            (long long) mo_call_pool_index_size(&call->u.pool));
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    pool_shape shape = shape_of(unit, call, &out[0]);
    int side = shape.deep > 1 ? SIDE : BLOCK;
    int64_t elements = mo_tensor_desc_elements(&out[0]);
    int64_t in_elements = mo_tensor_desc_elements(&in[0].desc);
    mo_cuda_single_kernel_spec draft = { .name = "pool" };
    mo_status status = mo_backend_check_pool(call, in, out, err);

    if (status == MO_OK)
        status = mo_cuda_grid_1d(elements / shape.width, side,
                                 side * shape.deep, &draft.grid, err);
    if (status != MO_OK)
        return status;
    elements = elements > in_elements ? elements : in_elements;
    mo_cuda_emit_types(&draft.code, out[0].elem, shape.width,
                       mo_cuda_window_max_index(&shape.call.sweep, elements));
    mo_cuda_emit_epilogue(&draft.code, call, &out[0], shape.width);
    add_numbers(&draft.code, &shape, out);
    add_counts(&draft.code, &shape.call);
    add_indices(&draft.code, call, out);
    mo_cuda_source_append(&draft.code, common_source);
    mo_cuda_source_append(&draft.code,
                          shape.small ? small_source : large_source);
    mo_cuda_source_append(&draft.code, ending_source);
    mo_cuda_source_append(&draft.code,
                          shape.has_indices ? head_with_indices : head);
    mo_cuda_source_append(&draft.code, body);
    return mo_cuda_single_kernel_new(unit, call, 1, &draft, kernel, err);
}

const mo_cuda_kernel_class mo_cuda_pool_kernel = {
    prepare, NULL, mo_cuda_single_kernel_enqueue, mo_cuda_single_kernel_free
};
