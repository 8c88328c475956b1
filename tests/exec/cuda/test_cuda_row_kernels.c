/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/backend/cuda/kernels/{norm,softmax,reduce,cumsum,topk}.c:
 * every tiling gives what the CPU does. */
#include <config.h>

#include <math.h>

#include "tests/exec/cuda/cuda_pair.h"
#include "tests/support/suite.h"

static void check(call_case *c, uint64_t seed)
{
    pair_check(&c, 1, MO_BACKEND_PRECISION_F32, &seed);
}

static const mo_elem some_reals[] = { MO_ELEM_F32, MO_ELEM_F16, MO_ELEM_BF16,
                                      MO_ELEM_F64 };

/* Rows: parts of a warp, warps, blocks, and rows too long for registers. */

static const struct {
    int64_t rows, count;
} rows[] = { { 3, 1 },    { 37, 3 },     { 1000, 10 }, { 5, 49 },
             { 128, 96 }, { 5000, 100 }, { 4, 384 },   { 7, 768 },
             { 2, 1023 }, { 3, 4096 },   { 1, 32768 }, { 2, 40001 },
             { 0, 5 } };

static mo_call_norm norm_of(int i)
{
    static const mo_call_norm norms[] = {
        { .eps = 1e-5, .center = true, .scale = true },
        { .eps = 1e-6, .scale = true },
        { .eps = 1e-3, .center = true, .scale = true, .eps_outside = true },
        { .eps = 0.5, .scale = true, .max_eps = true, .sum = true },
        { .center = true },
    };

    return norms[(size_t) i % (sizeof norms / sizeof *norms)];
}

START_TEST(norms_of_all_lengths_are_the_same)
{
    mo_elem elem = some_reals[_i % 4];
    call_case c;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mo_shape shape = shape_of(2, rows[i].rows, rows[i].count);

        if (i % 4 != (size_t) _i / 4)
            continue;
        case_begin(&c, MO_CALL_NORM);
        c.call.u.norm = norm_of((int) i + _i);
        c.call.u.norm.groups = rows[i].rows;
        c.call.u.norm.count = rows[i].count;
        case_in(&c, elem, shape, i);
        case_out(&c, elem, shape);
        if (i % 2)
            case_after(&c, 1, false, i);
        check(&c, i);
        case_end(&c);
    }
}
END_TEST

static void check_softmax(mo_call_softmax softmax, mo_elem elem, bool ends)
{
    mo_shape shape = shape_of(3, softmax.outer, softmax.count, softmax.inner);
    call_case c;

    case_begin(&c, MO_CALL_SOFTMAX);
    c.call.u.softmax = softmax;
    case_in(&c, elem, shape, (uint64_t) softmax.count);
    case_out(&c, elem, shape);
    if (ends)
        case_after(&c, 1, false, 1);
    check(&c, (uint64_t) softmax.count);
    case_end(&c);
}

START_TEST(softmax_of_all_lengths_is_the_same)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (i % 4 == (size_t) _i)
            check_softmax(
                (mo_call_softmax){ rows[i].rows, rows[i].count, 1, i % 3 == 0 },
                some_reals[(i + (size_t) _i) % 4], i % 2);
}
END_TEST

START_TEST(softmax_along_other_dimensions_is_the_same)
{
    static const mo_call_softmax calls[] = {
        { 2, 5, 3, false },   { 1, 300, 2, false }, { 3, 17, 40, true },
        { 1, 2000, 1, true }, { 2, 64, 65, false }, { 1, 1, 7, false },
        { 2, 0, 7, false },
    };

    check_softmax(calls[_i], some_reals[_i % 4], _i % 2);
}
END_TEST

/* NaN and infinities do not spread to other rows. */
START_TEST(softmax_of_infinities_is_what_the_cpu_says)
{
    call_case c;
    mo_shape shape = shape_of(2, (int64_t) 4, (int64_t) 70);
    float *x;

    case_begin(&c, MO_CALL_SOFTMAX);
    c.call.u.softmax = (mo_call_softmax){ 4, 70, 1, false };
    x = case_in(&c, MO_ELEM_F32, shape, 1)->data;
    case_out(&c, MO_ELEM_F32, shape);
    x[3] = -INFINITY;
    x[75] = INFINITY;
    x[150] = NAN;
    for (int i = 0; i < 70; i++)
        x[210 + i] = -INFINITY;
    check(&c, 1);
    case_end(&c);
}
END_TEST

typedef struct folding {
    int rank;
    int64_t extent[4];
    unsigned reduced; /* bit d: dimension d is reduced */
    bool last;        /* the input is channels last */
} folding;

static const folding foldings[] = {
    { 2, { 6, 7 }, 2, false },         { 2, { 3, 1024 }, 2, false },
    { 2, { 9000, 12 }, 2, false },     { 2, { 300, 40 }, 1, false },
    { 1, { 70000 }, 1, false },        { 2, { 30000, 3 }, 1, false },
    { 3, { 4, 500, 6 }, 5, false },    { 4, { 2, 3, 4, 5 }, 10, false },
    { 4, { 2, 64, 7, 7 }, 12, true },  { 4, { 1, 8, 60, 60 }, 12, true },
    { 4, { 2, 64, 7, 7 }, 12, false }, { 3, { 2, 0, 3 }, 2, false },
    { 3, { 2, 0, 3 }, 1, false },      { 2, { 4, 5 }, 0, false },
    { 2, { 4, 100 }, 3, false },       { 4, { 2, 6, 5, 4 }, 2, true },
};
enum { FOLDINGS = sizeof foldings / sizeof *foldings };

static void set_reduce(const folding *f, mo_call_reduce *reduce, mo_shape *in,
                       mo_shape *out)
{
    mo_point_access dense;

    in->rank = f->rank;
    for (int d = 0; d < f->rank; d++) {
        in->dims[d] = f->extent[d];
        if (!(f->reduced >> d & 1))
            out->dims[out->rank++] = f->extent[d];
    }
    dense = mo_point_access_dense(out);
    reduce->rank = f->rank;
    for (int d = 0, o = 0; d < f->rank; d++) {
        reduce->extent[d] = f->extent[d];
        reduce->reduced[d] = f->reduced >> d & 1;
        reduce->in_stride[d] =
            f->last ? 0 : mo_point_access_dense(in).stride[d];
        if (!reduce->reduced[d])
            reduce->out_stride[d] = dense.stride[o++];
    }
    if (f->last) {
        reduce->in_stride[1] = 1;
        reduce->in_stride[3] = f->extent[1];
        reduce->in_stride[2] = f->extent[1] * f->extent[3];
        reduce->in_stride[0] = reduce->in_stride[2] * f->extent[2];
    }
}

static void check_reduce(const folding *f, mo_call_reduce_op op, mo_elem elem,
                         bool ends)
{
    mo_shape in = { .rank = 0 }, out = { .rank = 0 };
    call_case c;

    case_begin(&c, MO_CALL_REDUCE);
    c.call.u.reduce.op = op;
    set_reduce(f, &c.call.u.reduce, &in, &out);
    case_in(&c, elem, in, op);
    case_out(&c, elem, out);
    if (ends && out.rank > 0)
        case_after(&c, 0, false, 1);
    check(&c, op);
    case_end(&c);
}

START_TEST(reductions_of_reals_are_the_same)
{
    for (int i = 0; i < FOLDINGS; i++)
        if (i % 4 == _i)
            check_reduce(&foldings[i], i % (MO_CALL_REDUCE_OR + 1),
                         some_reals[i / 4 % 4], i % 2);
}
END_TEST

START_TEST(reductions_of_integers_are_exact)
{
    static const mo_elem elems[] = { MO_ELEM_I64, MO_ELEM_I32, MO_ELEM_U8,
                                     MO_ELEM_BOOL, MO_ELEM_U64 };

    for (int i = 0; i < FOLDINGS; i++)
        if (i % 4 == _i)
            check_reduce(&foldings[i], (i + 5) % (MO_CALL_REDUCE_OR + 1),
                         elems[i % 5], false);
}
END_TEST

START_TEST(every_reduction_is_known)
{
    check_reduce(&foldings[0], _i, MO_ELEM_F32, false);
    check_reduce(&foldings[3], _i, MO_ELEM_I32, false);
}
END_TEST

START_TEST(running_sums_are_the_same)
{
    static const mo_call_cumsum calls[] = {
        { 3, 5, 1, false, false },   { 2, 40, 3, true, false },
        { 1, 3000, 1, false, true }, { 2, 1500, 3, true, true },
        { 1, 1024, 1, true, false }, { 40000, 2, 1, false, true },
    };
    static const mo_elem elems[] = { MO_ELEM_F32, MO_ELEM_I32, MO_ELEM_F16,
                                     MO_ELEM_I64, MO_ELEM_F64, MO_ELEM_U8 };
    const mo_call_cumsum *call = &calls[_i];
    mo_shape shape = shape_of(3, call->outer, call->count, call->inner);
    call_case c;

    case_begin(&c, MO_CALL_CUMSUM);
    c.call.u.cumsum = *call;
    case_in(&c, elems[_i], shape, (uint64_t) _i);
    case_out(&c, elems[_i], shape);
    if (elems[_i] == MO_ELEM_F32)
        case_after(&c, 2, false, 1);
    check(&c, (uint64_t) _i);
    case_end(&c);
}
END_TEST

/* Top-k; random integers have many equal ones */

START_TEST(the_best_are_the_same_and_in_the_same_order)
{
    static const mo_call_topk calls[] = {
        { 3, 10, 1, 4, true, MO_CALL_TOPK_BY_VALUE },
        { 2, 100, 3, 100, false, MO_CALL_TOPK_BY_INDEX },
        { 1, 1, 1, 1, true, MO_CALL_TOPK_ANY },
        { 2, 2048, 1, 9, true, MO_CALL_TOPK_BY_INDEX },
        { 1, 2049, 2, 5, false, MO_CALL_TOPK_BY_VALUE },
        { 2, 9000, 1, 3000, true, MO_CALL_TOPK_BY_INDEX },
        { 1, 7000, 1, 7000, true, MO_CALL_TOPK_BY_VALUE },
        { 1, 20000, 1, 1, false, MO_CALL_TOPK_BY_INDEX },
        { 2, 30, 1, 0, false, MO_CALL_TOPK_BY_INDEX },
    };
    static const mo_elem elems[] = { MO_ELEM_F32, MO_ELEM_I32, MO_ELEM_F16,
                                     MO_ELEM_U8,  MO_ELEM_I64, MO_ELEM_I8,
                                     MO_ELEM_F32, MO_ELEM_F64, MO_ELEM_F32 };
    const mo_call_topk *call = &calls[_i];
    mo_shape in = shape_of(3, call->outer, call->count, call->inner);
    mo_shape out = shape_of(3, call->outer, call->k, call->inner);
    call_case c;

    case_begin(&c, MO_CALL_TOPK);
    c.call.u.topk = *call;
    case_in(&c, elems[_i], in, (uint64_t) _i);
    case_out(&c, elems[_i], out);
    case_out(&c, _i % 2 ? MO_ELEM_I64 : MO_ELEM_I32, out);
    check(&c, (uint64_t) _i);
    case_end(&c);
}
END_TEST

START_TEST(zeros_of_both_signs_are_equal_and_what_is_no_number_has_its_place)
{
    mo_shape in = shape_of(1, (int64_t) 8), out = shape_of(1, (int64_t) 8);
    call_case c;
    float *x;

    case_begin(&c, MO_CALL_TOPK);
    c.call.u.topk = (mo_call_topk){ 1, 8, 1, 8, true, MO_CALL_TOPK_BY_VALUE };
    x = case_in(&c, MO_ELEM_F32, in, 1)->data;
    case_out(&c, MO_ELEM_F32, out);
    case_out(&c, MO_ELEM_I32, out);
    x[0] = 0.0f;
    x[1] = -0.0f;
    x[2] = 0.0f;
    x[3] = INFINITY;
    x[4] = -INFINITY;
    x[5] = NAN;
    check(&c, 1);
    case_end(&c);
}
END_TEST

SUITE(cuda_row_kernels)
{
    use_cuda();
    EACH(norms_of_all_lengths_are_the_same, in_ci(16, 8));
    EACH(softmax_of_all_lengths_is_the_same, 4);
    EACH(softmax_along_other_dimensions_is_the_same, 7);
    TEST(softmax_of_infinities_is_what_the_cpu_says);
    EACH(reductions_of_reals_are_the_same, 4);
    EACH(reductions_of_integers_are_exact, 4);
    EACH(every_reduction_is_known, MO_CALL_REDUCE_OR + 1);
    EACH(running_sums_are_the_same, in_ci(6, 3));
    EACH(the_best_are_the_same_and_in_the_same_order, in_ci(9, 4));
    TEST(zeros_of_both_signs_are_equal_and_what_is_no_number_has_its_place);
}
