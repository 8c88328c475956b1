/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of every formulation: the values of its columns, where it declares
 * them a MIP start, satisfy every row and every bound, in all regimes. */
#include "tests/support/model_case.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"

enum { MANY = 60, FEW = 3 };

/* Times are written to the millionth of a unit, a row sums a few of them. */
static const double rounding = 1e-4;

typedef struct tally {
    int n_models, n_starts;
} tally;

static void check(const problem *p, const mo_formulation *formulation,
                  const mo_regime *regime, int seed, tally *t)
{
    model_case c;

    model_case_open(&c, p, formulation, regime, false);
    t->n_models++;
    if (mo_model_has_start(&c.model)) {
        double violation = model_case_violation(&c);

        t->n_starts++;
        if (violation > rounding)
            ck_abort_msg("seed %d, %s, congestion %s, tensors %s, memory %s: "
                         "a row or bound is broken by %g",
                         seed, formulation->name,
                         mo_congestion_names[regime->congestion],
                         mo_tensors_names[regime->tensors],
                         mo_memory_names[regime->memory], violation);
    }
    model_case_close(&c);
}

static bool can_write(const mo_formulation *formulation, const problem *p,
                      const mo_regime *regime)
{
    mo_frame *frame;
    void *state = NULL;
    bool can;

    if (regime->tensors == MO_TENSORS_ONCE && !formulation->has_tensors_once)
        return false;
    MUST(mo_frame_make(p->x, regime, false, &frame, &err));
    can = formulation->prepare(frame, &state, NULL) == MO_OK;
    if (can)
        formulation->release(state);
    mo_frame_free(frame);
    return can;
}

static void check_regimes(const problem *p, const mo_formulation *formulation,
                          int seed, tally *t)
{
    for (int i = 0; i < 4 * 2 * 3; i++) {
        mo_regime regime = { (mo_congestion) (i % 4), (mo_tensors) (i / 4 % 2),
                             (mo_memory) (i / 8) };

        if (can_write(formulation, p, &regime))
            check(p, formulation, &regime, seed, t);
    }
}

START_TEST(starts_keep_every_row)
{
    const mo_formulation *formulation = mo_formulations[_i];
    int n_seeds = how_many(MANY, FEW);
    tally t = { 0 };

    for (int seed = 0; seed < n_seeds; seed++) {
        problem p = { 0 };
        random_problem r;

        random_problem_make(&r, (unsigned) seed);
        problem_make(&p, r.graph, r.cluster, NULL);
        random_problem_clear(&r);
        check_regimes(&p, formulation, seed, &t);
        problem_clear(&p);
    }
    /* Most problems have a solution, and the heuristic finds most of those. */
    if (formulation->has_regime)
        ck_assert_int_gt(2 * t.n_starts, t.n_models);
    ck_assert_int_gt(t.n_models, n_seeds);
}
END_TEST

/* Those of patterns are the last: they begin with what a search found, and
 * test_patterns.c has their starts. */
static int count_formulations(void)
{
    int n = 0;

    while (mo_formulations[n] && !mo_formulations[n]->optimum)
        n++;
    return n;
}

SUITE(mip_start_values)
{
    EACH(starts_keep_every_row, count_formulations());
}
