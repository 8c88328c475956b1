/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/backend/cuda/kernels/{pool,interpolate}.c and algo/direct.c:
 * every tiling gives what the CPU does. */
#include <config.h>

#include <math.h>

#include "tests/exec/cuda/cuda_pair.h"
#include "tests/support/suite.h"

static void check(call_case *c, uint64_t seed)
{
    pair_check(&c, 1, MO_BACKEND_PRECISION_F32, &seed);
}

static const mo_elem some_reals[] = { MO_ELEM_F32, MO_ELEM_F16, MO_ELEM_BF16 };

static mo_shape image_of(int64_t batch, int64_t channels, int spatial,
                         const int64_t *sizes)
{
    mo_shape shape = { .rank = 2 + spatial, .dims = { batch, channels } };

    for (int d = 0; d < spatial; d++)
        shape.dims[2 + d] = sizes[d];
    return shape;
}

/* Sizes of a result with windows that begin within the input. */
static void set_out(mo_call_window *s, bool transposed)
{
    for (int d = 0; d < s->spatial; d++) {
        int64_t window = (s->kernel[d] - 1) * s->dilation[d] + 1;
        int64_t pads = s->pad_begin[d] + s->pad_end[d];

        if (transposed)
            s->out[d] = (s->in[d] - 1) * s->stride[d] + window - pads;
        else if (s->out[d] == 0)
            s->out[d] = (s->in[d] + pads - window) / s->stride[d] + 1;
    }
}

typedef struct pooling {
    mo_call_pool call; /* sweep.out: 0 is computed */
    int indices;       /* 1: with indices */
} pooling;

#define SQUARE(x)                                                              \
    {                                                                          \
        x, x                                                                   \
    }
#define SWEEP2(in_, k, s, p)                                                   \
    {                                                                          \
        .spatial = 2, .in = SQUARE(in_), .kernel = SQUARE(k),                  \
        .stride = SQUARE(s), .dilation = SQUARE(1), .pad_begin = SQUARE(p),    \
        .pad_end = SQUARE(p)                                                   \
    }

static const pooling poolings[] = {
    { { .sweep = SWEEP2(9, 3, 2, 1), .batch = 2, .channels = 8 }, 0 },
    { { .sweep = SWEEP2(9, 3, 2, 1), .batch = 2, .channels = 7 }, 1 },
    { { .sweep = SWEEP2(7, 7, 7, 0),
        .batch = 2,
        .channels = 32,
        .average = true },
      0 },
    { { .sweep = SWEEP2(12, 5, 2, 2),
        .batch = 1,
        .channels = 6,
        .average = true,
        .count = MO_CALL_POOL_COUNT_DATA },
      0 },
    { { .sweep = SWEEP2(8, 2, 2, 1),
        .batch = 1,
        .channels = 5,
        .average = true },
      0 },
    { { .sweep = { .spatial = 1,
                   .in = { 20 },
                   .kernel = { 3 },
                   .stride = { 2 },
                   .dilation = { 3 },
                   .pad_begin = { 2 },
                   .pad_end = { 0 } },
        .batch = 2,
        .channels = 3,
        .index_axis = 2 },
      1 },
    { { .sweep = { .spatial = 3,
                   .in = { 5, 6, 7 },
                   .kernel = { 3, 2, 3 },
                   .stride = { 1, 2, 2 },
                   .dilation = { 1, 1, 1 },
                   .pad_begin = { 1, 0, 1 },
                   .pad_end = { 1, 0, 1 } },
        .batch = 1,
        .channels = 4 },
      0 },
    { { .sweep = { .spatial = 2,
                   .in = { 11, 10 },
                   .out = { 4, 3 },
                   .kernel = { 1, 1 },
                   .stride = { 1, 1 },
                   .dilation = { 1, 1 } },
        .batch = 1,
        .channels = 12,
        .average = true,
        .count = MO_CALL_POOL_COUNT_DATA,
        .adaptive = true },
      0 },
    { { .sweep = { .spatial = 2,
                   .in = { 11, 10 },
                   .out = { 4, 3 },
                   .kernel = { 1, 1 },
                   .stride = { 1, 1 },
                   .dilation = { 1, 1 } },
        .batch = 2,
        .channels = 2,
        .adaptive = true,
        .index_axis = 2 },
      1 },
    /* Windows extend over the padding, which does not count. */
    { { .sweep = { .spatial = 2,
                   .in = { 9, 9 },
                   .out = { 5, 5 },
                   .kernel = { 3, 4 },
                   .stride = { 2, 2 },
                   .dilation = { 1, 1 },
                   .pad_begin = { 1, 1 },
                   .pad_end = { 0, 1 } },
        .batch = 2,
        .channels = 8,
        .average = true,
        .count = MO_CALL_POOL_COUNT_PADDED },
      0 },
    { { .sweep = { .spatial = 3,
                   .in = { 5, 6, 9 },
                   .out = { 3, 3, 3 },
                   .kernel = { 3, 4, 4 },
                   .stride = { 2, 2, 3 },
                   .dilation = { 1, 1, 2 },
                   .pad_begin = { 1, 0, 1 },
                   .pad_end = { 0, 1, 1 } },
        .batch = 1,
        .channels = 5,
        .average = true,
        .count = MO_CALL_POOL_COUNT_PADDED },
      0 },
    /* The same, and it counts. */
    { { .sweep = { .spatial = 1,
                   .in = { 9 },
                   .out = { 5 },
                   .kernel = { 4 },
                   .stride = { 2 },
                   .dilation = { 1 },
                   .pad_begin = { 1 },
                   .pad_end = { 1 } },
        .batch = 2,
        .channels = 3,
        .average = true },
      0 },
    /* A window beyond the end without any element. */
    { { .sweep = { .spatial = 1,
                   .in = { 4 },
                   .out = { 4 },
                   .kernel = { 2 },
                   .stride = { 2 },
                   .dilation = { 1 } },
        .batch = 1,
        .channels = 4 },
      0 },
};

START_TEST(pools_are_the_same)
{
    const pooling *p = &poolings[_i / 2];
    mo_elem elem = some_reals[_i / 2 % 3];
    mo_call_pool pool = p->call;
    call_case c;

    set_out(&pool.sweep, false);
    pool.channels_last = _i % 2;
    case_begin(&c, MO_CALL_POOL);
    c.call.u.pool = pool;
    case_in(
        &c, elem,
        image_of(pool.batch, pool.channels, pool.sweep.spatial, pool.sweep.in),
        (uint64_t) _i);
    for (int i = 0; i <= p->indices; i++)
        case_out(&c, i ? _i % 4 < 2 ? MO_ELEM_I64 : MO_ELEM_I32 : elem,
                 image_of(pool.batch, pool.channels, pool.sweep.spatial,
                          pool.sweep.out));
    if (!p->indices && _i % 4 < 2)
        case_after(&c, 1, pool.channels_last, 1);
    check(&c, (uint64_t) _i);
    case_end(&c);
}
END_TEST

static void check_interpolate(mo_call_interpolate call, mo_elem elem,
                              uint64_t seed)
{
    mo_shape in = { .rank = call.rank }, out = { .rank = call.rank };
    call_case c;

    for (int d = 0; d < call.rank; d++) {
        in.dims[d] = call.in[d];
        out.dims[d] = call.out[d];
        call.moves[d] = call.in[d] != call.out[d];
        call.scale[d] = (double) call.out[d] / (double) call.in[d];
    }
    case_begin(&c, MO_CALL_INTERPOLATE);
    c.call.u.interpolate = call;
    case_in(&c, elem, in, seed);
    case_out(&c, elem, out);
    check(&c, seed);
    case_end(&c);
}

START_TEST(interpolations_are_the_same)
{
    static const mo_elem any[] = { MO_ELEM_F32, MO_ELEM_U8, MO_ELEM_F16,
                                   MO_ELEM_I64 };
    mo_call_interpolate call = { .mode = _i % 4,
                                 .coordinates = _i % 5,
                                 .nearest = _i / 4 % 5,
                                 .antialias = _i % 8 == 1,
                                 .cubic = -0.75,
                                 .rank = 4,
                                 .in = { 1, 3, 7, 10 },
                                 .out = { 1, 3, 14, 4 } };

    if (_i % 3 == 1)
        call.in[1] = 5;
    check_interpolate(call, _i % 4 == 0 ? any[_i / 4 % 4] : some_reals[_i % 3],
                      (uint64_t) _i);
}
END_TEST

START_TEST(what_is_not_resized_is_copied)
{
    mo_call_interpolate call = { .mode = MO_CALL_INTERPOLATE_LINEAR,
                                 .rank = 2,
                                 .in = { 3, 5 },
                                 .out = { 3, 5 } };

    check_interpolate(call, MO_ELEM_F32, 1);
}
END_TEST

typedef struct folded {
    mo_call_conv call; /* sweep.out is computed */
    bool constant;     /* weights are constant */
} folded;

static const folded convs[] = {
    /* depthwise: short rows, strips, long windows, dilation */
    { { .sweep = SWEEP2(9, 3, 1, 1),
        .batch = 2,
        .in_channels = 12,
        .out_channels = 12,
        .groups = 12 },
      true },
    { { .sweep = SWEEP2(14, 5, 2, 2),
        .batch = 1,
        .in_channels = 10,
        .out_channels = 10,
        .groups = 10 },
      false },
    { { .sweep = SWEEP2(80, 3, 2, 1),
        .batch = 1,
        .in_channels = 96,
        .out_channels = 96,
        .groups = 96 },
      true },
    { { .sweep = { .spatial = 1,
                   .in = { 40 },
                   .kernel = { 7 },
                   .stride = { 3 },
                   .dilation = { 4 },
                   .pad_begin = { 6 },
                   .pad_end = { 5 } },
        .batch = 2,
        .in_channels = 8,
        .out_channels = 8,
        .groups = 8 },
      true },
    { { .sweep = { .spatial = 3,
                   .in = { 4, 5, 6 },
                   .kernel = { 3, 1, 2 },
                   .stride = { 1, 2, 1 },
                   .dilation = { 1, 1, 2 },
                   .pad_begin = { 1, 0, 2 },
                   .pad_end = { 1, 0, 0 } },
        .batch = 1,
        .in_channels = 6,
        .out_channels = 6,
        .groups = 6 },
      true },
    /* groups, and more output than input channels */
    { { .sweep = SWEEP2(7, 3, 1, 1),
        .batch = 2,
        .in_channels = 12,
        .out_channels = 18,
        .groups = 3 },
      true },
    { { .sweep = SWEEP2(6, 2, 2, 0),
        .batch = 1,
        .in_channels = 4,
        .out_channels = 8,
        .groups = 4 },
      false },
    { { .sweep = SWEEP2(15, 3, 2, 1),
        .batch = 1,
        .in_channels = 3,
        .out_channels = 70,
        .groups = 1 },
      true },
    /* transposed */
    { { .sweep = SWEEP2(6, 4, 2, 1),
        .batch = 2,
        .in_channels = 5,
        .out_channels = 3,
        .groups = 1,
        .transposed = true },
      true },
    { { .sweep = { .spatial = 1,
                   .in = { 9 },
                   .kernel = { 3 },
                   .stride = { 2 },
                   .dilation = { 2 },
                   .pad_begin = { 2 },
                   .pad_end = { 1 } },
        .batch = 1,
        .in_channels = 4,
        .out_channels = 6,
        .groups = 2,
        .transposed = true },
      false },
    /* transposed: windows side by side; places behind the end of a phase;
     * phases without a tap; a dilation that is no multiple of the stride */
    { { .sweep = SWEEP2(8, 2, 2, 0),
        .batch = 2,
        .in_channels = 20,
        .out_channels = 24,
        .groups = 1,
        .transposed = true },
      true },
    { { .sweep = SWEEP2(7, 3, 2, 1),
        .batch = 1,
        .in_channels = 8,
        .out_channels = 4,
        .groups = 2,
        .transposed = true },
      true },
    { { .sweep = SWEEP2(5, 1, 3, 0),
        .batch = 1,
        .in_channels = 3,
        .out_channels = 5,
        .groups = 1,
        .transposed = true },
      true },
    { { .sweep = { .spatial = 2,
                   .in = { 6, 7 },
                   .kernel = { 3, 4 },
                   .stride = { 3, 2 },
                   .dilation = { 2, 3 },
                   .pad_begin = { 1, 2 },
                   .pad_end = { 0, 3 } },
        .batch = 2,
        .in_channels = 6,
        .out_channels = 7,
        .groups = 1,
        .transposed = true },
      true },
};

static mo_shape weights_of(const mo_call_conv *c)
{
    int64_t in = c->in_channels / c->groups, out = c->out_channels / c->groups;
    mo_shape shape = { .rank = 3 + c->sweep.spatial, .dims = { c->groups } };

    shape.dims[1] = c->transposed ? in : out;
    shape.dims[2] = c->transposed ? out : in;
    for (int d = 0; d < c->sweep.spatial; d++)
        shape.dims[3 + d] = c->sweep.kernel[d];
    return shape;
}

START_TEST(convolutions_are_the_same)
{
    const folded *f = &convs[_i / 2];
    mo_elem elem = some_reals[_i / 2 % 3];
    mo_call_conv conv = f->call;
    call_case c;

    set_out(&conv.sweep, conv.transposed);
    conv.channels_last = _i % 2;
    case_begin(&c, MO_CALL_CONV);
    c.call.u.conv = conv;
    case_in(&c, elem,
            image_of(conv.batch, conv.in_channels, conv.sweep.spatial,
                     conv.sweep.in),
            (uint64_t) _i);
    case_in(&c, elem, weights_of(&conv), (uint64_t) _i);
    c.constant = f->constant ? 2 : 0;
    case_out(&c, elem,
             image_of(conv.batch, conv.out_channels, conv.sweep.spatial,
                      conv.sweep.out));
    if (_i % 4 < 2)
        case_after(&c, 1, conv.channels_last, 1);
    check(&c, (uint64_t) _i);
    case_end(&c);
}
END_TEST

/* A tap that is not finite reaches the places that read it, and no others:
 * those of its phase. On a GPU, cuDNN may multiply zeros by all taps. */
START_TEST(a_transposed_convolution_reads_the_taps_of_a_phase)
{
    mo_call_conv conv = { .sweep = SWEEP2(4, 2, 2, 0),
                          .batch = 1,
                          .in_channels = 3,
                          .out_channels = 5,
                          .groups = 1,
                          .transposed = true };
    call_case c;
    float *weights;

    if (getenv("MOIRAI_TEST_GPU"))
        return;
    set_out(&conv.sweep, true);
    conv.channels_last = _i % 2;
    case_begin(&c, MO_CALL_CONV);
    c.call.u.conv = conv;
    case_in(&c, MO_ELEM_F32, image_of(1, 3, 2, conv.sweep.in), (uint64_t) _i);
    weights =
        case_in(&c, MO_ELEM_F32, weights_of(&conv), (uint64_t) _i + 1)->data;
    weights[1] = INFINITY;
    weights[2] = NAN;
    c.constant = _i / 2 ? 2 : 0;
    case_out(&c, MO_ELEM_F32, image_of(1, 5, 2, conv.sweep.out));
    check(&c, (uint64_t) _i);
    case_end(&c);
}
END_TEST

/* Products of element types without a library */

START_TEST(products_of_all_types_are_the_same)
{
    static const mo_elem elems[] = { MO_ELEM_F64, MO_ELEM_I64, MO_ELEM_I32,
                                     MO_ELEM_I16, MO_ELEM_I8,  MO_ELEM_U64,
                                     MO_ELEM_U32, MO_ELEM_U16, MO_ELEM_U8,
                                     MO_ELEM_F32 };
    static const int64_t sizes[][3] = { { 5, 7, 3 },
                                        { 70, 40, 33 },
                                        { 1, 100, 60 },
                                        { 90, 1, 17 },
                                        { 33, 65, 1 } };
    const int64_t *s = sizes[_i % 5], m = s[0], n = s[1], k = s[2];
    mo_elem elem = elems[_i % 10];
    mo_call_matmul product = { .m = m,
                               .n = n,
                               .k = k,
                               .n_batch = 2,
                               .extent = { 2, 3 },
                               .a = { k, 1, { m * k, 0 } },
                               .b = { 1, k, { 0, n * k } },
                               .c = { n, 1, { 3 * m * n, m * n } } };
    call_case c;

    case_begin(&c, MO_CALL_MATMUL);
    c.call.u.matmul = product;
    case_in(&c, elem, shape_of(3, (int64_t) 2, m, k), (uint64_t) _i);
    case_in(&c, elem, shape_of(3, (int64_t) 3, n, k), (uint64_t) _i);
    case_out(&c, elem, shape_of(4, (int64_t) 2, (int64_t) 3, m, n));
    if (_i % 2 == 0 && mo_elem_is_float(elem))
        case_after(&c, 3, false, 1);
    check(&c, (uint64_t) _i);
    case_end(&c);
}
END_TEST

SUITE(cuda_window_kernels)
{
    use_cuda();
    EACH(pools_are_the_same, in_ci(2, 1) * COUNT(poolings));
    EACH(interpolations_are_the_same, in_ci(20, 8));
    TEST(what_is_not_resized_is_copied);
    EACH(convolutions_are_the_same, in_ci(2, 1) * COUNT(convs));
    EACH(a_transposed_convolution_reads_the_taps_of_a_phase, 4);
    EACH(products_of_all_types_are_the_same, in_ci(10, 5));
}
