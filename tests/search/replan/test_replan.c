/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of replan/replan.h on random instances in all regimes: against the
 * placement it begins with, and against enumeration. */
#include "solvers/search/replan/replan.h"

#include <stdlib.h>

#include "base/minmax.h"
#include "base/random.h"
#include "schedule/heuristic/heft.h"
#include "schedule/period/modulo_schedule.h"
#include "schedule/validate/validate.h"
#include "tests/support/exhaustive.h"
#include "tests/support/random_problem.h"
#include "tests/support/reference_validate.h"
#include "tests/support/suite.h"

enum { WORK = 1000000 };

static mo_method_result replan(const mo_instance *x, const mo_regime *regime,
                               mo_objective objective,
                               const mo_method_start *start)
{
    const mo_method_task task = { .x = x,
                                  .regime = *regime,
                                  .objective = objective,
                                  .seed = 1,
                                  .max_work = WORK,
                                  .start = start };
    mo_method_result placed = { 0 };

    MUST(mo_method_replan.place(&task, &placed, &err));
    return placed;
}

static int64_t value_of(const mo_instance *x, mo_objective objective,
                        const mo_schedule *s)
{
    int64_t ns = 0;

    MUST(mo_period_objective(x, objective, 0, s, &ns, &err));
    return ns;
}

static double move_ns(const mo_instance *x, const mo_method_start *start,
                      const mo_schedule *s)
{
    double sum = 0;

    for (int i = 0; i < x->n; i++)
        sum += mo_replan_move_ns(x, start, i, start->device[i], s->device[i]);
    return sum;
}

/* From the schedule s, at all prices of moves: never worse; with prices that
 * nothing is worth, and all allowed, nothing moves. */
static void check_from(const mo_instance *x, const mo_regime *regime,
                       mo_objective objective, const mo_schedule *s)
{
    size_t pairs = (size_t) x->n_devices * (size_t) x->n_devices;
    double *byte_ns = calloc(pairs + 1, sizeof *byte_ns);
    const mo_method_start start = { s->device, s, byte_ns };
    int64_t before_ns = value_of(x, objective, s);

    ck_assert_ptr_nonnull(byte_ns);
    for (int p = 0; p < 3; p++) {
        mo_method_result placed;

        for (size_t i = 0; i < pairs; i++)
            byte_ns[i] = p == 0 ? 0 : p == 1 ? 0.01 : 1e9;
        placed = replan(x, regime, objective, &start);
        ck_assert_ptr_nonnull(placed.schedule);
        ck_assert_msg((double) value_of(x, objective, placed.schedule) +
                              move_ns(x, &start, placed.schedule) <=
                          (double) before_ns + 1,
                      "worse than before");
        for (int i = 0; p == 2 && i < x->n; i++)
            ck_assert(x->weight_bytes[i] == 0 ||
                      placed.schedule->device[i] == s->device[i]);
        if (objective == MO_OBJECTIVE_LATENCY)
            check_valid(x, placed.schedule);
        mo_method_result_clear(&placed);
    }
    free(byte_ns);
}

/* With some ops free; the result is allowed and no better than the optimum. */
static void check_free(const mo_instance *x, const mo_regime *regime,
                       const mo_schedule *s, unsigned seed)
{
    mo_random random = { seed };
    int *device = calloc((size_t) x->n + 1, sizeof *device);
    const mo_method_start start = { .device = device };
    mo_method_result placed;

    ck_assert_ptr_nonnull(device);
    for (int i = 0; i < x->n; i++)
        device[i] = mo_random_below(&random, 2) == 0 ? MO_FREE : s->device[i];
    placed = replan(x, regime, MO_OBJECTIVE_LATENCY, &start);
    ck_assert_ptr_nonnull(placed.schedule);
    check_valid(x, placed.schedule);
    ck_assert_int_ge(placed.schedule->makespan_ns,
                     exhaustive_optimum(x, regime));
    mo_method_result_clear(&placed);
    free(device);
}

static void check_regime(const problem *p, int number, unsigned seed)
{
    const mo_regime regime = regime_of(number);
    mo_schedule *s = NULL;
    bool fits = false;

    MUST(mo_heft(p->x, &regime, NULL, &s, &err));
    if (s)
        MUST(mo_schedule_fits_memory(p->x, s, &fits, &err));
    if (fits) {
        check_from(p->x, &regime, MO_OBJECTIVE_LATENCY, s);
        if (regime.memory != MO_MEMORY_LIVE) {
            check_from(p->x, &regime, MO_OBJECTIVE_PERIOD, s);
            check_free(p->x, &regime, s, seed);
        }
    }
    mo_schedule_free(s);
}

START_TEST(the_result_is_never_worse_than_the_start)
{
    random_problem_check_small((unsigned) _i, check_regime);
}
END_TEST

/* Where an op is pinned now, or its device is too small, it moves. */
START_TEST(what_is_not_allowed_any_more_moves)
{
    const int device[] = { 1, 1 };
    const mo_method_start start = { .device = device };
    const mo_regime regime = regime_of(0);
    problem p = { 0 };
    mo_method_result placed;

    problem_make(&p, "a t.A=1 t.B=1 pin=A; b t.A=9 t.B=1; a>b bytes=8",
                 "A; B; A-B gbps=8", NULL);
    placed = replan(p.x, &regime, MO_OBJECTIVE_LATENCY, &start);
    ck_assert_ptr_nonnull(placed.schedule);
    ck_assert_int_eq(placed.schedule->device[0], 0);
    ck_assert_int_eq(placed.schedule->device[1], 1);
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

SUITE(replan)
{
    SOME(the_result_is_never_worse_than_the_start, at_length(1000, 40), 3);
    TEST(what_is_not_allowed_any_more_moves);
}
