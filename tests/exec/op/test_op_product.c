/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu */
/* Tests of exec/op/lower/matmul.c, einsum.c and their kernels, against loops
 * over all labels. */
#include <math.h>
#include <stdio.h>

#include "tests/exec/op/op_case.h"
#include "tests/support/suite.h"

/* The definition: the sum over all labels of a product of elements. */

enum { N_LABELS = 26 };

static const char *term_of(const char *equation, int input)
{
    for (; input > 0; input--)
        equation = strchr(equation, ',') + 1;
    return equation;
}

static int term_length(const char *term)
{
    return (int) strspn(term, "abcdefghijklmnopqrstuvwxyz");
}

/* Index of a term's element for the values of all labels; a dimension of 1
 * repeats. */
static int64_t place_of(const char *term, const mo_shape *shape,
                        const int64_t *at)
{
    int64_t place = 0;

    for (int d = 0; d < shape->rank; d++)
        place = place * shape->dims[d] +
                (shape->dims[d] == 1 ? 0 : at[term[d] - 'a']);
    return place;
}

static void find_sizes(const op_case *c, const char *equation, int64_t *size)
{
    for (int l = 0; l < N_LABELS; l++)
        size[l] = 1;
    for (int i = 0; i < c->n_in; i++) {
        const char *term = term_of(equation, i);
        const mo_shape *shape = &c->value[i].desc.shape;

        for (int d = 0; d < shape->rank; d++)
            if (shape->dims[d] != 1)
                size[term[d] - 'a'] = shape->dims[d];
    }
}

static double *expect_sum(const op_case *c, const char *equation)
{
    const char *output = strstr(equation, "->") + 2;
    int64_t size[N_LABELS], at[N_LABELS], all = 1;
    double *sums =
        calloc((size_t) mo_tensor_desc_elements(&c->out[0]) + 1, sizeof *sums);

    find_sizes(c, equation, size);
    for (int l = 0; l < N_LABELS; l++)
        all *= size[l];
    for (int64_t i = 0; i < all; i++) {
        int64_t rest = i;
        double x = 1;

        for (int l = 0; l < N_LABELS; l++) {
            at[l] = rest % size[l];
            rest /= size[l];
        }
        for (int k = 0; k < c->n_in; k++)
            x *= mo_tensor_get_double(
                &c->value[k],
                place_of(term_of(equation, k), &c->value[k].desc.shape, at));
        sums[place_of(output, &c->out[0].shape, at)] += x;
    }
    return sums;
}

static void check_sums(op_case *c, const double *sums)
{
    double largest = 1;

    op_case_run(c);
    for (int64_t i = 0; i < mo_tensor_desc_elements(&c->out[0]); i++)
        largest = fabs(sums[i]) > largest ? fabs(sums[i]) : largest;
    for (int64_t i = 0; i < mo_tensor_desc_elements(&c->out[0]); i++)
        ck_assert_double_eq_tol(mo_tensor_get_double(&c->result[0], i), sums[i],
                                1e-5 * largest);
}

static const char *const equations[] = {
    "ij->ij",          "ij->ji",
    "ij->i",           "ij->",
    "ii->i",           "ii->",
    "iji->ji",         "ij,jk->ik",
    "ij,kj->ki",       "ij,jk->ki",
    "bij,bjk->bik",    "bij,bkj->bki",
    "i,j->ij",         "ij,ij->ij",
    "ij,ij->",         "i,i->",
    "abcd,cde->abe",   "abcd,dce->abe",
    "abcd,aecd->abe",  "acbd,aced->acbe",
    "bhqd,bhkd->bhqk", "bqhd,bkhd->bhqk",
    "bhqk,bkhd->bqhd", "rsd,rsk->dk",
    "ijk,ik->j",       "abc,cd,de->abe",
    "ab,bc,ca->",      "ab,ac,ad->bcd",
    "ij,kl->ijkl",     "abc,b->ac",
    "ab,cb,b->ac",     "bsid,bsjd->bijs",
    "bikc,bjkc->bijc", "ab,bcd,d->ca",
};

static void put_term(op_case *c, const char *term, const int64_t *size,
                     mo_random *r, uint64_t seed)
{
    mo_shape shape = { .rank = term_length(term) };

    for (int d = 0; d < shape.rank; d++)
        shape.dims[d] = size[term[d] - 'a'];
    /* a dimension of 1 is repeated; not on a diagonal */
    if (shape.rank > 0 && strchr(term + 1, term[0]) >= term + shape.rank &&
        mo_random_below(r, 8) == 0)
        shape.dims[0] = 1;
    op_case_data(c, MO_ELEM_F32, &shape, seed);
}

static void put_output(op_case *c, const char *equation)
{
    const char *term = strstr(equation, "->") + 2;
    mo_shape shape = { .rank = term_length(term) };
    int64_t size[N_LABELS];

    find_sizes(c, equation, size);
    for (int d = 0; d < shape.rank; d++)
        shape.dims[d] = size[term[d] - 'a'];
    op_case_makes(c, MO_ELEM_F32, &shape);
}

START_TEST(einsum_sums_over_what_the_result_has_not)
{
    const char *equation = equations[_i % COUNT(equations)];
    uint64_t seed = 50 + (uint64_t) _i;
    mo_random r = { seed };
    int64_t size[N_LABELS];
    char attrs[128];
    op_case c;
    double *sums;

    snprintf(attrs, sizeof attrs, "{\"equation\":\"%s\"}", equation);
    c = op_case_of("Einsum", attrs);
    for (int l = 0; l < N_LABELS; l++)
        size[l] = 1 + mo_random_below(&r, 5);
    for (const char *term = equation; term; term = strchr(term, ',')) {
        term += *term == ',';
        put_term(&c, term, size, &r, seed++);
    }
    put_output(&c, equation);
    sums = expect_sum(&c, equation);
    check_sums(&c, sums);
    free(sums);
    op_case_clear(&c);
}
END_TEST

/* Equations with an ellipsis, and the same with letters in its place. */
START_TEST(an_ellipsis_stands_for_dimensions_without_a_name)
{
    static const struct {
        const char *dots, *letters;
        mo_shape a, b, out;
    } cases[] = {
        { "...ij,...jk->...ik",
          "xyij,xyjk->xyik",
          { 4, { 2, 3, 4, 5 } },
          { 4, { 2, 3, 5, 2 } },
          { 4, { 2, 3, 4, 2 } } },
        { "b...i,i->b...",
          "bxyi,i->bxy",
          { 4, { 2, 3, 4, 5 } },
          { 1, { 5 } },
          { 3, { 2, 3, 4 } } },
        { "...i,...i",
          "xi,xi->x",
          { 2, { 3, 4 } },
          { 2, { 3, 4 } },
          { 1, { 3 } } },
    };
    char attrs[128];
    op_case c;
    double *sums;

    snprintf(attrs, sizeof attrs, "{\"equation\":\"%s\"}", cases[_i].dots);
    c = op_case_of("Einsum", attrs);
    op_case_data(&c, MO_ELEM_F32, &cases[_i].a, 1);
    op_case_data(&c, MO_ELEM_F32, &cases[_i].b, 2);
    op_case_makes(&c, MO_ELEM_F32, &cases[_i].out);
    sums = expect_sum(&c, cases[_i].letters);
    check_sums(&c, sums);
    free(sums);
    op_case_clear(&c);
}
END_TEST

START_TEST(equations_that_do_not_fit_are_refused)
{
    static const char *const wrong[] = { "ij,jk->il",    "ijk,jk->i", "ij->ij",
                                         "ij,jk,kl->il", "i!,jk->ik", "" };
    mo_shape a = { 2, { 3, 4 } }, b = { 2, { 4, 5 } }, out = { 2, { 3, 5 } };
    char attrs[128];
    mo_error err = { 0 };
    op_case c;

    snprintf(attrs, sizeof attrs, "{\"equation\":\"%s\"}", wrong[_i]);
    c = op_case_of("Einsum", attrs);
    op_case_data(&c, MO_ELEM_F32, &a, 1);
    op_case_data(&c, MO_ELEM_F32, &b, 2);
    op_case_makes(&c, MO_ELEM_F32, &out);
    ck_assert_int_ne(op_case_try(&c, &err), MO_OK);
    op_case_clear(&c);
}
END_TEST

static const struct {
    const char *attrs, *equation;
    mo_shape a, b, out;
} products[] = {
    { NULL, "ij,jk->ik", { 2, { 3, 4 } }, { 2, { 4, 5 } }, { 2, { 3, 5 } } },
    { "{\"transpose_a\":\"true\"}",
      "ji,jk->ik",
      { 2, { 4, 3 } },
      { 2, { 4, 5 } },
      { 2, { 3, 5 } } },
    { "{\"transpose_a\":\"true\",\"transpose_b\":\"true\"}",
      "ji,kj->ik",
      { 2, { 4, 3 } },
      { 2, { 5, 4 } },
      { 2, { 3, 5 } } },
    { NULL, "j,jk->k", { 1, { 4 } }, { 2, { 4, 5 } }, { 1, { 5 } } },
    { "{\"transpose_a\":\"true\"}",
      "j,jk->k",
      { 1, { 4 } },
      { 2, { 4, 5 } },
      { 1, { 5 } } },
    { NULL, "ij,j->i", { 2, { 3, 4 } }, { 1, { 4 } }, { 1, { 3 } } },
    { NULL, "j,j->", { 1, { 4 } }, { 1, { 4 } }, { 0, { 0 } } },
    { NULL,
      "abij,abjk->abik",
      { 4, { 2, 1, 3, 4 } },
      { 4, { 1, 3, 4, 5 } },
      { 4, { 2, 3, 3, 5 } } },
    { NULL,
      "aij,jk->aik",
      { 3, { 2, 3, 4 } },
      { 2, { 4, 5 } },
      { 3, { 2, 3, 5 } } },
    { NULL, "abj,cabjk->cabk", { 3, { 2, 3, 4 } }, { 1, { 0 } }, { 0, { 0 } } },
    { "{\"transpose_b\":\"true\"}",
      "ij,akj->aik",
      { 2, { 3, 4 } },
      { 3, { 2, 5, 4 } },
      { 3, { 2, 3, 5 } } },
    { NULL, "j,ajk->ak", { 1, { 4 } }, { 3, { 2, 4, 5 } }, { 2, { 2, 5 } } },
    { NULL, "aij,j->ai", { 3, { 2, 3, 4 } }, { 1, { 4 } }, { 2, { 2, 3 } } },
};

START_TEST(matmul_broadcasts_and_knows_vectors)
{
    op_case c = op_case_of("MatMul", products[_i].attrs);
    double *sums;

    op_case_data(&c, MO_ELEM_F32, &products[_i].a, 1);
    op_case_data(&c, MO_ELEM_F32, &products[_i].b, 2);
    op_case_makes(&c, MO_ELEM_F32, &products[_i].out);
    if (products[_i].b.dims[0] == 0) { /* does not fit */
        mo_error err = { 0 };

        ck_assert_int_ne(op_case_try(&c, &err), MO_OK);
    } else {
        sums = expect_sum(&c, products[_i].equation);
        check_sums(&c, sums);
        free(sums);
    }
    op_case_clear(&c);
}
END_TEST

START_TEST(gemm_scales_and_adds)
{
    op_case c = op_case_of("Gemm", "{\"alpha\":0.5,\"beta\":2,\"transB\":1}");
    mo_shape a = { 2, { 3, 4 } }, b = { 2, { 5, 4 } }, out = { 2, { 3, 5 } };
    mo_shape bias = { 1, { 5 } };
    double *sums;

    op_case_data(&c, MO_ELEM_F32, &a, 1);
    op_case_data(&c, MO_ELEM_F32, &b, 2);
    op_case_makes(&c, MO_ELEM_F32, &out);
    sums = expect_sum(&c, "ij,kj->ik");
    op_case_data(&c, MO_ELEM_F32, &bias, 3);
    for (int i = 0; i < 15; i++)
        sums[i] = 0.5 * sums[i] + 2 * mo_tensor_get_double(&c.value[2], i % 5);
    check_sums(&c, sums);
    free(sums);
    op_case_clear(&c);
}
END_TEST

START_TEST(linear_has_its_weights_by_output)
{
    op_case c = op_case_of("Linear", NULL);
    mo_shape a = { 3, { 2, 3, 4 } }, b = { 2, { 5, 4 } }, bias = { 1, { 5 } };
    mo_shape out = { 3, { 2, 3, 5 } };
    double *sums;

    op_case_data(&c, MO_ELEM_F32, &a, 1);
    op_case_data(&c, MO_ELEM_F32, &b, 2);
    op_case_makes(&c, MO_ELEM_F32, &out);
    sums = expect_sum(&c, "aij,kj->aik");
    op_case_data(&c, MO_ELEM_F32, &bias, 3);
    for (int i = 0; i < 30; i++)
        sums[i] += mo_tensor_get_double(&c.value[2], i % 5);
    check_sums(&c, sums);
    free(sums);
    op_case_clear(&c);
}
END_TEST

SUITE(op_product)
{
    SOME(einsum_sums_over_what_the_result_has_not, 4 * COUNT(equations),
         COUNT(equations));
    EACH(an_ellipsis_stands_for_dimensions_without_a_name, 3);
    EACH(equations_that_do_not_fit_are_refused, 6);
    EACH(matmul_broadcasts_and_knows_vectors, COUNT(products));
    TEST(gemm_scales_and_adds);
    TEST(linear_has_its_weights_by_output);
}
