/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/backend/cpu/conv/cpu_conv.h: epilogues of the
 * micro-kernels equal the pointwise program behind the call, bit by bit. */
#include "exec/backend/cpu/conv/cpu_conv.h"

#include <math.h>

#include "tests/exec/support/call_case.h"
#include "tests/support/suite.h"

enum { BIAS = 1, RELU = 2, CLAMP = 4, NORM = 8, OTHER = 16, SQUARE = 32 };

static const float least = -0.25f, most = 0.5f;

static const struct {
    int64_t in_channels, out_channels, groups, side;
} sizes[] = {
    { 3, 64, 1, 9 },    { 16, 33, 1, 7 }, { 20, 7, 1, 13 },
    { 1030, 40, 1, 2 }, { 12, 54, 3, 6 }, { 5, 1, 1, 4 },
    { 20, 20, 20, 5 },  { 7, 7, 7, 6 },   { 40, 40, 40, 3 },
};

static const char *const micro_kernel_names[] = { "avx512", "avx2", "plain" };
static const unsigned endings[] = { BIAS,
                                    RELU,
                                    CLAMP,
                                    BIAS | RELU,
                                    BIAS | CLAMP,
                                    NORM | RELU,
                                    BIAS | NORM,
                                    BIAS | OTHER | RELU,
                                    BIAS | NORM | OTHER | CLAMP };

/* A 1 x 1 convolution, channels last, whose rows have the layout of the
 * micro-kernels' results. */
static void make_conv(call_case *c, int size, const char *micro_kernels)
{
    int64_t side = sizes[size].side, in = sizes[size].in_channels;
    int64_t out = sizes[size].out_channels, groups = sizes[size].groups;

    case_begin(c, MO_CALL_CONV);
    c->micro_kernels = micro_kernels;
    c->call.u.conv = (mo_call_conv){ .sweep = { .spatial = 2,
                                                .in = { side, side },
                                                .out = { side, side },
                                                .kernel = { 1, 1 },
                                                .stride = { 1, 1 },
                                                .dilation = { 1, 1 } },
                                     .batch = 2,
                                     .in_channels = in,
                                     .out_channels = out,
                                     .groups = groups,
                                     .channels_last = true };
    case_in(c, MO_ELEM_F32, shape_of(4, (int64_t) 2, in, side, side), 1);
    case_in(c, MO_ELEM_F32,
            shape_of(4, out, in / groups, (int64_t) 1, (int64_t) 1), 2);
    case_out(c, MO_ELEM_F32, shape_of(4, (int64_t) 2, out, side, side));
    c->constant = 2;
    ((float *) c->in[0].data)[in] = NAN;
}

/* Appends an operand that repeats a row, or is like the result, and its step
 * with the last result. */
static void put_step(call_case *c, mo_point_op op, bool repeats, uint64_t seed)
{
    const mo_shape *shape = &c->out[0].desc.shape;
    mo_point_program *p = &c->after;
    mo_point_step step = { .op = op, .a = p->result, .b = p->n_operands };
    mo_point_access access = { 0, { 0, 1, 0, 0 } };

    case_in(c, MO_ELEM_F32,
            repeats ? shape_of(1, shape->dims[1]) : c->out[0].desc.shape, seed);
    for (int i = p->n_steps; i-- > 0;) { /* registers follow operands */
        p->steps[i].a += p->steps[i].a >= p->n_operands;
        p->steps[i].b += p->steps[i].b >= p->n_operands;
    }
    step.a += step.a >= p->n_operands;
    p->operands[p->n_operands++] =
        (mo_point_operand){ MO_ELEM_F32, repeats ? access : p->out };
    p->result = mo_point_push_step(p, step);
}

static void put_ending(call_case *c, unsigned parts)
{
    mo_shape shape = c->out[0].desc.shape;
    int64_t channels = shape.dims[1], line = shape.dims[3] * channels;
    mo_point_access rows = { 0, { shape.dims[2] * line, 1, line, channels } };
    mo_point_program *p = &c->after;
    mo_point_step hold = { .op = parts & RELU ? MO_POINT_RELU : MO_POINT_CLAMP,
                           .x = (double) least,
                           .y = (double) most };
    mo_point_step square = { .op = MO_POINT_MULTIPLY };

    *p = (mo_point_program){ .n_operands = 1, .out = rows };
    p->operands[0] = (mo_point_operand){ MO_ELEM_F32, rows };
    if (parts & BIAS)
        put_step(c, MO_POINT_ADD, true, 3);
    if (parts & NORM) {
        put_step(c, MO_POINT_SUBTRACT, true, 4);
        put_step(c, MO_POINT_MULTIPLY, true, 5);
    }
    if (parts & OTHER)
        put_step(c, MO_POINT_ADD, false, 6);
    square.a = square.b = p->result;
    if (parts & SQUARE)
        p->result = mo_point_push_step(p, square);
    hold.a = p->result;
    if (parts & (RELU | CLAMP))
        p->result = mo_point_push_step(p, hold);
    c->call.first_extra = 2;
    c->call.after = p;
}

/* The epilogue of an element, in memory order, by definition. */
static float end_of(const call_case *c, int64_t element, float x,
                    unsigned parts)
{
    const mo_tensor_dense *in = &c->in[2];
    int64_t channels = c->out[0].desc.shape.dims[1];
    int64_t channel = element % channels;
    volatile float y = x; /* rounds every result */

    if (parts & BIAS)
        y = y + ((const float *) in++->data)[channel];
    if (parts & NORM) {
        y = y - ((const float *) in++->data)[channel];
        y = y * ((const float *) in++->data)[channel];
    }
    if (parts & OTHER)
        y = y + ((const float *) in++->data)[element];
    if (parts & RELU)
        return y < 0 ? 0 : y;
    if (parts & CLAMP)
        return y < least ? least : y > most ? most : y;
    return y;
}

static void check_epilogue(int size, const char *micro_kernels, unsigned parts)
{
    call_case bare, ended;

    make_conv(&bare, size, micro_kernels);
    make_conv(&ended, size, micro_kernels);
    put_ending(&ended, parts);
    case_run(&bare, 1);
    case_run_threads(&ended);
    for (int64_t i = 0; i < mo_tensor_desc_elements(&bare.out[0].desc); i++) {
        float sum = ((const float *) bare.out[0].data)[i];
        float got = ((const float *) ended.out[0].data)[i];
        float want = end_of(&ended, i, sum, parts);

        ck_assert_msg(
            memcmp(&got, &want, sizeof got) == 0 || (isnan(got) && isnan(want)),
            "%s, size %d, gemm_epilogue %u: element %lld is %g, not %g",
            micro_kernels, size, parts, (long long) i, (double) got,
            (double) want);
    }
    case_end(&bare);
    case_end(&ended);
}

START_TEST(micro_kernels_match_programs)
{
    for (int t = 0; t < COUNT(micro_kernel_names); t++)
        for (int e = 0; mo_cpu_micro_kernels_find(micro_kernel_names[t]) &&
                        e < COUNT(endings);
             e++)
            check_epilogue(_i, micro_kernel_names[t], endings[e]);
}
END_TEST

/* Matches the epilogue of the call for rows of that many columns. */
static mo_cpu_gemm_epilogue match_epilogue(unsigned parts, int64_t columns)
{
    call_case c;
    mo_cpu_epilogue epilogue = { 0 };
    mo_cpu_gemm_epilogue gemm_epilogue;

    make_conv(&c, 0, "plain");
    put_ending(&c, parts);
    MUST(mo_cpu_epilogue_init(&c.call, &c.out[0].desc, &epilogue, &err));
    gemm_epilogue = mo_cpu_gemm_epilogue_match(&epilogue, columns);
    mo_cpu_epilogue_clear(&epilogue);
    case_end(&c);
    return gemm_epilogue;
}

START_TEST(short_epilogues_are_matched)
{
    int64_t columns = sizes[0].out_channels;
    mo_cpu_gemm_epilogue gemm_epilogue = match_epilogue(BIAS | RELU, columns);

    for (int e = 0; e < COUNT(endings); e++)
        ck_assert(match_epilogue(endings[e], columns).by_micro_kernels);
    ck_assert_int_eq(gemm_epilogue.input[0], 2);
    ck_assert_int_eq(gemm_epilogue.end.steps[0].op, MO_CPU_END_ADD);
    ck_assert_int_eq(gemm_epilogue.end.steps[1].op, MO_CPU_END_CLAMP);
    ck_assert(gemm_epilogue.end.steps[1].least == 0);
    ck_assert(!match_epilogue(BIAS, columns / 2).by_micro_kernels);
}
END_TEST

START_TEST(other_epilogues_are_left_to_programs)
{
    int64_t columns = sizes[0].out_channels;

    ck_assert(!match_epilogue(SQUARE, columns).by_micro_kernels);
    ck_assert(!match_epilogue(BIAS | SQUARE | RELU, columns).by_micro_kernels);
    ck_assert(
        match_epilogue(BIAS | NORM | OTHER | RELU, columns).by_micro_kernels);
    ck_assert(!match_epilogue(BIAS | NORM | OTHER | SQUARE | CLAMP, columns)
                   .by_micro_kernels);
}
END_TEST

SUITE(gemm_epilogue)
{
    EACH(micro_kernels_match_programs, COUNT(sizes));
    TEST(short_epilogues_are_matched);
    TEST(other_epilogues_are_left_to_programs);
}
