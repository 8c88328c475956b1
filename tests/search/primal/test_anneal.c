/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of primal/anneal.h. */
#include "solvers/search/primal/anneal.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/heuristic/heft.h"
#include "schedule/validate/validate.h"
#include "tests/support/dense_problem.h"
#include "tests/support/exhaustive.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"
#include "tests/support/reference_validate.h"

static void judge(const mo_instance *x, const mo_schedule *s, int number)
{
    mo_verdict *verdict = NULL;

    MUST(mo_validate(x, s, 1, &verdict, &err));
    ck_assert_msg(verdict->n == 0, "case %d: %s", number,
                  verdict->n > 0 ? verdict->violations[0].text : "");
    mo_verdict_free(verdict);
}

static void check_shifted(const mo_instance *x, mo_schedule *s)
{
    int64_t *start_ns = malloc(((size_t) s->n + 1) * sizeof *start_ns);

    ck_assert(start_ns);
    memcpy(start_ns, s->start_ns, (size_t) s->n * sizeof *start_ns);
    MUST(mo_schedule_left_shift(x, s, &err));
    ck_assert_mem_eq(start_ns, s->start_ns, (size_t) s->n * sizeof *start_ns);
    free(start_ns);
}

static mo_schedule *anneal_from(const mo_instance *x, const mo_regime *regime,
                                const mo_schedule *start, uint64_t seed,
                                int64_t moves)
{
    mo_primal_anneal_options options = { .seed = seed,
                                         .moves = moves,
                                         .eject = seed % 4 > 1,
                                         .oscillate = seed % 2 == 1 };
    mo_primal_anneal_result annealed = { 0 };

    MUST(mo_primal_anneal(x, regime, start, &options, &annealed, &err));
    ck_assert_int_eq(annealed.moves, moves);
    return annealed.schedule;
}

/* Returns the schedule of HEFT, or NULL where it is not within memory. */
static mo_schedule *heft_within(const mo_instance *x, const mo_regime *regime)
{
    mo_schedule *s = NULL;
    bool fits = false;

    MUST(mo_heft(x, regime, NULL, &s, &err));
    if (s)
        MUST(mo_schedule_fits_memory(x, s, &fits, &err));
    if (fits)
        return s;
    mo_schedule_free(s);
    return NULL;
}

START_TEST(many_ops_improve_and_stay_valid)
{
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int r = 0; r < N_REGIMES; r++) {
        mo_regime regime = regime_of(r);
        mo_schedule *start = heft_within(p.x, &regime), *s;

        if (!start)
            continue;
        s = anneal_from(p.x, &regime, start, (uint64_t) _i, 600);
        ck_assert_int_le(s->makespan_ns, start->makespan_ns);
        judge(p.x, s, _i);
        if (regime.memory != MO_MEMORY_LIVE)
            check_shifted(p.x, s);
        mo_schedule_free(s);
        mo_schedule_free(start);
    }
    problem_clear(&p);
}
END_TEST

/* Counts the problems that end at their optimum, from ops in order. */
static int count_optimal(mo_regime regime, int n, int *tried)
{
    int optimal = 0;

    for (int i = 0; i < n; i++) {
        random_problem r;
        problem p = { 0 };
        mo_schedule *start = NULL, *s = NULL;

        random_problem_sized(&r, (unsigned) i, 4, 5);
        if (problem_try(&p, r.graph, r.cluster, NULL) == MO_OK)
            start = heft_within(p.x, &regime);
        if (start) {
            int64_t least_ns = exhaustive_optimum(p.x, &regime);

            s = anneal_from(p.x, &regime, start, 7, 4000);
            ck_assert_int_ge(s->makespan_ns, least_ns);
            optimal += s->makespan_ns == least_ns;
            ++*tried;
        }
        mo_schedule_free(s);
        mo_schedule_free(start);
        random_problem_clear(&r);
        problem_clear(&p);
    }
    return optimal;
}

START_TEST(small_problems_are_nearly_always_solved)
{
    static const mo_regime regimes[] = {
        { MO_CONGESTION_PORT, MO_TENSORS_ONCE, MO_MEMORY_STATIC },
        { MO_CONGESTION_LINK, MO_TENSORS_PER_EDGE, MO_MEMORY_NONE },
        { MO_CONGESTION_NONE, MO_TENSORS_ONCE, MO_MEMORY_STATIC },
    };
    int tried = 0, optimal = count_optimal(regimes[_i], 30, &tried);

    ck_assert_int_gt(tried, 15);
    ck_assert_msg(optimal * 7 >= tried * 6, "%d of %d", optimal, tried);
}
END_TEST

static const mo_regime usual = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                 MO_MEMORY_STATIC };

typedef struct sample {
    problem p;
    mo_schedule *start;
} sample;

/* Many equal branches, with a start that can be improved. */
static void make_sample(sample *s)
{
    *s = (sample){ .start = NULL };
    crowd_make(&s->p, 4);
    MUST(mo_heft(s->p.x, &usual, NULL, &s->start, &err));
    ck_assert_ptr_nonnull(s->start);
}

static void clear_sample(sample *s)
{
    mo_schedule_free(s->start);
    problem_clear(&s->p);
}

START_TEST(the_same_seed_gives_the_same_answer)
{
    sample s;
    mo_schedule *a, *b;

    make_sample(&s);
    a = anneal_from(s.p.x, &usual, s.start, 11, 3000);
    b = anneal_from(s.p.x, &usual, s.start, 11, 3000);
    ck_assert_int_lt(a->makespan_ns, s.start->makespan_ns);
    ck_assert_mem_eq(a->device, b->device, (size_t) a->n * sizeof *a->device);
    ck_assert_mem_eq(a->start_ns, b->start_ns,
                     (size_t) a->n * sizeof *a->start_ns);
    mo_schedule_free(b);
    mo_schedule_free(a);
    clear_sample(&s);
}
END_TEST

START_TEST(it_stops_on_request)
{
    mo_primal_anneal_options options = { .seed = 1, .moves = INT64_MAX };
    mo_primal_anneal_result annealed = { 0 };
    mo_stop stop;
    sample s;

    make_sample(&s);
    mo_stop_after(&stop, 0);
    mo_stop_request(&stop);
    options.stop = &stop;
    MUST(mo_primal_anneal(s.p.x, &usual, s.start, &options, &annealed, &err));
    ck_assert_int_eq(annealed.moves, 0);
    ck_assert_int_le(annealed.schedule->makespan_ns, s.start->makespan_ns);
    mo_schedule_free(annealed.schedule);
    clear_sample(&s);
}
END_TEST

START_TEST(it_stops_when_it_is_good_enough)
{
    mo_primal_anneal_options options = { .seed = 1, .moves = INT64_MAX };
    mo_primal_anneal_result annealed = { 0 };
    sample s;

    make_sample(&s);
    options.enough_ns = s.start->makespan_ns;
    MUST(mo_primal_anneal(s.p.x, &usual, s.start, &options, &annealed, &err));
    ck_assert_int_eq(annealed.moves, 0);
    mo_schedule_free(annealed.schedule);
    clear_sample(&s);
}
END_TEST

/* Ten branches of two ops on equal devices: half of them go to each. */
START_TEST(branches_are_copied)
{
    static const char graph[] =
        "* t.A=10; * t.B=10; *>* bytes=8; u t.A=0; v t.A=0;"
        "a0;b0;a1;b1;a2;b2;a3;b3;u>a0;u>a1;u>a2;u>a3;"
        "a0>b0;a1>b1;a2>b2;a3>b3;b0>v;b1>v;b2>v;b3>v";
    static const int branches[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    mo_primal_anneal_options options = { .seed = 3,
                                         .moves = 2000,
                                         .branch_ops = branches,
                                         .n_branches = 4,
                                         .branch_n = 2 };
    mo_primal_anneal_result annealed = { 0 };
    mo_schedule *start;
    problem p = { 0 };
    int device[10] = { 0 };

    problem_make(&p, graph, "A; B; A-B gbps=8", NULL);
    MUST(mo_schedule_new(p.x, &usual, device, &start, &err));
    MUST(mo_schedule_left_shift(p.x, start, &err));
    MUST(mo_primal_anneal(p.x, &usual, start, &options, &annealed, &err));
    judge(p.x, annealed.schedule, 0);
    ck_assert_int_lt(annealed.schedule->makespan_ns, 50000);
    mo_schedule_free(annealed.schedule);
    mo_schedule_free(start);
    problem_clear(&p);
}
END_TEST

START_TEST(an_empty_instance_stays_empty)
{
    problem p = { 0 };
    mo_schedule *start, *s;

    problem_make(&p, "", "A", NULL);
    MUST(mo_schedule_new(p.x, &usual, NULL, &start, &err));
    s = anneal_from(p.x, &usual, start, 1, 0);
    ck_assert_int_eq(s->makespan_ns, 0);
    mo_schedule_free(s);
    mo_schedule_free(start);
    problem_clear(&p);
}
END_TEST

/* Ops of ten bytes, faster on A: a byte there is worth a price up to the time
 * that it saves. */
START_TEST(prices_trade_time_for_memory)
{
    static const struct {
        double price_ns; /* of a byte on A */
        int64_t makespan_ns, bytes;
    } cases[] = { { 0, 4000, 40 }, { 90, 4000, 40 }, { 110, 8000, 0 } };

    for (int i = 0; i < COUNT(cases); i++) {
        const double price_ns[] = { cases[i].price_ns, 0 };
        mo_primal_anneal_options options = { .seed = 1,
                                             .moves = 4000,
                                             .price_ns = price_ns };
        mo_primal_anneal_result annealed = { 0 };
        mo_schedule *start;
        problem p = { 0 };
        int64_t bytes = 0;

        problem_make(&p,
                     "* t.A=1; * t.B=2; * weight_bytes=10; *>* bytes=0;"
                     "a; b; c; d; a>b; b>c; c>d",
                     "A; B; A-B gbps=8", NULL);
        MUST(mo_heft(p.x, &usual, NULL, &start, &err));
        MUST(mo_primal_anneal(p.x, &usual, start, &options, &annealed, &err));
        for (int op = 0; op < p.x->n; op++)
            bytes += annealed.schedule->device[op] == 0 ? 10 : 0;
        ck_assert_int_eq(annealed.schedule->makespan_ns, cases[i].makespan_ns);
        ck_assert_int_eq(bytes, cases[i].bytes);
        judge(p.x, annealed.schedule, i);
        mo_schedule_free(annealed.schedule);
        mo_schedule_free(start);
        problem_clear(&p);
    }
}
END_TEST

/* Both devices are full, each with the ops that the other is fast at: every
 * way to the optimum leads through placements beyond memory, or ops are
 * exchanged in one move. */
START_TEST(full_devices_exchange_their_ops)
{
    static const int device[] = { 1, 1, 0, 0 };
    static const int64_t start_ns[] = { 0, 2000, 0, 2000 };
    mo_primal_anneal_options options = {
        .seed = 1, .moves = 4000, .eject = true, .oscillate = _i == 1
    };
    mo_primal_anneal_result annealed = { 0 };
    mo_schedule *start;
    problem p = { 0 };

    problem_make(&p,
                 "* weight_bytes=10; a t.A=1 t.B=2; b t.A=1 t.B=2;"
                 "c t.A=2 t.B=1; d t.A=2 t.B=1",
                 "A memory_bytes=20; B memory_bytes=20; A-B gbps=8", NULL);
    MUST(mo_schedule_new(p.x, &usual, device, &start, &err));
    memcpy(start->start_ns, start_ns, sizeof start_ns);
    start->makespan_ns = 4000;
    judge(p.x, start, 0);
    MUST(mo_primal_anneal(p.x, &usual, start, &options, &annealed, &err));
    ck_assert_int_eq(annealed.schedule->makespan_ns, 2000);
    judge(p.x, annealed.schedule, 1);
    mo_schedule_free(annealed.schedule);
    mo_schedule_free(start);
    problem_clear(&p);
}
END_TEST

SUITE(anneal)
{
    SOME(full_devices_exchange_their_ops, 2, 2);
    TEST(prices_trade_time_for_memory);
    TEST(an_empty_instance_stays_empty);
    TEST(the_same_seed_gives_the_same_answer);
    TEST(it_stops_on_request);
    TEST(it_stops_when_it_is_good_enough);
    TEST(branches_are_copied);
    SOME(small_problems_are_nearly_always_solved, 3, 1);
    SOME(many_ops_improve_and_stay_valid, 40, 2);
}
