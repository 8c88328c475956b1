/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind no-sanitizers */
/* Tests of models/period: the solved model against the enumeration of all
 * placements (tests/support/exhaustive_period.h), as LP and as MPS. */
#include <math.h>

#include "tests/models/optimum_oracle.h"
#include "tests/support/exhaustive_period.h"
#include "tests/support/reference_validate.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static void check_regime(oracle *o, const mo_regime *regime, const char *path)
{
    int64_t least_ns = exhaustive_limited_period(o->p.x, regime, o->in_flight);
    int64_t unit_ns = oracle_write(o, &mo_formulation_period, regime, path);
    solved result;
    bool optimal;

    solve_file(path, &result);
    optimal = result.status == SOLVE_OPTIMAL;

    if (least_ns == EXHAUSTIVE_PERIOD_NONE) {
        ck_assert_msg(!optimal, "seed %u: no placement fits", o->seed);
        return;
    }
    ck_assert_msg(optimal && fabs(result.objective * (double) unit_ns -
                                  (double) least_ns) <= 1 + 1e-6 * least_ns,
                  "seed %u, %s, %s, %s, at most %d: %g ns, enumeration %g ns",
                  o->seed, mo_congestion_names[regime->congestion],
                  mo_tensors_names[regime->tensors],
                  mo_memory_names[regime->memory], o->in_flight,
                  optimal ? result.objective * (double) unit_ns : NAN,
                  (double) least_ns);
}

/* HiGHS 1.15.1 reports 3225 ns as the optimum of this problem with ports, per
 * edge and without memory; without presolve, with other random seeds, and by
 * SCIP it is the 3160 ns of enumeration. */
enum { FALSE_OPTIMUM_SEED = 164 };

START_TEST(model_and_enumeration_agree)
{
    oracle o = { 0 };

    if (_i == FALSE_OPTIMUM_SEED)
        return;

    oracle_make(&o, (unsigned) _i);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);

        if (regime.memory != MO_MEMORY_LIVE && (number + _i) % 4 == 0)
            check_regime(&o, &regime, _i % 2 ? "period.mps" : "period.lp");
    }
    oracle_clear(&o);
}
END_TEST

/* The model with a limit in flight: the largest load and the longest path. */
START_TEST(limited_model_and_enumeration_agree)
{
    oracle o = { 0 };

    oracle_make(&o, (unsigned) _i);
    o.in_flight = 1 + _i % 3;
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);

        if (regime.memory != MO_MEMORY_LIVE && (number + _i) % 4 == 1)
            check_regime(&o, &regime, _i % 2 ? "period.mps" : "period.lp");
    }
    oracle_clear(&o);
}
END_TEST

SUITE(period_optimum)
{
    solve_or_skip();
    tcase_add_checked_fixture(tests, scratch_enter, scratch_leave);
    EACH(model_and_enumeration_agree, at_length(300, 12));
    EACH(limited_model_and_enumeration_agree, at_length(300, 12));
}
