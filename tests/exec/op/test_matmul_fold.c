/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the folding of batches in exec/op/call.h: a folded product has the
 * elements of the original one. */
#include <string.h>

#include "base/random.h"
#include "exec/op/call.h"
#include "tests/support/suite.h"

enum { MAX_ELEMENTS = 4096 };

/* Integers, so that sums are exact in any order. */
typedef struct data {
    int64_t a[MAX_ELEMENTS], b[MAX_ELEMENTS], c[MAX_ELEMENTS];
} data;

static void multiply_batch(const mo_call_matmul *f, int64_t a, int64_t b,
                           int64_t c, data *d)
{
    for (int64_t i = 0; i < f->m; i++)
        for (int64_t j = 0; j < f->n; j++) {
            int64_t at = c + i * f->c.row + j * f->c.column;

            ck_assert_int_lt(at, MAX_ELEMENTS);
            d->c[at] += 1; /* counts how often an element is computed */
            for (int64_t k = 0; k < f->k; k++)
                d->c[at] += 1000 * d->a[a + i * f->a.row + k * f->a.column] *
                            d->b[b + k * f->b.row + j * f->b.column];
        }
}

static void multiply_naively(const mo_call_matmul *f, int dim, int64_t a,
                             int64_t b, int64_t c, data *d)
{
    if (dim == f->n_batch) {
        multiply_batch(f, a, b, c, d);
        return;
    }
    for (int64_t i = 0; i < f->extent[dim]; i++)
        multiply_naively(f, dim + 1, a + i * f->a.batch[dim],
                         b + i * f->b.batch[dim], c + i * f->c.batch[dim], d);
}

static void fill_operands(data *d)
{
    for (int i = 0; i < MAX_ELEMENTS; i++) {
        d->a[i] = i % 89 - 40;
        d->b[i] = i % 97 - 50;
        d->c[i] = 0;
    }
}

static void check_equal(const mo_call_matmul *f, const mo_call_matmul *g,
                        bool swapped, uint64_t seed)
{
    static data want, got;

    fill_operands(&want);
    multiply_naively(f, 0, 0, 0, 0, &want);
    fill_operands(&got);
    if (swapped) {
        memcpy(got.a, want.b, sizeof got.a);
        memcpy(got.b, want.a, sizeof got.b);
    }
    multiply_naively(g, 0, 0, 0, 0, &got);
    ck_assert_msg(memcmp(want.c, got.c, sizeof want.c) == 0, "seed %llu",
                  (unsigned long long) seed);
}

/* Strides of dims in a random order of memory; a dimension that is not the
 * operand's own has stride 0. */
static void random_strides(mo_random *r, const int64_t *extent, const bool *own,
                           int n, int64_t *stride)
{
    int order[MO_MAX_RANK];
    int64_t next = 1;

    for (int d = 0; d < n; d++)
        order[d] = n - 1 - d;
    for (int d = n - 1; d > 0 && mo_random_below(r, 2); d--) {
        int with = (int) mo_random_below(r, d + 1), was = order[d];

        order[d] = order[with];
        order[with] = was;
    }
    for (int d = 0; d < n; d++) {
        int dim = order[d];

        stride[dim] = own[dim] ? next : 0;
        if (own[dim])
            next *= extent[dim] + (mo_random_below(r, 8) == 0);
    }
}

static void random_operand(mo_random *r, const mo_call_matmul *f, int64_t rows,
                           int64_t columns, bool broadcasts,
                           mo_call_matmul_operand *side)
{
    int64_t extent[MO_MAX_RANK], stride[MO_MAX_RANK];
    bool own[MO_MAX_RANK];
    int n = f->n_batch;

    for (int d = 0; d < n; d++) {
        extent[d] = f->extent[d];
        own[d] = !broadcasts || mo_random_below(r, 2);
    }
    extent[n] = rows;
    extent[n + 1] = columns;
    own[n] = own[n + 1] = true;
    random_strides(r, extent, own, n + 2, stride);
    memcpy(side->batch, stride, (size_t) n * sizeof *stride);
    side->row = stride[n];
    side->column = stride[n + 1];
}

static mo_call_matmul random_product(mo_random *r)
{
    static const int sizes[] = { 0, 1, 1, 1, 2, 2, 3, 3 };
    mo_call_matmul f = { .n_batch = (int) mo_random_below(r, 4) };
    int64_t *const extents[] = { &f.m, &f.n, &f.k };

    for (size_t i = 0; i < COUNT(extents); i++)
        *extents[i] = sizes[mo_random_below(r, COUNT(sizes))];
    for (int d = 0; d < f.n_batch; d++)
        f.extent[d] = sizes[mo_random_below(r, COUNT(sizes))];
    random_operand(r, &f, f.m, f.k, true, &f.a);
    random_operand(r, &f, f.k, f.n, true, &f.b);
    random_operand(r, &f, f.m, f.n, false, &f.c);
    return f;
}

START_TEST(folding_changes_no_element)
{
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        mo_random r = { seed };
        mo_call_matmul f = random_product(&r), folded = f, again, collapsed = f;
        bool swapped;

        mo_call_matmul_fold(&folded);
        check_equal(&f, &folded, false, seed);
        again = folded;
        mo_call_matmul_fold(&again);
        ck_assert_int_eq(again.n_batch, folded.n_batch);
        ck_assert_int_eq(again.m, folded.m);
        ck_assert_int_eq(again.n, folded.n);
        swapped = mo_call_matmul_collapse(&collapsed);
        check_equal(&f, &collapsed, swapped, seed);
        ck_assert_int_eq(collapsed.n_batch, folded.n_batch);
    }
}
END_TEST

/* Products of contiguous tensors: batches times [m, k] and [k, n], where a 0
 * in a_own or b_own is a dimension that is broadcast. */
static const struct {
    int64_t m, n, k;
    int n_batch;
    int64_t extent[3];
    bool a_own[3], b_own[3];
    int64_t folded_m, folded_n;
    int folded_batch;
} cases[] = {
    /* [T, 1, K] and [T, 1, 1, K] times [K, N] */
    { 1, 5, 3, 1, { 7 }, { 1 }, { 0 }, 7, 5, 0 },
    { 1, 5, 3, 2, { 7, 1 }, { 1, 1 }, { 0, 0 }, 7, 5, 0 },
    /* [B, T, K] times [1, K, N] */
    { 4, 5, 3, 1, { 7 }, { 1 }, { 0 }, 28, 5, 0 },
    { 4, 5, 3, 2, { 2, 3 }, { 1, 1 }, { 0, 0 }, 24, 5, 0 },
    /* [M, K] times [T, K, 1] */
    { 5, 1, 3, 1, { 7 }, { 0 }, { 1 }, 7, 5, 0 },
    /* a batch of their own stays */
    { 4, 5, 3, 1, { 7 }, { 1 }, { 1 }, 4, 5, 1 },
    { 4, 5, 3, 2, { 2, 3 }, { 1, 1 }, { 1, 0 }, 12, 5, 1 },
    /* [B, 1, 1, K] times [H, K, N] */
    { 1, 5, 3, 2, { 6, 2 }, { 1, 0 }, { 0, 1 }, 6, 5, 1 },
    /* empty */
    { 1, 5, 3, 1, { 0 }, { 1 }, { 0 }, 0, 5, 0 },
    { 4, 5, 0, 1, { 7 }, { 1 }, { 0 }, 4, 5, 1 },
};

static mo_call_matmul_operand dense_operand(int64_t rows, int64_t columns,
                                            int n, const int64_t *extent,
                                            const bool *own)
{
    mo_call_matmul_operand side = { .row = columns, .column = 1 };
    int64_t next = rows * columns;

    for (int d = n - 1; d >= 0; d--) {
        side.batch[d] = !own || own[d] ? next : 0;
        next *= !own || own[d] ? extent[d] : 1;
    }
    return side;
}

START_TEST(batches_of_one_matrix_are_rows)
{
    mo_call_matmul f = { .m = cases[_i].m,
                         .n = cases[_i].n,
                         .k = cases[_i].k,
                         .n_batch = cases[_i].n_batch },
                   g;
    bool swapped;

    memcpy(f.extent, cases[_i].extent, sizeof cases[_i].extent);
    f.a = dense_operand(f.m, f.k, f.n_batch, f.extent, cases[_i].a_own);
    f.b = dense_operand(f.k, f.n, f.n_batch, f.extent, cases[_i].b_own);
    f.c = dense_operand(f.m, f.n, f.n_batch, f.extent, NULL);
    g = f;
    swapped = mo_call_matmul_collapse(&g);
    check_equal(&f, &g, swapped, 0);
    ck_assert_int_eq(g.n_batch, cases[_i].folded_batch);
    ck_assert_int_eq(g.m, cases[_i].folded_m);
    ck_assert_int_eq(g.n, cases[_i].folded_n);
    ck_assert_int_eq(g.c.column, 1);
}
END_TEST

/* Rows of two strides are no rows of one: the longer dimension is. */
START_TEST(the_longest_of_two_row_dimensions_is_chosen)
{
    mo_call_matmul f = { .m = 2, .n = 5, .k = 3, .n_batch = 1 };

    f.extent[0] = 50;
    f.a = (mo_call_matmul_operand){ 50 * 3, 1, { 3 } };
    f.b = (mo_call_matmul_operand){ 5, 1, { 0 } };
    f.c = (mo_call_matmul_operand){ 5, 1, { 2 * 5 } };
    mo_call_matmul_fold(&f);
    ck_assert_int_eq(f.m, 50);
    ck_assert_int_eq(f.extent[0], 2);
    ck_assert_int_eq(f.a.row, 3);
    ck_assert_int_eq(f.c.row, 10);
}
END_TEST

SUITE(matmul_fold)
{
    TEST(folding_changes_no_element);
    EACH(batches_of_one_matrix_are_rows, COUNT(cases));
    TEST(the_longest_of_two_row_dimensions_is_chosen);
}
