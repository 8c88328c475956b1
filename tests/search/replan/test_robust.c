/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/period/stress.h against instances that are slower, and of
 * replan/robust.h against enumeration, on random instances in all regimes. */
#include "solvers/search/replan/robust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "cost/instance/derived.h"
#include "schedule/heuristic/heft.h"
#include "schedule/period/loads.h"
#include "schedule/period/modulo_schedule.h"
#include "schedule/period/stress.h"
#include "solvers/search/period/load_state.h"
#include "tests/support/random_problem.h"
#include "tests/support/reference_validate.h"
#include "tests/support/suite.h"

#define FACTOR 1.5

static int64_t slower(int64_t ns)
{
    return ns + (int64_t) ceil((double) ns * (FACTOR - 1));
}

/* The objective of the placement and order of s in another instance. */
static int64_t value_in(const mo_instance *x, mo_objective objective,
                        const mo_schedule *s)
{
    mo_schedule *copy = NULL;
    int64_t ns = 0;

    MUST(mo_schedule_copy(x, s, &copy, &err));
    if (objective == MO_OBJECTIVE_LATENCY)
        MUST(mo_schedule_left_shift(x, copy, &err));
    copy->regime.memory = MO_MEMORY_NONE;
    MUST(mo_period_objective(x, objective, 0, copy, &ns, &err));
    mo_schedule_free(copy);
    return ns;
}

static int64_t with_slow_op(const mo_instance *x, mo_objective objective,
                            const mo_schedule *s, int op)
{
    mo_instance *y = mo_instance_derive(x);
    size_t n = (size_t) x->n * (size_t) x->n_devices;
    int64_t at = (int64_t) op * x->n_devices + s->device[op], ns;

    ck_assert_ptr_nonnull(y);
    y->p_ns = mo_arena_array(y->arena, n, sizeof *y->p_ns);
    memcpy(y->p_ns, x->p_ns, n * sizeof *y->p_ns);
    y->p_ns[at] = slower(y->p_ns[at]);
    ns = value_in(y, objective, s);
    mo_instance_free(y);
    return ns;
}

/* The pair gets a column of its own. */
static int64_t with_slow_pair(const mo_instance *x, mo_objective objective,
                              const mo_schedule *s, int a, int b)
{
    mo_instance *y = mo_instance_derive(x);
    size_t K = (size_t) x->n_devices;
    int kinds = x->comm.n_kinds;
    int64_t ns;

    ck_assert_ptr_nonnull(y);
    y->comm.pair_kind =
        mo_arena_array(y->arena, K * K, sizeof *y->comm.pair_kind);
    memcpy(y->comm.pair_kind, x->comm.pair_kind,
           K * K * sizeof *y->comm.pair_kind);
    y->comm.n_kinds = kinds + 1;
    y->comm.ns = mo_arena_array(
        y->arena, (size_t) x->comm.n_rows * (size_t) (kinds + 1) + 1,
        sizeof *y->comm.ns);
    for (int row = 0; row < x->comm.n_rows; row++) {
        int64_t *to = y->comm.ns + (int64_t) row * (kinds + 1);

        memcpy(to, x->comm.ns + (int64_t) row * kinds,
               (size_t) kinds * sizeof *to);
        to[kinds] = slower(mo_instance_row_ns(x, row, a, b));
    }
    y->comm.pair_kind[a * x->n_devices + b] = kinds;
    ns = value_in(y, objective, s);
    mo_instance_free(y);
    return ns;
}

/* Rounding up of several transfers of a pair may differ by as many ns. */
static void check_stress(const mo_instance *x, mo_objective objective,
                         const mo_schedule *s)
{
    mo_stress stress;
    int64_t worst = value_in(x, objective, s);

    MUST(mo_stress_find(x, objective, s, FACTOR, &stress, &err));
    for (int i = 0; i < x->n; i++)
        worst = mo_max_i64(worst, with_slow_op(x, objective, s, i));
    for (int a = 0; a < x->n_devices; a++)
        for (int b = 0; b < x->n_devices; b++)
            if (a != b)
                worst =
                    mo_max_i64(worst, with_slow_pair(x, objective, s, a, b));
    ck_assert_int_le(llabs(worst - stress.worst_ns), s->n_transfers);
}

/* Returns the least worst case of all placements, with list schedules. */
static int64_t least_worst_case(const mo_instance *x, const mo_regime *regime)
{
    mo_period_problem p = { 0 };
    mo_period_state state;
    mo_stress stress;
    int64_t least = INT64_MAX;
    int *first = calloc((size_t) x->n + 1, sizeof *first);

    ck_assert_ptr_nonnull(first);
    MUST(mo_period_problem_init(&p, x, regime, &err));
    MUST(mo_period_state_init(&state, &p, &err));
    mo_period_state_set(&state, first);
    do {
        mo_schedule *s = NULL;

        if (!mo_period_state_is_allowed(&state) ||
            mo_period_state_excess_bytes(&state) > 0)
            continue;
        MUST(mo_schedule_new(x, regime, state.device, &s, &err));
        MUST(mo_stress_find(x, MO_OBJECTIVE_PERIOD, s, FACTOR, &stress, &err));
        least = mo_min_i64(least, stress.worst_ns);
        mo_schedule_free(s);
    } while (mo_period_state_next(&state));
    mo_period_state_clear(&state);
    mo_period_problem_clear(&p);
    free(first);
    return least;
}

static void check_robust(const mo_instance *x, mo_objective objective,
                         const mo_schedule *s, unsigned seed)
{
    const mo_method_start start = { s->device, s, NULL };
    const mo_method_task task = { .x = x,
                                  .regime = s->regime,
                                  .objective = objective,
                                  .seed = seed,
                                  .max_work = 2000000,
                                  .stress = FACTOR,
                                  .start = &start };
    mo_method_result placed = { 0 };
    mo_stress before, after;

    MUST(mo_method_robust.place(&task, &placed, &err));
    ck_assert_ptr_nonnull(placed.schedule);
    check_valid(x, placed.schedule);
    MUST(mo_stress_find(x, objective, s, FACTOR, &before, &err));
    MUST(mo_stress_find(x, objective, placed.schedule, FACTOR, &after, &err));
    ck_assert_int_le(after.worst_ns, before.worst_ns);
    if (objective == MO_OBJECTIVE_PERIOD)
        ck_assert_int_eq(after.worst_ns, least_worst_case(x, &s->regime));
    mo_method_result_clear(&placed);
}

static void check_regime(const problem *p, int number, unsigned seed)
{
    const mo_regime regime = regime_of(number);
    mo_schedule *s = NULL;
    bool fits = false;

    MUST(mo_heft(p->x, &regime, NULL, &s, &err));
    if (s)
        MUST(mo_schedule_fits_memory(p->x, s, &fits, &err));
    if (fits && regime.memory != MO_MEMORY_LIVE) {
        MUST(mo_schedule_left_shift(p->x, s, &err));
        check_stress(p->x, MO_OBJECTIVE_LATENCY, s);
        check_stress(p->x, MO_OBJECTIVE_PERIOD, s);
        check_robust(p->x, MO_OBJECTIVE_LATENCY, s, seed);
        check_robust(p->x, MO_OBJECTIVE_PERIOD, s, seed);
    }
    mo_schedule_free(s);
}

START_TEST(the_worst_case_is_that_of_slower_instances)
{
    random_problem_check_small((unsigned) _i, check_regime);
}
END_TEST

SUITE(robust)
{
    SOME(the_worst_case_is_that_of_slower_instances, at_length(1000, 30), 3);
}
