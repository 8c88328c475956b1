/* Claims of solvers/search/exact.h. */
#include "solvers/search/exact.h"

#include "schedule/validate.h"
#include "tests/exhaustive.h"
#include "tests/exhaustive_live.h"
#include "tests/problem.h"
#include "tests/random_problem.h"
#include "tests/suite.h"
#include "tests/valid.h"

static mo_exact_result solved(const mo_instance *x, const mo_regime *regime,
                              int64_t below_ns, int64_t nodes)
{
    mo_exact_options options = { .below_ns = below_ns, .nodes = nodes };
    mo_exact_result result = { 0 };
    mo_verdict *verdict = NULL;

    MUST(mo_exact(x, regime, &options, &result, &err));
    if (result.best) {
        MUST(mo_validate(x, result.best, 1, &verdict, &err));
        ck_assert_msg(verdict->n == 0, "%s", verdict->violations[0].text);
        mo_verdict_free(verdict);
        ck_assert_int_lt(result.best->makespan_ns, below_ns);
    }
    return result;
}

enum { SEEDS_AT_ONCE = 10, N_SEEDS = 1000 };

static void check_optimum(const mo_instance *x, const mo_regime *regime,
                          int64_t optimum_ns, unsigned seed, int number)
{
    mo_exact_result r = solved(x, regime, INT64_MAX, 0);
    int64_t found_ns = r.best ? r.best->makespan_ns : EXHAUSTIVE_NONE;

    ck_assert_msg(r.finished && found_ns == optimum_ns,
                  "seed %u, regime %d: %lld, not %lld", seed, number,
                  (long long) found_ns, (long long) optimum_ns);
    if (r.best)
        ck_assert_int_eq(r.lower_ns, optimum_ns);
    mo_schedule_free(r.best);
}

static void check_seed(unsigned seed)
{
    random_problem r;
    problem p = { 0 };

    random_problem_make(&r, seed);
    problem_make(&p, r.graph, r.cluster, NULL);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);

        if (regime.memory != MO_MEMORY_LIVE)
            check_optimum(p.x, &regime, exhaustive_optimum(p.x, &regime), seed,
                          number);
    }
    problem_clear(&p);
    random_problem_clear(&r);
}

START_TEST(it_is_the_optimum)
{
    for (int i = 0; i < SEEDS_AT_ONCE; i++)
        check_seed((unsigned) (_i * SEEDS_AT_ONCE + i));
}
END_TEST

/* Live memory is tried on fewer ops, with all congestions and tensors. */
static void check_live(unsigned seed)
{
    random_problem r;
    problem p = { 0 };

    random_problem_sized(&r, seed, 2, 4);
    problem_make(&p, r.graph, r.cluster, NULL);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);

        if (regime.memory == MO_MEMORY_LIVE)
            check_optimum(p.x, &regime, exhaustive_live_optimum(p.x, &regime),
                          seed, number);
    }
    problem_clear(&p);
    random_problem_clear(&r);
}

START_TEST(it_is_the_optimum_with_live_memory)
{
    for (int i = 0; i < SEEDS_AT_ONCE; i++)
        check_live((unsigned) (_i * SEEDS_AT_ONCE + i));
}
END_TEST

SUITE(exact)
{
    SOME(it_is_the_optimum_with_live_memory, N_SEEDS / SEEDS_AT_ONCE, 1);
    SOME(it_is_the_optimum, N_SEEDS / SEEDS_AT_ONCE, 1);
}
