/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of solvers/search/period against enumeration, in all regimes: load
 * states, the Lagrangian bound, branch and bound, annealing, the contiguous
 * split and the whole search. */
#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "base/random.h"
#include "schedule/period/loads.h"
#include "schedule/period/modulo_schedule.h"
#include "solvers/search/driver/strengthen.h"
#include "solvers/search/method.h"
#include "solvers/search/period/branch_bound.h"
#include "solvers/search/period/contiguous.h"
#include "solvers/search/period/in_flight_search.h"
#include "solvers/search/period/local_search.h"
#include "solvers/search/period/packing_bound.h"
#include "solvers/search/period/price_bound.h"
#include "tests/support/dense_problem.h"
#include "tests/support/exhaustive.h"
#include "tests/support/exhaustive_period.h"
#include "tests/support/random_problem.h"
#include "tests/support/reference_validate.h"
#include "tests/support/suite.h"

/* Moves of units give the loads of the placement they lead to. */
static void check_moves(const mo_period_problem *p, unsigned seed)
{
    mo_random random = { seed };
    mo_period_state s;
    mo_period_loads loads;
    int *device = calloc((size_t) p->x->n + 1, sizeof *device);

    ck_assert_ptr_nonnull(device);
    MUST(mo_period_state_init(&s, p, &err));
    mo_period_state_set(&s, device);
    for (int i = 0; i < 30; i++)
        mo_period_state_move(&s, mo_random_below(&random, p->units->n),
                             mo_random_below(&random, p->x->n_devices));
    MUST(mo_period_loads_compute(p->x, &p->regime, s.device, &loads, &err));
    for (int r = 0; r < loads.n; r++)
        ck_assert_int_eq(loads.load_ns[r], s.load_ns[r]);
    mo_period_loads_clear(&loads);
    mo_period_state_clear(&s);
    free(device);
}

/* An optimal period is kept, another becomes longer by a 1000th at most. */
static void check_reduction(const mo_period_problem *p, int *device, int64_t ns,
                            unsigned seed)
{
    mo_period_state s;
    int before;

    MUST(mo_period_state_init(&s, p, &err));
    mo_period_state_set(&s, device);
    before = s.n_transfers;
    for (int64_t lower_ns = ns; lower_ns >= 0; lower_ns -= mo_max_i64(ns, 1)) {
        MUST(mo_period_reduce_transfers(p, seed, lower_ns, NULL, device, &err));
        ck_assert(period_placement_allowed(p->x, &p->regime, device));
        mo_period_state_set(&s, device);
        ck_assert_int_le(s.n_transfers, before);
        ck_assert_int_le(period_by_definition(p->x, &p->regime, device),
                         ns + (lower_ns < ns ? ns / 1000 : 0));
    }
    mo_period_state_clear(&s);
}

/* A tree without a limit of effort ends at the optimum; one with a limit is
 * below it. */
static void check_branching(const mo_period_problem *p, int64_t least_ns)
{
    size_t n = (size_t) p->n_resources + (size_t) p->x->n_devices + 1;
    double *prices = calloc(n, sizeof *prices);
    int64_t upper_ns = 2 * least_ns + 1, lower_ns = 0;
    mo_period_branching *b;

    ck_assert_ptr_nonnull(prices);
    MUST(mo_period_branching_new(p, upper_ns, 0, prices, 2, &b, &err));
    MUST(mo_period_branching_run(b, &(mo_period_step){ .upper_ns = upper_ns },
                                 1, &lower_ns, &err));
    ck_assert_int_le(lower_ns, least_ns);
    MUST(mo_period_branching_run(b, &(mo_period_step){ .upper_ns = upper_ns },
                                 INFINITY, &lower_ns, &err));
    ck_assert_int_eq(lower_ns, least_ns);
    MUST(mo_period_branching_run(b, &(mo_period_step){ .upper_ns = least_ns },
                                 INFINITY, &lower_ns, &err));
    ck_assert_int_eq(lower_ns, least_ns);
    mo_period_branching_free(b);
    /* A first limit below the optimum, of a placement beyond memory. */
    lower_ns = 0;
    MUST(mo_period_branching_new(p, upper_ns, 0, prices, 2, &b, &err));
    MUST(mo_period_branching_run(
        b, &(mo_period_step){ .upper_ns = least_ns / 2 + 1 }, INFINITY,
        &lower_ns, &err));
    MUST(mo_period_branching_run(b, &(mo_period_step){ .upper_ns = upper_ns },
                                 INFINITY, &lower_ns, &err));
    ck_assert_int_le(lower_ns, least_ns);
    mo_period_branching_free(b);
    free(prices);
}

/* No bound is above the optimum, no search below it. */
static void check_parts(const mo_period_problem *p, int64_t least_ns,
                        unsigned seed)
{
    double *prices = calloc((size_t) p->n_resources + 1, sizeof *prices);
    int *device = calloc((size_t) p->x->n + 1, sizeof *device);
    mo_period_anneal anneal = {
        .seed = seed, .steps = 4000, .hot = 0.03, .price_weight = 8
    };
    int64_t lower_ns, packed_ns, ns, excess;

    ck_assert_ptr_nonnull(prices);
    ck_assert_ptr_nonnull(device);
    MUST(mo_period_price_bound(p, 2 * least_ns, NULL, &lower_ns, &err));
    ck_assert_int_le(lower_ns, least_ns);
    packed_ns = 0;
    MUST(mo_period_packing_bound(p, 2 * least_ns, &packed_ns, &err));
    ck_assert_int_le(packed_ns, least_ns);
    check_branching(p, least_ns);
    MUST(mo_period_split_contiguous(p, device, &err));
    anneal.prices = prices;
    anneal.lower_ns = lower_ns;
    MUST(mo_period_anneal_run(p, &anneal, device, &ns, &excess, &err));
    ck_assert_int_eq(ns, period_by_definition(p->x, &p->regime, device));
    if (excess == 0) {
        ck_assert(period_placement_allowed(p->x, &p->regime, device));
        ck_assert_int_ge(ns, least_ns);
        check_reduction(p, device, ns, seed);
    }
    free(prices);
    free(device);
}

static void check_search(const problem *p, const mo_regime *regime,
                         int64_t least_ns)
{
    const mo_method_task task = { .x = p->x,
                                  .regime = *regime,
                                  .objective = MO_OBJECTIVE_PERIOD,
                                  .seed = 1,
                                  .threads = 1 };
    mo_method_result placed = { 0 };

    MUST(mo_method_moirai.place(&task, &placed, &err));
    if (least_ns == EXHAUSTIVE_PERIOD_NONE) {
        ck_assert(!placed.fits);
    } else {
        ck_assert(placed.fits);
        ck_assert_int_eq(
            period_by_definition(p->x, regime, placed.schedule->device),
            least_ns);
        ck_assert_int_eq(placed.lower_ns, least_ns);
    }
    mo_method_result_clear(&placed);
}

/* The period with so many requests in flight; memory is exceeded: INT64_MAX.
 * known is NULL or a schedule of one request. */
static int64_t limited_ns(const problem *p, const mo_regime *regime,
                          const int *device, const mo_schedule *known,
                          int in_flight)
{
    mo_modulo_schedule m;
    int64_t ns;

    if (!period_placement_allowed(p->x, regime, device))
        return INT64_MAX;
    MUST(mo_modulo_schedule_make(p->x, regime, device, in_flight, known, &m,
                                 &err));
    ns = m.fits ? m.period_ns : INT64_MAX;
    mo_modulo_schedule_clear(&m);
    return ns;
}

/* No placement has a shorter period. */
static void check_all_limited(const problem *p, const mo_regime *regime,
                              int in_flight, int64_t ns)
{
    int *device = calloc((size_t) p->x->n + 1, sizeof *device);
    int at = 0, n_placements = 1;

    ck_assert_ptr_nonnull(device);
    for (int i = 0; i < p->x->n; i++)
        n_placements *= p->x->n_devices;
    while (at < p->x->n && n_placements <= 256) {
        ck_assert_int_le(ns, limited_ns(p, regime, device, NULL, in_flight));
        for (at = 0; at < p->x->n && ++device[at] == p->x->n_devices; at++)
            device[at] = 0;
    }
    free(device);
}

/* With a limit nothing is worse than a single device or the contiguous
 * split. */
static void check_limited(const problem *p, const mo_period_problem *q,
                          int in_flight)
{
    const mo_method_task task = { .x = p->x,
                                  .regime = q->regime,
                                  .objective = MO_OBJECTIVE_PERIOD,
                                  .in_flight = in_flight,
                                  .seed = 1,
                                  .threads = 1 };
    mo_method_result placed = { 0 };
    int *device = calloc((size_t) p->x->n + 1, sizeof *device);
    int64_t ns;

    ck_assert_ptr_nonnull(device);
    MUST(mo_method_moirai.place(&task, &placed, &err));
    ck_assert(placed.fits || q->regime.memory == MO_MEMORY_LIVE);
    ns = placed.fits ? limited_ns(p, &q->regime, placed.schedule->device,
                                  placed.schedule, in_flight)
                     : INT64_MAX;
    ck_assert_int_ge(ns, placed.lower_ns);
    for (int k = 0; k < p->x->n_devices; k++) {
        for (int i = 0; i < p->x->n; i++)
            device[i] = k;
        ck_assert_int_le(ns,
                         limited_ns(p, &q->regime, device, NULL, in_flight));
    }
    MUST(mo_period_split_contiguous(q, device, &err));
    ck_assert_int_le(ns, limited_ns(p, &q->regime, device, NULL, in_flight));
    check_all_limited(p, &q->regime, in_flight, ns);
    mo_method_result_clear(&placed);
    free(device);
}

/* The period that the search finds with a limit; INT64_MAX: none. */
static int64_t search_limited_ns(const problem *p, const mo_regime *regime,
                                 int in_flight)
{
    const mo_method_task task = { .x = p->x,
                                  .regime = *regime,
                                  .objective = MO_OBJECTIVE_PERIOD,
                                  .in_flight = in_flight,
                                  .seed = 1,
                                  .threads = 1 };
    mo_method_result placed = { 0 };
    int64_t ns = INT64_MAX;

    MUST(mo_method_moirai.place(&task, &placed, &err));
    if (placed.fits) {
        MUST(mo_period_objective(p->x, MO_OBJECTIVE_PERIOD, in_flight,
                                 placed.schedule, &ns, &err));
        ck_assert_int_ge(ns, placed.lower_ns);
    }
    mo_method_result_clear(&placed);
    return ns;
}

/* One request at a time has the least makespan of all schedules, by
 * enumeration, and the more in flight, the shorter, or equal. */
static void check_limits(const problem *p, const mo_regime *regime)
{
    int64_t latency_ns = exhaustive_optimum(p->x, regime);
    int64_t before_ns = search_limited_ns(p, regime, 1);

    if (latency_ns == EXHAUSTIVE_NONE) {
        ck_assert_int_eq(before_ns, INT64_MAX);
        return;
    }
    ck_assert_int_ge(before_ns, latency_ns);
    if (!p->x->load.overhead_ns)
        ck_assert_int_le(before_ns,
                         latency_ns + p->x->load.host_request_ns +
                             p->x->n_flows * p->x->load.host_transfer_ns + 1);
    for (int in_flight = 2; in_flight <= 4; in_flight++) {
        int64_t ns = search_limited_ns(p, regime, in_flight);

        ck_assert_int_le(ns, before_ns);
        before_ns = ns;
    }
}

static void check_regime(const problem *p, int number, unsigned seed)
{
    mo_regime regime = regime_of(number);
    int64_t least_ns;
    mo_period_problem q;

    MUST(mo_period_problem_init(&q, p->x, &regime, &err));
    if (regime.memory == MO_MEMORY_LIVE) {
        if (((unsigned) number + seed) % 3 == 0)
            check_limited(p, &q, (int) seed % 3);
        mo_period_problem_clear(&q);
        return;
    }
    least_ns = exhaustive_period(p->x, &regime);
    check_search(p, &regime, least_ns);
    check_moves(&q, seed);
    if (least_ns != EXHAUSTIVE_PERIOD_NONE)
        check_parts(&q, least_ns, seed);
    if (least_ns != EXHAUSTIVE_PERIOD_NONE && number % 3 == 0)
        check_limited(p, &q, 1 + (int) seed % 3);
    if (((unsigned) number + seed) % 12 == 0)
        check_limits(p, &regime);
    mo_period_problem_clear(&q);
}

START_TEST(search_and_enumeration_agree)
{
    random_problem_check((unsigned) _i, check_regime);
}
END_TEST

/* Too large to enumerate: the bound holds, and nothing is violated. */
START_TEST(crowds_have_a_bound_below_their_period)
{
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int number = _i; number < N_REGIMES; number += 7) {
        const mo_method_task task = { .x = p.x,
                                      .regime = regime_of(number),
                                      .objective = MO_OBJECTIVE_PERIOD,
                                      .seed = 1,
                                      .threads = 1,
                                      .rounds = 1 };
        mo_method_result placed = { 0 };

        if (task.regime.memory == MO_MEMORY_LIVE)
            continue;
        MUST(mo_method_moirai.place(&task, &placed, &err));
        if (placed.schedule && placed.fits) {
            const int *device = placed.schedule->device;

            ck_assert(period_placement_allowed(p.x, &task.regime, device));
            ck_assert_int_ge(period_by_definition(p.x, &task.regime, device),
                             placed.lower_ns);
        }
        mo_method_result_clear(&placed);
    }
    problem_clear(&p);
}
END_TEST

/* Too large to enumerate, and no baseline is within memory: the one round of
 * annealing ends within it, and no later than one request after the other. */
START_TEST(tight_memory_is_met)
{
    static const mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                      MO_MEMORY_STATIC };
    problem p = { 0 };
    mo_method_task task = { .regime = regime, .seed = 1, .rounds = 1 };
    mo_method_result latency = { 0 }, period = { 0 };

    problem_make(
        &p,
        "a t.A=271.4 t.B=135.7 weight_bytes=68927804;"
        "b t.A=160 t.B=480 weight_bytes=60002191;"
        "c t.A=170.1 t.B=170.1 weight_bytes=112031415;"
        "d t.A=99.2 t.B=297.6 weight_bytes=86525969;"
        "e t.A=42.6 t.B=85.2 weight_bytes=143409596;"
        "f t.A=213.6 t.B=640.8 weight_bytes=9117352;"
        "g t.A=280.3 t.B=840.9 weight_bytes=159539869;"
        "h t.A=157.3 t.B=471.9 weight_bytes=96591134;"
        "i t.A=209.7 t.B=419.4 weight_bytes=93414456;"
        "j t.A=76.8 t.B=38.4 weight_bytes=12470692;"
        "k t.A=148.2 t.B=148.2 weight_bytes=389607155;"
        "l t.A=267.3 t.B=133.7 weight_bytes=102666605;"
        "a>b bytes=4000000; a>d bytes=4000000; c>d bytes=4000000;"
        "e>f bytes=1000000; d>h bytes=1; e>h bytes=1000000;"
        "g>j bytes=1000000; h>j bytes=1; g>k bytes=1000000",
        "* host_request_us=1 host_transfer_us=5;"
        "X model=A memory_bytes=614702644; Y model=B memory_bytes=228325402;"
        "Z model=A memory_bytes=517962279;"
        "Y-X gbps=200 latency_us=0; Z-X gbps=10 latency_us=20;"
        "Z-Y gbps=10 latency_us=0",
        NULL);
    task.x = p.x;
    task.threads = 1;
    MUST(mo_method_moirai.place(&task, &latency, &err));
    ck_assert(latency.fits);
    task.objective = MO_OBJECTIVE_PERIOD;
    MUST(mo_method_moirai.place(&task, &period, &err));
    ck_assert(period.fits);
    ck_assert(period_placement_allowed(p.x, &regime, period.schedule->device));
    ck_assert_int_le(
        period_by_definition(p.x, &regime, period.schedule->device),
        latency.schedule->makespan_ns);
    mo_method_result_clear(&latency);
    mo_method_result_clear(&period);
    problem_clear(&p);
}
END_TEST

/* z takes no time, and w has its device from 0 to 10: one request at a time, z
 * is before w or behind it, and the request takes 35 us; in a pipeline it may
 * be within w, which takes 30.  No bound of the former is one of the latter. */
START_TEST(what_takes_no_time_waits_for_nothing)
{
    static const mo_regime none = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                                    MO_MEMORY_NONE };
    problem p = { 0 };
    int64_t ns;

    problem_make(
        &p,
        "* t.M=0; *>* c.M.M=0; x t.M=5 pin=D; z pin=A; y t.M=12 pin=B;"
        "u t.M=13 pin=F; w t.M=10 pin=A; v t.M=10 pin=C; s t.M=10 pin=E;"
        "x>z; z>y; y>u; w>v; v>s",
        "A model=M; B model=M; C model=M; D model=M; E model=M; F model=M;"
        "A-B gbps=8; A-C gbps=8; A-D gbps=8;"
        "A-E gbps=8; A-F gbps=8; B-F gbps=8; C-E gbps=8",
        NULL);
    ck_assert_int_eq(search_limited_ns(&p, &none, 1), 35000);
    ns = search_limited_ns(&p, &none, 2);
    ck_assert_int_eq(ns, 15000);
    problem_clear(&p);
}
END_TEST

/* Rows between ops would be those of a makespan. */
START_TEST(a_limit_proves_nothing_between_ops)
{
    const mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                               MO_MEMORY_NONE };
    const mo_search_strengthen_options options = { .objective =
                                                       MO_OBJECTIVE_PERIOD,
                                                   .in_flight = 2,
                                                   .rounds = 1,
                                                   .threads = 1,
                                                   .seed = 1 };
    problem p = { 0 };
    mo_proven_bounds *proven = NULL;
    mo_schedule *start = NULL;

    crowd_make(&p, 1);
    MUST(mo_search_strengthen(p.x, &regime, &options, &proven, &start, &err));
    ck_assert_uint_eq(proven->n, 0);
    ck_assert_int_gt(proven->lower_ns, 0);
    mo_proven_bounds_free(proven);
    mo_schedule_free(start);
    problem_clear(&p);
}
END_TEST

/* A pipeline of thousands of ops takes seconds. */
START_TEST(after_the_end_one_pipeline_is_made)
{
    problem p = { 0 };
    mo_period_problem q;
    mo_period_in_flight l;
    mo_stop stop;
    const mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                               MO_MEMORY_LIVE };
    const mo_method_task task = { .stop = &stop, .in_flight = 2 };
    int slow[] = { 1, 1 }, fast[] = { 0, 0 };
    int64_t slow_ns;

    problem_make(&p, "* t.A=7 t.B=9; a; b", "A; B", NULL);
    MUST(mo_period_problem_init(&q, p.x, &regime, &err));
    MUST(mo_period_in_flight_init(&l, &task, &q, &err));
    mo_stop_after(&stop, 0);
    mo_stop_request(&stop);
    MUST(mo_period_in_flight_offer(&l, slow, NULL, &err));
    slow_ns = l.period_ns;
    ck_assert_int_lt(slow_ns, INT64_MAX);
    MUST(mo_period_in_flight_offer(&l, fast, NULL, &err));
    ck_assert_int_eq(l.period_ns, slow_ns);
    mo_stop_after(&stop, 0);
    MUST(mo_period_in_flight_offer(&l, fast, NULL, &err));
    ck_assert_int_lt(l.period_ns, slow_ns);
    mo_period_in_flight_clear(&l);
    mo_period_problem_clear(&q);
    problem_clear(&p);
}
END_TEST

/* Thirteen equal ops on three equal devices: five on one of them. */
START_TEST(equal_ops_are_packed)
{
    problem p = { 0 };
    mo_period_problem q;
    const mo_regime regime = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                               MO_MEMORY_NONE };
    int64_t lower_ns = 0;

    problem_make(&p,
                 "* t.A=7 t.B=7 t.C=7; a; b; c; d; e; f; g; h; i; j; k; l; m",
                 "A; B; C", NULL);
    MUST(mo_period_problem_init(&q, p.x, &regime, &err));
    MUST(mo_period_packing_bound(&q, 5 * mo_instance_p_ns(p.x, 0, 0), &lower_ns,
                                 &err));
    ck_assert_int_eq(lower_ns, 5 * mo_instance_p_ns(p.x, 0, 0));
    mo_period_problem_clear(&q);
    problem_clear(&p);
}
END_TEST

SUITE(period_search)
{
    SOME(search_and_enumeration_agree, at_length(500, 16), 2);
    SOME(crowds_have_a_bound_below_their_period, at_length(8, 1), 0);
    TEST(tight_memory_is_met);
    TEST(after_the_end_one_pipeline_is_made);
    TEST(equal_ops_are_packed);
    TEST(what_takes_no_time_waits_for_nothing);
    SOME(a_limit_proves_nothing_between_ops, in_ci(1, 0), 0);
}
