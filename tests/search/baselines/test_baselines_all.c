/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of solvers/search/method.h that hold for all methods without a
 * solver. */
#include "solvers/search/method.h"

#include "tests/support/dense_problem.h"
#include "tests/support/validated_placement.h"
#include "tests/search/baselines/baselines_case.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"
#include "tests/support/reference_validate.h"

static const mo_regime within_sums = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                                       MO_MEMORY_STATIC };

START_TEST(a_method_is_found_by_its_name)
{
    for (int i = 0; mo_method_table[i]; i++) {
        ck_assert_ptr_eq(mo_method_find(mo_method_table[i]->name),
                         mo_method_table[i]);
        ck_assert(mo_method_table[i]->help && mo_method_table[i]->source);
    }
    ck_assert_ptr_null(mo_method_find("moira"));
}
END_TEST

static const char two_devices[] = "A; B; A-B gbps=8";

/* Methods that need a solver are in
 * tests/search/baselines/test_baselines_solved.c. */
static bool needs_solver(const mo_method *method)
{
    return method == &mo_method_m_sct || method == &mo_method_getf ||
           method == &mo_method_pesto;
}

static bool is_quick(const mo_method *method)
{
    return !needs_solver(method) && !method->learns &&
           strcmp(method->name, "moirai") != 0;
}

/* Only where pins leave no choice is there no schedule. */
START_TEST(only_memory_is_violated_and_that_is_reported)
{
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int number = 0; number < N_REGIMES; number++)
        for (int m = 0; mo_method_table[m]; m++) {
            mo_regime regime = regime_of(number);
            mo_method_result placed;

            if (!is_quick(mo_method_table[m]))
                continue;
            placed = method_place(mo_method_table[m], p.x, &regime);
            if (placed.schedule)
                check_judged(p.x, &placed, mo_method_table[m]->name, _i);
            else
                ck_assert_ptr_eq(mo_method_table[m], &mo_method_single);
            mo_method_result_clear(&placed);
        }
    problem_clear(&p);
}
END_TEST

START_TEST(the_same_task_has_the_same_answer)
{
    const mo_regime regime = regime_of(_i % N_REGIMES);
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int m = 0; mo_method_table[m]; m++) {
        mo_method_result one, other;

        if (!is_quick(mo_method_table[m]) ||
            mo_method_table[m] == &mo_method_single)
            continue;
        one = method_place(mo_method_table[m], p.x, &regime);
        other = method_place(mo_method_table[m], p.x, &regime);
        for (int i = 0; i < p.x->n; i++) {
            ck_assert_int_eq(one.schedule->device[i],
                             other.schedule->device[i]);
            ck_assert_int_eq(one.schedule->start_ns[i],
                             other.schedule->start_ns[i]);
        }
        mo_method_result_clear(&one);
        mo_method_result_clear(&other);
    }
    problem_clear(&p);
}
END_TEST

START_TEST(no_ops_take_no_time)
{
    problem p = { 0 };

    problem_make(&p, "", two_devices, NULL);
    for (int m = 0; mo_method_table[m]; m++) {
        mo_method_result placed;

        if (!is_quick(mo_method_table[m]))
            continue;
        placed = method_place(mo_method_table[m], p.x, &within_sums);
        ck_assert_int_eq(placed.schedule->makespan_ns, 0);
        mo_method_result_clear(&placed);
    }
    problem_clear(&p);
}
END_TEST

static const mo_method *const stoppable[] = {
    &mo_method_m_etf,
    &mo_method_peft,
    &mo_method_cpop,
    &mo_method_hare,
};

START_TEST(a_stop_is_reported)
{
    mo_stop stop = { 0 };
    problem p = { 0 };
    mo_method_task task = { .regime = method_plain, .stop = &stop };
    mo_method_result placed = { 0 };

    mo_stop_after(&stop, 0);
    mo_stop_request(&stop);
    crowd_make(&p, 1);
    task.x = p.x;
    MUST(stoppable[_i]->place(&task, &placed, &err));
    ck_assert_ptr_null(placed.schedule);
    ck_assert_ptr_nonnull(strstr(placed.why, "stopped"));
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

SUITE(baselines_all)
{
    TEST(a_method_is_found_by_its_name);
    SOME(only_memory_is_violated_and_that_is_reported, 60, 3);
    SOME(the_same_task_has_the_same_answer, 24, 3);
    TEST(no_ops_take_no_time);
    EACH(a_stop_is_reported, COUNT(stoppable));
}
