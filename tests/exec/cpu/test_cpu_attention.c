/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu */
/* Tests of exec/backend/cpu/kernels/cpu_attention.h: ATTENTION calls on the
 * CPU backend against the definition in double. */
#include <math.h>

#include "tests/exec/support/call_case.h"
#include "tests/exec/support/run_calls.h"
#include "tests/support/suite.h"

static int64_t pick_size(mo_random *r)
{
    static const int sizes[] = { 1, 2, 7, 16, 33, 56, 60, 130 };

    return sizes[mo_random_below(r, COUNT(sizes))];
}

/* Memory order of the matrices: heads one after the other, or interleaved in
 * each row. */
static void set_strides(mo_random *r, const mo_call_attention *a, int64_t rows,
                        int64_t width, int64_t *offset, int64_t *row,
                        int64_t *batch)
{
    int64_t gap = mo_random_below(r, 4);

    *offset = mo_random_below(r, 5);
    if (mo_random_below(r, 2)) {
        *row = width + gap;
        batch[1] = rows * *row;
        batch[0] = a->extent[1] * batch[1];
    } else {
        batch[1] = width + gap;
        *row = a->extent[1] * batch[1];
        batch[0] = rows * *row;
    }
}

/* Two batch dimensions; keys may be shared by the second. */
static void make_attention(mo_random *r, mo_call_attention *a)
{
    *a = (mo_call_attention){ .n_batch = 2 };
    a->extent[0] = 1 + mo_random_below(r, 2);
    a->extent[1] = 1 + mo_random_below(r, 3);
    a->queries = pick_size(r);
    a->keys = pick_size(r);
    a->width = pick_size(r);
    a->v_width = pick_size(r);
    a->scale = 0.1 + mo_random_unit(r);
    a->causal = mo_random_below(r, 3) == 0;
    a->has_mask = !a->causal && mo_random_below(r, 2);
    a->zero_if_masked = mo_random_below(r, 2);
    set_strides(r, a, a->queries, a->width, &a->q_offset, &a->q_row,
                a->q_batch);
    set_strides(r, a, a->keys, a->width, &a->k_offset, &a->k_row, a->k_batch);
    set_strides(r, a, a->keys, a->v_width, &a->v_offset, &a->v_row, a->v_batch);
    if (mo_random_below(r, 2))
        a->k_batch[1] = 0;
    a->mask_row = mo_random_below(r, 2) ? a->keys : 0;
    a->mask_column = 1;
}

/* A result with heads one after the other, or interleaved in each row. */
static void make_result(mo_random *r, call_case *c, mo_elem elem)
{
    mo_call_attention *a = &c->call.u.attention;
    bool beside = mo_random_below(r, 2);
    int64_t heads = a->extent[1];

    a->out_row = beside ? heads * a->v_width : a->v_width;
    a->out_batch[1] = beside ? a->v_width : a->queries * a->v_width;
    a->out_batch[0] = heads * a->queries * a->v_width;
    case_out(c, elem,
             shape_of(4, a->extent[0], beside ? a->queries : heads,
                      beside ? heads : a->queries, a->v_width));
}

/* A shape that spans all rows of this layout. */
static mo_shape spanned_shape(const mo_call_attention *a, int64_t offset,
                              int64_t rows, int64_t row, const int64_t *batch,
                              int64_t width)
{
    return shape_of(1, offset + (a->extent[0] - 1) * batch[0] +
                           (a->extent[1] - 1) * batch[1] + (rows - 1) * row +
                           width);
}

/* score = x * bias[head, key] + bias[head, key] */
static void put_score(call_case *c, mo_point_program *reference_score,
                      uint64_t seed)
{
    mo_call_attention *a = &c->call.u.attention;
    mo_point_step step = { .op = MO_POINT_MULTIPLY, .a = 0, .b = 1 };

    case_in(c, MO_ELEM_F32, shape_of(2, a->extent[1], a->keys), seed);
    *reference_score = (mo_point_program){ .n_operands = 2 };
    reference_score->operands[0].elem = reference_score->operands[1].elem =
        MO_ELEM_F32;
    reference_score->out = mo_point_access_dense(
        &(mo_shape){ 4, { a->extent[0], a->extent[1], a->queries, a->keys } });
    reference_score->operands[0].access = reference_score->out;
    reference_score->operands[1].access.stride[1] = a->keys;
    reference_score->operands[1].access.stride[3] = 1;
    step.a = mo_point_push_step(reference_score, step);
    step.op = MO_POINT_ADD;
    reference_score->result = mo_point_push_step(reference_score, step);
    a->score = reference_score;
}

static double reference_score(const call_case *c, int64_t b0, int64_t b1,
                              int64_t i, int64_t j)
{
    const mo_call_attention *a = &c->call.u.attention;
    int64_t q =
        a->q_offset + b0 * a->q_batch[0] + b1 * a->q_batch[1] + i * a->q_row;
    int64_t k =
        a->k_offset + b0 * a->k_batch[0] + b1 * a->k_batch[1] + j * a->k_row;
    int64_t mask = i * a->mask_row + j * a->mask_column;
    double sum = 0;

    if (a->causal && j > i)
        return -INFINITY;
    for (int64_t d = 0; d < a->width; d++)
        sum += mo_tensor_get_double(&c->in[0], q + d) *
               mo_tensor_get_double(&c->in[1], k + d);
    sum *= a->scale;
    if (a->score) {
        double bias =
            mo_tensor_get_double(&c->in[3 + a->has_mask], b1 * a->keys + j);

        sum = sum * bias + bias;
    }
    if (!a->has_mask)
        return sum;
    if (c->in[3].desc.elem == MO_ELEM_BOOL)
        return mo_tensor_get_double(&c->in[3], mask) != 0 ? sum : -INFINITY;
    return sum + mo_tensor_get_double(&c->in[3], mask);
}

static void reference_attention(const call_case *c, int64_t b0, int64_t b1,
                                int64_t i, double *out)
{
    const mo_call_attention *a = &c->call.u.attention;
    int64_t v = a->v_offset + b0 * a->v_batch[0] + b1 * a->v_batch[1];
    double weights = 0;

    if (a->has_sinks)
        weights = exp(mo_tensor_get_double(
            &c->in[3 + a->has_mask], b1 * a->sink_batch[1] + i * a->sink_row));
    for (int64_t j = 0; j < a->keys; j++) {
        double w = exp(reference_score(c, b0, b1, i, j));

        weights += w;
        for (int64_t d = 0; d < a->v_width; d++)
            out[d] += w * mo_tensor_get_double(&c->in[2], v + j * a->v_row + d);
    }
    for (int64_t d = 0; d < a->v_width; d++)
        out[d] = a->zero_if_masked && weights == 0 ? 0 : out[d] / weights;
}

static double *expect_attention(const call_case *c)
{
    const mo_call_attention *a = &c->call.u.attention;
    int64_t elements = mo_tensor_desc_elements(&c->out[0].desc);
    double *expected = calloc((size_t) elements, sizeof *expected);

    for (int64_t b0 = 0; b0 < a->extent[0]; b0++)
        for (int64_t b1 = 0; b1 < a->extent[1]; b1++)
            for (int64_t i = 0; i < a->queries; i++)
                reference_attention(c, b0, b1, i,
                                    expected + b0 * a->out_batch[0] +
                                        b1 * a->out_batch[1] + i * a->out_row);
    for (int64_t i = 0; c->call.after && i < elements; i++)
        expected[i] = case_after_of(c, i, expected[i]);
    return expected;
}

static void put_mask(call_case *c, mo_random *r, mo_elem elem, uint64_t seed)
{
    const mo_call_attention *a = &c->call.u.attention;
    bool by_bool = mo_random_below(r, 2);
    mo_tensor_dense *mask = case_in(c, by_bool ? MO_ELEM_BOOL : elem,
                                    shape_of(2, a->queries, a->keys), seed);

    for (int64_t i = 0; by_bool && i < a->queries; i++)
        ((unsigned char *) mask->data)[i * a->keys] =
            1; /* one visible key at least */
    if (by_bool && a->zero_if_masked)
        memset(mask->data, 0, (size_t) a->keys);
    else if (by_bool && a->keys > 1) {
        /* As over a cache that is not full. */
        int64_t seen = 1 + mo_random_below(r, (int) a->keys - 1);

        memset((char *) mask->data + seen, 0, (size_t) (a->keys - seen));
    }
}

/* Of each head, or of each query of it. */
static void put_sinks(call_case *c, mo_random *r, mo_elem elem, uint64_t seed)
{
    mo_call_attention *a = &c->call.u.attention;

    a->has_sinks = true;
    a->sink_row = mo_random_below(r, 2);
    a->sink_batch[1] = a->sink_row ? a->queries : 1;
    case_in(c, elem, shape_of(1, a->extent[1] * a->sink_batch[1]), seed);
}

START_TEST(attention_agrees_with_its_definition)
{
    static const mo_elem elems[] = { MO_ELEM_F32, MO_ELEM_F32, MO_ELEM_F16,
                                     MO_ELEM_BF16 };
    uint64_t seed = 90 + (uint64_t) _i;
    mo_random r = { seed };
    mo_elem elem = elems[_i % COUNT(elems)], kept = elem;
    call_case c;
    mo_call_attention *a = &c.call.u.attention;
    mo_point_program program;
    double *expected;

    if (_i % 8 == 5 && tested_backend() == &mo_backend_cpu)
        kept = MO_ELEM_F16; /* keys and values in a cache */
    case_begin(&c, MO_CALL_ATTENTION);
    make_attention(&r, a);
    case_in(&c, elem,
            spanned_shape(a, a->q_offset, a->queries, a->q_row, a->q_batch,
                          a->width),
            seed);
    case_in(
        &c, kept,
        spanned_shape(a, a->k_offset, a->keys, a->k_row, a->k_batch, a->width),
        seed);
    case_in(&c, kept,
            spanned_shape(a, a->v_offset, a->keys, a->v_row, a->v_batch,
                          a->v_width),
            seed);
    if (a->has_mask)
        put_mask(&c, &r, elem, seed);
    if (mo_random_below(&r, 2))
        put_score(&c, &program, seed);
    else if (tested_backend() == &mo_backend_cpu && mo_random_below(&r, 2))
        put_sinks(&c, &r, elem, seed);
    make_result(&r, &c, elem);
    if (mo_random_below(&r, 2))
        case_after(&c, 3, false, seed);
    expected = expect_attention(&c);
    case_run_threads(&c);
    if (kept == elem)
        case_check(&c, expected, false, seed);
    /* Weights are rounded to the type of the values. */
    for (int64_t i = 0;
         kept != elem && i < mo_tensor_desc_elements(&c.out[0].desc); i++)
        ck_assert_double_eq_tol(mo_tensor_get_double(&c.out[0], i), expected[i],
                                tolerance_of(kept));
    free(expected);
    case_end(&c);
}
END_TEST

/* Scores far beyond the domain of exp. */
START_TEST(large_scores_do_not_overflow)
{
    call_case c;
    mo_call_attention *a = &c.call.u.attention;

    case_begin(&c, MO_CALL_ATTENTION);
    *a = (mo_call_attention){ .queries = 1,
                              .keys = 2,
                              .width = 1,
                              .v_width = 1,
                              .scale = 1,
                              .q_row = 1,
                              .k_row = 1,
                              .v_row = 1,
                              .out_row = 1 };
    for (int i = 0; i < 3; i++)
        case_in(&c, MO_ELEM_F32,
                shape_of(2, (int64_t) (i ? 2 : 1), (int64_t) 1), 1);
    case_out(&c, MO_ELEM_F32, shape_of(2, (int64_t) 1, (int64_t) 1));
    ((float *) c.in[0].data)[0] = 1000;
    memcpy(c.in[1].data, (float[]){ 2, -5 }, 2 * sizeof(float));
    memcpy(c.in[2].data, (float[]){ 3, 4 }, 2 * sizeof(float));
    case_run(&c, 2);
    ck_assert_float_eq(((float *) c.out[0].data)[0], 3);
    case_end(&c);
}
END_TEST

SUITE(cpu_attention)
{
    SOME(attention_agrees_with_its_definition, 120, 12);
    TEST(large_scores_do_not_overflow);
}
