/* Claims of attention: ATTENTION calls on the CPU backend, against the
 * definition in doubles. */
#include <math.h>

#include "tests/call_case.h"
#include "tests/suite.h"

static int64_t pick(mo_random *r)
{
    static const int sizes[] = { 1, 2, 7, 16, 33, 56, 60, 130 };

    return sizes[mo_random_below(r, COUNT(sizes))];
}

/* Two dimensions of batches; keys and values may be shared by the second. */
static void make_attention(mo_random *r, mo_attention_call *a)
{
    *a = (mo_attention_call){ .n_batch = 2 };
    a->extent[0] = 1 + mo_random_below(r, 2);
    a->extent[1] = 1 + mo_random_below(r, 3);
    a->queries = pick(r);
    a->keys = pick(r);
    a->width = pick(r);
    a->v_width = pick(r);
    a->scale = 0.1 + mo_random_unit(r);
    a->causal = mo_random_below(r, 3) == 0;
    a->has_mask = !a->causal && mo_random_below(r, 2);
    a->q_batch[1] = a->queries * a->width;
    a->q_batch[0] = a->extent[1] * a->q_batch[1];
    a->k_batch[1] = mo_random_below(r, 2) ? a->keys * a->width : 0;
    a->k_batch[0] = a->extent[1] * a->keys * a->width;
    a->v_batch[1] = a->keys * a->v_width;
    a->v_batch[0] = a->extent[1] * a->v_batch[1];
    a->mask_row = mo_random_below(r, 2) ? a->keys : 0;
    a->mask_column = 1;
}

static double score(const call_case *c, int64_t b0, int64_t b1, int64_t i,
                    int64_t j)
{
    const mo_attention_call *a = &c->call.u.attention;
    int64_t q = b0 * a->q_batch[0] + b1 * a->q_batch[1] + i * a->width;
    int64_t k = b0 * a->k_batch[0] + b1 * a->k_batch[1] + j * a->width;
    int64_t mask = i * a->mask_row + j * a->mask_column;
    double sum = 0;

    if (a->causal && j > i)
        return -INFINITY;
    for (int64_t d = 0; d < a->width; d++)
        sum += mo_dense_at(&c->in[0], q + d) * mo_dense_at(&c->in[1], k + d);
    sum *= a->scale;
    if (!a->has_mask)
        return sum;
    if (c->in[3].desc.elem == MO_BOOL)
        return mo_dense_at(&c->in[3], mask) != 0 ? sum : -INFINITY;
    return sum + mo_dense_at(&c->in[3], mask);
}

static void attend(const call_case *c, int64_t row, double *out)
{
    const mo_attention_call *a = &c->call.u.attention;
    int64_t i = row % a->queries, batch = row / a->queries;
    int64_t b0 = batch / a->extent[1], b1 = batch % a->extent[1];
    int64_t v = b0 * a->v_batch[0] + b1 * a->v_batch[1];
    double weights = 0;

    for (int64_t j = 0; j < a->keys; j++) {
        double w = exp(score(c, b0, b1, i, j));

        weights += w;
        for (int64_t d = 0; d < a->v_width; d++)
            out[d] += w * mo_dense_at(&c->in[2], v + j * a->v_width + d);
    }
    for (int64_t d = 0; d < a->v_width; d++)
        out[d] /= weights;
}

static double *expect_attention(const call_case *c)
{
    const mo_attention_call *a = &c->call.u.attention;
    int64_t rows = a->extent[0] * a->extent[1] * a->queries;
    double *expected = calloc((size_t) (rows * a->v_width), sizeof *expected);

    for (int64_t row = 0; row < rows; row++)
        attend(c, row, expected + row * a->v_width);
    for (int64_t i = 0; c->call.after && i < rows * a->v_width; i++)
        expected[i] = case_after_of(c, i, expected[i]);
    return expected;
}

static void put_mask(call_case *c, mo_random *r, mo_elem elem, uint64_t seed)
{
    const mo_attention_call *a = &c->call.u.attention;
    bool by_bool = mo_random_below(r, 2);
    mo_dense *mask = case_in(c, by_bool ? MO_BOOL : elem,
                             shape_of(2, a->queries, a->keys), seed);

    for (int64_t i = 0; by_bool && i < a->queries; i++)
        ((unsigned char *) mask->data)[i * a->keys] = 1; /* sees something */
}

START_TEST(attention_agrees_with_its_definition)
{
    static const mo_elem elems[] = { MO_F32, MO_F32, MO_F16, MO_BF16 };
    uint64_t seed = 90 + (uint64_t) _i;
    mo_random r = { seed };
    mo_elem elem = elems[_i % COUNT(elems)];
    call_case c;
    mo_attention_call *a = &c.call.u.attention;
    double *expected;

    case_begin(&c, MO_CALL_ATTENTION);
    make_attention(&r, a);
    case_in(&c, elem, shape_of(2, a->extent[0] * a->q_batch[0], (int64_t) 1),
            seed);
    case_in(&c, elem, shape_of(2, a->extent[0] * a->k_batch[0], (int64_t) 1),
            seed);
    case_in(&c, elem, shape_of(2, a->extent[0] * a->v_batch[0], (int64_t) 1),
            seed);
    if (a->has_mask)
        put_mask(&c, &r, elem, seed);
    case_out(&c, elem,
             shape_of(4, a->extent[0], a->extent[1], a->queries, a->v_width));
    if (mo_random_below(&r, 2))
        case_after(&c, 3, false, seed);
    expected = expect_attention(&c);
    case_run_threads(&c);
    case_check(&c, expected, false, seed);
    free(expected);
    case_end(&c);
}
END_TEST

/* Scores far beyond what exp can hold. */
START_TEST(large_scores_do_not_overflow)
{
    call_case c;
    mo_attention_call *a = &c.call.u.attention;

    case_begin(&c, MO_CALL_ATTENTION);
    *a = (mo_attention_call){
        .queries = 1, .keys = 2, .width = 1, .v_width = 1, .scale = 1
    };
    for (int i = 0; i < 3; i++)
        case_in(&c, MO_F32, shape_of(2, (int64_t) (i ? 2 : 1), (int64_t) 1), 1);
    case_out(&c, MO_F32, shape_of(2, (int64_t) 1, (int64_t) 1));
    ((float *) c.in[0].data)[0] = 1000;
    memcpy(c.in[1].data, (float[]){ 2, -5 }, 2 * sizeof(float));
    memcpy(c.in[2].data, (float[]){ 3, 4 }, 2 * sizeof(float));
    case_run(&c, 2);
    ck_assert_float_eq(((float *) c.out[0].data)[0], 3);
    case_end(&c);
}
END_TEST

SUITE(attention)
{
    SOME(attention_agrees_with_its_definition, 120, 12);
    TEST(large_scores_do_not_overflow);
}
