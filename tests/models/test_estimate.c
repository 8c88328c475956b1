/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/compact/disjunctive_pairs.h: the estimate is hardly above
 * the rows of the model, and near them where ops are parallel. */
#include <stdio.h>

#include "models/compact/disjunctive_pairs.h"
#include "models/formulation.h"
#include "tests/support/model_case.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"

START_TEST(the_estimate_is_hardly_above)
{
    mo_regime regime = { (mo_congestion) (_i % 4), (mo_tensors) (_i / 4 % 2),
                         MO_MEMORY_NONE };
    random_problem r;
    problem p = { 0 };
    model_case c;

    random_problem_make(&r, (unsigned) _i);
    problem_make(&p, r.graph, r.cluster, NULL);
    model_case_open(&c, &p, &mo_formulation_compact, &regime, false);
    ck_assert_int_le(4 * mo_compact_estimate_rows(c.frame, INT64_MAX),
                     5 * model_case_count(&c, NULL));
    model_case_close(&c);
    problem_clear(&p);
    random_problem_clear(&r);
}
END_TEST

START_TEST(parallel_ops_are_counted_up_to_the_limit)
{
    enum { N = 40 };
    char text[4096];
    int n = snprintf(text, sizeof text, "* t.m=100; *>* c.m.m=9; s; e");
    mo_regime regime = { .memory = MO_MEMORY_NONE };
    problem p = { 0 };
    model_case c;
    int64_t rows;

    for (int i = 0; i < N; i++)
        n += snprintf(text + n, sizeof text - (size_t) n, "; a%d", i);
    for (int i = 0; i < N; i++)
        n += snprintf(text + n, sizeof text - (size_t) n, "; s>a%d; a%d>e", i,
                      i);
    problem_make(&p, text, "A model=m; B model=m; A-B gbps=8", NULL);
    model_case_open(&c, &p, &mo_formulation_compact, &regime, false);
    rows = mo_compact_estimate_rows(c.frame, INT64_MAX);
    ck_assert_int_ge(rows, N * (N - 1)); /* two for each pair */
    ck_assert_int_le(rows, model_case_count(&c, NULL));
    ck_assert_int_ge(3 * rows, model_case_count(&c, NULL));
    ck_assert_int_eq(mo_compact_estimate_rows(c.frame, 100), 100);
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

SUITE(estimate)
{
    EACH(the_estimate_is_hardly_above, 48);
    TEST(parallel_ops_are_counted_up_to_the_limit);
}
