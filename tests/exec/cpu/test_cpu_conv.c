/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/backend/cpu/conv/cpu_conv.h: CONV calls on the CPU backend
 * against the definition in double. */
#include "tests/exec/support/call_case.h"
#include "tests/support/suite.h"

static int64_t pick_size(mo_random *r, int least, int most)
{
    return least + mo_random_below(r, most - least + 1);
}

static mo_shape shape_with(int64_t first, int64_t second, const int64_t *dims,
                           int n)
{
    mo_shape s = { .rank = 2 + n, .dims = { first, second } };

    for (int d = 0; d < n; d++)
        s.dims[2 + d] = dims[d];
    return s;
}

static int64_t out_size(const mo_call_conv *c, int d, int64_t extra)
{
    int64_t span = (c->sweep.kernel[d] - 1) * c->sweep.dilation[d] + 1;
    int64_t pads = c->sweep.pad_begin[d] + c->sweep.pad_end[d];

    return c->transposed
               ? (c->sweep.in[d] - 1) * c->sweep.stride[d] + span - pads + extra
               : (c->sweep.in[d] + pads - span) / c->sweep.stride[d] + 1;
}

/* Groups and channels per group: few, many, or one (depthwise). */
static void make_channels(mo_random *r, mo_call_conv *c)
{
    static const int sizes[] = { 1, 2, 3, 5, 16, 33 };
    int kind = mo_random_below(r, 3);

    c->groups = kind == 0 ? 1 : pick_size(r, 2, 5);
    if (kind == 2) {
        c->groups = pick_size(r, 2, 90);
        c->in_channels = c->out_channels = c->groups;
        return;
    }
    c->in_channels = c->groups * sizes[mo_random_below(r, COUNT(sizes))];
    c->out_channels = c->groups * sizes[mo_random_below(r, COUNT(sizes))];
}

static void make_conv(mo_random *r, mo_call_conv *c)
{
    *c = (mo_call_conv){ .sweep.spatial = 1 + mo_random_below(r, 3) };
    c->transposed = mo_random_below(r, 3) == 0;
    c->channels_last = mo_random_below(r, 2);
    c->batch = pick_size(r, 1, 3);
    make_channels(r, c);
    for (int d = 0; d < c->sweep.spatial; d++) {
        int most = c->sweep.spatial == 3 ? 3 : 5;

        c->sweep.kernel[d] = pick_size(r, 1, most);
        c->sweep.stride[d] = pick_size(r, 1, 3);
        c->sweep.dilation[d] = pick_size(r, 1, 2);
        c->sweep.pad_begin[d] = pick_size(r, 0, 2);
        c->sweep.pad_end[d] = pick_size(r, 0, 2);
        do {
            c->sweep.in[d] = pick_size(r, 1, c->sweep.spatial == 3 ? 6 : 14);
            c->sweep.out[d] = out_size(c, d, mo_random_below(r, 3));
        } while (c->sweep.out[d] < 1);
    }
}

/* Offset of an element by image, channel and spatial indices. */
static int64_t element_of(const mo_shape *s, int64_t n, int64_t c,
                          const int64_t *at)
{
    int64_t i = n * s->dims[1] + c;

    for (int d = 2; d < s->rank; d++)
        i = i * s->dims[d] + at[d - 2];
    return i;
}

static double data_at(const call_case *cc, int64_t n, int64_t channel,
                      const int64_t *at)
{
    const mo_shape *s = &cc->in[0].desc.shape;
    int64_t i = element_of(s, n, channel, at);

    return mo_tensor_get_double(
        &cc->in[0], cc->call.u.conv.channels_last ? last_place(s, i) : i);
}

static int64_t kernel_size(const mo_call_conv *c)
{
    int64_t n = 1;

    for (int d = 0; d < c->sweep.spatial; d++)
        n *= c->sweep.kernel[d];
    return n;
}

/* Finds the input element that kernel element k reads for an output pixel. */
static bool read_at(const mo_call_conv *c, const int64_t *out, int64_t k,
                    int64_t *in)
{
    for (int d = c->sweep.spatial - 1; d >= 0; d--) {
        int64_t tap = k % c->sweep.kernel[d] * c->sweep.dilation[d];

        k /= c->sweep.kernel[d];
        in[d] = out[d] * c->sweep.stride[d] + tap - c->sweep.pad_begin[d];
        if (c->transposed) {
            int64_t from = out[d] + c->sweep.pad_begin[d] - tap;

            if (from % c->sweep.stride[d] != 0)
                return false;
            in[d] = from / c->sweep.stride[d];
        }
        if (in[d] < 0 || in[d] >= c->sweep.in[d])
            return false;
    }
    return true;
}

static double weight_at(const call_case *cc, int64_t g, int64_t in, int64_t out,
                        int64_t k)
{
    const mo_call_conv *c = &cc->call.u.conv;
    int64_t ins = c->in_channels / c->groups,
            outs = c->out_channels / c->groups;
    int64_t row = c->transposed ? (g * ins + in) * outs + out
                                : (g * outs + out) * ins + in;

    return mo_tensor_get_double(&cc->in[1], row * kernel_size(c) + k);
}

static double conv_at(const call_case *cc, int64_t n, int64_t channel,
                      const int64_t *out)
{
    const mo_call_conv *c = &cc->call.u.conv;
    int64_t ins = c->in_channels / c->groups,
            outs = c->out_channels / c->groups;
    int64_t g = channel / outs, in[MO_CALL_MAX_SPATIAL];
    double sum = 0;

    for (int64_t k = 0; k < kernel_size(c); k++)
        for (int64_t i = 0; read_at(c, out, k, in) && i < ins; i++)
            sum += data_at(cc, n, g * ins + i, in) *
                   weight_at(cc, g, i, channel % outs, k);
    return sum;
}

static double *expect_conv(const call_case *cc)
{
    const mo_shape *s = &cc->out[0].desc.shape;
    int64_t n = mo_shape_elements(s);
    double *expected = malloc((size_t) (n + 1) * sizeof *expected);

    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, at[MO_CALL_MAX_SPATIAL];

        for (int d = s->rank - 1; d >= 2; d--) {
            at[d - 2] = rest % s->dims[d];
            rest /= s->dims[d];
        }
        expected[i] = conv_at(cc, rest / s->dims[1], rest % s->dims[1], at);
        if (cc->call.after)
            expected[i] = case_after_of(cc, i, expected[i]);
    }
    return expected;
}

static void put_operands(call_case *cc, mo_elem elem, uint64_t seed)
{
    const mo_call_conv *c = &cc->call.u.conv;
    int64_t ins = c->in_channels / c->groups;

    case_in(cc, elem,
            shape_with(c->batch, c->in_channels, c->sweep.in, c->sweep.spatial),
            seed);
    case_in(cc, elem,
            shape_with(c->out_channels, ins, c->sweep.kernel, c->sweep.spatial),
            seed);
    case_out(
        cc, elem,
        shape_with(c->batch, c->out_channels, c->sweep.out, c->sweep.spatial));
}

static void check_conv(call_case *cc, uint64_t seed)
{
    double *expected = expect_conv(cc);

    case_run_threads(cc);
    case_check(cc, expected, cc->call.u.conv.channels_last, seed);
    free(expected);
    case_end(cc);
}

START_TEST(convolutions_agree_with_their_definition)
{
    static const mo_elem elems[] = { MO_ELEM_F32, MO_ELEM_F32, MO_ELEM_F16,
                                     MO_ELEM_F32, MO_ELEM_BF16 };
    uint64_t seed = 7000 + (uint64_t) _i;
    mo_random r = { seed };
    call_case cc;

    case_begin(&cc, MO_CALL_CONV);
    make_conv(&r, &cc.call.u.conv);
    put_operands(&cc, elems[_i % COUNT(elems)], seed);
    cc.constant = mo_random_below(&r, 2) ? 2 : 0;
    if (mo_random_below(&r, 2))
        case_after(&cc, 1, cc.call.u.conv.channels_last, seed);
    check_conv(&cc, seed);
}
END_TEST

/* Typical layers of networks, each in both layouts; the last has by far the
 * most products. */
static const mo_call_conv layers[] = {
    { .sweep.spatial = 2,
      .batch = 1,
      .in_channels = 3,
      .out_channels = 20,
      .groups = 1,
      .sweep.in = { 30, 31 },
      .sweep.out = { 15, 16 },
      .sweep.kernel = { 7, 7 },
      .sweep.stride = { 2, 2 },
      .sweep.dilation = { 1, 1 },
      .sweep.pad_begin = { 3, 3 },
      .sweep.pad_end = { 3, 3 } },
    { .sweep.spatial = 2,
      .batch = 1,
      .in_channels = 70,
      .out_channels = 130,
      .groups = 1,
      .sweep.in = { 13, 13 },
      .sweep.out = { 7, 7 },
      .sweep.kernel = { 1, 1 },
      .sweep.stride = { 2, 2 },
      .sweep.dilation = { 1, 1 } },
    { .sweep.spatial = 2,
      .batch = 2,
      .in_channels = 64,
      .out_channels = 48,
      .groups = 1,
      .sweep.in = { 14, 14 },
      .sweep.out = { 14, 14 },
      .sweep.kernel = { 3, 3 },
      .sweep.stride = { 1, 1 },
      .sweep.dilation = { 1, 1 },
      .sweep.pad_begin = { 1, 1 },
      .sweep.pad_end = { 1, 1 } },
};

START_TEST(layers_of_networks_are_right)
{
    call_case cc;

    case_begin(&cc, MO_CALL_CONV);
    cc.call.u.conv = layers[_i / 2];
    cc.call.u.conv.channels_last = _i % 2;
    put_operands(&cc, MO_ELEM_F32, 11);
    cc.constant = 2;
    case_after(&cc, 1, _i % 2, 11);
    check_conv(&cc, 11);
}
END_TEST

/* Windows that lie entirely in the padding. */
START_TEST(padding_wider_than_the_kernel_is_zeros)
{
    call_case cc;

    case_begin(&cc, MO_CALL_CONV);
    cc.call.u.conv = (mo_call_conv){ .sweep.spatial = 1,
                                     .batch = 1,
                                     .in_channels = 2,
                                     .out_channels = 3,
                                     .groups = 1,
                                     .sweep.in = { 3 },
                                     .sweep.out = { 13 },
                                     .sweep.kernel = { 1 },
                                     .sweep.stride = { 1 },
                                     .sweep.dilation = { 1 },
                                     .sweep.pad_begin = { 5 },
                                     .sweep.pad_end = { 5 },
                                     .channels_last = _i };
    put_operands(&cc, MO_ELEM_F32, 3);
    check_conv(&cc, 3);
}
END_TEST

SUITE(cpu_conv)
{
    SOME(convolutions_agree_with_their_definition, 240, 10);
    SOME(layers_of_networks_are_right, 2 * COUNT(layers),
         2 * (COUNT(layers) - 1));
    EACH(padding_wider_than_the_kernel_is_zeros, 2);
}
