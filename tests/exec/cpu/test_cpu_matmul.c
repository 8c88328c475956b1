/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/backend/cpu/gemm/cpu_matmul.h: MATMUL calls on the CPU backend
 * against the definition in double. */
#include "exec/backend/cpu/gemm/micro_kernel.h"
#include "tests/exec/support/call_case.h"
#include "tests/support/suite.h"

static const char *const micro_kernel_names[] = { "avx512", "avx2", "plain" };

static int64_t pick_size(mo_random *r, const int *from, int n)
{
    return from[mo_random_below(r, n)];
}

/* Strides of a batch of matrices, transposed or not, with gaps. */
static mo_call_matmul_operand side_of(mo_random *r, int64_t rows,
                                      int64_t columns, int64_t batch,
                                      bool loose, int64_t *elements)
{
    bool turned = mo_random_below(r, 2);
    int64_t gap = loose ? mo_random_below(r, 3) : 0;
    mo_call_matmul_operand s = { 0 };

    s.row = turned ? 1 : columns + gap;
    s.column = turned ? rows + gap : 1;
    s.batch[0] = turned ? columns * s.column : rows * s.row;
    *elements = batch * s.batch[0];
    return s;
}

/* A random product; b may be shared by all batches. */
static void make_product(call_case *c, mo_random *r, mo_elem elem,
                         uint64_t seed)
{
    static const int sizes[] = { 1, 2, 3, 5, 7, 8, 13, 16, 31, 33, 64, 70 };
    mo_call_matmul *m = &c->call.u.matmul;
    int64_t a, b, size;

    case_begin(c, MO_CALL_MATMUL);
    m->m = pick_size(r, sizes, COUNT(sizes));
    m->n = pick_size(r, sizes, COUNT(sizes));
    m->k = pick_size(r, sizes, COUNT(sizes));
    m->n_batch = 1;
    m->extent[0] = 1 + mo_random_below(r, 3);
    m->a = side_of(r, m->m, m->k, m->extent[0], true, &a);
    m->b = side_of(r, m->k, m->n, m->extent[0], true, &b);
    m->c = side_of(r, m->m, m->n, m->extent[0], false, &size);
    if (mo_random_below(r, 2))
        m->b.batch[0] = 0;
    case_in(c, elem, shape_of(1, a), seed);
    case_in(c, elem, shape_of(1, b), seed);
    case_out(c, elem, shape_of(1, size));
}

static double *expect_product(const call_case *c)
{
    const mo_call_matmul *m = &c->call.u.matmul;
    double *expected =
        calloc((size_t) mo_tensor_desc_elements(&c->out[0].desc) + 1,
               sizeof *expected);

    for (int64_t i = 0; i < m->extent[0] * m->m * m->n; i++) {
        int64_t batch = i / m->n / m->m, row = i / m->n % m->m, col = i % m->n;
        int64_t at = batch * m->c.batch[0] + row * m->c.row + col * m->c.column;
        double sum = 0;

        for (int64_t k = 0; k < m->k; k++)
            sum += mo_tensor_get_double(&c->in[0], batch * m->a.batch[0] +
                                                       row * m->a.row +
                                                       k * m->a.column) *
                   mo_tensor_get_double(&c->in[1], batch * m->b.batch[0] +
                                                       k * m->b.row +
                                                       col * m->b.column);
        expected[at] = c->call.after ? case_after_of(c, at, sum) : sum;
    }
    return expected;
}

static void check_product(mo_elem elem, const char *micro_kernels,
                          uint64_t seed)
{
    mo_random r = { seed };
    call_case c;
    double *expected;

    make_product(&c, &r, elem, seed);
    c.micro_kernels = micro_kernels;
    c.constant = (unsigned) mo_random_below(&r, 4);
    if (mo_elem_is_float(elem) && mo_random_below(&r, 2))
        case_after(&c, 0, false, seed);
    expected = expect_product(&c);
    case_run_threads(&c);
    case_check(&c, expected, false, seed);
    free(expected);
    case_end(&c);
}

START_TEST(products_agree_with_their_definition)
{
    const char *micro_kernels =
        micro_kernel_names[_i % COUNT(micro_kernel_names)];
    static const mo_elem elems[] = { MO_ELEM_F32,  MO_ELEM_F32, MO_ELEM_F16,
                                     MO_ELEM_BF16, MO_ELEM_F64, MO_ELEM_I32,
                                     MO_ELEM_I64 };

    if (mo_cpu_micro_kernels_find(micro_kernels))
        check_product(elems[_i % COUNT(elems)], micro_kernels,
                      1000 + (uint64_t) _i);
}
END_TEST

/* Sizes that are no multiples of blocks, panels and depths. */
static const struct {
    int64_t m, n, k;
} large[] = {
    { 1, 1000, 2048 }, { 300, 130, 70 },  { 49, 520, 1100 }, { 515, 33, 40 },
    { 100, 17, 2050 }, { 0, 5, 5 },       { 5, 0, 5 },       { 5, 5, 0 },
    { 2000, 1, 3 },    { 33, 150, 2048 }, /* rows share sets of the L1 cache */
};

START_TEST(large_products_are_cut_and_put_together)
{
    call_case c;
    mo_call_matmul *m = &c.call.u.matmul;
    double *expected;

    case_begin(&c, MO_CALL_MATMUL);
    *m =
        (mo_call_matmul){ large[_i].m, large[_i].n, large[_i].k, .n_batch = 1 };
    m->extent[0] = 1;
    m->a.row = m->k;
    m->b.row = m->c.row = m->n;
    m->a.column = m->b.column = m->c.column = 1;
    case_in(&c, MO_ELEM_F32, shape_of(2, m->m, m->k), 5);
    case_in(&c, MO_ELEM_F32, shape_of(2, m->k, m->n), 5);
    case_out(&c, MO_ELEM_F32, shape_of(2, m->m, m->n));
    c.constant = 2;
    case_after(&c, 1, false, 5);
    expected = expect_product(&c);
    case_run_threads(&c);
    case_check(&c, expected, false, 5);
    free(expected);
    case_end(&c);
}
END_TEST

/* The result has no unit stride: its columns are interleaved with others. */
START_TEST(results_may_be_interleaved)
{
    call_case c;
    mo_call_matmul *m = &c.call.u.matmul;
    double *expected;

    case_begin(&c, MO_CALL_MATMUL);
    *m = (mo_call_matmul){ .m = 4, .n = 6, .k = 5, .n_batch = 1 };
    m->extent[0] = 3;
    m->a = (mo_call_matmul_operand){ 5, 1, { 20 } };
    m->b = (mo_call_matmul_operand){ 6, 1, { 30 } };
    m->c = (mo_call_matmul_operand){ 18, 3, { 1 } };
    case_in(&c, MO_ELEM_F32, shape_of(1, (int64_t) 60), 6);
    case_in(&c, MO_ELEM_F32, shape_of(1, (int64_t) 90), 6);
    case_out(&c, MO_ELEM_F32, shape_of(1, (int64_t) 72));
    expected = expect_product(&c);
    case_run_threads(&c);
    case_check(&c, expected, false, 6);
    free(expected);
    case_end(&c);
}
END_TEST

START_TEST(integers_wrap_around)
{
    call_case c;
    mo_call_matmul *m = &c.call.u.matmul;

    case_begin(&c, MO_CALL_MATMUL);
    *m = (mo_call_matmul){ .m = 1, .n = 1, .k = 2 };
    m->a = m->b = m->c = (mo_call_matmul_operand){ 1, 1, { 0 } };
    case_in(&c, MO_ELEM_I32, shape_of(1, (int64_t) 2), 1);
    case_in(&c, MO_ELEM_I32, shape_of(1, (int64_t) 2), 1);
    case_out(&c, MO_ELEM_I32, shape_of(1, (int64_t) 1));
    for (int i = 0; i < 2; i++) {
        ((int32_t *) c.in[0].data)[i] = INT32_MAX;
        ((int32_t *) c.in[1].data)[i] = 2;
    }
    case_run(&c, 1);
    ck_assert_int_eq(((int32_t *) c.out[0].data)[0], -4);
    case_end(&c);
}
END_TEST

SUITE(cpu_matmul)
{
    SOME(products_agree_with_their_definition, 210, 21);
    EACH(large_products_are_cut_and_put_together, COUNT(large));
    TEST(results_may_be_interleaved);
    TEST(integers_wrap_around);
}
