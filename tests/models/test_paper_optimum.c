/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-sanitizers no-valgrind */
/*
 * Tests of models/paper/paper.c: the model's optimum equals that of exhaustive
 * search.
 */
#include "tests/models/optimum_oracle.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

enum { N_PARTS = 25, SECONDS = 600 };

/* As printed, over all successors; and with other memory models.  For every
 * seventh problem, in rotation over the congestions. */
static void check_variants(oracle *o)
{
    mo_regime regime = { .congestion = (mo_congestion) (o->seed / 5 % 4) };

    o->closure = true;
    oracle_check(o, &mo_formulation_paper, &regime);
    o->closure = false;
    regime.memory = MO_MEMORY_NONE;
    oracle_check(o, &mo_formulation_paper, &regime);
    regime.memory = MO_MEMORY_LIVE;
    oracle_check(o, &mo_formulation_paper, &regime);
}

START_TEST(the_paper_finds_the_optimum)
{
    oracle_seeds seeds = oracle_part(_i, N_PARTS);
    int n_wrong = 0;

    for (; seeds.next < seeds.end; seeds.next += seeds.step) {
        oracle o;

        oracle_make(&o, seeds.next);
        for (int c = MO_CONGESTION_PORT; c <= MO_CONGESTION_NONE; c++) {
            mo_regime regime = { .congestion = (mo_congestion) c };

            oracle_check(&o, &mo_formulation_paper, &regime);
        }
        if (o.seed % 7 == 0)
            check_variants(&o);
        n_wrong += o.n_wrong;
        oracle_clear(&o);
    }
    ck_assert_int_eq(n_wrong, 0);
}
END_TEST

SUITE(paper_optimum)
{
    solve_or_skip();
    tcase_set_timeout(tests, SECONDS);
    tcase_add_checked_fixture(tests, scratch_enter, scratch_leave);
    EACH(the_paper_finds_the_optimum, N_PARTS);
}
