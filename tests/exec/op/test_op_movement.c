/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu */
/* Tests of exec/op: operators with a result that takes, along each dimension,
 * the input's elements from a list of places. */
#include <stdio.h>

#include "tests/exec/op/op_case.h"
#include "tests/support/suite.h"

enum { MOST = 64, FILLED = -1 };

/* from[d][i]: what element i along dimension d of the result is along the same
 * dimension of the input, or FILLED. */
typedef struct lists {
    mo_shape shape; /* of the result */
    int from[MO_MAX_RANK][MOST];
} lists;

static const mo_elem elems[] = { MO_ELEM_F32, MO_ELEM_I64, MO_ELEM_F16,
                                 MO_ELEM_U8, MO_ELEM_BOOL };

static mo_elem random_elem(mo_random *random)
{
    return elems[mo_random_below(random, COUNT(elems))];
}

static int64_t between(mo_random *random, int low, int high)
{
    return low + mo_random_below(random, high - low + 1);
}

static void push(lists *l, int d, int64_t place)
{
    ck_assert_int_lt(l->shape.dims[d], MOST);
    l->from[d][l->shape.dims[d]++] = (int) place;
}

/* Runs it and compares element by element. */
static void check(op_case *c, const lists *l, double fill, int seed)
{
    const mo_tensor_dense *in = &c->value[0];
    mo_tensor_dense *out = &c->result[0];
    mo_elem elem = in->desc.elem;
    int64_t at[MO_MAX_RANK], n;

    op_case_makes(c, elem, &l->shape);
    op_case_run(c);
    n = mo_tensor_desc_elements(&out->desc);
    for (int64_t i = 0; i < n; i++) {
        bool filled = false;

        coordinates_of(&l->shape, i, at);
        for (int d = 0; d < l->shape.rank; d++) {
            at[d] = l->from[d][at[d]];
            filled = filled || at[d] == FILLED;
        }
        if (filled)
            ck_assert_msg(mo_tensor_get_double(out, i) == fill,
                          "seed %d, element %d", seed, (int) i);
        else
            ck_assert_msg(
                same_element(out, i, in, element_at(&in->desc.shape, at)),
                "%s, seed %d, element %d", c->type, seed, (int) i);
    }
    op_case_clear(c);
}

/* Python's slices, where a start beyond an end is moved to it. */
static void push_slice(lists *l, int d, int64_t size, int64_t start,
                       int64_t stop, int64_t step)
{
    start = start < 0 ? start + size : start;
    stop = stop < 0 ? stop + size : stop;
    if (start < 0)
        start = 0;
    if (start > size - (step < 0))
        start = size - (step < 0);
    for (int64_t i = start; size > 0 && (step > 0 ? i < stop : i > stop);
         i += step)
        if (i >= 0 && i < size)
            push(l, d, i);
}

START_TEST(slices_are_pythons)
{
    mo_random random = { (uint64_t) _i };
    mo_shape in = random_shape(&random, 1, 5);
    int64_t bounds[3][MO_MAX_RANK], axes[MO_MAX_RANK];
    op_case c = op_case_of("Slice", NULL);
    lists l = { .shape.rank = in.rank };

    op_case_data(&c, random_elem(&random), &in, random.state);
    for (int d = 0; d < in.rank; d++) {
        int size = (int) in.dims[d];

        axes[d] = d - (mo_random_below(&random, 2) ? in.rank : 0);
        bounds[0][d] = between(&random, -size - 2, size + 2);
        bounds[1][d] = between(&random, -size - 2, size + 2);
        if (mo_random_below(&random, 8) == 0)
            bounds[1][d] = mo_random_below(&random, 2) ? INT64_MAX : INT64_MIN;
        bounds[2][d] = between(&random, 1, 3);
        if (mo_random_below(&random, 3) == 0)
            bounds[2][d] = -bounds[2][d];
        /* What is left of the front goes on to the front. */
        push_slice(&l, d, size, bounds[0][d],
                   bounds[1][d] == INT64_MAX  ? size
                   : bounds[1][d] < -size - 1 ? -size - 1
                                              : bounds[1][d],
                   bounds[2][d]);
    }
    for (int i = 0; i < 3; i++)
        op_case_list(&c, bounds[i], in.rank);
    op_case_list(&c, axes, in.rank);
    check(&c, &l, 0, _i);
}
END_TEST

/* x[1, ..., ::-1, None] of 2x3x4x5. */
START_TEST(strided_slices_have_masks)
{
    mo_shape in = { .rank = 4, .dims = { 2, 3, 4, 5 } };
    mo_shape out = { .rank = 4, .dims = { 3, 4, 5, 1 } };
    const int64_t begin[] = { 1, 7, 0, 0 }, end[] = { 2, 7, 0, 0 };
    const int64_t step[] = { 1, 1, -1, 1 };
    op_case c = op_case_of(
        "StridedSlice", "{\"begin_mask\":\"0,1,1,1\",\"end_mask\":\"0,1,1,1\","
                        "\"shrink_axis_mask\":\"1\",\"ellipsis_mask\":[0,1],"
                        "\"new_axis_mask\":\"0,0,0,1\"}");

    op_case_data(&c, MO_ELEM_F32, &in, 7);
    op_case_list(&c, begin, 4);
    op_case_list(&c, end, 4);
    op_case_list(&c, step, 4);
    op_case_makes(&c, MO_ELEM_F32, &out);
    op_case_run(&c);
    for (int64_t i = 0; i < 60; i++) {
        int64_t at[4], from[4];

        coordinates_of(&out, i, at);
        from[0] = 1;
        from[1] = at[0];
        from[2] = at[1];
        from[3] = 4 - at[2];
        ck_assert(
            same_element(&c.result[0], i, &c.value[0], element_at(&in, from)));
    }
    op_case_clear(&c);
}
END_TEST

static const char *const pad_modes[] = { "constant", "edge", "reflect",
                                         "symmetric" };

static int64_t seen_at(int mode, int64_t size, int64_t place)
{
    if (place >= 0 && place < size)
        return place;
    switch (mode) {
    case 0:
        return FILLED;
    case 1:
        return place < 0 ? 0 : size - 1;
    case 2:
        return place < 0 ? -place : 2 * size - 2 - place;
    default:
        return place < 0 ? -1 - place : 2 * size - 1 - place;
    }
}

START_TEST(pads_fill_repeat_and_mirror)
{
    mo_random random = { (uint64_t) _i };
    int mode = _i % COUNT(pad_modes);
    mo_shape in = random_shape(&random, 0, 4);
    int64_t begin[MO_MAX_RANK], end[MO_MAX_RANK];
    mo_elem elem = random_elem(&random);
    char attrs[64] = "";
    op_case c = op_case_of("Pad", attrs);
    lists l = { .shape.rank = in.rank };

    snprintf(attrs, sizeof attrs, "{\"pad_mode\":\"%s\"}", pad_modes[mode]);
    for (int d = 0; d < in.rank; d++) /* nothing has no mirror image */
        in.dims[d] += mode == 2 && in.dims[d] == 0;
    op_case_data(&c, elem, &in, random.state);
    for (int d = 0; d < in.rank; d++) {
        int size = (int) in.dims[d];
        int most = mode == 0 ? 4 : mode == 2 ? size - 1 : size;

        most = most < 0 || (mode == 1 && size == 0) ? 0 : most;
        begin[d] = between(&random, size > 1 ? -1 : 0, most);
        end[d] = between(&random, size > 2 ? -2 : 0, most);
        for (int64_t i = -begin[d]; i < size + end[d]; i++)
            push(&l, d, seen_at(mode, size, i));
    }
    op_case_list(&c, begin, in.rank);
    op_case_list(&c, end, in.rank);
    if (mo_random_below(&random, 2)) {
        op_case_number(&c, elem, 1);
        check(&c, &l, 1, _i);
    } else {
        check(&c, &l, 0, _i);
    }
}
END_TEST

/* Places of the result in front of the input's dimensions hold nothing. */
static void check_stretched(op_case *c, lists *l, int lead, int seed)
{
    const mo_tensor_dense in = c->value[0];
    mo_shape padded = { .rank = l->shape.rank };

    for (int d = 0; d < padded.rank; d++)
        padded.dims[d] = d < lead ? 1 : in.desc.shape.dims[d - lead];
    op_case_makes(c, in.desc.elem, &l->shape);
    op_case_run(c);
    for (int64_t i = 0; i < mo_shape_elements(&l->shape); i++) {
        int64_t at[MO_MAX_RANK];

        coordinates_of(&l->shape, i, at);
        for (int d = 0; d < l->shape.rank; d++)
            at[d] = l->from[d][at[d]];
        ck_assert_msg(
            same_element(&c->result[0], i, &in, element_at(&padded, at)),
            "%s, seed %d", c->type, seed);
    }
    op_case_clear(c);
}

START_TEST(tiles_repeat)
{
    mo_random random = { (uint64_t) _i };
    mo_shape in = random_shape(&random, 0, 3);
    int lead = mo_random_below(&random, 3);
    op_case c = op_case_of("Tile", NULL);
    lists l = { .shape.rank = lead + in.rank };
    int64_t repeats[MO_MAX_RANK];

    op_case_data(&c, random_elem(&random), &in, random.state);
    for (int d = 0; d < l.shape.rank; d++) {
        int64_t size = d < lead ? 1 : in.dims[d - lead];

        repeats[d] = between(&random, mo_random_below(&random, 20) > 0, 3);
        for (int64_t i = 0; i < size * repeats[d]; i++)
            push(&l, d, i % size);
    }
    op_case_list(&c, repeats, l.shape.rank);
    check_stretched(&c, &l, lead, _i);
}
END_TEST

static const char *const broadcast_modes[] = { "numpy", "bidirectional",
                                               "explicit" };

START_TEST(broadcasts_stretch)
{
    mo_random random = { (uint64_t) _i };
    int mode = _i % COUNT(broadcast_modes);
    mo_shape in = random_shape(&random, 0, 3);
    int lead = mo_random_below(&random, 3);
    int64_t target[MO_MAX_RANK], axes[MO_MAX_RANK];
    char attrs[64] = "";
    op_case c = op_case_of("Broadcast", attrs);
    lists l = { .shape.rank = lead + in.rank };

    snprintf(attrs, sizeof attrs, "{\"mode\":\"%s\"}", broadcast_modes[mode]);
    for (int d = 0; d < l.shape.rank; d++) {
        int64_t size = d < lead ? 1 : in.dims[d - lead];

        target[d] = size == 1 ? between(&random, 1, 4) : size;
        for (int64_t i = 0; i < target[d]; i++)
            push(&l, d, size == 1 ? 0 : i);
        if (mode == 1 && mo_random_below(&random, 2))
            target[d] = target[d] == size ? 1 : target[d];
        if (d >= lead)
            axes[d - lead] = d;
    }
    op_case_data(&c, random_elem(&random), &in, random.state);
    op_case_list(&c, target, l.shape.rank);
    if (mode == 2)
        op_case_list(&c, axes, in.rank);
    check_stretched(&c, &l, lead, _i);
}
END_TEST

/* Axes in between, not at the end. */
START_TEST(explicit_broadcasts_name_their_axes)
{
    mo_shape in = { .rank = 2, .dims = { 3, 2 } };
    mo_shape out = { .rank = 4, .dims = { 2, 3, 4, 2 } };
    const int64_t axes[] = { 1, 3 };
    op_case c = op_case_of("Broadcast", "{\"mode\":\"explicit\"}");

    op_case_data(&c, MO_ELEM_F32, &in, 1);
    op_case_list(&c, out.dims, 4);
    op_case_list(&c, axes, 2);
    op_case_makes(&c, MO_ELEM_F32, &out);
    op_case_run(&c);
    for (int64_t i = 0; i < 48; i++)
        ck_assert(
            same_element(&c.result[0], i, &c.value[0], i / 8 % 3 * 2 + i % 2));
    op_case_clear(&c);
}
END_TEST

START_TEST(rolls_go_round)
{
    mo_random random = { (uint64_t) _i };
    mo_shape in = random_shape(&random, 1, 4);
    int64_t shifts[2], axes[2], total[MO_MAX_RANK] = { 0 };
    int n_shifts = 1 + mo_random_below(&random, 2);
    op_case c = op_case_of("Roll", NULL);
    lists l = { .shape.rank = in.rank };

    op_case_data(&c, random_elem(&random), &in, random.state);
    for (int i = 0; i < 2; i++) {
        shifts[i] = i < n_shifts ? between(&random, -9, 9) : shifts[0];
        axes[i] = between(&random, -in.rank, in.rank - 1);
        total[(axes[i] + in.rank) % in.rank] += shifts[i];
    }
    for (int d = 0; d < in.rank; d++)
        for (int64_t i = 0; i < in.dims[d]; i++)
            push(&l, d,
                 ((i - total[d]) % in.dims[d] + in.dims[d]) % in.dims[d]);
    op_case_list(&c, shifts, n_shifts);
    op_case_list(&c, axes, 2);
    check(&c, &l, 0, _i);
}
END_TEST

START_TEST(reverses_go_back)
{
    mo_random random = { (uint64_t) _i };
    bool mask = _i % 2 == 0;
    mo_shape in = random_shape(&random, 1, 4);
    int64_t marks[MO_MAX_RANK], axes[MO_MAX_RANK];
    int n_axes = 0;
    op_case c = op_case_of("Reverse", mask ? "{\"mode\":\"mask\"}"
                                           : "{\"mode\":\"index\"}");
    lists l = { .shape.rank = in.rank };

    op_case_data(&c, random_elem(&random), &in, random.state);
    for (int d = 0; d < in.rank; d++) {
        marks[d] = mo_random_below(&random, 2);
        if (marks[d])
            axes[n_axes++] = d;
        for (int64_t i = 0; i < in.dims[d]; i++)
            push(&l, d, marks[d] ? in.dims[d] - 1 - i : i);
    }
    if (mask)
        op_case_list(&c, marks, in.rank);
    else
        op_case_list(&c, axes, n_axes);
    check(&c, &l, 0, _i);
}
END_TEST

SUITE(op_movement)
{
    SOME(slices_are_pythons, 500, 50);
    TEST(strided_slices_have_masks);
    SOME(pads_fill_repeat_and_mirror, 400, 40);
    SOME(tiles_repeat, 200, 20);
    SOME(broadcasts_stretch, 300, 30);
    TEST(explicit_broadcasts_name_their_axes);
    SOME(rolls_go_round, 200, 20);
    SOME(reverses_go_back, 200, 20);
}
