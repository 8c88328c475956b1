/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/backend/cuda/algo/algo.h: every algorithm computes what the
 * CPU does. */
#include <config.h>

#include "tests/exec/cuda/cuda_algo_case.h"
#include "tests/support/suite.h"

typedef enum epilogue_kind {
    NOTHING,
    BIAS,
    RESIDUAL,
    BIAS_RELU,
    BIAS_GELU_TANH,
    BIAS_GELU_ERF,
    BIAS_CLAMP,
    BIAS_SWISH,
    BIAS_RESIDUAL,
    RESIDUAL_BIAS_RELU,
    BIAS_RELU_RESIDUAL,
    RELU,
    SCALE_BIAS, /* not supported by libraries */
    ENDINGS
} epilogue_kind;

/* A step: an activation, or one with an operand. */
typedef struct part {
    mo_point_op op;
    enum { ALONE, WITH_BIAS, WITH_RESIDUAL } with;
    double x, y;
} part;

static const struct {
    part parts[3];
    int n;
} endings[ENDINGS] = {
    [BIAS] = { { { MO_POINT_ADD, WITH_BIAS, 0, 0 } }, 1 },
    [RESIDUAL] = { { { MO_POINT_ADD, WITH_RESIDUAL, 0, 0 } }, 1 },
    [BIAS_RELU] = { { { MO_POINT_ADD, WITH_BIAS, 0, 0 },
                      { MO_POINT_RELU, ALONE, 0, 0 } },
                    2 },
    [BIAS_GELU_TANH] = { { { MO_POINT_ADD, WITH_BIAS, 0, 0 },
                           { MO_POINT_GELU_TANH, ALONE, 0, 0 } },
                         2 },
    [BIAS_GELU_ERF] = { { { MO_POINT_ADD, WITH_BIAS, 0, 0 },
                          { MO_POINT_GELU_ERF, ALONE, 0, 0 } },
                        2 },
    [BIAS_CLAMP] = { { { MO_POINT_ADD, WITH_BIAS, 0, 0 },
                       { MO_POINT_CLAMP, ALONE, -0.25, 0.75 } },
                     2 },
    [BIAS_SWISH] = { { { MO_POINT_ADD, WITH_BIAS, 0, 0 },
                       { MO_POINT_SWISH, ALONE, 1, 0 } },
                     2 },
    [BIAS_RESIDUAL] = { { { MO_POINT_ADD, WITH_BIAS, 0, 0 },
                          { MO_POINT_ADD, WITH_RESIDUAL, 0, 0 } },
                        2 },
    [RESIDUAL_BIAS_RELU] = { { { MO_POINT_ADD, WITH_RESIDUAL, 0, 0 },
                               { MO_POINT_ADD, WITH_BIAS, 0, 0 },
                               { MO_POINT_RELU, ALONE, 0, 0 } },
                             3 },
    [BIAS_RELU_RESIDUAL] = { { { MO_POINT_ADD, WITH_BIAS, 0, 0 },
                               { MO_POINT_RELU, ALONE, 0, 0 },
                               { MO_POINT_ADD, WITH_RESIDUAL, 0, 0 } },
                             3 },
    [RELU] = { { { MO_POINT_RELU, ALONE, 0, 0 } }, 1 },
    [SCALE_BIAS] = { { { MO_POINT_MULTIPLY, WITH_BIAS, 0, 0 },
                       { MO_POINT_ADD, WITH_BIAS, 0, 0 } },
                     2 },
};

/* A bias has an element for each index of dimension axis. */
static void add_operand(call_case *c, const part *p, int axis)
{
    const mo_tensor_desc *out = &c->out[0].desc;
    mo_point_operand *operand = &c->after.operands[c->after.n_operands++];
    mo_shape one = shape_of(1, out->shape.dims[axis]);

    operand->elem = out->elem;
    if (p->with == WITH_RESIDUAL)
        operand->access = c->after.out;
    else
        operand->access.stride[axis] = 1;
    case_in(c, out->elem, p->with == WITH_BIAS ? one : out->shape, 5);
}

static void add_epilogue(call_case *c, epilogue_kind e, int axis,
                         const mo_point_access *lies)
{
    int first = c->call.n_in, now = 0, other = 1;

    if (e == NOTHING)
        return;
    c->after = (mo_point_program){ .n_operands = 1, .out = *lies };
    c->after.operands[0].elem = c->out[0].desc.elem;
    c->after.operands[0].access = *lies;
    for (int i = 0; i < endings[e].n; i++)
        if (endings[e].parts[i].with != ALONE)
            add_operand(c, &endings[e].parts[i], axis);
    for (int i = 0; i < endings[e].n; i++) {
        const part *p = &endings[e].parts[i];
        mo_point_step step = { .op = p->op, .a = now, .x = p->x, .y = p->y };

        if (p->with != ALONE)
            step.b = other++;
        now = mo_point_push_step(&c->after, step);
    }
    c->after.result = now;
    c->call.after = &c->after;
    c->call.first_extra = first;
}

static const struct {
    int64_t batch, m, n, k;
    bool a_turned, b_turned; /* a is [k][m], b is [n][k] */
    bool same_b;             /* shared by the whole batch */
} products[] = {
    { 1, 128, 96, 64, false, false, false },
    { 1, 64, 128, 192, false, true, false },
    { 1, 49, 40, 33, false, false, false },
    { 1, 37, 64, 72, true, false, false },
    { 1, 16, 24, 40, true, true, false },
    { 6, 32, 48, 16, false, true, false },
    { 3, 20, 12, 28, false, false, true },
    { 1, 1, 128, 256, false, true, false },
    { 1, 200, 1, 32, false, false, false },
    { 4, 7, 5, 3, false, false, false },
};

static const struct {
    mo_elem elem;
    mo_backend_precision precision;
} types[] = {
    { MO_ELEM_F32, MO_BACKEND_PRECISION_F32 },
    { MO_ELEM_F32, MO_BACKEND_PRECISION_TF32 },
    { MO_ELEM_F16, MO_BACKEND_PRECISION_F32 },
    { MO_ELEM_BF16, MO_BACKEND_PRECISION_F32 },
    { MO_ELEM_F64, MO_BACKEND_PRECISION_F32 },
};

enum { REALS = 4 }; /* element types without f64 */

static void make_product(call_case *c, int at, mo_elem elem, epilogue_kind e)
{
    int64_t batch = products[at].batch, m = products[at].m;
    int64_t n = products[at].n, k = products[at].k;
    bool at_turned = products[at].a_turned, bt = products[at].b_turned;
    mo_call_matmul *f = &c->call.u.matmul;
    mo_point_access lies;

    case_begin(c, MO_CALL_MATMUL);
    *f = (mo_call_matmul){ .m = m,
                           .n = n,
                           .k = k,
                           .n_batch = 1,
                           .extent = { batch },
                           .a = { .row = at_turned ? 1 : k,
                                  .column = at_turned ? m : 1 },
                           .b = { .row = bt ? 1 : n, .column = bt ? k : 1 },
                           .c = { .row = n, .column = 1 } };
    f->a.batch[0] = m * k;
    f->b.batch[0] = products[at].same_b ? 0 : k * n;
    f->c.batch[0] = m * n;
    case_in(c, elem, shape_of(3, batch, m, k), 1);
    case_in(c, elem, shape_of(3, products[at].same_b ? 1 : batch, k, n), 2);
    case_out(c, elem, shape_of(3, batch, m, n));
    c->constant = batch == 1 ? 2 : 0;
    lies = mo_point_access_dense(&c->out[0].desc.shape);
    add_epilogue(c, e, 2, &lies);
}

static const mo_call_conv convs[] = {
    { .sweep = { 2,
                 { 12, 12 },
                 { 12, 12 },
                 { 3, 3 },
                 { 1, 1 },
                 { 1, 1 },
                 { 1, 1 },
                 { 1, 1 } },
      .batch = 1,
      .in_channels = 32,
      .out_channels = 40,
      .groups = 1 },
    { .sweep = { 2,
                 { 14, 14 },
                 { 14, 14 },
                 { 1, 1 },
                 { 1, 1 },
                 { 1, 1 },
                 { 0, 0 },
                 { 0, 0 } },
      .batch = 2,
      .in_channels = 64,
      .out_channels = 48,
      .groups = 1 },
    { .sweep = { 2,
                 { 28, 28 },
                 { 14, 14 },
                 { 7, 7 },
                 { 2, 2 },
                 { 1, 1 },
                 { 3, 3 },
                 { 3, 3 } },
      .batch = 1,
      .in_channels = 3,
      .out_channels = 32,
      .groups = 1 },
    { .sweep = { 2,
                 { 13, 9 },
                 { 7, 4 },
                 { 3, 2 },
                 { 2, 2 },
                 { 1, 1 },
                 { 1, 0 },
                 { 1, 0 } },
      .batch = 1,
      .in_channels = 20,
      .out_channels = 24,
      .groups = 1 },
    { .sweep = { 2,
                 { 12, 12 },
                 { 9, 9 },
                 { 3, 3 },
                 { 1, 1 },
                 { 2, 2 },
                 { 0, 1 },
                 { 1, 0 } },
      .batch = 1,
      .in_channels = 16,
      .out_channels = 16,
      .groups = 1 },
    { .sweep = { 2,
                 { 10, 10 },
                 { 10, 10 },
                 { 3, 3 },
                 { 1, 1 },
                 { 1, 1 },
                 { 1, 1 },
                 { 1, 1 } },
      .batch = 1,
      .in_channels = 32,
      .out_channels = 32,
      .groups = 4 },
    { .sweep = { 2,
                 { 10, 10 },
                 { 5, 5 },
                 { 3, 3 },
                 { 2, 2 },
                 { 1, 1 },
                 { 1, 1 },
                 { 1, 1 } },
      .batch = 1,
      .in_channels = 40,
      .out_channels = 40,
      .groups = 40 },
    { .sweep = { 1, { 50 }, { 25 }, { 5 }, { 2 }, { 1 }, { 2 }, { 2 } },
      .batch = 2,
      .in_channels = 16,
      .out_channels = 20,
      .groups = 1 },
    { .sweep = { 3,
                 { 6, 7, 8 },
                 { 6, 7, 8 },
                 { 3, 3, 3 },
                 { 1, 1, 1 },
                 { 1, 1, 1 },
                 { 1, 1, 1 },
                 { 1, 1, 1 } },
      .batch = 1,
      .in_channels = 8,
      .out_channels = 16,
      .groups = 1 },
    { .sweep = { 2,
                 { 7, 7 },
                 { 14, 14 },
                 { 4, 4 },
                 { 2, 2 },
                 { 1, 1 },
                 { 1, 1 },
                 { 1, 1 } },
      .batch = 1,
      .in_channels = 16,
      .out_channels = 8,
      .groups = 1,
      .transposed = true },
};

static mo_shape image(int64_t batch, int64_t channels, const int64_t *space,
                      int spatial)
{
    mo_shape s = { .rank = 2 + spatial, .dims = { batch, channels } };

    for (int d = 0; d < spatial; d++)
        s.dims[2 + d] = space[d];
    return s;
}

/* Strides by dimension of a tensor's shape. */
static mo_point_access lies(const mo_shape *shape, bool channels_last)
{
    mo_point_access access = mo_point_access_dense(shape);
    int64_t run = shape->dims[1];

    if (!channels_last)
        return access;
    access.stride[1] = 1;
    for (int d = shape->rank - 1; d >= 2; d--) {
        access.stride[d] = run;
        run *= shape->dims[d];
    }
    access.stride[0] = run;
    return access;
}

static mo_shape weight_shape(const mo_call_conv *f)
{
    int64_t outs = f->out_channels / f->groups;
    int64_t ins = f->in_channels / f->groups;
    mo_shape s = { .rank = 3 + f->sweep.spatial, .dims = { f->groups } };

    s.dims[1] = f->transposed ? ins : outs;
    s.dims[2] = f->transposed ? outs : ins;
    for (int d = 0; d < f->sweep.spatial; d++)
        s.dims[3 + d] = f->sweep.kernel[d];
    return s;
}

static void make_conv(call_case *c, int at, bool channels_last, mo_elem elem,
                      epilogue_kind e)
{
    mo_call_conv *f = &c->call.u.conv;
    int spatial = convs[at].sweep.spatial;
    mo_shape out;
    mo_point_access access;

    case_begin(c, MO_CALL_CONV);
    *f = convs[at];
    f->channels_last = channels_last;
    out = image(f->batch, f->out_channels, f->sweep.out, spatial);
    access = lies(&out, channels_last);
    case_in(c, elem, image(f->batch, f->in_channels, f->sweep.in, spatial), 1);
    case_in(c, elem, weight_shape(f), 2);
    case_out(c, elem, out);
    c->constant = 2;
    add_epilogue(c, e, 1, &access);
}

/* The number-th of all cases: element types vary fastest, then problems,
 * epilogues with both. Where few are run, each problem has one, with changing
 * types. */
static int pick_case(int number, int n_types)
{
    return cuda_is_fast() ? number : number * n_types + number % n_types;
}

static epilogue_kind get_epilogue(int number)
{
    return (epilogue_kind) (number % ENDINGS);
}

/* All epilogues, or two that libraries apply themselves. */
static epilogue_kind pick_epilogue(int number)
{
    return get_epilogue(cuda_is_fast() ? number : BIAS_RESIDUAL + number);
}

/* The stand-in of a library supports every valid descriptor. */
static void expect_algos(int ways, bool library)
{
    if (!cuda_is_real() && library)
        ck_assert_int_gt(ways, 0);
}

/* Otherwise the code above them would not be tested, without a message. */
START_TEST(libraries_that_stand_in_are_found)
{
#ifdef HAVE_CUBLASLT
    ck_assert(cuda_is_real() || cuda_has_blas());
#endif
#ifdef HAVE_CUDNN
    ck_assert(cuda_is_real() || cuda_has_dnn());
#endif
}
END_TEST

START_TEST(all_ways_of_a_product_agree)
{
    int i = pick_case(_i, COUNT(types)), type = i % COUNT(types);
    call_case c;

    make_product(&c, i / COUNT(types) % COUNT(products), types[type].elem,
                 get_epilogue(i));
    expect_algos(check_algos(&c, types[type].precision, "cublaslt"),
                 cuda_has_blas());
    case_end(&c);
}
END_TEST

/* One in four has channels first. */
START_TEST(all_ways_of_a_convolution_agree)
{
    int i = pick_case(_i, REALS), type = i % REALS,
        at = i / REALS % COUNT(convs);
    bool last = (i + at) % 4 != 3;
    call_case c;

    make_conv(&c, at, last, types[type].elem, get_epilogue(i));
    expect_algos(check_algos(&c, types[type].precision, "cudnn"),
                 cuda_has_dnn());
    case_end(&c);
}
END_TEST

START_TEST(any_ending_goes_with_a_product)
{
    call_case c;

    make_product(&c, 0, MO_ELEM_F32, pick_epilogue(_i));
    if (check_algos(&c, MO_BACKEND_PRECISION_TF32, "cublaslt") == 0)
        ck_assert(!cuda_has_blas());
    case_end(&c);
}
END_TEST

START_TEST(any_ending_goes_with_a_convolution)
{
    call_case c;

    make_conv(&c, 0, true, MO_ELEM_F32, pick_epilogue(_i));
    if (check_algos(&c, MO_BACKEND_PRECISION_TF32, "cudnn") == 0)
        ck_assert(!cuda_has_dnn());
    case_end(&c);
}
END_TEST

START_TEST(a_convolution_may_be_a_product)
{
    call_case c;

    make_conv(&c, 1, true, MO_ELEM_F32, BIAS_RELU);
    if (check_algos(&c, MO_BACKEND_PRECISION_F32, "cublaslt") == 0)
        ck_assert(!cuda_has_blas());
    case_end(&c);
}
END_TEST

SUITE(cuda_algo)
{
    bool fast = cuda_is_fast();

    if (!cuda_is_there())
        exit(77);
    /* An initialised driver does not work in child processes. */
    setenv("CK_FORK", "no", 1);
    TEST(libraries_that_stand_in_are_found);
    EACH(all_ways_of_a_product_agree,
         fast ? COUNT(types) * COUNT(products) : COUNT(products));
    EACH(all_ways_of_a_convolution_agree,
         fast ? REALS * COUNT(convs) : COUNT(convs));
    EACH(any_ending_goes_with_a_product, fast ? ENDINGS : 2);
    EACH(any_ending_goes_with_a_convolution, fast ? ENDINGS : 2);
    TEST(a_convolution_may_be_a_product);
}
