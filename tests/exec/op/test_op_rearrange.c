/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu */
/* Tests of exec/op: operators that permute elements, each by the formula of
 * its specification. */
#include <stdio.h>

#include "tests/exec/op/op_case.h"
#include "tests/support/suite.h"

/* Source of the element at coordinates at of the result: coordinates in input
 * 0; false where it is zero. */
typedef bool source_of(const op_case *c, const int64_t *at, int64_t *from);

static void check(op_case *c, source_of *source, int seed)
{
    const mo_tensor_dense *in = &c->value[0], *out = &c->result[0];

    op_case_run(c);
    for (int64_t i = 0; i < mo_tensor_desc_elements(&out->desc); i++) {
        int64_t at[MO_MAX_RANK], from[MO_MAX_RANK];

        coordinates_of(&out->desc.shape, i, at);
        if (source(c, at, from))
            ck_assert_msg(
                same_element(out, i, in, element_at(&in->desc.shape, from)),
                "%s, seed %d, element %d", c->type, seed, (int) i);
        else
            ck_assert_msg(mo_tensor_get_double(out, i) == 0, "%s, seed %d",
                          c->type, seed);
    }
    op_case_clear(c);
}

static bool transposed(const op_case *c, const int64_t *at, int64_t *from)
{
    int rank = c->out[0].shape.rank;

    for (int d = 0; d < rank; d++) {
        int64_t axis = mo_tensor_get_int(&c->value[1], d);

        from[axis < 0 ? axis + rank : axis] = at[d];
    }
    return true;
}

static void shuffle(mo_random *random, int64_t *items, int n)
{
    for (int i = n; i-- > 1;) {
        int k = mo_random_below(random, i + 1);
        int64_t kept = items[i];

        items[i] = items[k];
        items[k] = kept;
    }
}

static void check_transpose(mo_random *random, mo_elem elem, const mo_shape *in,
                            int seed)
{
    op_case c = op_case_of("Transpose", NULL);
    mo_shape out = { .rank = in->rank };
    int64_t order[MO_MAX_RANK];

    for (int d = 0; d < in->rank; d++)
        order[d] = d;
    shuffle(random, order, in->rank);
    for (int d = 0; d < in->rank; d++) {
        out.dims[d] = in->dims[order[d]];
        if (mo_random_below(random, 4) == 0)
            order[d] -= in->rank;
    }
    op_case_data(&c, elem, in, random->state);
    op_case_list(&c, order, in->rank);
    op_case_makes(&c, elem, &out);
    check(&c, transposed, seed);
}

static const mo_elem widths[] = { MO_ELEM_U8, MO_ELEM_F16, MO_ELEM_F32,
                                  MO_ELEM_F64 };

START_TEST(transposes_follow_their_order)
{
    mo_random random = { (uint64_t) _i };
    mo_shape in = random_shape(&random, 1, 6);

    check_transpose(&random, widths[_i % COUNT(widths)], &in, _i);
}
END_TEST

/* Large enough for squares in registers, with something left over. */
START_TEST(large_transposes_do_the_same)
{
    mo_random random = { (uint64_t) _i };
    mo_shape in = { .rank = 3 };

    for (int d = 0; d < 3; d++)
        in.dims[d] = 1 + mo_random_below(&random, 40);
    check_transpose(&random, widths[_i % COUNT(widths)], &in, _i);
}
END_TEST

START_TEST(an_empty_order_reverses)
{
    mo_shape in = { .rank = 3, .dims = { 2, 3, 4 } };
    mo_shape out = { .rank = 3, .dims = { 4, 3, 2 } };
    op_case c = op_case_of("Transpose", NULL);

    op_case_data(&c, MO_ELEM_F32, &in, 3);
    op_case_list(&c, NULL, 0);
    op_case_makes(&c, MO_ELEM_F32, &out);
    op_case_run(&c);
    for (int64_t i = 0; i < 24; i++)
        ck_assert(same_element(&c.result[0], i, &c.value[0],
                               i % 2 * 12 + i / 2 % 3 * 4 + i / 6));
    op_case_clear(&c);
}
END_TEST

START_TEST(what_is_joined_is_split_again)
{
    mo_random random = { (uint64_t) _i };
    mo_shape whole = random_shape(&random, 1, 4), part = whole;
    int axis = mo_random_below(&random, whole.rank);
    int n = 1 + mo_random_below(&random, 4);
    int64_t given = axis - whole.rank, lengths[4], free;
    char attrs[64] = "";
    op_case join = op_case_of("Concat", attrs);
    op_case split = op_case_of("VariadicSplit", NULL);

    snprintf(attrs, sizeof attrs, "{\"axis\":\"%d\"}", axis - whole.rank);
    whole.dims[axis] = 0;
    for (int i = 0; i < n; i++) {
        lengths[i] = mo_random_below(&random, 5);
        part.dims[axis] = lengths[i];
        whole.dims[axis] += lengths[i];
        op_case_data(&join, MO_ELEM_F32, &part, random.state + (uint64_t) i);
        op_case_makes(&split, MO_ELEM_F32, &part);
    }
    op_case_makes(&join, MO_ELEM_F32, &whole);
    op_case_run(&join);
    split.value[split.n_in++] = join.result[0];
    op_case_list(&split, &given, 1);
    free = mo_random_below(&random, 2 * n);
    if (free < n)
        lengths[free] = -1;
    op_case_list(&split, lengths, n);
    op_case_run(&split);
    for (int i = 0; i < n; i++)
        for (int64_t k = 0; k < mo_tensor_desc_elements(&split.out[i]); k++)
            ck_assert_msg(same_element(&split.result[i], k, &join.value[i], k),
                          "seed %d, part %d", _i, i);
    join.result[0] = (mo_tensor_dense){ 0 };
    op_case_clear(&join);
    op_case_clear(&split);
}
END_TEST

START_TEST(splits_are_equal_parts)
{
    mo_shape in = { .rank = 2, .dims = { 2, 6 } };
    mo_shape out = { .rank = 2, .dims = { 2, 2 } };
    op_case c = op_case_of("Split", "{\"num_splits\":\"3\"}");

    op_case_data(&c, MO_ELEM_I32, &in, 5);
    op_case_number(&c, MO_ELEM_I64, -1);
    for (int i = 0; i < 3; i++)
        op_case_makes(&c, MO_ELEM_I32, &out);
    op_case_run(&c);
    for (int i = 0; i < 3; i++)
        for (int64_t k = 0; k < 4; k++)
            ck_assert(same_element(&c.result[i], k, &c.value[0],
                                   k / 2 * 6 + 2 * i + k % 2));
    op_case_clear(&c);
}
END_TEST

static bool is_depth_first(const op_case *c)
{
    return strstr(c->attrs, "depth_first") != NULL;
}

static int64_t block_of(const op_case *c)
{
    return strstr(c->attrs, "\"block_size\":\"3\"") ? 3 : 2;
}

/* The deep coordinates of wide ones. */
static bool deepened(const op_case *c, const mo_shape *wide, const int64_t *at,
                     int64_t *deep)
{
    int64_t block = block_of(c), place = 0, places = 1;

    deep[0] = at[0];
    for (int d = 2; d < wide->rank; d++) {
        deep[d] = at[d] / block;
        place = place * block + at[d] % block;
        places *= block;
    }
    deep[1] = is_depth_first(c) ? at[1] * places + place
                                : place * wide->dims[1] + at[1];
    return true;
}

static bool depth_to_space(const op_case *c, const int64_t *at, int64_t *from)
{
    return deepened(c, &c->out[0].shape, at, from);
}

static bool space_to_depth(const op_case *c, const int64_t *at, int64_t *from)
{
    const mo_shape *wide = &c->value[0].desc.shape;

    for (int64_t i = 0; i < mo_shape_elements(wide); i++) {
        int64_t deep[MO_MAX_RANK];

        coordinates_of(wide, i, from);
        deepened(c, wide, from, deep);
        if (memcmp(deep, at, (size_t) wide->rank * sizeof *at) == 0)
            return true;
    }
    ck_abort_msg("no source");
    return false;
}

START_TEST(depth_becomes_space_and_back)
{
    mo_random random = { (uint64_t) _i };
    int block = 2 + _i % 2;
    mo_shape wide = { .rank = 3 + mo_random_below(&random, 2) }, deep;
    char attrs[64] = "";
    op_case to_space = op_case_of("DepthToSpace", attrs);
    op_case to_depth = op_case_of("SpaceToDepth", attrs);

    snprintf(attrs, sizeof attrs, "{\"mode\":\"%s\",\"block_size\":\"%d\"}",
             _i % 4 < 2 ? "blocks_first" : "depth_first", block);
    for (int d = 0; d < wide.rank; d++)
        wide.dims[d] = 1 + mo_random_below(&random, 3);
    deep = wide;
    for (int d = 2; d < wide.rank; d++) {
        wide.dims[d] *= block;
        deep.dims[1] *= block;
    }
    op_case_data(&to_space, MO_ELEM_F32, &deep, random.state);
    op_case_makes(&to_space, MO_ELEM_F32, &wide);
    check(&to_space, depth_to_space, _i);
    op_case_data(&to_depth, MO_ELEM_F32, &wide, random.state);
    op_case_makes(&to_depth, MO_ELEM_F32, &deep);
    check(&to_depth, space_to_depth, _i);
}
END_TEST

/* The coordinates with many batches of those without; or false: cut off. */
static bool batched(const op_case *c, const mo_shape *few, const int64_t *at,
                    int64_t *many)
{
    int64_t place = 0;

    for (int d = 1; d < few->rank; d++) {
        int64_t block = mo_tensor_get_int(&c->value[1], d);
        int64_t wide = at[d] + mo_tensor_get_int(&c->value[2], d);

        many[d] = wide / block;
        place = place * block + wide % block;
    }
    many[0] = place * few->dims[0] + at[0];
    return true;
}

static bool batch_to_space(const op_case *c, const int64_t *at, int64_t *from)
{
    return batched(c, &c->out[0].shape, at, from);
}

static bool space_to_batch(const op_case *c, const int64_t *at, int64_t *from)
{
    const mo_shape *few = &c->value[0].desc.shape;

    for (int64_t i = 0; i < mo_shape_elements(few); i++) {
        int64_t many[MO_MAX_RANK];

        coordinates_of(few, i, from);
        batched(c, few, from, many);
        if (memcmp(many, at, (size_t) few->rank * sizeof *at) == 0)
            return true;
    }
    return false;
}

START_TEST(batches_become_space_and_back)
{
    mo_random random = { (uint64_t) _i };
    int rank = 2 + mo_random_below(&random, 3);
    int64_t lists[3][MO_MAX_RANK] = { { 1 }, { 0 }, { 0 } };
    mo_shape few = { .rank = rank }, many = { .rank = rank };
    op_case to_space = op_case_of("BatchToSpace", NULL);
    op_case to_batch = op_case_of("SpaceToBatch", NULL);

    few.dims[0] = many.dims[0] = 1 + mo_random_below(&random, 3);
    for (int d = 1; d < rank; d++) {
        lists[0][d] = 1 + mo_random_below(&random, 3);
        many.dims[d] = 1 + mo_random_below(&random, 3);
        few.dims[d] = many.dims[d] * lists[0][d];
        many.dims[0] *= lists[0][d];
        for (int end = 1; end < 3; end++)
            if (few.dims[d] > 1)
                few.dims[d] -= lists[end][d] = mo_random_below(&random, 2);
    }
    op_case_data(&to_space, MO_ELEM_F32, &many, random.state);
    op_case_data(&to_batch, MO_ELEM_F32, &few, random.state);
    for (int i = 0; i < 3; i++) {
        op_case_list(&to_space, lists[i], rank);
        op_case_list(&to_batch, lists[i], rank);
    }
    op_case_makes(&to_space, MO_ELEM_F32, &few);
    check(&to_space, batch_to_space, _i);
    op_case_makes(&to_batch, MO_ELEM_F32, &many);
    check(&to_batch, space_to_batch, _i);
}
END_TEST

static bool shuffled(const op_case *c, const int64_t *at, int64_t *from)
{
    const mo_shape *shape = &c->out[0].shape;

    memcpy(from, at, (size_t) shape->rank * sizeof *at);
    from[1] = at[1] % 3 * (shape->dims[1] / 3) + at[1] / 3;
    return true;
}

START_TEST(channels_are_shuffled)
{
    mo_shape shape = { .rank = 3, .dims = { 2, 3 * (1 + _i), 5 } };
    op_case c = op_case_of("ShuffleChannels", "{\"axis\":\"-2\",\"group\":3}");

    op_case_data(&c, MO_ELEM_F32, &shape, 1);
    op_case_makes(&c, MO_ELEM_F32, &shape);
    check(&c, shuffled, _i);
}
END_TEST

static bool sequence(const op_case *c, const int64_t *at, int64_t *from)
{
    int64_t length = mo_tensor_get_int(&c->value[1], at[1]);

    memcpy(from, at, 3 * sizeof *at);
    if (at[0] < length)
        from[0] = length - 1 - at[0];
    return true;
}

START_TEST(sequences_are_reversed_as_far_as_they_go)
{
    mo_shape shape = { .rank = 3, .dims = { 4, 5, 2 } };
    const int64_t lengths[] = { 0, 1, 2, 3, 4 };
    op_case c = op_case_of("ReverseSequence",
                           "{\"batch_axis\":\"1\",\"seq_axis\":\"0\"}");

    op_case_data(&c, MO_ELEM_F32, &shape, 1);
    op_case_list(&c, lengths, 5);
    op_case_makes(&c, MO_ELEM_F32, &shape);
    check(&c, sequence, 0);
}
END_TEST

static bool the_same(const op_case *c, const int64_t *at, int64_t *from)
{
    coordinates_of(&c->value[0].desc.shape, element_at(&c->out[0].shape, at),
                   from);
    return true;
}

START_TEST(views_keep_their_elements)
{
    mo_shape in = { .rank = 3, .dims = { 2, 1, 6 } };
    mo_shape out = { .rank = 3, .dims = { 2, 4, 3 } };
    const int64_t pattern[] = { 0, -1, 3 };
    op_case c = op_case_of("Reshape", "{\"special_zero\":\"true\"}");

    out.dims[1] = 2;
    op_case_data(&c, MO_ELEM_F16, &in, 1);
    op_case_list(&c, pattern, 3);
    op_case_makes(&c, MO_ELEM_F16, &out);
    check(&c, the_same, 0);
}
END_TEST

/* Shapes that a graph claims are checked. */
static const struct {
    const char *type, *attrs;
    int64_t list[3];
    int n;
    int64_t out[3];
} wrong[] = {
    { "Transpose", NULL, { 0, 1, 1 }, 3, { 2, 3, 3 } },
    { "Transpose", NULL, { 2, 1, 0 }, 3, { 2, 3, 4 } },
    { "Transpose", NULL, { 2, 1 }, 2, { 4, 3, 2 } },
    { "Transpose", NULL, { 3, 1, 0 }, 3, { 4, 3, 2 } },
    { "Reshape", NULL, { 5, 5, 1 }, 3, { 5, 5, 1 } },
    { "Tile", NULL, { 1, 1, 2 }, 3, { 2, 3, 9 } },
    { "Reverse", "{\"mode\":\"index\"}", { 5, 0, 0 }, 1, { 2, 3, 4 } },
    { "Reverse", "{\"mode\":\"mask\"}", { 1, 0, 0 }, 2, { 2, 3, 4 } },
    { "Broadcast", NULL, { 2, 3, 5 }, 3, { 2, 3, 5 } },
    { "Unheard", NULL, { 0, 0, 0 }, 3, { 2, 3, 4 } },
};

START_TEST(wrong_claims_are_refused)
{
    mo_shape in = { .rank = 3, .dims = { 2, 3, 4 } };
    mo_shape out = { .rank = 3 };
    op_case c = op_case_of(wrong[_i].type, wrong[_i].attrs);
    mo_error err = { 0 };

    memcpy(out.dims, wrong[_i].out, sizeof wrong[_i].out);
    op_case_data(&c, MO_ELEM_F32, &in, 1);
    op_case_list(&c, wrong[_i].list, wrong[_i].n);
    op_case_makes(&c, MO_ELEM_F32, &out);
    ck_assert_int_ne(op_case_try(&c, &err), MO_OK);
    ck_assert_ptr_nonnull(strstr(err.text, "op 'tried'"));
    op_case_clear(&c);
}
END_TEST

SUITE(op_rearrange)
{
    SOME(transposes_follow_their_order, 300, 30);
    SOME(large_transposes_do_the_same, 60, 12);
    TEST(an_empty_order_reverses);
    SOME(what_is_joined_is_split_again, 200, 20);
    TEST(splits_are_equal_parts);
    SOME(depth_becomes_space_and_back, 60, 12);
    SOME(batches_become_space_and_back, 100, 20);
    EACH(channels_are_shuffled, 4);
    TEST(sequences_are_reversed_as_far_as_they_go);
    TEST(views_keep_their_elements);
    EACH(wrong_claims_are_refused, COUNT(wrong));
}
