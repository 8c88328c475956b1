/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu */
/* Tests of exec/op/lower/reduce.c and its kernels: reductions, cumulative sums
 * and top-k with random shapes and attributes against their definitions. */
#include <math.h>
#include <stdio.h>

#include "tests/exec/support/call_case.h"
#include "tests/exec/op/op_case.h"
#include "tests/support/suite.h"

/* Shapes with an extent that is more than a block now and then. */
static mo_shape some_shape(mo_random *random)
{
    mo_shape shape = random_shape(random, 1, 4);

    if (mo_random_below(random, 4) == 0)
        shape.dims[mo_random_below(random, shape.rank)] =
            1 + mo_random_below(random, 2500);
    return shape;
}

/* Integers are exact. */
static double allowed_off(mo_elem elem)
{
    return mo_elem_is_float(elem) ? tolerance_of(elem) : 0;
}

static const struct {
    const char *type;
    bool booleans, small; /* of booleans; of few, so that nothing overflows */
} reductions[] = {
    { "ReduceSum", false, false },      { "ReduceMean", false, false },
    { "ReduceMax", false, false },      { "ReduceMin", false, false },
    { "ReduceProd", false, true },      { "ReduceL1", false, false },
    { "ReduceL2", false, false },       { "ReduceLogicalAnd", true, false },
    { "ReduceLogicalOr", true, false },
};

static double begin_of(int r)
{
    static const double begin[] = { 0, 0, -INFINITY, INFINITY, 1, 0, 0, 1, 0 };

    return begin[r];
}

static double gather(int r, double sum, double x)
{
    switch (r) {
    case 2:
        return x > sum ? x : sum;
    case 3:
        return x < sum ? x : sum;
    case 4:
        return sum * x;
    case 5:
        return sum + fabs(x);
    case 6:
        return sum + x * x;
    case 7:
        return sum != 0 && x != 0;
    case 8:
        return sum != 0 || x != 0;
    default:
        return sum + x;
    }
}

/* Random axes, some counted from the end. */
static int random_axes(mo_random *random, int rank, bool *marks, int64_t *axes)
{
    int n = 0;

    for (int d = 0; d < rank; d++) {
        marks[d] = mo_random_below(random, 2) == 0;
        if (marks[d])
            axes[n++] = mo_random_below(random, 2) ? d : d - rank;
    }
    return n;
}

static mo_shape reduced_shape(const mo_shape *from, const bool *marks,
                              bool keep)
{
    mo_shape to = { 0 };

    for (int d = 0; d < from->rank; d++)
        if (!marks[d])
            to.dims[to.rank++] = from->dims[d];
        else if (keep)
            to.dims[to.rank++] = 1;
    return to;
}

/* Index of the result of an element. */
static int64_t result_of(const mo_shape *from, const bool *marks, int64_t i)
{
    int64_t at[MO_MAX_RANK], to = 0;

    coordinates_of(from, i, at);
    for (int d = 0; d < from->rank; d++)
        if (!marks[d])
            to = to * from->dims[d] + at[d];
    return to;
}

static void check_reduction(int r, const op_case *c, const bool *marks,
                            int seed)
{
    const mo_tensor_dense *in = &c->value[0], *out = &c->result[0];
    int64_t n = mo_tensor_desc_elements(&in->desc);
    int64_t results = mo_tensor_desc_elements(&out->desc);
    double *sums = calloc((size_t) results + 1, sizeof *sums);
    double off = allowed_off(out->desc.elem);

    for (int64_t i = 0; i < results; i++)
        sums[i] = begin_of(r);
    for (int64_t i = 0; i < n; i++) {
        int64_t to = result_of(&in->desc.shape, marks, i);

        sums[to] = gather(r, sums[to], mo_tensor_get_double(in, i));
    }
    for (int64_t i = 0; i < results && n > 0; i++) {
        double slow = r == 6 ? sqrt(sums[i]) : sums[i];
        double fast = mo_tensor_get_double(out, i);

        if (r == 1)
            slow /= (double) (n / results);
        if (!mo_elem_is_float(out->desc.elem))
            slow = trunc(slow);
        ck_assert_msg(fabs(fast - slow) <= off * (1 + fabs(slow)),
                      "seed %d: %s makes %.9g, not %.9g", seed, c->type, fast,
                      slow);
    }
    free(sums);
}

START_TEST(reductions_are_their_definitions)
{
    static const mo_elem elems[] = { MO_ELEM_F32, MO_ELEM_F16, MO_ELEM_BF16,
                                     MO_ELEM_F64, MO_ELEM_I64 };
    mo_random random = { (uint64_t) _i };
    int r = _i % COUNT(reductions);
    mo_elem elem = reductions[r].booleans
                       ? MO_ELEM_BOOL
                       : elems[mo_random_below(&random, COUNT(elems))];
    bool keep = mo_random_below(&random, 2), marks[MO_MAX_RANK] = { 0 };
    mo_shape shape =
        reductions[r].small ? random_shape(&random, 1, 2) : some_shape(&random);
    op_case c =
        op_case_of(reductions[r].type, keep ? "{\"keep_dims\":\"true\"}"
                                            : "{\"keep_dims\":\"false\"}");
    int64_t axes[MO_MAX_RANK];
    int n = random_axes(&random, shape.rank, marks, axes);
    mo_shape made = reduced_shape(&shape, marks, keep);

    op_case_data(&c, elem, &shape, (uint64_t) _i);
    if (reductions[r].small && elem == MO_ELEM_I64)
        mo_tensor_fill_random(&c.value[0], (uint64_t) _i, 1, 3);
    op_case_list(&c, axes, n);
    op_case_makes(&c, elem, &made);
    op_case_run(&c);
    check_reduction(r, &c, marks, _i);
    op_case_clear(&c);
}
END_TEST

START_TEST(sums_of_many_floats_are_accurate)
{
    mo_shape shape = { 1, { 3000000 } }, scalar = { 0 };
    op_case c = op_case_of("ReduceSum", NULL);
    mo_tensor_dense *in = op_case_data(&c, MO_ELEM_F32, &shape, 5);
    int64_t axis = 0;

    for (int64_t i = 0; i < shape.dims[0]; i++)
        mo_tensor_set_double(in, i, 0.1);
    op_case_list(&c, &axis, 1);
    op_case_makes(&c, MO_ELEM_F32, &scalar);
    op_case_run(&c);
    ck_assert_double_eq_tol(mo_tensor_get_double(&c.result[0], 0),
                            3e6 * (double) 0.1f, 0.03);
    op_case_clear(&c);
}
END_TEST

/* A tensor with its channels last, reduced over its spatial dimensions; and the
 * epilogue that follows. */
START_TEST(reductions_follow_the_strides)
{
    call_case c;
    mo_call_reduce *reduce = &c.call.u.reduce;
    mo_tensor_dense *in, *out;
    int64_t height = 5 + _i, width = 40, channels = 1100;

    case_begin(&c, MO_CALL_REDUCE);
    *reduce = (mo_call_reduce){ .op = MO_CALL_REDUCE_MEAN,
                                .rank = 4,
                                .extent = { 2, channels, height, width },
                                .in_stride = { height * width * channels, 1,
                                               width * channels, channels },
                                .out_stride = { channels, 1, 0, 0 },
                                .reduced = { false, false, true, true } };
    in = case_in(&c, MO_ELEM_F32,
                 shape_of(4, (int64_t) 2, channels, height, width), 3);
    out = case_out(&c, MO_ELEM_F32, shape_of(2, (int64_t) 2, channels));
    case_after(&c, 1, false, 4);
    case_run_threads(&c);
    for (int64_t i = 0; i < 2 * channels; i++) {
        int64_t first = i / channels * height * width * channels + i % channels;
        double sum = 0;

        for (int64_t k = 0; k < height * width; k++)
            sum += mo_tensor_get_double(in, first + k * channels);
        ck_assert_double_eq_tol(
            mo_tensor_get_double(out, i),
            case_after_of(&c, i, sum / (double) (height * width)), 1e-6);
    }
    case_end(&c);
}
END_TEST

START_TEST(running_sums_are_their_definition)
{
    static const char *const attrs[] = {
        "{\"exclusive\":\"false\",\"reverse\":\"false\"}",
        "{\"exclusive\":\"true\",\"reverse\":\"false\"}",
        "{\"exclusive\":\"false\",\"reverse\":\"true\"}",
        "{\"exclusive\":\"true\",\"reverse\":\"true\"}",
    };
    static const mo_elem elems[] = { MO_ELEM_F32, MO_ELEM_I32, MO_ELEM_F64,
                                     MO_ELEM_F16, MO_ELEM_I64 };
    mo_random random = { (uint64_t) _i };
    bool exclusive = _i & 1, reverse = _i & 2;
    mo_shape shape = some_shape(&random);
    mo_elem elem = elems[mo_random_below(&random, COUNT(elems))];
    int axis = mo_random_below(&random, shape.rank);
    int64_t at[MO_MAX_RANK], told = _i % 3 ? axis : axis - shape.rank;
    op_case c = op_case_of("CumSum", attrs[_i % 4]);
    double off = allowed_off(elem);

    op_case_data(&c, elem, &shape, (uint64_t) _i);
    op_case_list(&c, &told, 1);
    op_case_makes(&c, elem, &shape);
    op_case_run(&c);
    for (int64_t i = 0; i < mo_tensor_desc_elements(&c.out[0]); i++) {
        double sum = 0;
        int64_t mine;

        coordinates_of(&shape, i, at);
        mine = at[axis];
        for (int64_t k = 0; k < shape.dims[axis]; k++) {
            at[axis] = k;
            if (reverse ? k > mine : k < mine)
                sum +=
                    mo_tensor_get_double(&c.value[0], element_at(&shape, at));
        }
        if (!exclusive)
            sum += mo_tensor_get_double(&c.value[0], i);
        ck_assert_msg(fabs(mo_tensor_get_double(&c.result[0], i) - sum) <=
                          off * (1 + fabs(sum)),
                      "seed %d: %.9g, not %.9g", _i,
                      mo_tensor_get_double(&c.result[0], i), sum);
    }
    op_case_clear(&c);
}
END_TEST

/* Number of elements of its line that come before element i. */
static int64_t rank_in_line(const mo_tensor_dense *in, int64_t i, int axis,
                            bool largest)
{
    const mo_shape *shape = &in->desc.shape;
    int64_t at[MO_MAX_RANK], mine, before = 0;
    double x = mo_tensor_get_double(in, i);

    coordinates_of(shape, i, at);
    mine = at[axis];
    for (int64_t k = 0; k < shape->dims[axis]; k++) {
        double y;

        at[axis] = k;
        y = mo_tensor_get_double(in, element_at(shape, at));
        before += y == x ? k < mine : largest ? y > x : y < x;
    }
    return before;
}

/* Number of selected elements with a lower index. */
static int64_t place_by_index(const mo_tensor_dense *in, int64_t i, int axis,
                              bool largest, int64_t k)
{
    const mo_shape *shape = &in->desc.shape;
    int64_t at[MO_MAX_RANK], mine, before = 0;

    coordinates_of(shape, i, at);
    mine = at[axis];
    for (int64_t other = 0; other < mine; other++) {
        at[axis] = other;
        before += rank_in_line(in, element_at(shape, at), axis, largest) < k;
    }
    return before;
}

START_TEST(the_largest_are_found_in_order)
{
    static const mo_elem elems[] = { MO_ELEM_F32, MO_ELEM_I32, MO_ELEM_U8,
                                     MO_ELEM_F16, MO_ELEM_I64 };
    mo_random random = { (uint64_t) _i };
    bool largest = _i & 1, by_index = _i & 2;
    mo_shape shape = random_shape(&random, 1, 3), made;
    int axis = mo_random_below(&random, shape.rank);
    int64_t k, at[MO_MAX_RANK];
    char attrs[128];
    op_case c;

    shape.dims[axis] = 1 + mo_random_below(&random, _i % 5 ? 12 : 1300);
    k = 1 + mo_random_below(&random, (int) shape.dims[axis]);
    made = shape;
    made.dims[axis] = k;
    snprintf(attrs, sizeof attrs,
             "{\"axis\":\"%d\",\"mode\":\"%s\",\"sort\":\"%s\"}",
             _i % 3 ? axis : axis - shape.rank, largest ? "max" : "min",
             by_index ? "index" : "value");
    c = op_case_of("TopK", attrs);
    op_case_data(&c, elems[_i % COUNT(elems)], &shape, (uint64_t) _i);
    op_case_number(&c, MO_ELEM_I64, (double) k);
    op_case_makes(&c, elems[_i % COUNT(elems)], &made);
    op_case_makes(&c, _i % 2 ? MO_ELEM_I32 : MO_ELEM_I64, &made);
    op_case_run(&c);
    for (int64_t i = 0; i < mo_tensor_desc_elements(&c.value[0].desc); i++) {
        int64_t rank = rank_in_line(&c.value[0], i, axis, largest), index, to;

        if (rank >= k)
            continue;
        coordinates_of(&shape, i, at);
        index = at[axis];
        at[axis] = by_index && shape.dims[axis] < 20
                       ? place_by_index(&c.value[0], i, axis, largest, k)
                       : rank;
        to = element_at(&made, at);
        if (by_index && shape.dims[axis] >= 20)
            continue;
        ck_assert_msg(mo_tensor_get_int(&c.result[1], to) == index,
                      "seed %d: index %lld, not %lld", _i,
                      (long long) mo_tensor_get_int(&c.result[1], to),
                      (long long) index);
        ck_assert_msg(same_element(&c.result[0], to, &c.value[0], i), "seed %d",
                      _i);
    }
    op_case_clear(&c);
}
END_TEST

START_TEST(the_first_of_the_largest_is_found)
{
    mo_shape shape = { 2, { 2, 4 } }, made = { 1, { 2 } };
    static const double x[] = { 1, 7, 7, -2, -3, -1, -3, -9 };
    op_case c = op_case_of(_i ? "ArgMin" : "ArgMax", "{\"axis\":\"-1\"}");

    op_case_data(&c, MO_ELEM_F32, &shape, 1);
    for (int i = 0; i < 8; i++)
        mo_tensor_set_double(&c.value[0], i, x[i]);
    op_case_makes(&c, MO_ELEM_I64, &made);
    op_case_run(&c);
    ck_assert_int_eq(mo_tensor_get_int(&c.result[0], 0), _i ? 3 : 1);
    ck_assert_int_eq(mo_tensor_get_int(&c.result[0], 1), _i ? 3 : 1);
    op_case_clear(&c);
}
END_TEST

START_TEST(more_than_there_are_cannot_be_found)
{
    mo_shape shape = { 1, { 3 } }, made = { 1, { 4 } };
    op_case c = op_case_of("TopK", "{\"axis\":\"0\"}");
    mo_error err = { 0 };

    op_case_data(&c, MO_ELEM_F32, &shape, 1);
    op_case_number(&c, MO_ELEM_I64, 4);
    op_case_makes(&c, MO_ELEM_F32, &made);
    op_case_makes(&c, MO_ELEM_I64, &made);
    ck_assert(op_case_try(&c, &err) != MO_OK);
    op_case_clear(&c);
}
END_TEST

SUITE(op_reduce)
{
    SOME(reductions_are_their_definitions, 900, 36);
    TEST(sums_of_many_floats_are_accurate);
    EACH(reductions_follow_the_strides, 2);
    SOME(running_sums_are_their_definition, 240, 24);
    SOME(the_largest_are_found_in_order, 300, 30);
    EACH(the_first_of_the_largest_is_found, 2);
    TEST(more_than_there_are_cannot_be_found);
}
