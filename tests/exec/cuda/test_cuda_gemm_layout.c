/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/backend/cuda/algo/cublaslt/gemm_layout.c: the BLAS product
 * equals the call, both by their definition, in integers. */
#include "exec/backend/cuda/algo/cublaslt/matmul_descs.h"

#include <limits.h>

#include "base/random.h"
#include "tests/support/suite.h"

enum { MOST = 4096 };

/* Offset of an element of a column-major matrix. */
static int64_t column_major_offset(const mo_cuda_gemm_matrix *m, int64_t batch,
                                   int64_t row, int64_t column)
{
    int64_t r = m->transposed ? column : row, c = m->transposed ? row : column;

    ck_assert_int_lt(r, m->rows);
    ck_assert_int_lt(c, m->columns);
    return batch * m->step + c * m->lead + r;
}

static void run_blas(const mo_cuda_gemm *g, const int *const *in, int *out)
{
    int64_t k = g->left.transposed ? g->left.rows : g->left.columns;

    for (int64_t b = 0; b < g->batch; b++)
        for (int64_t r = 0; r < g->result.rows; r++)
            for (int64_t c = 0; c < g->result.columns; c++) {
                int sum = 0;

                for (int64_t i = 0; i < k; i++)
                    sum +=
                        in[g->left_in][column_major_offset(&g->left, b, r, i)] *
                        in[g->right_in]
                          [column_major_offset(&g->right, b, i, c)];
                out[column_major_offset(&g->result, b, r, c)] = sum;
            }
}

static int64_t operand_offset(const mo_call_matmul *f,
                              const mo_call_matmul_operand *side, int64_t batch,
                              int64_t row, int64_t column)
{
    int64_t place = row * side->row + column * side->column;

    for (int d = f->n_batch - 1; d >= 0; d--) {
        place += batch % f->extent[d] * side->batch[d];
        batch /= f->extent[d];
    }
    return place;
}

static void run_call(const mo_call_matmul *f, const int *a, const int *b,
                     int *c)
{
    int64_t batches = 1;

    for (int d = 0; d < f->n_batch; d++)
        batches *= f->extent[d];
    for (int64_t i = 0; i < batches * f->m * f->n; i++) {
        int64_t batch = i / (f->m * f->n), m = i / f->n % f->m, n = i % f->n;
        int sum = 0;

        for (int64_t k = 0; k < f->k; k++)
            sum += a[operand_offset(f, &f->a, batch, m, k)] *
                   b[operand_offset(f, &f->b, batch, k, n)];
        c[operand_offset(f, &f->c, batch, m, n)] = sum;
    }
}

static bool equals_call(const mo_call_matmul *f, const mo_cuda_gemm *gemm)
{
    static int a[MOST], b[MOST], meant[MOST], told[MOST];
    const int *const in[] = { a, b };

    for (int i = 0; i < MOST; i++) {
        a[i] = i * 7 % 19 - 9;
        b[i] = i * 5 % 23 - 11;
        meant[i] = told[i] = 1 << 30;
    }
    run_call(f, a, b, meant);
    run_blas(gemm, in, told);
    return memcmp(meant, told, sizeof meant) == 0;
}

/* Strides of a dense operand with its dimensions in some order: the batch's,
 * then rows and columns; some of the batch may be broadcast. */
static mo_call_matmul_operand random_side(mo_random *r, const mo_call_matmul *f,
                                          int64_t rows, int64_t columns,
                                          bool repeats)
{
    mo_call_matmul_operand side = { .row = 0 };
    int64_t *strides[MO_CALL_MATMUL_MAX_BATCH + 2], run = 1;
    int64_t extents[MO_CALL_MATMUL_MAX_BATCH + 2];
    int n = 0;

    for (int d = 0; d < f->n_batch; d++) {
        strides[n] = &side.batch[d];
        extents[n++] = f->extent[d];
    }
    strides[n] = &side.row;
    extents[n++] = rows;
    strides[n] = &side.column;
    extents[n++] = columns;
    while (n > 0) {
        int pick = mo_random_below(r, 3) ? n - 1 : mo_random_below(r, n);
        int64_t *stride = strides[pick];
        bool again = repeats && stride != &side.row && stride != &side.column &&
                     mo_random_below(r, 3) == 0;

        *stride = again ? 0 : run;
        run *= again ? 1 : extents[pick];
        n--;
        memmove(strides + pick, strides + pick + 1,
                (size_t) (n - pick) * sizeof *strides);
        memmove(extents + pick, extents + pick + 1,
                (size_t) (n - pick) * sizeof *extents);
    }
    return side;
}

static mo_call_matmul random_matmul(mo_random *r)
{
    mo_call_matmul f = { .m = 1 + mo_random_below(r, 5),
                         .n = 1 + mo_random_below(r, 5),
                         .k = 1 + mo_random_below(r, 5),
                         .n_batch = mo_random_below(r, 4) };

    for (int d = 0; d < f.n_batch; d++)
        f.extent[d] = 1 + mo_random_below(r, 3);
    f.a = random_side(r, &f, f.m, f.k, true);
    f.b = random_side(r, &f, f.k, f.n, true);
    f.c = random_side(r, &f, f.m, f.n, false);
    return f;
}

START_TEST(what_is_told_is_what_is_meant)
{
    int told = 0;

    for (int i = 0; i < 200; i++) {
        uint64_t seed = mo_random_seed(9, (uint64_t) (_i * 200 + i));
        mo_random r = { seed };
        mo_call call = { .kind = MO_CALL_MATMUL };
        mo_cuda_gemm gemm;

        call.u.matmul = random_matmul(&r);
        if (!mo_cuda_gemm_from_call(&call, &gemm))
            continue;
        told++;
        ck_assert_msg(equals_call(&call.u.matmul, &gemm), "seed %llu",
                      (unsigned long long) seed);
    }
    ck_assert_int_gt(told, 40);
}
END_TEST

/* Products of networks: each must be supported. */

static const struct {
    const char *what;
    mo_call_matmul matmul;
    int64_t batch; /* of the BLAS product */
    int left_in;
} known[] = {
    { "rows by rows",
      { .m = 5,
        .n = 4,
        .k = 3,
        .a = { .row = 3, .column = 1 },
        .b = { .row = 4, .column = 1 },
        .c = { .row = 4, .column = 1 } },
      1,
      1 },
    { "weights by outputs",
      { .m = 5,
        .n = 4,
        .k = 3,
        .a = { .row = 3, .column = 1 },
        .b = { .row = 1, .column = 3 },
        .c = { .row = 4, .column = 1 } },
      1,
      1 },
    { "sentences by the same weights",
      { .m = 5,
        .n = 4,
        .k = 3,
        .n_batch = 2,
        .extent = { 2, 3 },
        .a = { .row = 3, .column = 1, .batch = { 45, 15 } },
        .b = { .row = 4, .column = 1 },
        .c = { .row = 4, .column = 1, .batch = { 60, 20 } } },
      1,
      1 },
    { "heads of attention, without turning them",
      { .m = 5,
        .n = 5,
        .k = 4,
        .n_batch = 2,
        .extent = { 1, 3 },
        .a = { .row = 12, .column = 1, .batch = { 60, 4 } },
        .b = { .row = 1, .column = 12, .batch = { 60, 4 } },
        .c = { .row = 5, .column = 1, .batch = { 75, 25 } } },
      3,
      1 },
    { "two batches that go on evenly",
      { .m = 5,
        .n = 4,
        .k = 3,
        .n_batch = 2,
        .extent = { 2, 3 },
        .a = { .row = 3, .column = 1, .batch = { 45, 15 } },
        .b = { .row = 4, .column = 1, .batch = { 36, 12 } },
        .c = { .row = 4, .column = 1, .batch = { 60, 20 } } },
      6,
      1 },
    { "a result column by column",
      { .m = 5,
        .n = 4,
        .k = 3,
        .a = { .row = 3, .column = 1 },
        .b = { .row = 4, .column = 1 },
        .c = { .row = 1, .column = 5 } },
      1,
      0 },
    { "one row, whatever its stride",
      { .m = 1,
        .n = 4,
        .k = 3,
        .a = { .row = 77, .column = 1 },
        .b = { .row = 4, .column = 1 },
        .c = { .row = 99, .column = 1 } },
      1,
      1 },
    { "rows of a wider tensor",
      { .m = 5,
        .n = 4,
        .k = 3,
        .a = { .row = 9, .column = 1 },
        .b = { .row = 4, .column = 1 },
        .c = { .row = 16, .column = 1 } },
      1,
      1 },
};

START_TEST(products_of_networks_are_told)
{
    mo_call call = { .kind = MO_CALL_MATMUL, .u.matmul = known[_i].matmul };
    mo_cuda_gemm gemm;

    ck_assert_msg(mo_cuda_gemm_from_call(&call, &gemm), "%s", known[_i].what);
    ck_assert_int_eq(gemm.batch, known[_i].batch);
    ck_assert_int_eq(gemm.left_in, known[_i].left_in);
    ck_assert_msg(equals_call(&call.u.matmul, &gemm), "%s", known[_i].what);
}
END_TEST

static mo_call_matmul plain(void)
{
    return (mo_call_matmul){ .m = 5,
                             .n = 4,
                             .k = 3,
                             .a = { .row = 3, .column = 1 },
                             .b = { .row = 4, .column = 1 },
                             .c = { .row = 4, .column = 1 } };
}

static bool is_supported(const mo_call_matmul *matmul)
{
    mo_call call = { .kind = MO_CALL_MATMUL, .u.matmul = *matmul };
    mo_cuda_gemm gemm;

    return mo_cuda_gemm_from_call(&call, &gemm);
}

START_TEST(what_a_library_cannot_be_told_is_refused)
{
    mo_call_matmul f = plain();

    ck_assert(is_supported(&f));
    f.a.column = 2; /* no stride is 1 */
    f.a.row = 6;
    ck_assert(!is_supported(&f));
    f = plain();
    f.b.row = 0; /* broadcast rows */
    ck_assert(!is_supported(&f));
    f = plain();
    f.a.row = -3;
    ck_assert(!is_supported(&f));
    f = plain();
    f.k = 0;
    ck_assert(!is_supported(&f));
    f = plain();
    f.m = (int64_t) INT_MAX + 1;
    ck_assert(!is_supported(&f));
    f = plain();
    f.n_batch = 1;
    f.extent[0] = 2;
    f.a.batch[0] = -15;
    f.b.batch[0] = 12;
    f.c.batch[0] = 20;
    ck_assert(!is_supported(&f));
}
END_TEST

static mo_call_conv pixel_wise(void)
{
    return (mo_call_conv){ .sweep = { .spatial = 2,
                                      .in = { 2, 3 },
                                      .out = { 2, 3 },
                                      .kernel = { 1, 1 },
                                      .stride = { 1, 1 },
                                      .dilation = { 2, 1 } },
                           .batch = 2,
                           .in_channels = 5,
                           .out_channels = 4,
                           .groups = 1,
                           .channels_last = true };
}

static bool is_product(const mo_call_conv *conv, mo_cuda_gemm *gemm)
{
    mo_call call = { .kind = MO_CALL_CONV, .u.conv = *conv };

    return mo_cuda_gemm_from_call(&call, gemm);
}

START_TEST(windows_of_one_element_are_a_product)
{
    mo_call_matmul meant = { .m = 12,
                             .n = 4,
                             .k = 5,
                             .a = { .row = 5, .column = 1 },
                             .b = { .row = 1, .column = 5 },
                             .c = { .row = 4, .column = 1 } };
    mo_call_conv conv = pixel_wise();
    mo_cuda_gemm gemm;

    ck_assert(is_product(&conv, &gemm));
    ck_assert(equals_call(&meant, &gemm));
}
END_TEST

START_TEST(other_convolutions_are_none)
{
    mo_cuda_gemm gemm;
    mo_call_conv conv = pixel_wise();

    conv.sweep.kernel[1] = 2;
    ck_assert(!is_product(&conv, &gemm));
    conv = pixel_wise();
    conv.sweep.stride[0] = 2;
    ck_assert(!is_product(&conv, &gemm));
    conv = pixel_wise();
    conv.sweep.pad_end[0] = 1;
    ck_assert(!is_product(&conv, &gemm));
    conv = pixel_wise();
    conv.groups = 5;
    ck_assert(!is_product(&conv, &gemm));
    conv = pixel_wise();
    conv.transposed = true;
    ck_assert(!is_product(&conv, &gemm));
    conv = pixel_wise();
    conv.channels_last = false;
    ck_assert(!is_product(&conv, &gemm));
}
END_TEST

SUITE(cuda_gemm_layout)
{
    EACH(what_is_told_is_what_is_meant, 20);
    EACH(products_of_networks_are_told, COUNT(known));
    TEST(what_a_library_cannot_be_told_is_refused);
    TEST(windows_of_one_element_are_a_product);
    TEST(other_convolutions_are_none);
}
