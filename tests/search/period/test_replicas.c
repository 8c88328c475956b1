/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of period/replicas_search.h and schedule/period/replicas.h against the
 * enumeration of all partitions and all placements, in all regimes. */
#include "solvers/search/period/replicas_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "schedule/period/modulo_schedule.h"
#include "cost/instance/sub_instance.h"
#include "tests/support/exhaustive_period.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/reference_validate.h"
#include "tests/support/suite.h"

enum { MAX_DEVICES = 4 };

/* The least period of a copy on some devices, by enumeration; INFINITY: there
 * is none. */
static double least_period(const mo_instance *x, const mo_regime *regime,
                           unsigned devices)
{
    mo_instance *parts[MAX_DEVICES];
    const mo_instance *part = x;
    int n = 0;
    int64_t ns = EXHAUSTIVE_PERIOD_NONE;

    for (int k = x->n_devices - 1; k >= 0 && part; k--) {
        if (devices >> k & 1)
            continue;
        if (mo_instance_first_pinned_to(x, k) != MO_FREE) {
            part = NULL;
            break;
        }
        MUST(mo_instance_without_device(part, k, &parts[n], &err));
        part = parts[n++];
    }
    if (part)
        ns = exhaustive_period(part, regime);
    while (n > 0)
        mo_instance_free(parts[--n]);
    return ns == EXHAUSTIVE_PERIOD_NONE ? INFINITY : (double) mo_max_i64(ns, 1);
}

/* Assigns device k and all behind it to the groups so far, to a new one, or to
 * none; returns the largest sum of rates with wanted groups; 0: any number. */
static double best_rate(const mo_instance *x, const double *period, int wanted,
                        unsigned *groups, int n, int k)
{
    double best = -1;

    if (k == x->n_devices) {
        double rate = 0;

        for (int g = 0; g < n; g++)
            rate +=
                isinf(period[groups[g]]) ? -INFINITY : 1 / period[groups[g]];
        return wanted > 0 && n != wanted ? -1 : rate;
    }
    best = best_rate(x, period, wanted, groups, n, k + 1);
    for (int g = 0; g <= n; g++) {
        unsigned before = g < n ? groups[g] : 0;

        groups[g] = before | 1U << k;
        best = fmax(best,
                    best_rate(x, period, wanted, groups, n + (g == n), k + 1));
        groups[g] = before;
    }
    return best;
}

static mo_replicas_result search(const mo_instance *x, const mo_regime *regime,
                                 int wanted)
{
    const mo_method_task task = { .x = x,
                                  .regime = *regime,
                                  .objective = MO_OBJECTIVE_PERIOD,
                                  .seed = 1,
                                  .threads = 1 };
    mo_replicas_result found = { .n = 0 };

    MUST(mo_replicas_search(&task, wanted, NULL, &found, &err));
    return found;
}

static void check_copies(const mo_instance *x, const mo_regime *regime,
                         const mo_replicas_result *found)
{
    double rate = 0;

    ck_assert_int_eq(mo_replicas_shared_device(x, found->copies, found->n),
                     MO_FREE);
    for (int c = 0; c < found->n; c++) {
        const mo_replica *copy = &found->copies[c];

        ck_assert(period_placement_allowed(x, regime, copy->device));
        ck_assert_int_eq(
            mo_max_i64(period_by_definition(x, regime, copy->device), 1),
            copy->period_ns);
        rate += 1 / (double) copy->period_ns;
    }
    if (found->n > 0)
        ck_assert_int_ge(found->period_ns, (int64_t) ceil(1 / rate - 1e-6));
    ck_assert_int_le(found->bound_ns, found->period_ns);
}

static void check_problem(const mo_instance *x, const mo_regime *regime)
{
    double period[1 << MAX_DEVICES];
    unsigned groups[MAX_DEVICES + 1] = { 0 };

    for (unsigned set = 1; set < 1U << x->n_devices; set++)
        period[set] = least_period(x, regime, set);
    for (int wanted = 0; wanted <= x->n_devices; wanted++) {
        double rate = best_rate(x, period, wanted, groups, 0, 0);
        mo_replicas_result found = search(x, regime, wanted);

        check_copies(x, regime, &found);
        ck_assert_int_eq(found.n > 0, rate > 0);
        if (wanted > 0 && found.n > 0)
            ck_assert_int_eq(found.n, wanted);
        /* Copies that share links or the host are not enumerated. */
        if (rate > 0 && regime->congestion != MO_CONGESTION_LINK &&
            !mo_instance_has_host(x))
            ck_assert_int_eq(found.period_ns, (int64_t) ceil(1 / rate - 1e-6));
        if (rate > 0)
            ck_assert_int_le(found.bound_ns, (int64_t) ceil(1 / rate - 1e-6));
        mo_replicas_result_clear(&found);
    }
}

static void check_regime(const problem *p, int number, unsigned seed)
{
    const mo_regime regime = regime_of(number);

    (void) seed;
    if (regime.memory != MO_MEMORY_LIVE)
        check_problem(p->x, &regime);
}

START_TEST(no_partition_has_more_throughput)
{
    random_problem_check_small((unsigned) _i, check_regime);
}
END_TEST

START_TEST(equal_devices_make_equal_groups)
{
    const mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                               MO_MEMORY_STATIC };
    problem p = { 0 };
    mo_replicas_result found;

    /* A copy needs two devices. */
    problem_make(&p, "* t.A=4 t.B=4 t.C=4 t.D=4 memory=6; a; b; a>b bytes=1",
                 "A memory_bytes=10; B memory_bytes=10; C memory_bytes=10; "
                 "D memory_bytes=10; A-B gbps=8; A-C gbps=8; A-D gbps=8; "
                 "B-C gbps=8; B-D gbps=8; C-D gbps=8",
                 NULL);
    found = search(p.x, &regime, 0);
    ck_assert_int_eq(found.n, 2);
    ck_assert_int_eq(found.period_ns, 2000);
    ck_assert_int_eq(found.bound_ns, 2000);
    check_copies(p.x, &regime, &found);
    mo_replicas_result_clear(&found);
    check_problem(p.x, &regime);
    problem_clear(&p);
}
END_TEST

/* With a limit in flight, or live memory, each copy has the period of its
 * pipeline, no partition that the search knows is better, and the bound holds.
 */
static void check_limited(const problem *p, int number, unsigned seed)
{
    const mo_regime regime = regime_of(number);

    for (int wanted = 0; wanted <= 2; wanted++) {
        const mo_method_task task = { .x = p->x,
                                      .regime = regime,
                                      .objective = MO_OBJECTIVE_PERIOD,
                                      .in_flight = 1 + (int) seed % 3,
                                      .seed = 1,
                                      .threads = 1 };
        mo_replicas_result found = { .n = 0 };
        double rate = 0;

        if (wanted > p->x->n_devices)
            continue;
        MUST(mo_replicas_search(&task, wanted, NULL, &found, &err));
        for (int c = 0; c < found.n; c++) {
            const mo_replica *copy = &found.copies[c];
            mo_modulo_schedule m = { 0 };

            MUST(mo_modulo_schedule_make(p->x, &regime, copy->device,
                                         task.in_flight, NULL, &m, &err));
            ck_assert(m.fits);
            ck_assert_int_le(m.in_flight, task.in_flight);
            ck_assert_int_eq(m.period_ns, copy->period_ns);
            rate += 1 / (double) copy->period_ns;
            mo_modulo_schedule_clear(&m);
        }
        if (found.n > 0) {
            ck_assert_int_ge(found.period_ns, (int64_t) ceil(1 / rate - 1e-6));
            ck_assert_int_le(found.bound_ns, found.period_ns);
        }
        ck_assert_int_eq(mo_replicas_shared_device(p->x, found.copies, found.n),
                         MO_FREE);
        mo_replicas_result_clear(&found);
    }
}

START_TEST(a_limit_is_that_of_each_copy)
{
    random_problem_check_small((unsigned) _i, check_limited);
}
END_TEST

/* Sixteen equal devices are few groups: a copy needs two, and the pair of a
 * fast one takes half as long. */
START_TEST(many_equal_devices_are_few_groups)
{
    const mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                               MO_MEMORY_STATIC };
    char ops[256] = "* memory=6", devices[4096] = "", *op = ops + strlen(ops),
         *device = devices;
    problem p = { 0 };
    mo_replicas_result found;

    for (int k = 0; k < 16; k++) {
        op += sprintf(op, " t.%c=%d", 'A' + k, k < 2 ? 2 : 4);
        device +=
            sprintf(device, "%s%c memory_bytes=10", k ? "; " : "", 'A' + k);
    }
    for (int k = 0; k < 16 * 16; k++)
        if (k / 16 < k % 16)
            device +=
                sprintf(device, "; %c-%c gbps=8", 'A' + k / 16, 'A' + k % 16);
    strcpy(op, "; a; b; a>b bytes=0");
    problem_make(&p, ops, devices, NULL);
    found = search(p.x, &regime, 0);
    ck_assert_int_eq(found.n, 8);
    ck_assert_int_eq(found.period_ns, 445); /* 1 / (1 / 2000 + 7 / 4000) */
    ck_assert_int_eq(found.bound_ns, found.period_ns);
    check_copies(p.x, &regime, &found);
    mo_replicas_result_clear(&found);
    found = search(p.x, &regime, 3);
    ck_assert_int_eq(found.n, 3);
    mo_replicas_result_clear(&found);
    problem_clear(&p);
}
END_TEST

/* Copies share the host: their sum is limited by it. */
START_TEST(the_host_limits_the_sum)
{
    const mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                               MO_MEMORY_STATIC };
    problem p = { 0 };
    mo_replicas_result found;

    problem_make(&p, "a t.A=4 t.B=4", "* host_request_us=3; A; B; A-B gbps=8",
                 NULL);
    found = search(p.x, &regime, 2);
    ck_assert_int_eq(found.n, 2);
    ck_assert_int_eq(found.period_ns, 3000);
    mo_replicas_result_clear(&found);
    problem_clear(&p);
}
END_TEST

SUITE(replicas)
{
    SOME(no_partition_has_more_throughput, at_length(1000, 60), 3);
    SOME(a_limit_is_that_of_each_copy, at_length(300, 20), 2);
    TEST(equal_devices_make_equal_groups);
    TEST(many_equal_devices_are_few_groups);
    TEST(the_host_limits_the_sum);
}
