/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/bound/memory_packing.h. */
#include "schedule/bound/memory_packing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "schedule/bound/memory_bound.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

enum { MAX_TEXT = 1 << 16, MAX_OPS = 400, N_CASES = 400 };

static const mo_regime by_port = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                   MO_MEMORY_STATIC };

/* Definition: the placement puts every op somewhere, pins and groups hold, and
 * no device has more than its memory. */
static void check_packing(const mo_instance *x, const int *placement)
{
    int64_t used[16] = { 0 };

    for (int i = 0; i < x->n; i++) {
        ck_assert(placement[i] >= 0 && placement[i] < x->n_devices);
        ck_assert(x->pin[i] == MO_FREE || x->pin[i] == placement[i]);
        for (int j = 0; j < i; j++)
            ck_assert(x->group[i] == MO_FREE || x->group[i] != x->group[j] ||
                      placement[i] == placement[j]);
        used[placement[i]] += x->memory_bytes[i];
    }
    for (int k = 0; k < x->n_devices; k++)
        ck_assert(used[k] <= x->capacity_bytes[k]);
}

static mo_packing_verdict pack(const mo_instance *x)
{
    int placement[MAX_OPS];
    mo_packing_verdict verdict;
    mo_placement_units *units = NULL;
    mo_error why = { 0 };
    mo_status status;

    MUST(mo_placement_units_make(x, &by_port, &units, &err));
    MUST(mo_packing_find(x, units, placement, &verdict, &err));
    if (verdict == MO_PACKING_FOUND)
        check_packing(x, placement);
    status = mo_packing_check(x, units, &why);
    ck_assert_int_eq(status,
                     verdict == MO_PACKING_NONE ? MO_E_INFEASIBLE : MO_OK);
    mo_placement_units_free(units);
    return verdict;
}

/* Brute force over the units' devices. */
static bool has_packing(const mo_placement_units *u, int unit, int n_devices,
                        int64_t *room)
{
    if (unit == u->n)
        return true;
    for (int k = 0; k < n_devices; k++) {
        bool found;

        if (u->bytes[unit] > room[k] ||
            (u->pin[unit] != MO_FREE && u->pin[unit] != k))
            continue;
        room[k] -= u->bytes[unit];
        found = has_packing(u, unit + 1, n_devices, room);
        room[k] += u->bytes[unit];
        if (found)
            return true;
    }
    return false;
}

/* Ops of few sizes, some in groups, some pinned, on three devices that have
 * about as much as they need. */
static void random_case(problem *p, mo_random *random)
{
    char graph[MAX_TEXT], cluster[200];
    int n = 4 + mo_random_below(random, 5), at = 0, sum = 0, second, third;

    at += sprintf(graph, "* t.A=1; * t.B=1; * t.C=1;");
    for (int i = 0; i < n; i++) {
        int bytes = 1 + mo_random_below(random, 6) * 3;

        sum += bytes;
        at += sprintf(graph + at, "o%d weight_bytes=%d", i, bytes);
        if (mo_random_below(random, 4) == 0)
            at += sprintf(graph + at, " colocate=g%d",
                          mo_random_below(random, 2));
        else if (mo_random_below(random, 8) == 0)
            at += sprintf(graph + at, " pin=%c",
                          'A' + mo_random_below(random, 3));
        at += sprintf(graph + at, ";");
    }
    second = 16 + mo_random_below(random, sum / 4 + 1);
    third = 16 + mo_random_below(random, sum / 4 + 1);
    sprintf(cluster,
            "A memory_bytes=%d; B memory_bytes=%d; C memory_bytes=%d;"
            "A-B gbps=8; B-C gbps=8; A-C gbps=8",
            16 + sum / 3, second, third);
    if (problem_try(p, graph, cluster, NULL) != MO_OK)
        p->x = NULL;
}

START_TEST(verdicts_are_those_of_brute_force)
{
    mo_random random = { 7 };
    int n_verdicts[3] = { 0 };

    for (int i = 0; i < N_CASES; i++) {
        problem p = { 0 };
        mo_placement_units *units = NULL;

        random_case(&p, &random);
        if (p.x) {
            mo_packing_verdict verdict = pack(p.x);

            MUST(mo_placement_units_make(p.x, &by_port, &units, &err));
            ck_assert_msg(verdict == (has_packing(units, 0, p.x->n_devices,
                                                  p.x->capacity_bytes)
                                          ? MO_PACKING_FOUND
                                          : MO_PACKING_NONE),
                          "case %d", i);
            mo_placement_units_free(units);
            n_verdicts[verdict]++;
        }
        problem_clear(&p);
    }
    ck_assert_int_gt(n_verdicts[MO_PACKING_FOUND], 50);
    ck_assert_int_gt(n_verdicts[MO_PACKING_NONE], 20);
}
END_TEST

/* n ops of equal size on ten devices of ten bytes. */
static void equal_ops(problem *p, int n, int bytes)
{
    char graph[MAX_TEXT], cluster[2000];
    int at = 0;

    for (int k = 0; k < 10; k++)
        at += sprintf(graph + at, "* t.D%d=1;", k);
    for (int i = 0; i < n; i++)
        at += sprintf(graph + at, "o%d weight_bytes=%d;", i, bytes);
    at = 0;
    for (int k = 0; k < 10; k++)
        at += sprintf(cluster + at, "D%d memory_bytes=10;", k);
    for (int k = 1; k < 10; k++)
        at += sprintf(cluster + at, "D0-D%d gbps=8;", k);
    problem_make(p, graph, cluster, NULL);
}

START_TEST(places_of_equal_ops_are_counted)
{
    static const struct {
        int n, bytes;
        mo_packing_verdict verdict;
    } cases[] = { { 30, 3, MO_PACKING_FOUND },
                  { 31, 3, MO_PACKING_NONE },
                  { 100, 1, MO_PACKING_FOUND },
                  { 20, 4, MO_PACKING_FOUND },
                  { 21, 4, MO_PACKING_NONE } };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        problem p = { 0 };

        equal_ops(&p, cases[i].n, cases[i].bytes);
        ck_assert_int_eq(pack(p.x), cases[i].verdict);
        problem_clear(&p);
    }
}
END_TEST

START_TEST(ops_that_do_not_fit_together_are_named)
{
    static const struct {
        const char *graph, *reason;
    } cases[] = {
        { "a weight_bytes=6; b weight_bytes=1; c weight_bytes=7;"
          "d weight_bytes=6",
          "no placement fits into memory: 'c', 'a', 'd' (6 bytes or more each, "
          "19 together) cannot be divided among devices with 10, 10 bytes" },
        { "a weight_bytes=6 colocate=g; b weight_bytes=3 colocate=g;"
          "c weight_bytes=2; d weight_bytes=9",
          "no placement fits into memory: 'a' with its group, 'd', 'c' (2 "
          "bytes or more each, 20 together) cannot be divided among devices "
          "with 10, 10 bytes" },
        { "a weight_bytes=4 pin=A; b weight_bytes=8; c weight_bytes=7",
          "no placement fits into memory: 'b', 'c' (7 bytes or more each, 15 "
          "together) cannot be divided among devices with 6, 10 bytes beside "
          "what is pinned" },
        { "a weight_bytes=6 pin=A; b weight_bytes=7 pin=A; c weight_bytes=1",
          "no placement fits into memory: what is pinned to device A exceeds "
          "its 10 bytes" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        problem p = { 0 };
        mo_error why = { 0 };
        char graph[400];

        snprintf(graph, sizeof graph, "* t.A=1; * t.B=1; %s", cases[i].graph);
        problem_make(&p, graph,
                     "A memory_bytes=10; B memory_bytes=10; A-B gbps=8", NULL);
        ck_assert_int_eq(mo_bound_memory(p.x, &by_port, &why), MO_E_INFEASIBLE);
        ck_assert_str_eq(why.text, cases[i].reason);
        problem_clear(&p);
    }
}
END_TEST

START_TEST(ops_without_memory_follow_their_inputs)
{
    problem p = { 0 };
    int placement[4];
    mo_packing_verdict verdict;
    mo_placement_units *units = NULL;

    problem_make(&p,
                 "* t.A=1; * t.B=1; a weight_bytes=10; b weight_bytes=9; c; d;"
                 "a>c bytes=8; b>d bytes=8",
                 "A memory_bytes=9; B memory_bytes=10; A-B gbps=8", NULL);
    MUST(mo_placement_units_make(p.x, &by_port, &units, &err));
    MUST(mo_packing_find(p.x, units, placement, &verdict, &err));
    ck_assert_int_eq(verdict, MO_PACKING_FOUND);
    check_packing(p.x, placement);
    for (int q = 0; q < p.x->n_flows; q++)
        ck_assert_int_eq(placement[p.x->flows[q].from],
                         placement[p.x->flows[q].to]);
    mo_placement_units_free(units);
    problem_clear(&p);
}
END_TEST

SUITE(memory_packing)
{
    TEST(verdicts_are_those_of_brute_force);
    TEST(places_of_equal_ops_are_counted);
    TEST(ops_that_do_not_fit_together_are_named);
    TEST(ops_without_memory_follow_their_inputs);
}
