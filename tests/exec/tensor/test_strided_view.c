/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/tensor/strided_view.h: views composed with copies, element by
 * element. */
#include "exec/tensor/strided_view.h"

#include "base/random.h"
#include "exec/plan/passes/copy_map.h"
#include "tests/support/suite.h"

enum { MOST = 4 };

/* Factors n elements into dimensions. */
static int cut(mo_random *r, int64_t n, int64_t *extent)
{
    int rank = 0;

    for (int64_t p = 2; n > 1 && rank < MOST; p++) {
        int64_t taken = 1;

        while (n % p == 0 && mo_random_below(r, 3) > 0) {
            taken *= p;
            n /= p;
        }
        if (taken > 1)
            extent[rank++] = taken;
        if (p > n) {
            extent[rank++] = n;
            n = 1;
        }
    }
    if (n > 1)
        extent[rank++] = n;
    return rank;
}

static void shuffle(mo_random *r, int *order, int n)
{
    for (int i = 0; i < n; i++) {
        int j = mo_random_below(r, i + 1);

        order[i] = order[j];
        order[j] = i;
    }
}

/* A box that fills n elements from anywhere: transposed, sliced, repeated. */
static mo_call_copy_box random_box(mo_random *r, int64_t n)
{
    mo_call_copy_box box = { .in_offset = mo_random_below(r, 5) };
    int order[MO_MAX_RANK];
    int64_t stride = 1, in = 1;

    box.rank = cut(r, n, box.extent);
    for (int d = box.rank - 1; d >= 0; d--) {
        box.out_stride[d] = stride;
        stride *= box.extent[d];
    }
    shuffle(r, order, box.rank);
    for (int k = 0; k < box.rank; k++) {
        int d = order[k];

        box.in_stride[d] = mo_random_below(r, 8) == 0 ? 0 : in;
        in *= box.extent[d] + mo_random_below(r, 2);
    }
    return box;
}

/* A view of all of n elements, or a part of them, in any order. */
static mo_tensor_view random_walk(mo_random *r, int64_t n)
{
    mo_tensor_view walk = { 0 };
    int64_t extent[MO_MAX_RANK], stride = 1;
    int order[MO_MAX_RANK];
    int rank = cut(r, n, extent);

    shuffle(r, order, rank);
    walk.rank = rank;
    for (int d = rank - 1; d >= 0; d--) {
        int64_t kept = extent[d];

        if (mo_random_below(r, 4) == 0) {
            kept = 1 + mo_random_below(r, (int) extent[d]);
            walk.offset +=
                stride * mo_random_below(r, (int) (extent[d] - kept + 1));
        }
        walk.extent[order[d]] = kept;
        walk.stride[order[d]] = stride;
        stride *= extent[d];
    }
    return walk;
}

/* The place in the source of place p of the copy. */
static int64_t place_in(const mo_call_copy_box *box, int64_t p)
{
    int64_t place = box->in_offset;

    for (int d = 0; d < box->rank; d++) {
        place += p / box->out_stride[d] * box->in_stride[d];
        p %= box->out_stride[d];
    }
    return place;
}

static int64_t elements(const mo_tensor_view *walk)
{
    int64_t n = 1;

    for (int d = 0; d < walk->rank; d++)
        n *= walk->extent[d];
    return n;
}

/* Element i of the composed view, and the matching one of the original view. */
static void check_step(const mo_call_copy_box *box, const mo_tensor_view *walk,
                       const mo_tensor_view *found,
                       const mo_tensor_dim_split *parts, int64_t i,
                       unsigned seed)
{
    int64_t coarse = walk->offset, fine = found->offset;

    for (int d = found->rank - 1; d >= 0; d--) {
        int64_t index = i % found->extent[d];

        i /= found->extent[d];
        fine += index * found->stride[d];
        coarse += index * parts->weight[d] * walk->stride[parts->part[d]];
    }
    ck_assert_msg(place_in(box, coarse) == fine, "seed %u", seed);
}

static bool check_walk(mo_random *r, unsigned seed)
{
    int64_t n = 2 + mo_random_below(r, 400);
    mo_call_copy_box box = random_box(r, n);
    mo_tensor_view walk = random_walk(r, n), found;
    mo_tensor_dim_split parts;
    mo_call copy = { .kind = MO_CALL_COPY, .n_in = 1, .n_out = 1 };
    mo_tensor_copy_map moved;

    copy.u.copy = (mo_call_copy){ &box, 1, -1 };
    ck_assert_msg(mo_pass_copy_map_of_call(&copy, n, &moved), "seed %u", seed);
    if (!mo_tensor_view_compose(&moved, &walk, &found, &parts))
        return false;
    ck_assert_int_eq(elements(&found), elements(&walk));
    for (int64_t i = 0; i < elements(&found); i++)
        check_step(&box, &walk, &found, &parts, i, seed);
    return true;
}

START_TEST(walks_over_the_original_visit_the_same_elements)
{
    int found = 0;

    for (unsigned k = 0; k < 300; k++) {
        unsigned seed = (unsigned) _i * 300 + k;
        mo_random r = { seed };

        found += check_walk(&r, seed);
    }
    ck_assert_int_gt(found, 30);
}
END_TEST

START_TEST(windows_of_a_picture_are_read_where_they_were)
{
    /* [8, 7, 8, 7, 96] -> [8, 8, 7, 7, 96], read as [56, 56, 96]. */
    mo_call_copy_box box = { .rank = 5,
                             .extent = { 8, 7, 8, 7, 96 },
                             .in_stride = { 37632, 672, 4704, 96, 1 },
                             .out_stride = { 37632, 5376, 672, 96, 1 } };
    mo_tensor_view walk = { .rank = 3,
                            .extent = { 56, 56, 96 },
                            .stride = { 5376, 96, 1 } };
    mo_call copy = { .kind = MO_CALL_COPY, .n_in = 1, .n_out = 1 };
    mo_tensor_view found;
    mo_tensor_dim_split parts;
    mo_tensor_copy_map moved;

    copy.u.copy = (mo_call_copy){ &box, 1, -1 };
    ck_assert(mo_pass_copy_map_of_call(&copy, 56 * 56 * 96, &moved));
    ck_assert(mo_tensor_view_compose(&moved, &walk, &found, &parts));
    ck_assert_int_eq(found.rank, 5);
    for (int64_t i = 0; i < elements(&found); i += 97)
        check_step(&box, &walk, &found, &parts, i, 0);
}
END_TEST

START_TEST(what_does_not_fill_its_result_is_no_move)
{
    mo_call_copy_box box = { .rank = 2,
                             .extent = { 3, 4 },
                             .in_stride = { 4, 1 },
                             .out_stride = { 5, 1 } };
    mo_call copy = { .kind = MO_CALL_COPY, .n_in = 1, .n_out = 1 };
    mo_tensor_copy_map moved;

    copy.u.copy = (mo_call_copy){ &box, 1, -1 };
    ck_assert(!mo_pass_copy_map_of_call(&copy, 12, &moved));
    ck_assert(!mo_pass_copy_map_of_call(&copy, 15, &moved));
    box.out_stride[0] = 4;
    ck_assert(mo_pass_copy_map_of_call(&copy, 12, &moved));
    ck_assert(!mo_pass_copy_map_of_call(&copy, 24, &moved));
    box.from = MO_CALL_COPY_FILL;
    ck_assert(!mo_pass_copy_map_of_call(&copy, 12, &moved));
}
END_TEST

SUITE(strided_view)
{
    SOME(walks_over_the_original_visit_the_same_elements, 30, 3);
    TEST(windows_of_a_picture_are_read_where_they_were);
    TEST(what_does_not_fill_its_result_is_no_move);
}
