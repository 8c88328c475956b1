/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/backend/cuda/kernels/pointwise.c, copy.h, gather.c and
 * scatter.c: every access pattern gives what the CPU does. */
#include <config.h>

#include "base/random.h"
#include "tests/exec/cuda/cuda_pair.h"
#include "tests/exec/support/run_calls.h"
#include "tests/support/suite.h"

enum { MOST_CASES = 32, MOST_BOXES = 600 };

/* Cases that are run together. */
typedef struct batch {
    call_case cases[MOST_CASES];
    mo_call_copy_box boxes[MOST_CASES][MOST_BOXES];
    int n;
} batch;

static batch all;

#define SHAPE(...)                                                             \
    shape_with((const int64_t[]){ __VA_ARGS__ },                               \
               COUNT(((const int64_t[]){ __VA_ARGS__ })))

static mo_shape shape_with(const int64_t *dims, int rank)
{
    mo_shape shape = { .rank = rank };

    memcpy(shape.dims, dims, (size_t) rank * sizeof *dims);
    return shape;
}

static call_case *next_case(mo_call_kind kind)
{
    ck_assert_int_lt(all.n, MOST_CASES);
    case_begin(&all.cases[all.n], kind);
    return &all.cases[all.n++];
}

static void check_all(void)
{
    call_case *list[MOST_CASES];
    uint64_t seeds[MOST_CASES];

    for (int i = 0; i < all.n; i++) {
        list[i] = &all.cases[i];
        seeds[i] = (uint64_t) i;
    }
    pair_check(list, all.n, MO_BACKEND_PRECISION_F32, seeds);
    for (int i = 0; i < all.n; i++)
        case_end(&all.cases[i]);
    all.n = 0;
}

/* Strides of a tensor with its dimensions in that order, digits of "0123",
 * outermost first. */
static mo_point_access strides_in_order(const mo_shape *shape,
                                        const char *order)
{
    mo_point_access access = { 0 };
    int64_t stride = 1;

    for (int i = shape->rank; i-- > 0; stride *= shape->dims[order[i] - '0'])
        access.stride[order[i] - '0'] = stride;
    return access;
}

/* relu(a + b * c), a, b, c and the result each with its own layout; "" is one
 * element for all, "1" an element for each index of dimension 1. */
static void add_point(mo_elem elem, mo_shape shape, const char *a,
                      const char *b, const char *c, const char *out)
{
    const char *const orders[] = { a, b, c };
    call_case *made = next_case(MO_CALL_POINT);
    mo_point_program *p = &made->call.u.point;
    mo_point_step multiply = { .op = MO_POINT_MULTIPLY, .a = 1, .b = 2 };
    mo_point_step add = { .op = MO_POINT_ADD, .a = 0, .b = 3 };
    mo_point_step relu = { .op = MO_POINT_RELU, .a = 4 };

    p->n_operands = 3;
    for (int i = 0; i < 3; i++) {
        mo_point_operand *operand = &p->operands[i];
        bool whole = (int) strlen(orders[i]) == shape.rank;
        int d = orders[i][0] ? orders[i][0] - '0' : 0;

        operand->elem = elem;
        if (whole)
            operand->access = strides_in_order(&shape, orders[i]);
        else if (orders[i][0])
            operand->access.stride[d] = 1;
        case_in(made, elem,
                whole          ? shape
                : orders[i][0] ? SHAPE(shape.dims[d])
                               : shape_of(0),
                (uint64_t) (all.n * 3 + i));
    }
    mo_point_push_step(p, multiply);
    mo_point_push_step(p, add);
    p->result = mo_point_push_step(p, relu);
    p->out = strides_in_order(&shape, out);
    case_out(made, elem, shape);
}

START_TEST(points_are_the_same_however_operands_lie)
{
    static const mo_elem elems[] = { MO_ELEM_F32, MO_ELEM_F16, MO_ELEM_BF16,
                                     MO_ELEM_F64 };
    mo_elem elem = elems[_i];

    add_point(elem, SHAPE(2, 64, 28, 28), "0123", "1", "0123", "0123");
    add_point(elem, SHAPE(1, 64, 56, 28), "0231", "1", "0231", "0231");
    add_point(elem, SHAPE(1, 33, 17, 19), "0123", "1", "0231", "0231");
    add_point(elem, SHAPE(3, 48, 9, 5), "0231", "0123", "0123", "0231");
    add_point(elem, SHAPE(50, 3, 70), "210", "021", "", "012");
    add_point(elem, SHAPE(5, 100, 70), "021", "102", "0", "012");
    add_point(elem, SHAPE(1000, 36), "01", "1", "0", "01");
    add_point(elem, SHAPE(513, 130), "01", "01", "", "01");
    add_point(elem, SHAPE(7), "0", "0", "", "0");
    add_point(elem, shape_of(0), "", "", "", "");
    add_point(elem, SHAPE(0, 5), "01", "1", "", "01");
    add_point(elem, SHAPE(2, 3, 17, 4, 20), "04321", "4", "1", "01234");
    check_all();
}
END_TEST

/* An operand that begins at an odd element is not loaded in vectors. */
START_TEST(points_begin_anywhere)
{
    for (int64_t offset = 0; offset < 5; offset++) {
        mo_shape shape = SHAPE(300, 256);
        call_case *c = next_case(MO_CALL_POINT);
        mo_point_program *p = &c->call.u.point;

        case_in(c, MO_ELEM_F32, SHAPE(300 * 256 + offset), 1);
        p->n_operands = 1;
        p->operands[0] =
            (mo_point_operand){ MO_ELEM_F32, { offset, { 256, 1 } } };
        p->result =
            mo_point_push_step(p, (mo_point_step){ .op = MO_POINT_NEGATE });
        p->out = mo_point_access_dense(&shape);
        case_out(c, MO_ELEM_F32, shape);
    }
    check_all();
}
END_TEST

static call_case *add_copy(mo_elem elem, mo_shape in, mo_shape out)
{
    call_case *c = next_case(MO_CALL_COPY);

    c->call.u.copy = (mo_call_copy){ all.boxes[all.n - 1], 0, -1 };
    case_in(c, elem, in, (uint64_t) all.n);
    case_out(c, elem, out);
    return c;
}

static mo_call_copy_box *add_box(call_case *c, int from, int rank,
                                 const int64_t *extent,
                                 const int64_t *in_stride,
                                 const int64_t *out_stride)
{
    mo_call_copy_box *box = &c->call.u.copy.boxes[c->call.u.copy.n_boxes++];

    ck_assert_int_le(c->call.u.copy.n_boxes, MOST_BOXES);
    *box = (mo_call_copy_box){ .from = from, .rank = rank };
    for (int d = 0; d < rank; d++) {
        box->extent[d] = extent[d];
        box->in_stride[d] = from < 0 ? 0 : in_stride[d];
        box->out_stride[d] = out_stride[d];
    }
    return box;
}

/* Permutes the dimensions 0, 1, 2 of a. */
static void add_transpose(mo_elem elem, mo_shape a, const char *order)
{
    mo_point_access from = mo_point_access_dense(&a),
                    to = strides_in_order(&a, order);
    call_case *c = add_copy(elem, a, SHAPE(mo_shape_elements(&a)));

    for (int d = 0; d < a.rank; d++) /* extents of 1 have no stride */
        if (a.dims[d] == 1)
            from.stride[d] = to.stride[d] = 1;
    add_box(c, 0, a.rank, a.dims, from.stride, to.stride);
}

START_TEST(turned_copies_are_the_same)
{
    static const mo_elem elems[] = { MO_ELEM_U8, MO_ELEM_F16, MO_ELEM_F32,
                                     MO_ELEM_I64 };
    mo_elem elem = elems[_i];

    add_transpose(elem, SHAPE(33, 70), "10");
    add_transpose(elem, SHAPE(64, 64), "10");
    add_transpose(elem, SHAPE(3, 100, 33), "021");
    add_transpose(elem, SHAPE(40, 7, 50), "210");
    add_transpose(elem, SHAPE(17, 18, 19), "102");
    add_transpose(elem, SHAPE(12, 16, 64), "102");
    add_transpose(elem, SHAPE(2, 3, 20, 24), "0231");
    add_transpose(elem, SHAPE(2, 20, 24, 3), "0312");
    check_all();
}
END_TEST

/* Rows of any length and offset: words of 1 to 16 bytes. */
static void add_slice(mo_elem elem, int64_t row, int64_t skip)
{
    call_case *c = add_copy(elem, SHAPE(9, 48), SHAPE(9, row));
    mo_call_copy_box *box =
        add_box(c, 0, 2, (int64_t[]){ 9, row }, (int64_t[]){ 48, 1 },
                (int64_t[]){ row, 1 });

    box->in_offset = skip;
}

START_TEST(slices_are_the_same)
{
    static const mo_elem elems[] = { MO_ELEM_BOOL, MO_ELEM_BF16, MO_ELEM_I32,
                                     MO_ELEM_F64 };

    add_slice(elems[_i], 32, 16);
    add_slice(elems[_i], 24, 8);
    add_slice(elems[_i], 4, 4);
    add_slice(elems[_i], 6, 2);
    add_slice(elems[_i], 5, 1);
    add_slice(elems[_i], 1, 47);
    check_all();
}
END_TEST

/* Many boxes of many shapes: columns of 1, 2, ... elements, side by side. */
START_TEST(many_boxes_are_the_same)
{
    enum { ROWS = 5, FORMS = 20, OF_EACH = 15 };
    int64_t width = OF_EACH * FORMS * (FORMS + 1) / 2, at = 0;
    call_case *c =
        add_copy(MO_ELEM_F32, SHAPE(ROWS, width), SHAPE(ROWS, width));

    for (int i = 0; i < FORMS * OF_EACH; i++) {
        int64_t columns = i % FORMS + 1;
        mo_call_copy_box *box =
            add_box(c, 0, 2, (int64_t[]){ ROWS, columns },
                    (int64_t[]){ width, 1 }, (int64_t[]){ width, 1 });

        box->in_offset = width - at - columns;
        box->out_offset = at;
        at += columns;
    }
    ck_assert_int_eq(at, width);
    check_all();
}
END_TEST

static const mo_elem fillings[] = { MO_ELEM_F32, MO_ELEM_F16, MO_ELEM_I8,
                                    MO_ELEM_U64 };

/* Padding, and overlapping boxes: the last one wins. */
START_TEST(boxes_are_done_in_order)
{
    const int64_t size[] = { 20, 30 }, row[] = { 30, 1 };
    call_case *c = add_copy(fillings[_i], SHAPE(20, 30), SHAPE(20, 30));
    mo_call_copy_box *box = add_box(c, MO_CALL_COPY_FILL, 2, size, row, row);

    box->fill = 7;
    for (int i = 0; i < 6; i++) {
        box = add_box(c, i % 3 == 1 ? MO_CALL_COPY_FILL : 0, 2,
                      (int64_t[]){ 5, 8 + i }, row, row);
        box->fill = i;
        box->in_offset = i;
        box->out_offset = 33 * i + 2;
    }
    check_all();
}
END_TEST

/* The fill value is an operand; strides are negative, or 0. */
START_TEST(fillers_and_strides_may_be_odd)
{
    mo_elem elem = fillings[_i];
    call_case *c = add_copy(elem, SHAPE(40), SHAPE(8, 16));
    mo_call_copy_box *box;

    case_in(c, elem, shape_of(0), 5);
    c->call.u.copy.fill_in = 1;
    box = add_box(c, MO_CALL_COPY_FILL, 2, (int64_t[]){ 8, 8 }, NULL,
                  (int64_t[]){ 16, 1 });
    box = add_box(c, 0, 2, (int64_t[]){ 8, 4 }, (int64_t[]){ 0, -2 },
                  (int64_t[]){ 16, 1 });
    box->in_offset = 39;
    box->out_offset = 8;
    box = add_box(c, 0, 2, (int64_t[]){ 8, 4 }, (int64_t[]){ 5, 1 },
                  (int64_t[]){ -16, -1 });
    box->out_offset = 127;
    check_all();
}
END_TEST

/* From -below to below - 1. */
static void put_indices(mo_tensor_dense *indices, int below, uint64_t seed)
{
    mo_random random = { seed };

    for (int64_t i = 0; i < mo_tensor_desc_elements(&indices->desc); i++)
        mo_tensor_set_int(indices, i,
                          mo_random_below(&random, 2 * below) - below);
}

START_TEST(rows_are_gathered)
{
    static const mo_elem elems[] = { MO_ELEM_F32, MO_ELEM_F16, MO_ELEM_U8 };
    static const int64_t inner[] = { 1, 3, 24, 768 };
    static const mo_elem kinds[] = { MO_ELEM_I64, MO_ELEM_I32, MO_ELEM_I8 };

    for (int i = 0; i < 12; i++) {
        mo_call_gather g = { .kind = MO_CALL_GATHER_AXIS,
                             .batch = 1 + i % 2,
                             .outer = 1 + i % 3,
                             .axis = 50,
                             .count = 33,
                             .inner = inner[i % 4] };
        call_case *c = next_case(MO_CALL_GATHER);

        c->call.u.gather = g;
        case_in(c, elems[i % 3], SHAPE(g.batch * g.outer * g.axis * g.inner),
                3);
        put_indices(case_in(c, kinds[i / 2 % 3], SHAPE(g.batch * g.count), 4),
                    (int) g.axis, (uint64_t) i + 1);
        case_out(c, elems[i % 3], SHAPE(g.batch * g.outer * g.count * g.inner));
    }
    check_all();
}
END_TEST

static void add_scatter(mo_call_scatter s, mo_elem elem, mo_elem index_elem)
{
    call_case *c = next_case(MO_CALL_SCATTER);
    mo_shape data = SHAPE(s.outer * s.axis * s.inner);

    c->call.u.scatter = s;
    case_in(c, elem, data, (uint64_t) all.n);
    put_indices(case_in(c, index_elem, SHAPE(s.count), 0), (int) s.axis,
                (uint64_t) all.n);
    case_in(c, elem, SHAPE(s.outer * s.count * s.inner), 9);
    case_out(c, elem, data);
}

/* Few and many indices, most of them several times. */
START_TEST(scatters_keep_the_order_of_their_indices)
{
    static const mo_elem elems[] = { MO_ELEM_F32, MO_ELEM_I32, MO_ELEM_F16,
                                     MO_ELEM_U8, MO_ELEM_BOOL };
    static const int64_t counts[] = { 0, 1, 40, 300, 1500, 5000 };

    for (int i = 0; i < 7; i++) {
        mo_call_scatter s = { .kind = MO_CALL_GATHER_AXIS,
                              .op = (mo_call_scatter_op) i,
                              .use_init = (i + _i) % 2,
                              .outer = 1 + i % 2,
                              .axis = 120,
                              .inner = 1 + i % 3,
                              .count = counts[_i] };

        add_scatter(s, elems[(i + _i / 2) % 5],
                    i % 4 ? MO_ELEM_I64 : MO_ELEM_I32);
    }
    check_all();
}
END_TEST

SUITE(cuda_pointwise_copy)
{
    use_cuda();
    EACH(points_are_the_same_however_operands_lie, in_ci(4, 2));
    TEST(points_begin_anywhere);
    EACH(turned_copies_are_the_same, in_ci(4, 2));
    EACH(slices_are_the_same, in_ci(4, 2));
    TEST(many_boxes_are_the_same);
    EACH(boxes_are_done_in_order, COUNT(fillings));
    EACH(fillers_and_strides_may_be_odd, COUNT(fillings));
    TEST(rows_are_gathered);
    EACH(scatters_keep_the_order_of_their_indices, in_ci(6, 3));
}
