/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/backend/cuda/algo/fused_attention.h: every tiling computes
 * what the CPU does. */
#include <config.h>

#include "tests/exec/cuda/cuda_pair.h"
#include "tests/support/suite.h"

typedef enum hiding { NOTHING, FUTURE, BY_TRUTH, BY_SUM } hiding;

/* A case; heads are interleaved in the rows of q, k and v. */
typedef struct shape_case {
    int64_t batch, heads, queries, keys, width, v_width;
    mo_elem elem;
    hiding hides;
    bool score, after;
    int64_t gap; /* padding elements behind each row */
    bool cached; /* keys and values are of f16 */
} shape_case;

static const shape_case shapes[] = {
    /* All keys of a row in one iteration, warps for other queries. */
    { 3, 2, 49, 49, 32, 32, MO_ELEM_F32, NOTHING, true, false, 0, false },
    { 1, 1, 16, 8, 16, 8, MO_ELEM_F32, NOTHING, false, false, 0, false },
    /* Keys shared by warps; heads of 64 as in most networks. */
    { 1, 2, 33, 128, 64, 64, MO_ELEM_F32, NOTHING, false, false, 0, false },
    { 1, 1, 17, 130, 64, 64, MO_ELEM_F32, BY_SUM, false, true, 0, false },
    /* Several groups of queries per warp; causal. */
    { 14, 4, 70, 70, 16, 16, MO_ELEM_F32, FUTURE, false, false, 0, false },
    { 1, 6, 40, 150, 24, 48, MO_ELEM_F32, BY_TRUTH, true, true, 0, false },
    /* Rows that cannot be loaded four at a time, odd sizes. */
    { 1, 3, 5, 77, 20, 12, MO_ELEM_F32, NOTHING, false, true, 1, false },
    { 1, 2, 31, 9, 7, 13, MO_ELEM_F32, FUTURE, true, false, 3, false },
    { 1, 2, 1, 40, 1, 1, MO_ELEM_F32, NOTHING, false, false, 0, false },
    /* f16. */
    { 1, 2, 20, 64, 64, 64, MO_ELEM_F16, FUTURE, false, false, 0, false },
    { 2, 1, 18, 50, 40, 40, MO_ELEM_BF16, BY_SUM, true, true, 2, false },
    /* Rows too wide for registers. */
    { 1, 2, 6, 45, 200, 300, MO_ELEM_F32, BY_SUM, true, true, 0, false },
    { 1, 1, 3, 5, 129, 8, MO_ELEM_F16, FUTURE, false, false, 0, false },
    /* Few queries and many keys, which the blocks of a cluster share. */
    { 1, 2, 4, 512, 64, 64, MO_ELEM_F32, BY_TRUTH, false, false, 0, true },
    { 1, 2, 1, 1024, 128, 128, MO_ELEM_F16, NOTHING, false, false, 0, false },
    { 1, 3, 7, 700, 72, 32, MO_ELEM_BF16, BY_SUM, true, true, 0, true },
    { 1, 1, 1, 300, 64, 64, MO_ELEM_F32, NOTHING, false, true, 1, true },
    /* Empty. */
    { 1, 0, 4, 4, 8, 8, MO_ELEM_F32, NOTHING, false, false, 0, false },
};

static void put_rows(call_case *c, const shape_case *s, int64_t rows,
                     int64_t width, mo_elem elem, int64_t *row,
                     int64_t *batch)
{
    *row = s->heads * width + s->gap;
    batch[0] = rows * *row;
    batch[1] = width;
    case_in(c, elem, shape_of(3, s->batch, rows, *row), (uint64_t) rows);
}

static void put_result(call_case *c, const shape_case *s)
{
    mo_call_attention *a = &c->call.u.attention;

    a->out_row = s->heads * s->v_width;
    a->out_batch[0] = s->queries * a->out_row;
    a->out_batch[1] = s->v_width;
    case_out(c, s->elem,
             shape_of(4, s->batch, s->queries, s->heads, s->v_width));
    if (s->after)
        case_after(c, 3, false, 5);
}

/* Every query has at least the first key, but for one without any where its
 * result is 0. */
static void put_mask(call_case *c, const shape_case *s)
{
    mo_call_attention *a = &c->call.u.attention;
    mo_tensor_dense *mask;

    a->causal = s->hides == FUTURE;
    a->has_mask = s->hides == BY_TRUTH || s->hides == BY_SUM;
    if (!a->has_mask)
        return;
    mask = case_in(c, s->hides == BY_TRUTH ? MO_ELEM_BOOL : s->elem,
                   shape_of(3, s->batch, s->queries, s->keys), 11);
    a->mask_batch[0] = s->queries * s->keys;
    a->mask_row = s->keys;
    a->mask_column = 1;
    for (int64_t i = 0; s->hides == BY_TRUTH && i < s->batch * s->queries; i++)
        ((unsigned char *) mask->data)[i * s->keys] = 1;
    a->zero_if_masked = s->hides == BY_TRUTH;
    if (a->zero_if_masked)
        memset(mask->data, 0, (size_t) s->keys);
}

/* score + bias[head, query, key] + bias[batch, key] */
static void put_score(call_case *c, const shape_case *s,
                      mo_point_program *score)
{
    mo_point_step add = { .op = MO_POINT_ADD, .a = 0, .b = 1 };

    if (!s->score)
        return;
    case_in(c, MO_ELEM_F32, shape_of(3, s->heads, s->queries, s->keys), 13);
    case_in(c, MO_ELEM_F16, shape_of(2, s->batch, s->keys), 17);
    if (s->gap == 0) /* constants may be loaded early */
        c->constant |= 3u << (c->call.n_in - 2);
    *score = (mo_point_program){ .n_operands = 3 };
    for (int i = 0; i < 3; i++)
        score->operands[i].elem = i == 2 ? MO_ELEM_F16 : MO_ELEM_F32;
    score->out = mo_point_access_dense(
        &(mo_shape){ 4, { s->batch, s->heads, s->queries, s->keys } });
    score->operands[0].access = score->out;
    score->operands[1].access.stride[1] = s->queries * s->keys;
    score->operands[1].access.stride[2] = s->keys;
    score->operands[1].access.stride[3] = 1;
    score->operands[2].access.stride[0] = s->keys;
    score->operands[2].access.stride[3] = 1;
    add.a = mo_point_push_step(score, add);
    add.b = 2;
    score->result = mo_point_push_step(score, add);
    c->call.u.attention.score = score;
}

static void make_case(call_case *c, const shape_case *s,
                      mo_point_program *score)
{
    mo_call_attention *a = &c->call.u.attention;
    mo_elem kv = s->cached ? MO_ELEM_F16 : s->elem;

    case_begin(c, MO_CALL_ATTENTION);
    *a = (mo_call_attention){ .n_batch = 2,
                              .extent = { s->batch, s->heads },
                              .queries = s->queries,
                              .keys = s->keys,
                              .width = s->width,
                              .v_width = s->v_width,
                              .scale = 0.7 };
    put_rows(c, s, s->queries, s->width, s->elem, &a->q_row, a->q_batch);
    put_rows(c, s, s->keys, s->width, kv, &a->k_row, a->k_batch);
    put_rows(c, s, s->keys, s->v_width, kv, &a->v_row, a->v_batch);
    put_mask(c, s);
    put_score(c, s, score);
    put_result(c, s);
}

START_TEST(attention_is_the_same_however_it_is_cut)
{
    mo_backend_precision precision = (mo_backend_precision) _i;
    call_case cases[COUNT(shapes)], *all[COUNT(shapes)];
    mo_point_program scores[COUNT(shapes)];
    uint64_t numbers[COUNT(shapes)];

    for (size_t i = 0; i < COUNT(shapes); i++) {
        make_case(&cases[i], &shapes[i], &scores[i]);
        all[i] = &cases[i];
        numbers[i] = i;
    }
    pair_check(all, (int) COUNT(shapes), precision, numbers);
    for (size_t i = 0; i < COUNT(shapes); i++)
        case_end(&cases[i]);
}
END_TEST

SUITE(cuda_attention)
{
    use_cuda();
    EACH(attention_is_the_same_however_it_is_cut, MO_BACKEND_PRECISIONS);
}
