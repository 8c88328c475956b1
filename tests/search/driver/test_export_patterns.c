/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind no-sanitizers */
/*
 * Tests of solvers/search/driver/export_patterns.c and models/patterns: the
 * best choice of patterns is a schedule that is no longer than the incumbent
 * and no shorter than the optimum, and that of lower bounds is no longer.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/formulation.h"
#include "models/frame/frame.h"
#include "models/model.h"
#include "models/patterns/pattern_set.h"
#include "models/write/lp_writer.h"
#include "models/write/mps_writer.h"
#include "schedule/period/loads.h"
#include "schedule/validate/validate.h"
#include "solvers/answer/answer.h"
#include "solvers/search/driver/strengthen.h"
#include "tests/support/exhaustive.h"
#include "tests/support/exhaustive_period.h"
#include "tests/support/highs_solve.h"
#include "tests/support/layered_problem.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/reference_validate.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* A problem after the search. */
typedef struct searched {
    const mo_instance *x;
    mo_regime regime;
    mo_pattern_set *set;
    mo_proven_bounds *proven;
    mo_schedule *start;
    int64_t start_ns; /* -1: no schedule was found */
    bool is_infeasible;
} searched;

static void search_problem(searched *s, const mo_instance *x,
                           const mo_regime *regime, int rounds, double slack)
{
    mo_search_strengthen_options options = { .seed = 1,
                                             .threads = 1,
                                             .rounds = rounds };
    mo_error why = { 0 };

    *s = (searched){ .x = x, .regime = *regime, .start_ns = -1 };
    MUST(mo_pattern_set_new(x, slack, &s->set, &err));
    options.patterns = s->set;
    s->is_infeasible = mo_search_strengthen(x, regime, &options, &s->proven,
                                            &s->start, &why) != MO_OK;
    ck_assert(!s->is_infeasible || why.status == MO_E_INFEASIBLE);
    if (s->start)
        s->start_ns = s->start->makespan_ns;
}

static void clear_search(searched *s)
{
    mo_schedule_free(s->start);
    mo_proven_bounds_free(s->proven);
    mo_pattern_set_free(s->set);
}

static void write_model(const mo_model *model, const char *path)
{
    bool is_mps = strstr(path, ".mps") != NULL;
    mo_sink *sink;
    mo_out *out;

    MUST(mo_out_open(path, &out, &err));
    if (is_mps)
        MUST(mo_mps_writer_new(out, NULL, &sink, &err));
    else
        MUST(mo_lp_writer_new(out, NULL, &sink, &err));
    MUST(mo_model_write(model, sink, &err));
    mo_sink_free(sink);
    MUST(mo_out_commit(out, &err));
}

/* Solves the model of the patterns, or of the bounds; returns its optimum. */
static double solve_patterns(const searched *s, double slack, bool lower,
                             const char *path, solved *result, int64_t *unit_ns)
{
    static const mo_identity identity;
    mo_schedule *start = NULL;
    mo_frame *frame = NULL;
    mo_model model;

    if (s->start)
        MUST(mo_schedule_copy(s->x, s->start, &start, &err));
    MUST(mo_frame_make_with_bounds(s->x, &s->regime, slack, s->proven, start,
                                   &frame, &err));
    frame->patterns = s->set;
    MUST(mo_model_make(lower ? &mo_formulation_patterns_lower
                             : &mo_formulation_patterns,
                       frame, &identity, &model, &err));
    ck_assert(mo_model_has_start(&model) == (!lower && s->start));
    write_model(&model, path);
    *unit_ns = frame->unit_ns;
    mo_model_clear(&model);
    mo_frame_free(frame);
    solve_file(path, result);
    return result->status == SOLVE_OPTIMAL
               ? result->objective * (double) *unit_ns
               : -1;
}

static double tolerance(double ns)
{
    return 1 + 1e-6 * ns;
}

/* The solution, read back as any other, is a valid schedule of its length. */
static void check_solution(const searched *s, const solved *result,
                           int64_t unit_ns, unsigned seed)
{
    mo_solution solution = { .layout = "test", .n = result->columns };
    mo_schedule *schedule = NULL;
    mo_verdict *verdict = NULL;
    double claimed_ns = result->objective * (double) unit_ns;

    solution.values = calloc((size_t) solution.n, sizeof *solution.values);
    ck_assert_ptr_nonnull(solution.values);
    for (int i = 0; i < solution.n; i++)
        solution.values[i] = (mo_solution_value){ result->values[i].name,
                                                  result->values[i].value, 0 };
    MUST(mo_answer_schedule(&solution, s->x, &s->regime, unit_ns,
                            MO_ANSWER_TOLERANCE, &schedule, &err));
    MUST(mo_schedule_left_shift(s->x, schedule, &err));
    MUST(mo_validate(s->x, schedule, 1, &verdict, &err));
    ck_assert_msg(verdict->n == 0, "seed %u: %s", seed,
                  verdict->violations[0].text);
    ck_assert_msg((double) schedule->makespan_ns <=
                      claimed_ns + tolerance(claimed_ns),
                  "seed %u: %lld ns, claimed %g", seed,
                  (long long) schedule->makespan_ns, claimed_ns);
    mo_verdict_free(verdict);
    mo_schedule_free(schedule);
    free(solution.values);
}

/* least_ns: by enumeration; 0: unknown. */
static void check_models(const mo_instance *x, const mo_regime *regime,
                         int rounds, int64_t least_ns, unsigned seed)
{
    double slack = seed % 3 == 0 ? 1.5 : 0, upper_ns, lower_ns;
    const char *path = seed % 2 ? "patterns.lp" : "patterns.mps";
    solved upper, lower;
    int64_t unit_ns;
    searched s;

    search_problem(&s, x, regime, rounds, slack);
    ck_assert_msg(!s.is_infeasible || least_ns <= 0, "seed %u", seed);
    if (s.is_infeasible) {
        clear_search(&s);
        return;
    }
    if (s.start) {
        upper_ns = solve_patterns(&s, slack, false, path, &upper, &unit_ns);
        ck_assert_msg(upper_ns >= 0 &&
                          upper_ns <= (double) s.start_ns + tolerance(upper_ns),
                      "seed %u: %g of patterns, %lld known", seed, upper_ns,
                      (long long) s.start_ns);
        ck_assert_msg(upper_ns + tolerance(upper_ns) >= (double) least_ns,
                      "seed %u: %g of patterns, %lld by enumeration", seed,
                      upper_ns, (long long) least_ns);
        if (s.proven->lower_ns >= s.start_ns)
            ck_assert_msg(fabs(upper_ns - (double) s.start_ns) <=
                              tolerance(upper_ns),
                          "seed %u: %g of patterns, %lld is optimal", seed,
                          upper_ns, (long long) s.start_ns);
        check_solution(&s, &upper, unit_ns, seed);
        solved_clear(&upper);
    }
    lower_ns = solve_patterns(&s, slack, true, path, &lower, &unit_ns);
    if (s.start || least_ns > 0)
        ck_assert_msg(lower_ns >= 0 &&
                          lower_ns <=
                              (double) (least_ns > 0 ? least_ns : s.start_ns) +
                                  tolerance(lower_ns),
                      "seed %u: %g of lower bounds, %lld is possible", seed,
                      lower_ns, (long long) least_ns);
    ck_assert(lower_ns < 0 ||
              lower_ns + tolerance(lower_ns) >= (double) s.proven->lower_ns);
    solved_clear(&lower);
    clear_search(&s);
}

static mo_regime regime_without_live(unsigned number)
{
    mo_regime regime = regime_of((int) (number % N_REGIMES));

    if (regime.memory == MO_MEMORY_LIVE)
        regime.memory = MO_MEMORY_STATIC;
    return regime;
}

/* Every third search has no rounds: its tables are not exact. */
START_TEST(the_optimum_is_between_both_models)
{
    unsigned seed = (unsigned) _i;
    mo_regime regime = regime_without_live(seed);
    random_problem r;
    problem p = { 0 };

    random_problem_make(&r, seed);
    problem_make(&p, r.graph, r.cluster, NULL);
    check_models(p.x, &regime, seed % 3 == 1 ? -1 : 0,
                 exhaustive_optimum(p.x, &regime), seed);
    problem_clear(&p);
    random_problem_clear(&r);
}
END_TEST

START_TEST(networks_with_cuts_have_a_choice_for_each_segment)
{
    unsigned seed = (unsigned) _i;
    mo_regime regime = regime_without_live(seed);
    problem p = { 0 };

    stack_make(&p, seed);
    check_models(p.x, &regime, seed % 3 == 1 ? -1 : 2, 0, seed);
    problem_clear(&p);
}
END_TEST

/* Fifteen diamonds, one after the other, on two devices with room for two
 * thirds each: the search keeps variants, and the model has rows of memory. */
static void make_diamonds(problem *p, unsigned seed)
{
    char text[8192];
    int n = 0;

    for (int i = 0; i < 15; i++) {
        int a = 3 * i;

        for (int j = 0; j < 3; j++)
            n += snprintf(text + n, sizeof text - (size_t) n,
                          "%so%d t.A=%u t.B=%u memory=1000",
                          a + j > 0 ? "; " : "", a + j,
                          1 + (seed + 7 * (unsigned) (a + j)) % 5,
                          2 + (seed + 3 * (unsigned) (a + j)) % 7);
    }
    for (int i = 0; i < 15; i++) {
        int a = 3 * i;

        n += snprintf(text + n, sizeof text - (size_t) n,
                      "; o%d>o%d bytes=100; o%d>o%d bytes=100", a, a + 1, a,
                      a + 2);
        if (i < 14)
            n += snprintf(text + n, sizeof text - (size_t) n,
                          "; o%d>o%d bytes=100; o%d>o%d bytes=100", a + 1,
                          a + 3, a + 2, a + 3);
    }
    problem_make(p, text,
                 "A memory_bytes=30000; B memory_bytes=30000; "
                 "A-B gbps=1",
                 NULL);
}

START_TEST(choices_fit_into_memory)
{
    mo_regime regime = { (mo_congestion) (_i % 4), (mo_tensors) (_i / 4 % 2),
                         MO_MEMORY_STATIC };
    problem p = { 0 };

    make_diamonds(&p, (unsigned) _i);
    check_models(p.x, &regime, 2, 0, (unsigned) _i);
    problem_clear(&p);
}
END_TEST

/* The placement of a solution has the period that it claims. */
static void check_placement(const mo_instance *x, const mo_regime *regime,
                            const solved *result, double claimed_ns,
                            unsigned seed)
{
    int *device = calloc((size_t) x->n, sizeof *device), op, k;
    double ns;

    ck_assert_ptr_nonnull(device);
    for (int i = 0; i < result->columns; i++)
        if (result->values[i].value > 0.5 &&
            sscanf(result->values[i].name, "x_%d_%d", &op, &k) == 2)
            device[op] = k;
    ck_assert_msg(period_placement_allowed(x, regime, device), "seed %u", seed);
    ns = (double) period_by_definition(x, regime, device);
    ck_assert_msg(fabs(ns - claimed_ns) <= tolerance(ns),
                  "seed %u: %g ns, claimed %g", seed, ns, claimed_ns);
    free(device);
}

/* least_ns: by enumeration; -1: none fits; 0: unknown. */
static void check_period(const mo_instance *x, const mo_regime *regime,
                         int64_t least_ns, unsigned seed)
{
    static const mo_identity identity;
    mo_search_strengthen_options options = {
        .objective = MO_OBJECTIVE_PERIOD, .seed = 1, .threads = 1, .rounds = 1
    };
    mo_pattern_set *set = NULL;
    mo_proven_bounds *proven = NULL;
    mo_schedule *start = NULL;
    mo_period_loads loads = { 0 };
    mo_frame *frame = NULL;
    mo_model model;
    mo_error why = { 0 };
    solved result;
    double ns;

    MUST(mo_pattern_set_new(x, 0, &set, &err));
    options.patterns = set;
    if (mo_search_strengthen(x, regime, &options, &proven, &start, &why) ==
            MO_OK &&
        start) {
        MUST(mo_period_loads_compute(x, regime, start->device, &loads, &err));
        MUST(mo_frame_make(x, regime, false, &frame, &err));
        frame->patterns = set;
        MUST(mo_model_make(&mo_formulation_patterns_period, frame, &identity,
                           &model, &err));
        ck_assert(mo_model_has_start(&model));
        write_model(&model, "period.lp");
        mo_model_clear(&model);
        solve_file("period.lp", &result);
        ck_assert_msg(result.status == SOLVE_OPTIMAL, "seed %u", seed);
        ns = result.objective * (double) frame->unit_ns;
        ck_assert_msg(ns <= (double) loads.period_ns + tolerance(ns),
                      "seed %u: %g of patterns, %lld known", seed, ns,
                      (long long) loads.period_ns);
        ck_assert_msg(ns + tolerance(ns) >= (double) least_ns,
                      "seed %u: %g of patterns, %lld by enumeration", seed, ns,
                      (long long) least_ns);
        ck_assert(set->is_exact || x->n > 4 || least_ns == 0);
        if (least_ns > 0 && set->is_exact)
            ck_assert_msg(fabs(ns - (double) least_ns) <= tolerance(ns),
                          "seed %u: %g of patterns, %lld is optimal", seed, ns,
                          (long long) least_ns);
        check_placement(x, regime, &result, ns, seed);
        solved_clear(&result);
        mo_frame_free(frame);
        mo_period_loads_clear(&loads);
    } else {
        ck_assert_msg(least_ns <= 0, "seed %u: %s", seed, why.text);
    }
    mo_schedule_free(start);
    mo_proven_bounds_free(proven);
    mo_pattern_set_free(set);
}

START_TEST(patterns_of_the_period_have_its_optimum)
{
    unsigned seed = (unsigned) _i;
    mo_regime regime = regime_without_live(seed);
    random_problem r;
    problem p = { 0 };

    random_problem_make(&r, seed);
    problem_make(&p, r.graph, r.cluster, NULL);
    check_period(p.x, &regime, exhaustive_period(p.x, &regime), seed);
    problem_clear(&p);
    random_problem_clear(&r);
}
END_TEST

START_TEST(patterns_of_the_period_add_up)
{
    unsigned seed = (unsigned) _i;
    mo_regime regime = regime_without_live(seed);
    problem p = { 0 };

    if (seed % 2)
        make_diamonds(&p, seed);
    else
        stack_make(&p, seed);
    check_period(p.x, &regime, 0, seed);
    problem_clear(&p);
}
END_TEST

SUITE(export_patterns)
{
    solve_or_skip();
    tcase_add_checked_fixture(tests, scratch_enter, scratch_leave);
    EACH(the_optimum_is_between_both_models, at_length(2000, 60));
    EACH(networks_with_cuts_have_a_choice_for_each_segment, at_length(400, 24));
    EACH(choices_fit_into_memory, at_length(16, 4));
    EACH(patterns_of_the_period_have_its_optimum, at_length(2000, 40));
    EACH(patterns_of_the_period_add_up, at_length(100, 6));
}
