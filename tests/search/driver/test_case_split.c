/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of driver/case_split.h, and of the time windows and interval loads
 * below it. */
#include <stdio.h>

#include "base/random.h"
#include "solvers/search/exact/exact.h"
#include "solvers/search/driver/case_split.h"
#include "graph/mincut.h"
#include "solvers/search/bound/chain/time_windows.h"
#include "tests/support/dense_problem.h"
#include "tests/support/exhaustive.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"
#include "tests/support/reference_validate.h"

enum { ANY = 0 }; /* every op of a chain is a hub */

/* With blocks and an incumbent. */
static void open_search(mo_search_state *s, const mo_method_task *task)
{
    MUST(mo_search_state_open(task, s, &err));
    MUST(mo_search_initial_schedules(s, &err));
    MUST(mo_chain_blocks_new(s->classes, 1, NULL, &s->blocks, &err));
    MUST(mo_search_update_bounds(s, "blocks", &err));
}

/* Raises all boundaries of all classes as far as possible. */
static void raise_all(mo_search_state *s, int least_readers)
{
    int64_t steps = INT64_MAX / 2;

    for (int i = 0; i < s->classes->n && s->blocks; i++) {
        mo_decomp_class *cls = &s->classes->classes[i];

        for (int p = 0; p < s->states.n * s->states.n && cls->part; p++) {
            int64_t lower_ns = cls->lower_ns[p];
            mo_search_case_split_options options = { 0, least_readers, &steps,
                                                     NULL };

            if (lower_ns == INT64_MAX)
                continue;
            options.most_ns = 8 * lower_ns + 1000;
            MUST(mo_search_case_split_bound(s->blocks, i, p, &options,
                                            &lower_ns, &err));
            ck_assert_int_ge(lower_ns, cls->lower_ns[p]);
            cls->boundaries[p].own_ns = lower_ns;
        }
    }
    MUST(mo_search_update_bounds(s, "cases", &err));
}

static int64_t bound_of(const mo_instance *x, const mo_regime *regime,
                        int least_readers, int64_t *blocks_ns)
{
    mo_method_task task = { .x = x, .regime = *regime, .threads = 1 };
    mo_search_state s;
    int64_t lower_ns;

    open_search(&s, &task);
    *blocks_ns = s.lower_ns;
    raise_all(&s, least_readers);
    lower_ns = s.lower_ns;
    mo_search_state_close(&s);
    return lower_ns;
}

static void check_bound(const problem *p, int number, unsigned seed)
{
    mo_regime regime = regime_of(number);
    int64_t blocks_ns, bound_ns, optimum_ns;

    if (regime.memory == MO_MEMORY_LIVE)
        return;
    optimum_ns = exhaustive_optimum(p->x, &regime);
    if (optimum_ns == EXHAUSTIVE_NONE)
        return;
    bound_ns = bound_of(p->x, &regime, ANY, &blocks_ns);
    ck_assert_msg(bound_ns <= optimum_ns,
                  "seed %u, regime %d: bound %lld, optimum %lld", seed, number,
                  (long long) bound_ns, (long long) optimum_ns);
}

START_TEST(bound_is_below_the_optimum)
{
    random_problem_check((unsigned) _i, check_bound);
}
END_TEST

START_TEST(bound_is_below_what_is_found)
{
    problem p = { 0 };
    unsigned seed = (unsigned) _i;
    mo_regime regime = regime_of(_i % N_REGIMES);
    mo_method_task task = { .regime = regime, .threads = 1 };
    mo_search_state s;

    crowd_make(&p, seed);
    task.x = p.x;
    open_search(&s, &task);
    raise_all(&s, ANY);
    ck_assert_msg(s.lower_ns <= mo_search_upper_ns(&s),
                  "seed %u: bound %lld, found %lld", seed,
                  (long long) s.lower_ns, (long long) mo_search_upper_ns(&s));
    mo_search_state_close(&s);
    problem_clear(&p);
}
END_TEST

/* Writes a chain of ops, one of which is read by others beside it that the
 * last op collects; times are random. */
static void write_fan(char *text, size_t size, mo_random *random)
{
    int length = 3 + mo_random_below(random, 2);
    int beside = 3 + mo_random_below(random, 3);
    size_t at = 0;

#define PUT(...)                                                               \
    at += (size_t) snprintf(text + at, at < size ? size - at : 0, __VA_ARGS__)
    for (int i = 0; i < length; i++)
        PUT("c%d t.A=%d t.B=%d; ", i, 5 + mo_random_below(random, 20),
            5 + mo_random_below(random, 30));
    for (int i = 0; i < beside; i++)
        PUT("s%d t.A=%d t.B=%d; ", i, 5 + mo_random_below(random, 5),
            5 + mo_random_below(random, 10));
    PUT("z t.A=1 t.B=1; ");
    for (int i = 0; i < length; i++)
        if (i + 1 < length)
            PUT("c%d>c%d bytes=%d; ", i, i + 1,
                1000 * mo_random_below(random, 30));
        else
            PUT("c%d>z bytes=1000; ", i);
    if (mo_random_below(random, 2) == 0)
        PUT("c0>c2 bytes=%d; ", 1000 * mo_random_below(random, 30));
    for (int i = 0; i < beside; i++) {
        int64_t bytes = 1000 * (int64_t) mo_random_below(random, 30);

        PUT("c0>s%d bytes=%lld; s%d>z bytes=%lld; ", i, (long long) bytes, i,
            (long long) (1000 * (int64_t) mo_random_below(random, 5)));
    }
#undef PUT
    ck_assert_uint_lt(at, size);
}

static int64_t optimum_of(const mo_instance *x, const mo_regime *regime)
{
    mo_exact_options options = { .below_ns = INT64_MAX };
    mo_exact_result result = { 0 };
    int64_t optimum_ns;

    MUST(mo_exact_solve(x, regime, &options, &result, &err));
    ck_assert(result.finished && result.best);
    optimum_ns = result.best->makespan_ns;
    mo_schedule_free(result.best);
    return optimum_ns;
}

/* Some of many must be raised, or nothing is tested. */
START_TEST(hubs_raise_the_bound_up_to_the_optimum)
{
    static const mo_congestion congestions[] = { MO_CONGESTION_PORT,
                                                 MO_CONGESTION_CHANNEL,
                                                 MO_CONGESTION_LINK };
    int raised = 0;

    for (unsigned i = 0; i < 60; i++) {
        unsigned seed = (unsigned) _i * 60 + i;
        char text[4096];
        problem p = { 0 };
        mo_random random = { mo_random_seed(seed, 0) };
        mo_regime regime = { congestions[i % 3],
                             i / 3 % 2 ? MO_TENSORS_ONCE : MO_TENSORS_PER_EDGE,
                             MO_MEMORY_NONE };
        int64_t blocks_ns, bound_ns, optimum_ns;

        write_fan(text, sizeof text, &random);
        problem_make(&p, text, "A; B; A-B gbps=8", NULL);
        optimum_ns = optimum_of(p.x, &regime);
        bound_ns = bound_of(p.x, &regime, 1, &blocks_ns);
        ck_assert_msg(bound_ns <= optimum_ns,
                      "seed %u: bound %lld, optimum %lld", seed,
                      (long long) bound_ns, (long long) optimum_ns);
        raised += bound_ns > blocks_ns;
        problem_clear(&p);
    }
    ck_assert_int_ge(raised, 10);
}
END_TEST

/* On A the chain takes 410, and 20 that read its first op take 200 more.
 * Sending to one of them takes 100, so that few can leave: with n of them
 * gone, 610 - 10 n and 30 + 100 n are both within the makespan. */
START_TEST(readers_beside_a_chain_count)
{
    char text[4096];
    size_t at = 0;
    problem p = { 0 };
    mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                         MO_MEMORY_NONE };
    int64_t blocks_ns, bound_ns;

    at += (size_t) snprintf(text, sizeof text,
                            "a t.A=10 t.B=100; b t.A=130 t.B=999; "
                            "c t.A=130 t.B=999; d t.A=130 t.B=999; "
                            "z t.A=10 t.B=100; a>b bytes=100000; "
                            "b>c bytes=100000; c>d bytes=100000; "
                            "d>z bytes=100000; ");
    for (int i = 0; i < 20; i++)
        at += (size_t) snprintf(text + at, sizeof text - at,
                                "s%d t.A=10 t.B=10; a>s%d bytes=100000; "
                                "s%d>z bytes=100; ",
                                i, i, i);
    problem_make(&p, text, "A; B; A-B gbps=8", NULL);
    bound_ns = bound_of(p.x, &regime, 4, &blocks_ns);
    ck_assert_int_lt(blocks_ns, 450000);
    ck_assert_int_ge(bound_ns, 540000);
    problem_clear(&p);
}
END_TEST

START_TEST(least_cut_is_found)
{
    static const int arcs[][3] = { { 0, 2, 7 }, { 0, 3, 9 }, { 2, 3, 3 },
                                   { 2, 1, 4 }, { 3, 1, 5 }, { 3, 2, 2 } };
    mo_mincut cut = { 0 };

    for (int again = 0; again < 2; again++) {
        MUST(mo_mincut_init(&cut, 4, &err));
        for (int i = 0; i < COUNT(arcs); i++)
            MUST(mo_mincut_add_arc(&cut, arcs[i][0], arcs[i][1], arcs[i][2],
                                   &err));
        ck_assert_int_eq(mo_mincut_solve(&cut, 0, 1), 9);
    }
    mo_mincut_clear(&cut);
}
END_TEST

/* a sends to b, and past it to c: both have to leave, or to enter; as one
 * tensor only where it is sent to each. */
START_TEST(what_spans_an_op_crosses_with_it)
{
    static const struct {
        const char *flows;
        mo_tensors tensors;
        int64_t ns;
    } cases[] = {
        { "a>b bytes=5000; a>c bytes=2000", MO_TENSORS_PER_EDGE, 7000 },
        { "a>b bytes=9000; a>c bytes=2000", MO_TENSORS_PER_EDGE, 9000 },
        { "a>b tensor=x bytes=5000; a>c tensor=y bytes=2000", MO_TENSORS_ONCE,
          7000 },
        { "a>b tensor=x bytes=5000; a>c tensor=x bytes=5000", MO_TENSORS_ONCE,
          5000 },
        { "a>b tensor=x bytes=5000; a>c tensor=x bytes=5000",
          MO_TENSORS_PER_EDGE, 10000 },
    };
    mo_bound_segment segments[] = { { MO_FREE, 0, NULL, 0 },
                                    { 0, 1, NULL, 0 },
                                    { 1, 2, NULL, 0 },
                                    { 2, MO_FREE, NULL, 0 } };
    mo_bound_chain chain = { 4, segments, NULL };
    bool allowed[8];
    char text[256];
    problem p = { 0 };
    mo_allowed_devices places = { .regime = { .congestion = MO_CONGESTION_PORT,
                                              .tensors = cases[_i].tensors,
                                              .memory = MO_MEMORY_NONE },
                                  .allowed = allowed };
    mo_chain_cuts *spans = NULL;

    snprintf(text, sizeof text,
             "* t.A=1 t.B=1; a; b; c; d; %s; b>c bytes=7000; c>d bytes=1000",
             cases[_i].flows);
    problem_make(&p, text, "A; B; A-B gbps=8", NULL);
    places.x = p.x;
    MUST(mo_allowed_devices_find(&places, &err));
    MUST(mo_chain_cuts_find(&places, &chain, &spans, &err));
    ck_assert_int_eq(spans->n, 1);
    ck_assert_int_eq(spans->cuts[0].u, 0);
    ck_assert_int_eq(spans->cuts[0].w, 2);
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(spans->cuts[0].leave_ns[k], cases[_i].ns);
        ck_assert_int_eq(spans->cuts[0].enter_ns[k], cases[_i].ns);
    }
    mo_chain_cuts_free(spans);
    problem_clear(&p);
}
END_TEST

SUITE(case_split)
{
    SOME(bound_is_below_the_optimum, at_length(60, in_ci(12, 5)), 5);
    SOME(bound_is_below_what_is_found, in_ci(24, 8), 3);
    SOME(hubs_raise_the_bound_up_to_the_optimum, in_ci(2, 1), 0);
    TEST(readers_beside_a_chain_count);
    TEST(least_cut_is_found);
    EACH(what_spans_an_op_crosses_with_it, 5);
}
