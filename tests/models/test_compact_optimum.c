/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-sanitizers no-valgrind */
/*
 * Tests of models/compact/compact.c: the model's optimum equals that of
 * exhaustive search, with a copy for every reader or one per device, and its
 * solutions fit into memory.
 */
#include "tests/models/optimum_oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "schedule/schedule.h"
#include "tests/support/exhaustive.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* A part of live memory has at least six of the 30 seeds of make check: enough
 * for all congestion models and both kinds of tensors, and for one with an
 * optimum. */
enum { N_PARTS = 10, N_LIVE_PARTS = 5, SECONDS = 600 };

static void check_congestions(oracle *o, mo_tensors tensors)
{
    mo_regime regime = { .tensors = tensors };

    for (int c = MO_CONGESTION_PORT; c <= MO_CONGESTION_NONE; c++) {
        regime.congestion = (mo_congestion) c;
        oracle_check(o, &mo_formulation_compact, &regime);
    }
    /* Other memory models for every seventh problem, in rotation. */
    if (o->seed % 7 != 0)
        return;
    regime.congestion = (mo_congestion) (o->seed / 5 % 4);
    regime.memory = MO_MEMORY_NONE;
    oracle_check(o, &mo_formulation_compact, &regime);
    regime.memory = MO_MEMORY_LIVE;
    oracle_check(o, &mo_formulation_compact, &regime);
}

START_TEST(compact_finds_the_optimum)
{
    oracle_seeds seeds = oracle_part(_i, N_PARTS);
    int n_wrong = 0;

    for (; seeds.next < seeds.end; seeds.next += seeds.step) {
        oracle o;

        oracle_make(&o, seeds.next);
        check_congestions(&o, MO_TENSORS_PER_EDGE);
        check_congestions(&o, MO_TENSORS_ONCE);
        n_wrong += o.n_wrong;
        oracle_clear(&o);
    }
    ck_assert_int_eq(n_wrong, 0);
}
END_TEST

static int device_in(const mo_instance *x, const solved *result, int op)
{
    char name[32];

    for (int k = 0; k < x->n_devices; k++) {
        snprintf(name, sizeof name, "x_%d_%d", op, k);
        if (solved_value(result, name) > 0.5)
            return k;
    }
    return -1;
}

/* The schedule encoded in a solution, with every transfer as early as
 * possible. */
static mo_schedule *schedule_in(const mo_instance *x, const mo_regime *regime,
                                const solved *result, int64_t unit_ns)
{
    int *device = calloc((size_t) x->n + 1, sizeof *device);
    mo_schedule *s;
    char name[32];

    ck_assert_ptr_nonnull(device);
    for (int i = 0; i < x->n; i++)
        device[i] = device_in(x, result, i);
    MUST(mo_schedule_new(x, regime, device, &s, &err));
    for (int i = 0; i < x->n; i++) {
        snprintf(name, sizeof name, "s_%d", i);
        s->start_ns[i] = llround(solved_value(result, name) * (double) unit_ns);
    }
    for (int i = 0; i < s->n_transfers; i++) {
        mo_transfer *t = &s->transfers[i];
        int from = regime->tensors == MO_TENSORS_ONCE ? x->tensor_from[t->item]
                                                      : x->flows[t->item].from;

        t->start_ns =
            s->start_ns[from] + mo_instance_p_ns(x, from, device[from]);
    }
    MUST(mo_schedule_left_shift(x, s, &err));
    free(device);
    return s;
}

static void check_peak(oracle *o, const mo_regime *regime, const solved *result,
                       int64_t unit_ns)
{
    const mo_instance *x = o->p.x;
    mo_schedule *s = schedule_in(x, regime, result, unit_ns);
    int64_t *peak = calloc((size_t) x->n_devices, sizeof *peak);

    ck_assert_ptr_nonnull(peak);
    MUST(mo_schedule_peak_memory(x, s, peak, &err));
    for (int k = 0; k < x->n_devices; k++)
        if (peak[k] > x->capacity_bytes[k])
            oracle_complain(o, &mo_formulation_compact, regime,
                            "device %d needs %lld bytes and has %lld", k,
                            (long long) peak[k],
                            (long long) x->capacity_bytes[k]);
    free(peak);
    mo_schedule_free(s);
}

/* Live memory is bounded from above in the model: every accepted solution must
 * fit, and memory can only increase the optimum. */
static bool check_live(oracle *o, mo_regime regime)
{
    int64_t unit_ns =
        oracle_write(o, &mo_formulation_compact, &regime, "live.lp");
    mo_regime unlimited = regime;
    solved result;
    bool has_optimum;

    solve_file("live.lp", &result);
    unlimited.memory = MO_MEMORY_NONE;
    if (result.status == SOLVE_OTHER)
        oracle_complain(o, &mo_formulation_compact, &regime,
                        "HiGHS ended with %d", result.highs_status);
    has_optimum = result.status == SOLVE_OPTIMAL;
    if (has_optimum) {
        double least = (double) exhaustive_optimum(o->p.x, &unlimited);

        if (result.objective * (double) unit_ns < least * (1 - 1e-6))
            oracle_complain(o, &mo_formulation_compact, &regime,
                            "%.3f units, shorter than without memory",
                            result.objective);
        check_peak(o, &regime, &result, unit_ns);
    }
    solved_clear(&result);
    return has_optimum;
}

START_TEST(live_memory_is_never_exceeded)
{
    oracle_seeds seeds = oracle_part(_i, N_LIVE_PARTS);
    int n_wrong = 0, n_optimal = 0, n_seeds = 0;

    for (; seeds.next < seeds.end; seeds.next += seeds.step, n_seeds++) {
        mo_regime regime = { (mo_congestion) (n_seeds % 4),
                             (mo_tensors) (n_seeds / 4 % 2), MO_MEMORY_LIVE };
        oracle o;

        oracle_make(&o, seeds.next);
        n_optimal += check_live(&o, regime);
        n_wrong += o.n_wrong;
        oracle_clear(&o);
    }
    ck_assert_int_eq(n_wrong, 0);
    ck_assert_int_ge(6 * n_optimal, n_seeds - 1);
}
END_TEST

SUITE(compact_optimum)
{
    solve_or_skip();
    tcase_set_timeout(tests, SECONDS);
    tcase_add_checked_fixture(tests, scratch_enter, scratch_leave);
    EACH(compact_finds_the_optimum, N_PARTS);
    EACH(live_memory_is_never_exceeded, N_LIVE_PARTS);
}
