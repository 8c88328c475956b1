/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-sanitizers no-valgrind */
/*
 * Tests of solvers/root_bound.c: on random problems in every regime the bound
 * is never above the optimum of exhaustive search and is as tight as the
 * objective that the solver reports, for every solver that has dual values.
 *
 * MOIRAI_ORACLE_SEEDS sets the number of problems.
 */
#include <config.h>

#include "solvers/root_bound.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "solvers/plugins/highs_api.h"
#include "tests/solvers/library_case.h"
#include "tests/support/exhaustive.h"
#include "tests/support/exhaustive_live.h"
#include "tests/support/random_problem.h"
#include "tests/support/reference_validate.h"
#include "tests/support/suite.h"

static int64_t optimum_of(const problem *p, const mo_regime *regime)
{
    return regime->memory == MO_MEMORY_LIVE
               ? exhaustive_live_optimum(p->x, regime)
               : exhaustive_optimum(p->x, regime);
}

/* As tight as the objective, within a solver's tolerance, and rounded up. */
static bool is_tight(const mo_root_bound *bound)
{
    double slack = 1e-6 * fabs(bound->objective_ns);

    return (double) bound->bound_ns >= bound->objective_ns - slack &&
           (double) bound->bound_ns <= bound->objective_ns + slack + 1;
}

static void check_bound(const problem *p, int number, unsigned seed)
{
    const mo_root_bound_options options = { .solver = "highs",
                                            .path =
                                                getenv("MOIRAI_HIGHS_LIB") };
    const mo_regime regime = regime_of(number);
    int64_t optimum = optimum_of(p, &regime);
    mo_root_bound bound;

    if (optimum <= 0)
        return;
    MUST(mo_root_bound_compute(p->x, &regime, optimum, &options, &bound, &err));
    if (!bound.found || bound.bound_ns > optimum || !is_tight(&bound))
        ck_abort_msg("seed %u, regime %d: bound %lld (%s), optimum %lld, the "
                     "solver reports %.3f",
                     seed, number, (long long) bound.bound_ns,
                     bound.found ? bound.solver : bound.why,
                     (long long) optimum, bound.objective_ns);
}

static int n_seeds(void)
{
    const char *text = getenv("MOIRAI_ORACLE_SEEDS");

    return text && *text ? atoi(text) : at_length(400, 40);
}

START_TEST(bound_holds_and_is_tight)
{
    random_problem_check_small((unsigned) _i, check_bound);
}
END_TEST

/* Two devices of 4 and 5 bytes, an op of 3 and two of 2: three ops of 3, 2, 2
 * bytes do not fit on the fast device alone. */
static const char memory_graph[] =
    "a t.A=1 t.B=10 weight_bytes=3 workspace_bytes=0;"
    "b t.A=1 t.B=10 weight_bytes=2 workspace_bytes=0;"
    "c t.A=1 t.B=10 weight_bytes=2 workspace_bytes=0;"
    "a>b bytes=1; b>c bytes=1";
static const char memory_cluster[] =
    "A memory_bytes=4; B memory_bytes=7; A-B gbps=8";

/* A's 4 of 7 bytes leave 3/7 of the bytes, with 10 us for 3 bytes or 5 for
 * each, on B. */
START_TEST(memory_raises_the_bound)
{
    const mo_root_bound_options options = { .solver = "highs",
                                            .path =
                                                getenv("MOIRAI_HIGHS_LIB") };
    const mo_regime regime = { .memory = MO_MEMORY_STATIC };
    mo_regime unlimited = regime;
    mo_root_bound bound, without;
    problem p = { 0 };
    int64_t optimum;

    unlimited.memory = MO_MEMORY_NONE;
    problem_make(&p, memory_graph, memory_cluster, NULL);
    optimum = exhaustive_optimum(p.x, &regime);
    MUST(mo_root_bound_compute(p.x, &regime, optimum, &options, &bound, &err));
    MUST(mo_root_bound_compute(p.x, &unlimited, optimum, &options, &without,
                               &err));
    ck_assert(bound.found && without.found);
    ck_assert_int_eq(without.bound_ns, 3000);
    ck_assert_int_ge(bound.bound_ns, 12000);
    ck_assert_int_le(bound.bound_ns, optimum);
    problem_clear(&p);
}
END_TEST

/* Every library gives the same relaxation the same bound. */
START_TEST(solvers_agree)
{
    const mo_regime regime = regime_of(0);
    int n = 0;

    library_ways_find();
    for (unsigned seed = 0; seed < 5; seed++) {
        random_problem r;
        problem p = { 0 };
        int64_t first_ns = -1, optimum;

        random_problem_sized(&r, seed, 4, 4);
        problem_make(&p, r.graph, r.cluster, NULL);
        optimum = exhaustive_optimum(p.x, &regime);
        for (int i = 0; i < library_ways_found; i++) {
            const char *name =
                strncmp(library_ways[i].name, "HiGHS", 5) == 0 ? "highs"
                : strcmp(library_ways[i].name, "SCIP") == 0    ? "scip"
                : library_ways[i].name[0] == 'G'               ? "gurobi"
                                                               : NULL;
            const mo_root_bound_options options = {
                .solver = name, .path = library_ways[i].library
            };
            mo_root_bound bound;

            if (!name || optimum <= 0)
                continue;
            MUST(mo_root_bound_compute(p.x, &regime, optimum, &options, &bound,
                                       &err));
            ck_assert_msg(bound.found, "%s: %s", library_ways[i].name,
                          bound.why);
            if (first_ns < 0)
                first_ns = bound.bound_ns;
            ck_assert_int_le(llabs(bound.bound_ns - first_ns), 1);
            ck_assert_int_le(bound.bound_ns, optimum);
            n++;
        }
        random_problem_clear(&r);
        problem_clear(&p);
    }
    ck_assert_int_gt(n, 0);
}
END_TEST

START_TEST(limits_and_failures_give_no_bound)
{
    const mo_regime regime = { .memory = MO_MEMORY_STATIC };
    mo_root_bound_options options = { .solver = "highs",
                                      .path = getenv("MOIRAI_HIGHS_LIB"),
                                      .max_terms = 5 };
    problem p = { 0 };
    mo_root_bound bound;
    mo_error why = { 0 };

    problem_make(&p, memory_graph, memory_cluster, NULL);
    MUST(mo_root_bound_compute(p.x, &regime, 100000, &options, &bound, &err));
    ck_assert(!bound.found);
    ck_assert_ptr_nonnull(strstr(bound.why, "more than 5 coefficients"));
    options.max_terms = 0;
    /* Longer than a double can count. */
    MUST(mo_root_bound_compute(p.x, &regime, INT64_C(1) << 60, &options, &bound,
                               &err));
    ck_assert(!bound.found);
    /* Shorter than any schedule: the program is infeasible. */
    MUST(mo_root_bound_compute(p.x, &regime, 1, &options, &bound, &err));
    ck_assert(!bound.found);
    options.solver = "glpk";
    ck_assert_int_eq(
        mo_root_bound_compute(p.x, &regime, 100000, &options, &bound, &why),
        MO_E_USAGE);
    problem_clear(&p);
}
END_TEST

SUITE(root_bound)
{
    static mo_highs_api api; /* loaded once, inherited by children */
    const char *highs = getenv("MOIRAI_HIGHS_LIB");

    if (!highs || !*highs || mo_highs_open(highs, &api, NULL) != MO_OK) {
        fprintf(stderr, "skipped: no HiGHS in MOIRAI_HIGHS_LIB\n");
        exit(77);
    }
    SOME(bound_holds_and_is_tight, n_seeds(), 2);
    TEST(memory_raises_the_bound);
    TEST(solvers_agree);
    TEST(limits_and_failures_give_no_bound);
}
