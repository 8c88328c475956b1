/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of solvers/search/exact/exact.h: hand-made problems, node limits and
 * stops. */
#include "solvers/search/exact/exact.h"

#include <stdio.h>
#include <time.h>

#include "schedule/heuristic/upper_bound.h"
#include "tests/support/dense_problem.h"
#include "tests/search/exact/exact_case.h"
#include "tests/support/exhaustive.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"
#include "tests/support/text.h"
#include "tests/support/reference_validate.h"

static const mo_regime plain = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                                 MO_MEMORY_NONE };
static const mo_regime edges_by_port = { MO_CONGESTION_PORT,
                                         MO_TENSORS_PER_EDGE,
                                         MO_MEMORY_STATIC };
static const mo_regime once_by_port = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                        MO_MEMORY_NONE };
static const mo_regime live = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                MO_MEMORY_LIVE };

static const struct {
    const char *graph, *cluster;
    const mo_regime *regime;
    int64_t optimum_ns;
} known[] = {
    { "", "A; B; A-B gbps=8", &edges_by_port, 0 },
    { "a t.A=0 t.B=0", "A; B", &plain, 0 },
    { "a t.A=5 t.B=3", "A; B", &plain, 3000 },
    /* Serial on one device, or in parallel. */
    { "* t.A=4 t.B=4; a; b; c; d", "A; B", &plain, 8000 },
    { "* t.A=4 t.B=4; a pin=A; b pin=A; c colocate=g; d colocate=g", "A; B",
      &plain, 8000 },
    /* A idles although c could start: only then the output of b is sent in
     * time. */
    { "* t.A=9 t.B=9; a pin=B t.B=1; b pin=A t.A=2; c pin=A t.A=9;"
      "d pin=B t.B=9; a>b c.B.A=1 c.A.B=1; b>d c.A.B=1 c.B.A=1",
      "A; B", &plain, 14000 },
    /* Two readers on B: transferred twice, or once. */
    { "* t.A=1 t.B=1; a pin=A; b pin=B; c pin=B; a>b tensor=u bytes=5000;"
      "a>c tensor=u bytes=5000",
      "A; B; A-B gbps=8", &edges_by_port, 12000 },
    { "* t.A=1 t.B=1; a pin=A; b pin=B; c pin=B; a>b tensor=u bytes=5000;"
      "a>c tensor=u bytes=5000",
      "A; B; A-B gbps=8", &once_by_port, 8000 },
    /* Memory forces half of the ops to the slow device. */
    { "* t.A=1 t.B=9; * memory_bytes=5; a; b; c; d",
      "A memory_bytes=10; B memory_bytes=10", &edges_by_port, 18000 },
    { "a t.A=1 t.B=1 memory_bytes=5 pin=A; b t.A=1 t.B=1 memory_bytes=9 pin=A",
      "A memory_bytes=10; B memory_bytes=10", &edges_by_port, EXHAUSTIVE_NONE },
    /* Only one of two outputs fits: it must be read before the next is
     * written. */
    { "* t.A=1; a; b; c; d; a>c tensor=u bytes=6; b>d tensor=v bytes=6",
      "A memory_bytes=10", &live, 4000 },
    { "* t.A=1; a; b; c; a>c tensor=u bytes=6; b>c tensor=v bytes=6",
      "A memory_bytes=10", &live, EXHAUSTIVE_NONE },
};

START_TEST(small_problems_are_solved)
{
    problem p = { 0 };

    problem_make(&p, known[_i].graph, known[_i].cluster, NULL);
    ck_assert_int_eq(exact_optimum(p.x, known[_i].regime),
                     known[_i].optimum_ns);
    problem_clear(&p);
}
END_TEST

/* With any node limit the schedule is valid, and no lower bound exceeds a
 * known upper bound. */
START_TEST(results_are_valid_with_any_node_limit)
{
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int number = _i % 5; number < N_REGIMES; number += how_many(5, 10)) {
        mo_regime regime = regime_of(number);
        mo_schedule *upper = NULL;
        int64_t upper_ns;

        MUST(mo_bound_upper(p.x, &regime, &upper, &upper_ns, &err));
        for (int64_t nodes = 1; nodes <= how_many(1000, 100); nodes *= 10) {
            mo_exact_options options = { .below_ns = INT64_MAX,
                                         .nodes = nodes };
            mo_exact_result r = exact_solve(p.x, &regime, &options);

            ck_assert_int_le(r.nodes, nodes);
            ck_assert_msg(!upper || r.lower_ns <= upper_ns,
                          "seed %d, regime %d, %lld nodes: %lld > %lld", _i,
                          number, (long long) nodes, (long long) r.lower_ns,
                          (long long) upper_ns);
            ck_assert(!r.finished || !upper || r.best);
            mo_schedule_free(r.best);
        }
        mo_schedule_free(upper);
    }
    problem_clear(&p);
}
END_TEST

START_TEST(the_same_input_gives_the_same_answer)
{
    mo_exact_options options = { .below_ns = INT64_MAX, .nodes = 500 };
    problem p = { 0 };
    mo_exact_result one, other;

    crowd_make(&p, (unsigned) _i);
    one = exact_solve(p.x, &once_by_port, &options);
    other = exact_solve(p.x, &once_by_port, &options);
    ck_assert_int_eq(one.nodes, other.nodes);
    ck_assert_int_eq(one.lower_ns, other.lower_ns);
    ck_assert((one.best == NULL) == (other.best == NULL));
    for (int i = 0; i < p.x->n && one.best; i++) {
        ck_assert_int_eq(one.best->device[i], other.best->device[i]);
        ck_assert_int_eq(one.best->start_ns[i], other.best->start_ns[i]);
    }
    mo_schedule_free(one.best);
    mo_schedule_free(other.best);
    problem_clear(&p);
}
END_TEST

START_TEST(it_stops_on_request)
{
    mo_stop stop;
    mo_exact_options options = { .below_ns = INT64_MAX, .stop = &stop };
    problem p = { 0 };
    mo_exact_result r;

    mo_stop_after(&stop, 0);
    mo_stop_request(&stop);
    crowd_make(&p, 9);
    r = exact_solve(p.x, &once_by_port, &options);
    ck_assert(!r.finished);
    ck_assert_int_le(r.nodes, 100);
    mo_schedule_free(r.best);
    problem_clear(&p);
}
END_TEST

/* A chain of ops with long edges, on a star of devices that all differ. */
static void make_wide(problem *p, int n_ops, int n_devices)
{
    mo_out *graph = text_new(), *cluster = text_new();
    char *graph_text, *cluster_text;

    mo_out_text(graph, "*>* bytes=100000");
    for (int i = 0; i < n_ops; i++) {
        mo_out_printf(graph, "; o%d", i);
        for (int k = 0; k < n_devices; k++)
            mo_out_printf(graph, " t.D%d=%d", k, 1 + (i * 7 + k * 11) % 50);
    }
    for (int i = 0; i < n_ops; i++)
        for (int j = i + 1; j < n_ops && j < i + 4; j++)
            mo_out_printf(graph, "; o%d>o%d", i, j);
    mo_out_text(cluster, "D0");
    for (int k = 1; k < n_devices; k++)
        mo_out_printf(cluster, "; D%d; D0-D%d gbps=%d", k, k, 10 + k);
    graph_text = text_end(graph);
    cluster_text = text_end(cluster);
    problem_make(p, graph_text, cluster_text, NULL);
    free(graph_text);
    free(cluster_text);
}

/* Measured in CPU time, as other processes may run: propagating the root node
 * takes 20 s here. */
START_TEST(it_stops_before_the_first_node_is_done)
{
    mo_stop stop;
    mo_exact_options options = { .below_ns = INT64_MAX, .stop = &stop };
    mo_exact_result r;
    problem p = { 0 };
    clock_t begin;

    make_wide(&p, 36, 64);
    mo_stop_after(&stop, 0.1);
    begin = clock();
    r = exact_solve(p.x, &edges_by_port, &options);
    ck_assert_int_lt((clock() - begin) / CLOCKS_PER_SEC, 10);
    ck_assert(!r.finished);
    mo_schedule_free(r.best);
    problem_clear(&p);
}
END_TEST

/* Then only a lower bound is returned. */
START_TEST(large_instances_get_only_a_bound)
{
    mo_out *out = text_new();
    problem p = { 0 };
    mo_exact_result r;
    char *graph;

    for (int i = 0; i < 4000; i++)
        mo_out_printf(out, "n%d t.A=1 t.B=1;", i);
    graph = text_end(out);
    problem_make(&p, graph, "A; B", NULL);
    r = exact_solve_below(p.x, &once_by_port, INT64_MAX);
    ck_assert(!r.finished);
    ck_assert_int_eq(r.nodes, 0);
    ck_assert_int_gt(r.lower_ns, 0);
    mo_schedule_free(r.best);
    problem_clear(&p);
    free(graph);
}
END_TEST

SUITE(exact)
{
    EACH(small_problems_are_solved, COUNT(known));
    SOME(results_are_valid_with_any_node_limit, at_length(6, in_ci(3, 1)), 1);
    SOME(the_same_input_gives_the_same_answer, 5, 1);
    TEST(it_stops_on_request);
    TEST(it_stops_before_the_first_node_is_done);
    TEST(large_instances_get_only_a_bound);
}
