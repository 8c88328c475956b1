/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of all kernel classes by random calls: CUDA's backend computes what
 * the CPU's does. MOIRAI_OPS_CASES is the number of each kind: 20 unless
 * given, 4 on the stand-in, which compiles each kernel by cc. */
#include <config.h>

#include <stdlib.h>

#include "tests/exec/cuda/cuda_pair.h"
#include "tests/exec/cuda/random_call.h"
#include "tests/support/suite.h"

enum { MOST_CASES = 1000 };

static int count_cases(int fewer)
{
    const char *text = getenv("MOIRAI_OPS_CASES");
    int usual = getenv("MOIRAI_TEST_GPU") ? 20 : in_ci(4, 2);
    int n = (text ? atoi(text) : usual) / fewer;

    return n < 1 ? 1 : n > MOST_CASES ? MOST_CASES : n;
}

/* All cases at once: their kernels are compiled together. */
static void check(mo_call_kind kind, mo_elem elem,
                  mo_backend_precision precision, int n)
{
    random_call *cases = calloc((size_t) n, sizeof *cases);
    call_case **list = calloc((size_t) n, sizeof *list);
    uint64_t *seeds = calloc((size_t) n, sizeof *seeds);

    ck_assert(cases && list && seeds);
    for (int i = 0; i < n; i++) {
        seeds[i] = 1 + (uint64_t) i;
        random_call_make(&cases[i], kind, elem, seeds[i]);
        list[i] = &cases[i].c;
    }
    pair_check(list, n, precision, seeds);
    for (int i = 0; i < n; i++)
        case_end(list[i]);
    free(cases);
    free(list);
    free(seeds);
}

START_TEST(floats_are_the_same)
{
    check((mo_call_kind) _i, MO_ELEM_F32, MO_BACKEND_PRECISION_F32,
          count_cases(1));
}
END_TEST

static const mo_call_kind products[] = { MO_CALL_MATMUL, MO_CALL_CONV,
                                         MO_CALL_ATTENTION };

START_TEST(products_may_be_rounded_to_tf32)
{
    check(products[_i], MO_ELEM_F32, MO_BACKEND_PRECISION_TF32, count_cases(1));
}
END_TEST

static const mo_call_kind real_kinds[] = {
    MO_CALL_POINT,   MO_CALL_MATMUL,      MO_CALL_REDUCE,    MO_CALL_NORM,
    MO_CALL_SOFTMAX, MO_CALL_CUMSUM,      MO_CALL_TOPK,      MO_CALL_CONV,
    MO_CALL_POOL,    MO_CALL_INTERPOLATE, MO_CALL_ATTENTION, MO_CALL_RNN,
};

START_TEST(halves_are_the_same)
{
    mo_call_kind kind = real_kinds[_i % COUNT(real_kinds)];

    check(kind, _i < COUNT(real_kinds) ? MO_ELEM_F16 : MO_ELEM_BF16,
          MO_BACKEND_PRECISION_F32, count_cases(4));
}
END_TEST

/* The first kinds support f64. */
START_TEST(doubles_are_the_same)
{
    check(real_kinds[_i], MO_ELEM_F64, MO_BACKEND_PRECISION_F32,
          count_cases(4));
}
END_TEST

SUITE(cuda_calls)
{
    use_cuda();
    /* The kinds behind are of CPUs. */
    EACH(floats_are_the_same, MO_CALL_LINEAR);
    EACH(products_may_be_rounded_to_tf32, COUNT(products));
    EACH(halves_are_the_same, in_ci(2, 1) * COUNT(real_kinds));
    EACH(doubles_are_the_same, 7);
}
