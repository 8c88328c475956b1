/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of exec/backend/cuda/algo/fold_batchnorm.h: the folded product
 * computes the same. */
#include "exec/backend/cuda/algo/fold_batchnorm.h"

#include <math.h>

#include "base/random.h"
#include "exec/weights/evaluate.h"
#include "tests/support/suite.h"

enum { M = 5, N = 7, K = 6, MOST = 8 };

/* [M, K] x [K, N] with an epilogue of random steps. */
typedef struct net {
    mo_call call;
    mo_point_program after;
    int in[MOST], out[1];
    mo_tensor_dense tensors[MOST], result;
    mo_backend_operand operands[MOST];
    int n;
} net;

static int add_tensor(net *t, mo_random *r, int rank, int64_t a, int64_t b)
{
    mo_tensor_desc desc = { MO_ELEM_F32, { .rank = rank, .dims = { a, b } } };

    MUST(mo_tensor_new(&desc, &t->tensors[t->n], &err));
    mo_tensor_fill_random(&t->tensors[t->n], mo_random_next(r), 1, 2);
    t->in[t->n] = t->n;
    t->operands[t->n] = (mo_backend_operand){ desc, NULL };
    return t->n++;
}

/* An operand of the epilogue: constant per channel, or not. */
static int add_operand(net *t, mo_random *r, bool by_channel)
{
    int i = by_channel ? add_tensor(t, r, 1, N, 0) : add_tensor(t, r, 2, M, N);
    mo_point_operand *operand = &t->after.operands[t->after.n_operands];

    operand->elem = MO_ELEM_F32;
    operand->access.stride[0] = by_channel ? 0 : N;
    operand->access.stride[1] = 1;
    if (by_channel)
        t->operands[i].constant = t->tensors[i].data;
    return t->after.n_operands++;
}

static void add_steps(net *t, mo_random *r, int n_constants)
{
    static const mo_point_op ops[] = { MO_POINT_ADD, MO_POINT_SUBTRACT,
                                       MO_POINT_MULTIPLY, MO_POINT_DIVIDE };
    int last = 0;

    for (int i = 1; i <= n_constants; i++) {
        mo_point_op op = ops[mo_random_below(r, COUNT(ops))];
        bool turned = op != MO_POINT_DIVIDE && mo_random_below(r, 3) == 0;

        last = mo_point_push_step(&t->after,
                                  (mo_point_step){ .op = op,
                                                   .a = turned ? i : last,
                                                   .b = turned ? last : i });
        if (mo_random_below(r, 4) == 0)
            last = mo_point_push_step(
                &t->after,
                (mo_point_step){
                    .op = MO_POINT_AFFINE, .a = last, .x = 1.5, .y = -0.25 });
    }
    last = mo_point_push_step(
        &t->after,
        (mo_point_step){ .op = MO_POINT_ADD, .a = last, .b = n_constants + 1 });
    t->after.result = mo_point_push_step(
        &t->after, (mo_point_step){ .op = MO_POINT_RELU, .a = last });
}

static void make_net(net *t, mo_random *r)
{
    bool turned = mo_random_below(r, 2);
    int n_constants = 1 + mo_random_below(r, 3);

    memset(t, 0, sizeof *t);
    add_tensor(t, r, 2, M, K);
    add_tensor(t, r, 2, turned ? N : K, turned ? K : N);
    t->operands[1].constant = t->tensors[1].data;
    t->after.n_operands = 1;
    t->after.operands[0].elem = MO_ELEM_F32;
    t->after.out.stride[0] = N;
    t->after.out.stride[1] = 1;
    t->after.operands[0].access = t->after.out;
    for (int i = 0; i < n_constants; i++)
        add_operand(t, r, true);
    add_operand(t, r, false);
    add_steps(t, r, n_constants);
    t->call = (mo_call){ .kind = MO_CALL_MATMUL,
                         .n_in = t->n,
                         .n_out = 1,
                         .in = t->in,
                         .out = t->out,
                         .after = &t->after,
                         .first_extra = 2 };
    t->call.u.matmul = (mo_call_matmul){
        .m = M,
        .n = N,
        .k = K,
        .a = { .row = K, .column = 1 },
        .b = { .row = turned ? 1 : N, .column = turned ? K : 1 },
        .c = { .row = N, .column = 1 },
    };
    MUST(mo_tensor_new(
        &(mo_tensor_desc){ MO_ELEM_F32, { .rank = 2, .dims = { M, N } } },
        &t->result, &err));
}

static void clear_net(net *t)
{
    for (int i = 0; i < t->n; i++)
        mo_tensor_clear(&t->tensors[i]);
    mo_tensor_clear(&t->result);
}

static void check_folded(net *t, const mo_cuda_folded_call *f, unsigned seed)
{
    mo_tensor_dense in[MOST + 1], out = { 0 };
    void *weights = NULL;

    MUST(mo_cuda_fold_batchnorm_weights(f, &t->operands[1], &weights, &err));
    for (int i = 0; i < f->call.n_in; i++)
        if (f->from[i] == MO_CUDA_FOLDED_BIAS)
            in[i] = (mo_tensor_dense){
                { MO_ELEM_F32, { .rank = 1, .dims = { N } } }, f->bias, false
            };
        else
            in[i] = t->tensors[f->from[i]];
    in[1].data = weights;
    MUST(mo_tensor_new(&t->result.desc, &out, &err));
    MUST(mo_weights_eval_call(&t->call, t->tensors, &t->result, &err));
    MUST(mo_weights_eval_call(&f->call, in, &out, &err));
    for (int64_t i = 0; i < M * N; i++) {
        double is = mo_tensor_get_double(&out, i),
               was = mo_tensor_get_double(&t->result, i);

        ck_assert_msg(fabs(is - was) <= 1e-4 * fmax(1, fabs(was)),
                      "seed %u: %g, was %g", seed, is, was);
    }
    mo_tensor_clear(&out);
    free(weights);
}

START_TEST(a_folded_product_is_the_same)
{
    int folded = 0;

    for (unsigned k = 0; k < 20; k++) {
        unsigned seed = (unsigned) _i * 20 + k;
        mo_random r = { seed };
        mo_cuda_folded_call f;
        bool folds;
        net t;

        make_net(&t, &r);
        MUST(mo_cuda_fold_batchnorm(&t.call, t.operands, &t.result.desc, &f,
                                    &folds, &err));
        if (folds) {
            ck_assert_int_le(f.after.n_steps, t.after.n_steps + 1);
            check_folded(&t, &f, seed);
            mo_cuda_folded_call_clear(&f);
        }
        folded += folds;
        clear_net(&t);
    }
    ck_assert_int_gt(folded, 8);
}
END_TEST

START_TEST(what_is_not_constant_stays)
{
    mo_random r = { 1 };
    mo_cuda_folded_call f;
    bool folds;
    net t;

    make_net(&t, &r);
    for (int i = 2; i < t.n; i++)
        t.operands[i].constant = NULL;
    MUST(mo_cuda_fold_batchnorm(&t.call, t.operands, &t.result.desc, &f, &folds,
                                &err));
    ck_assert(!folds);
    clear_net(&t);
}
END_TEST

SUITE(cuda_fold_batchnorm)
{
    SOME(a_folded_product_is_the_same, 20, 2);
    TEST(what_is_not_constant_stays);
}
