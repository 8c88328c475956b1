/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of schedule/heuristic/upper_bound.h. */
#include "schedule/heuristic/upper_bound.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "ingest/read.h"
#include "schedule/heuristic/heft.h"
#include "tests/support/dense_problem.h"
#include "tests/support/exhaustive.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"
#include "tests/support/reference_validate.h"

enum { A, B };

static const mo_regime by_port = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                   MO_MEMORY_STATIC };

static mo_schedule *upper(const problem *p, const mo_regime *regime,
                          int64_t *bound_ns)
{
    mo_schedule *s = NULL;

    MUST(mo_bound_upper(p->x, regime, &s, bound_ns, &err));
    if (s) {
        check_valid(p->x, s);
        ck_assert_int_eq(*bound_ns, s->makespan_ns);
    }
    return s;
}

/* HEFT moves b, as it ends sooner there, and c has to wait. */
START_TEST(one_device_alone_is_found_where_it_is_best)
{
    problem p = { 0 };
    mo_schedule *s;
    int64_t bound_ns;

    problem_make(&p,
                 "* t.A=2; * t.B=2; a; b; c;"
                 "a>b bytes=1000; a>c bytes=1000; b>c bytes=9000",
                 "A; B; A-B gbps=8", NULL);
    s = upper(&p, &by_port, &bound_ns);
    ck_assert_int_eq(bound_ns, 6000);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

/* 6 + 3 + 3 and 5 + 4 + 3; putting the 5 with the 6 requires backtracking. */
START_TEST(memory_that_is_exactly_full_is_packed)
{
    problem p = { 0 };
    mo_schedule *s;
    int64_t bound_ns;

    problem_make(&p,
                 "* t.A=1; * t.B=1; a weight_bytes=6; b weight_bytes=5;"
                 "c weight_bytes=4; d weight_bytes=3; e weight_bytes=3;"
                 "f weight_bytes=3",
                 "A memory_bytes=12; B memory_bytes=12; A-B gbps=8", NULL);
    s = upper(&p, &by_port, &bound_ns);
    ck_assert_ptr_nonnull(s);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

START_TEST(what_does_not_fit_has_a_bound_all_the_same)
{
    problem p = { 0 };
    int64_t bound_ns;

    problem_make(&p,
                 "a t.A=2 t.B=3 weight_bytes=9; b t.A=4 t.B=1 weight_bytes=9;"
                 "c t.A=1 t.B=1 weight_bytes=9; a>b bytes=5000",
                 "A memory_bytes=10; B memory_bytes=10; A-B gbps=8", NULL);
    ck_assert_ptr_null(upper(&p, &by_port, &bound_ns));
    ck_assert_int_eq(bound_ns, 3000 + 4000 + 1000 + 5000);
    problem_clear(&p);
}
END_TEST

START_TEST(an_empty_graph_takes_no_time)
{
    problem p = { 0 };
    mo_schedule *s;
    int64_t bound_ns = -1;

    problem_make(&p, "", "A; B; A-B gbps=8", NULL);
    s = upper(&p, &by_port, &bound_ns);
    ck_assert_ptr_nonnull(s);
    ck_assert_int_eq(bound_ns, 0);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

/* Of problems this small, every one that fits is packed. */
static void check_bound(const problem *p, int number, unsigned seed)
{
    mo_regime regime = regime_of(number);
    int64_t bound_ns, optimum_ns;
    mo_schedule *s = upper(p, &regime, &bound_ns);

    if (regime.memory != MO_MEMORY_LIVE) {
        optimum_ns = exhaustive_optimum(p->x, &regime);
        ck_assert_msg(optimum_ns <= bound_ns, "seed %u, regime %d", seed,
                      number);
        ck_assert_msg((s == NULL) == (optimum_ns == EXHAUSTIVE_NONE),
                      "seed %u, regime %d", seed, number);
    }
    mo_schedule_free(s);
}

START_TEST(the_bound_is_no_less_than_the_optimum)
{
    random_problem_check((unsigned) _i, check_bound);
}
END_TEST

/* Returns whether the optimum is found, too; memory may exclude everything. */
static bool is_solved(unsigned seed)
{
    random_problem r;
    problem p = { 0 };
    mo_schedule *s;
    int64_t bound_ns;
    bool is_optimal;

    random_problem_make(&r, seed);
    problem_make(&p, r.graph, r.cluster, NULL);
    s = upper(&p, &by_port, &bound_ns);
    is_optimal = !s || bound_ns == exhaustive_optimum(p.x, &by_port);
    mo_schedule_free(s);
    problem_clear(&p);
    random_problem_clear(&r);
    return is_optimal;
}

START_TEST(small_problems_are_nearly_always_solved)
{
    int n_solved = 0;

    for (unsigned seed = 0; seed < 300; seed++)
        n_solved += is_solved(seed);
    ck_assert_int_ge(n_solved, 270);
}
END_TEST

START_TEST(the_bound_is_no_more_than_that_of_heft)
{
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int number = _i % 5; number < N_REGIMES; number += 5) {
        mo_regime regime = regime_of(number);
        mo_schedule *s, *other = NULL;
        int64_t bound_ns;

        s = upper(&p, &regime, &bound_ns);
        MUST(mo_heft(p.x, &regime, NULL, &other, &err));
        if (other)
            ck_assert(bound_ns <= other->makespan_ns);
        mo_schedule_free(other);
        mo_schedule_free(s);
    }
    problem_clear(&p);
}
END_TEST

/* The authors' example has memory for its ops and not a byte more: three or
 * more of them have to move at once.  Its optimum is 30. */
START_TEST(the_authors_example_is_solved)
{
    const char *data = getenv("MOIRAI_DATA");
    mo_instance_options options = { 0 };
    char path[4096], cluster_path[4096], *where = NULL;
    problem p = { 0 };
    int64_t bound_ns;

    snprintf(path, sizeof path, "%s/authors/example-1.graphml", data);
    snprintf(cluster_path, sizeof cluster_path,
             "%s/authors/example-1.cluster.xml", data);
    MUST(mo_read_graph(path, NULL, &p.g, NULL, &err));
    MUST(mo_cluster_choose(cluster_path, NULL, &p.cluster, &where, &err));
    free(where);
    MUST(mo_instance_make(p.g, p.cluster, &options, &p.x, &err));
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);
        mo_schedule *s = upper(&p, &regime, &bound_ns);

        ck_assert_ptr_nonnull(s);
        mo_schedule_free(s);
    }
    mo_schedule_free(upper(&p, &by_port, &bound_ns));
    ck_assert_int_eq(bound_ns, 30000);
    problem_clear(&p);
}
END_TEST

SUITE(upper_bound)
{
    TEST(one_device_alone_is_found_where_it_is_best);
    TEST(memory_that_is_exactly_full_is_packed);
    TEST(what_does_not_fit_has_a_bound_all_the_same);
    TEST(an_empty_graph_takes_no_time);
    SOME(the_bound_is_no_less_than_the_optimum, at_length(150, 30), 2);
    SOME(small_problems_are_nearly_always_solved, 1, 0);
    SOME(the_bound_is_no_more_than_that_of_heft, at_length(10, in_ci(4, 1)), 1);
    if (getenv("MOIRAI_DATA"))
        SOME(the_authors_example_is_solved, 1, 0);
    else
        puts("the_authors_example_is_solved: skipped, the environment has no "
             "MOIRAI_DATA");
}
