/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the methods in solvers/search/baselines that need no solver, with
 * the figures of the publications. */
#include "solvers/search/method.h"

#include <stdio.h>

#include "solvers/search/baselines/baseline.h"
#include "tests/support/graphs.h"
#include "tests/search/baselines/baselines_case.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"
#include "tests/support/ten_task_graphs.h"
#include "tests/support/reference_validate.h"

enum { A, B, C };

static const mo_regime within_sums = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                                       MO_MEMORY_STATIC };
static const mo_regime while_alive = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                                       MO_MEMORY_LIVE };

static int device_of(const problem *p, const mo_method_result *placed,
                     const char *name)
{
    return placed->schedule->device[problem_op(p, name)];
}

static const struct {
    const char *graph;
    const mo_method *method;
    int64_t makespan_ns;
} printed[] = {
    { topcuoglu_tasks, &mo_method_heft, 80000 },
    { topcuoglu_tasks, &mo_method_cpop, 86000 },
    { arabnejad_tasks, &mo_method_heft, 133000 },
    { arabnejad_tasks, &mo_method_peft, 122000 },
};

START_TEST(ten_task_graphs_have_the_published_makespans)
{
    problem p = { 0 };
    mo_method_result placed;

    problem_make(&p, printed[_i].graph, TEN_TASKS_CLUSTER, NULL);
    placed = method_place(printed[_i].method, p.x, &method_plain);
    ck_assert_int_eq(placed.schedule->makespan_ns, printed[_i].makespan_ns);
    ck_assert(placed.fits);
    check_valid(p.x, placed.schedule);
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

/* n1, n2, n9, n10 is the critical path, and B runs it fastest. */
START_TEST(cpop_keeps_the_critical_path_on_one_device)
{
    static const char *const critical[] = { "n1", "n2", "n9", "n10" };
    problem p = { 0 };
    mo_method_result placed;

    problem_make(&p, topcuoglu_tasks, TEN_TASKS_CLUSTER, NULL);
    placed = method_place(&mo_method_cpop, p.x, &method_plain);
    for (int i = 0; i < COUNT(critical); i++)
        ck_assert_int_eq(device_of(&p, &placed, critical[i]), B);
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

/* Computed by hand from the definition, backward from n10. */
static const struct {
    const char *name;
    int us[3];
    int64_t rank_ns;
} optimistic[] = {
    { "n1", { 64, 68, 86 }, 72666 }, { "n2", { 42, 39, 42 }, 41000 },
    { "n3", { 27, 41, 43 }, 37000 }, { "n4", { 42, 39, 50 }, 43666 },
    { "n5", { 28, 37, 28 }, 31000 }, { "n6", { 42, 39, 44 }, 41666 },
    { "n7", { 13, 16, 22 }, 17000 }, { "n8", { 13, 16, 33 }, 20666 },
    { "n9", { 13, 16, 20 }, 16333 }, { "n10", { 0, 0, 0 }, 0 },
};

START_TEST(the_optimistic_cost_table_is_peft_s)
{
    problem p = { 0 };
    int64_t *oct_ns = NULL;

    problem_make(&p, arabnejad_tasks, TEN_TASKS_CLUSTER, NULL);
    MUST(mo_baseline_oct_make(p.x, &method_plain, &oct_ns, &err));
    for (int i = 0; i < COUNT(optimistic); i++) {
        int op = problem_op(&p, optimistic[i].name);

        for (int k = 0; k < 3; k++)
            ck_assert_int_eq(oct_ns[op * 3 + k], 1000 * optimistic[i].us[k]);
        ck_assert_int_eq(mo_baseline_oct_rank_ns(p.x, oct_ns, op),
                         optimistic[i].rank_ns);
    }
    free(oct_ns);
    problem_clear(&p);
}
END_TEST

/* b is pinned to B: behind a on A come its transfer and b there. */
START_TEST(the_optimistic_cost_table_knows_pins)
{
    problem p = { 0 };
    int64_t *oct_ns = NULL;

    problem_make(&p, "* t.A=1 t.B=9; a; b pin=B; a>b bytes=5000",
                 "A; B; A-B gbps=8", NULL);
    MUST(mo_baseline_oct_make(p.x, &method_plain, &oct_ns, &err));
    ck_assert_int_eq(oct_ns[problem_op(&p, "a") * 2 + A], 14000);
    ck_assert_int_eq(oct_ns[problem_op(&p, "a") * 2 + B], 9000);
    free(oct_ns);
    problem_clear(&p);
}
END_TEST

static const char two_devices[] = "A; B; A-B gbps=8";

/* A is faster, and too small for both. */
START_TEST(single_takes_the_fastest_device_with_room)
{
    static const struct {
        const char *cluster;
        int device;
        bool fits;
    } cases[] = {
        { "A memory_bytes=20; B memory_bytes=20; A-B gbps=8", A, true },
        { "A memory_bytes=10; B memory_bytes=20; A-B gbps=8", B, true },
        { "A memory_bytes=10; B memory_bytes=10; A-B gbps=8", A, false },
    };

    for (int i = 0; i < COUNT(cases); i++) {
        problem p = { 0 };
        mo_method_result placed;

        problem_make(&p,
                     "* t.A=1 t.B=2; a weight_bytes=6; b weight_bytes=6; "
                     "a>b bytes=8",
                     cases[i].cluster, NULL);
        placed = method_place(&mo_method_single, p.x, &within_sums);
        ck_assert_int_eq(placed.schedule->device[0], cases[i].device);
        ck_assert_int_eq(placed.fits, cases[i].fits);
        mo_method_result_clear(&placed);
        problem_clear(&p);
    }
}
END_TEST

START_TEST(pins_to_two_devices_leave_no_single_one)
{
    problem p = { 0 };
    mo_method_result placed;

    problem_make(&p, "* t.A=1 t.B=2; a pin=A; b pin=B; a>b bytes=8",
                 two_devices, NULL);
    placed = method_place(&mo_method_single, p.x, &method_plain);
    ck_assert_ptr_null(placed.schedule);
    ck_assert_str_eq(placed.why, "ops are pinned to different devices");
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

/* FIFO, c comes before b, which reads a. The share is 12 / 2 + 4 = 10 bytes. */
START_TEST(m_topo_fills_device_after_device)
{
    static const struct {
        const char *cluster;
        int a, c, b;
        bool fits;
    } cases[] = {
        { "A; B; A-B gbps=8", A, A, B, true },
        { "A memory_bytes=5; B; A-B gbps=8", A, B, B, true },
        { "A memory_bytes=5; B memory_bytes=5; A-B gbps=8", A, B, B, false },
    };

    for (int i = 0; i < COUNT(cases); i++) {
        problem p = { 0 };
        mo_method_result placed;

        problem_make(&p, "* t.A=1 t.B=1 weight_bytes=4; a; b; c; a>b bytes=8",
                     cases[i].cluster, NULL);
        placed = method_place(&mo_method_m_topo, p.x, &within_sums);
        ck_assert_int_eq(device_of(&p, &placed, "a"), cases[i].a);
        ck_assert_int_eq(device_of(&p, &placed, "b"), cases[i].b);
        ck_assert_int_eq(device_of(&p, &placed, "c"), cases[i].c);
        ck_assert_int_eq(placed.fits, cases[i].fits);
        mo_method_result_clear(&placed);
        problem_clear(&p);
    }
}
END_TEST

/* A transfer takes 5; b waits less for it than A takes for c. */
static const struct {
    const char *graph;
    int b;
    int64_t makespan_ns;
} starts[] = {
    { "* t.A=1 t.B=1; a; b; a>b bytes=5000", A, 2000 },
    { "* t.A=1 t.B=1; a; b; c; a>b bytes=5000", A, 2000 },
    { "* t.A=1 t.B=1; a; aa t.A=9 t.B=9; b; a>aa bytes=5000; a>b bytes=5000", B,
      10000 },
    { "* t.A=9 t.B=1; a; b", B, 9000 }, /* finish times do not matter */
};

START_TEST(m_etf_starts_as_early_as_it_can)
{
    problem p = { 0 };
    mo_method_result placed;

    problem_make(&p, starts[_i].graph, two_devices, NULL);
    placed = method_place(&mo_method_m_etf, p.x, &method_plain);
    ck_assert_int_eq(device_of(&p, &placed, "a"), A);
    ck_assert_int_eq(device_of(&p, &placed, "b"), starts[_i].b);
    ck_assert_int_eq(placed.schedule->makespan_ns, starts[_i].makespan_ns);
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

/* b starts first on A, where a has left 4 bytes of 10. */
static const struct {
    const char *cluster;
    int b;
    bool fits;
} rooms[] = {
    { "A memory_bytes=12; B memory_bytes=10; A-B gbps=8", A, true },
    { "A memory_bytes=10; B memory_bytes=10; A-B gbps=8", B, true },
    { "A memory_bytes=10; B memory_bytes=6; A-B gbps=8", B, true },
    { "A memory_bytes=7; B memory_bytes=6 ; A-B gbps=8", B, true },
};

START_TEST(m_etf_goes_where_there_is_room)
{
    problem p = { 0 };
    mo_method_result placed;

    problem_make(&p, "* t.A=1 t.B=1 weight_bytes=6; a; b; a>b bytes=5000",
                 rooms[_i].cluster, NULL);
    placed = method_place(&mo_method_m_etf, p.x, &within_sums);
    ck_assert_int_eq(device_of(&p, &placed, "a"), A);
    ck_assert_int_eq(device_of(&p, &placed, "b"), rooms[_i].b);
    ck_assert_int_eq(placed.fits, rooms[_i].fits);
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

START_TEST(m_etf_places_what_fits_nowhere)
{
    problem p = { 0 };
    mo_method_result placed;

    problem_make(&p,
                 "* t.A=1 t.B=1 weight_bytes=6; a; b; c; a>b bytes=8; "
                 "b>c bytes=8",
                 "A memory_bytes=7; B memory_bytes=8; A-B gbps=8", NULL);
    placed = method_place(&mo_method_m_etf, p.x, &within_sums);
    ck_assert_ptr_nonnull(placed.schedule);
    ck_assert(!placed.fits);
    ck_assert_int_eq(device_of(&p, &placed, "c"), B); /* 2 bytes left, not 1 */
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

/* The output of a is still there while b makes as much again; when c runs it
 * is released. */
START_TEST(m_etf_gives_memory_back)
{
    static const struct {
        const char *cluster;
        int b;
    } cases[] = {
        { "A memory_bytes=9; B memory_bytes=20; A-B gbps=8", A },
        { "A memory_bytes=7; B memory_bytes=20; A-B gbps=8", B },
    };

    for (int i = 0; i < COUNT(cases); i++) {
        problem p = { 0 };
        mo_method_result placed;

        problem_make(&p,
                     "* t.A=1 t.B=1; a; b; c; d; a>b bytes=4; b>c bytes=4; "
                     "c>d bytes=4",
                     cases[i].cluster, NULL);
        placed = method_place(&mo_method_m_etf, p.x, &while_alive);
        ck_assert_int_eq(device_of(&p, &placed, "a"), A);
        ck_assert_int_eq(device_of(&p, &placed, "b"), cases[i].b);
        ck_assert_int_eq(device_of(&p, &placed, "c"), cases[i].b);
        ck_assert(placed.fits);
        mo_method_result_clear(&placed);
        problem_clear(&p);
    }
}
END_TEST

/* A has 10, B 8: a to A, which leaves 8; c to B, which is free first; b to A,
 * which keeps a's 2; d to B, which keeps c's. */
START_TEST(hare_goes_where_most_memory_is_and_keeps_what_was_made_last)
{
    problem p = { 0 };
    mo_method_result placed;

    problem_make(&p,
                 "* t.A=1 t.B=1 weight_bytes=2; a; b; c; d; a>b bytes=8; "
                 "c>d bytes=8",
                 "A memory_bytes=10; B memory_bytes=8; A-B gbps=8", NULL);
    placed = method_place(&mo_method_hare, p.x, &within_sums);
    ck_assert_int_eq(device_of(&p, &placed, "a"), A);
    ck_assert_int_eq(device_of(&p, &placed, "b"), A);
    ck_assert_int_eq(device_of(&p, &placed, "c"), B);
    ck_assert_int_eq(device_of(&p, &placed, "d"), B);
    ck_assert(placed.fits);
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

/* Time of an op on each of m devices in us. */
static const struct {
    int m;
    int us[5];
    int n_groups;
    int of_device[5];
} groupings[] = {
    { 1, { 7 }, 1, { 0 } },
    { 2, { 8, 1 }, 1, { 0, 0 } },
    { 3, { 9, 3, 9 }, 2, { 0, 1, 0 } },          /* gamma is 2.39 */
    { 4, { 8, 4, 5, 2 }, 2, { 0, 1, 0, 1 } },    /* gamma is 2 */
    { 4, { 90, 1, 90, 50 }, 2, { 0, 1, 0, 0 } }, /* faster than m, too */
    { 4, { 0, 0, 0, 0 }, 2, { 0, 0, 0, 0 } },
    { 4, { 5, 0, 5, 5 }, 2, { 0, 1, 0, 0 } },
};

static void make_grouping(problem *p, int i)
{
    char graph[200], cluster[200];
    int g = snprintf(graph, sizeof graph, "a"), c = 0;

    for (int k = 0; k < groupings[i].m; k++) {
        g += snprintf(graph + g, sizeof graph - (size_t) g, " t.d%d=%d", k,
                      groupings[i].us[k]);
        c += snprintf(cluster + c, sizeof cluster - (size_t) c, "d%d;", k);
        if (k > 0)
            c += snprintf(cluster + c, sizeof cluster - (size_t) c,
                          "d%d-d%d gbps=8;", k - 1, k);
    }
    problem_make(p, graph, cluster, NULL);
}

START_TEST(getf_groups_devices_by_powers_of_gamma)
{
    problem p = { 0 };
    mo_baseline_getf_groups groups;

    make_grouping(&p, _i);
    MUST(mo_baseline_getf_groups_make(p.x, &groups, &err));
    ck_assert_int_eq(groups.n, groupings[_i].n_groups);
    for (int k = 0; k < groupings[_i].m; k++)
        ck_assert_int_eq(groups.of_device[k], groupings[_i].of_device[k]);
    mo_baseline_getf_groups_clear(&groups);
    problem_clear(&p);
}
END_TEST

/* A fifth of slow is fast, half of half is. The group from there up counts
 * that is faster in total, of equals the one of the faster devices. */
START_TEST(an_op_belongs_to_the_fastest_group_from_its_half_up)
{
    double speed[] = { 1, 2, 1.6, 4 }, total[] = { 2.6, 6 };
    int of_device[] = { 0, 1, 0, 1 };
    const mo_baseline_getf_groups groups = { 2, of_device, speed, total };
    const double slow[] = { 0.6, 0.2, 0.2, 0 };
    const double half[] = { 0.3, 0.25, 0.2, 0.25 };

    ck_assert_int_eq(mo_baseline_getf_group_of(&groups, slow, 4), 1);
    total[0] = 7;
    ck_assert_int_eq(mo_baseline_getf_group_of(&groups, slow, 4), 0);
    ck_assert_int_eq(mo_baseline_getf_group_of(&groups, half, 4), 1);
    total[0] = 6;
    ck_assert_int_eq(mo_baseline_getf_group_of(&groups, slow, 4), 1);
}
END_TEST

SUITE(baselines)
{
    EACH(ten_task_graphs_have_the_published_makespans, COUNT(printed));
    TEST(cpop_keeps_the_critical_path_on_one_device);
    TEST(the_optimistic_cost_table_is_peft_s);
    TEST(the_optimistic_cost_table_knows_pins);
    TEST(single_takes_the_fastest_device_with_room);
    TEST(pins_to_two_devices_leave_no_single_one);
    TEST(m_topo_fills_device_after_device);
    EACH(m_etf_starts_as_early_as_it_can, COUNT(starts));
    EACH(m_etf_goes_where_there_is_room, COUNT(rooms));
    TEST(m_etf_places_what_fits_nowhere);
    TEST(m_etf_gives_memory_back);
    TEST(hare_goes_where_most_memory_is_and_keeps_what_was_made_last);
    EACH(getf_groups_devices_by_powers_of_gamma, COUNT(groupings));
    TEST(an_op_belongs_to_the_fastest_group_from_its_half_up);
}
