/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-sanitizers no-valgrind */
/* Tests of models/frame/proven_bounds.h: proven bounds of segments become rows
 * of the compact model, and change neither its optimum nor its start. */
#include "models/frame/proven_bounds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/cut.h"
#include "models/formulation.h"
#include "schedule/bound/op_chain.h"
#include "cost/instance/sub_instance.h"
#include "schedule/bound/segment_bound.h"
#include "schedule/heuristic/upper_bound.h"
#include "solvers/search/driver/strengthen.h"
#include "tests/support/exhaustive.h"
#include "tests/support/model_case.h"
#include "tests/models/optimum_oracle.h"
#include "tests/support/scratch.h"
#include "tests/support/highs_solve.h"
#include "tests/support/suite.h"

enum { N_PARTS = 25, SECONDS = 600 };

#define TWO "A model=m; B model=n; A-B gbps=8"
#define FAN                                                                    \
    "* t.m=100 t.n=100; *>* c.m.n=20 c.n.m=20; s; a; b; e; "                   \
    "s>a; s>b; a>e; b>e"

/* A model with proven bounds, and optionally a given start. */
static void open_strong(model_case *c, const mo_instance *x,
                        const mo_regime *regime, double slack,
                        const mo_proven_bounds *proven, mo_schedule *start)
{
    *c = (model_case){ 0 };
    MUST(mo_frame_make_with_bounds(x, regime, slack, proven, start, &c->frame,
                                   &err));
    MUST(mo_model_make(&mo_formulation_compact, c->frame, &c->identity,
                       &c->model, &err));
}

typedef struct row_claim {
    const char *graph;
    int64_t least_us[4];
    const char *family, *rows;
} row_claim;

/* From the first op to the last, on A and B; everything is feasible that takes
 * up to twice as long as the best. */
static const row_claim claims[] = {
    { FAN,
      { 140, 110, 120, 150 },
      "anchor",
      "g_0_0_0 + g_0_0_1 - x_0_0 = 0\ng_0_1_0 + g_0_1_1 - x_0_1 = 0\n"
      "g_0_0_0 + g_0_1_0 - x_3_0 = 0\ng_0_0_1 + g_0_1_1 - x_3_1 = 0\n" },
    { FAN,
      { 140, 110, 120, 150 },
      "segment",
      "s_3 - s_0 - 100 x_0_0 - 100 x_0_1 - 140 g_0_0_0 - 110 g_0_0_1 - "
      "120 g_0_1_0 - 150 g_0_1_1 >= 0\n" },
    /* One end has one device: the other's x suffice. */
    { "* t.m=100 t.n=100; *>* c.m.n=20 c.n.m=20; s pin=B; a; b; e; "
      "s>a; s>b; a>e; b>e",
      { 0, 0, 120, 140 },
      "segment",
      "s_3 - s_0 - 100 x_0_1 - 120 x_3_0 - 140 x_3_1 >= 0\n" },
    { "* t.m=100 t.n=100; *>* c.m.n=20 c.n.m=20; s; a; b; e pin=A; "
      "s>a; s>b; a>e; b>e",
      { 140, 0, 120, 0 },
      "segment",
      "s_3 - s_0 - 240 x_0_0 - 220 x_0_1 >= 0\n" },
    { "* t.m=100 t.n=100; *>* c.m.n=20 c.n.m=20; s pin=B; a; b; e pin=A; "
      "s>a; s>b; a>e; b>e",
      { 0, 0, 120, 0 },
      "anchor",
      "" },
    /* Too far apart on B. */
    { FAN,
      { 140, 110, 120, 5000 },
      "anchor",
      "g_0_0_0 + g_0_0_1 - x_0_0 = 0\ng_0_1_0 - x_0_1 = 0\n"
      "g_0_0_0 + g_0_1_0 - x_3_0 = 0\ng_0_0_1 - x_3_1 = 0\n" },
    /* The flows imply the bound. */
    { FAN "; s>e", { 0, 20, 20, 0 }, "segment", "" },
    { "* t.m=100 t.n=100; *>* c.m.n=20 c.n.m=20; s colocate=g; a; b; "
      "e colocate=g; s>a; s>b; a>e; b>e",
      { 120, 0, 0, 120 },
      "anchor",
      "g_0_0_0 - x_0_0 = 0\ng_0_1_1 - x_0_1 = 0\n"
      "g_0_0_0 - x_3_0 = 0\ng_0_1_1 - x_3_1 = 0\n" },
};

START_TEST(rows_are_what_they_should_be)
{
    const row_claim *claim = &claims[_i];
    mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                         MO_MEMORY_STATIC };
    int64_t least_ns[4];
    problem p = { 0 };
    mo_proven_bounds *proven;
    model_case c;

    problem_make(&p, claim->graph, TWO, NULL);
    for (int i = 0; i < 4; i++)
        least_ns[i] = 1000 * claim->least_us[i];
    MUST(mo_proven_bounds_new(2, &proven, &err));
    MUST(mo_proven_bounds_add(proven, 0, p.x->n - 1, least_ns, &err));
    open_strong(&c, p.x, &regime, 2, proven, NULL);
    ck_assert_str_eq(model_case_rows(&c, claim->family), claim->rows);
    model_case_close(&c);
    mo_proven_bounds_free(proven);
    problem_clear(&p);
}
END_TEST

/* Prices of both ops between the ends, on A alone. */
START_TEST(prices_are_part_of_a_row)
{
    mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                         MO_MEMORY_STATIC };
    const int64_t least_ns[] = { 140000, 110000, 120000, 150000 };
    const int64_t priced_ns[] = { 150000, 120000, 120000, 150000 };
    const int64_t price_ns[] = { 7000, 0, 9000, 0 };
    const int ops[] = { 1, 2 };
    problem p = { 0 };
    mo_proven_bounds *proven;
    model_case c;

    problem_make(&p, FAN, TWO, NULL);
    MUST(mo_proven_bounds_new(2, &proven, &err));
    MUST(mo_proven_bounds_add(proven, 0, 3, least_ns, &err));
    MUST(mo_proven_bounds_add_prices(proven, 0, 2, ops, price_ns, priced_ns,
                                     &err));
    open_strong(&c, p.x, &regime, 2, proven, NULL);
    ck_assert_str_eq(
        model_case_rows(&c, "priced"),
        "s_3 - s_0 - 100 x_0_0 - 100 x_0_1 + 7 x_1_0 + 9 x_2_0 - 150 g_0_0_0 - "
        "120 g_0_0_1 - 120 g_0_1_0 - 150 g_0_1_1 >= 0\n");
    model_case_close(&c);
    mo_proven_bounds_free(proven);
    problem_clear(&p);
}
END_TEST

/* Fills table[a * K + b] for a segment. */
typedef void prove(const mo_allowed_devices *places,
                   const mo_bound_segment *segment, int64_t *table);

static void prove_quickly(const mo_allowed_devices *places,
                          const mo_bound_segment *segment, int64_t *table)
{
    mo_bound_segments *segments;

    MUST(mo_bound_segments_new(places, &segments, &err));
    mo_bound_segments_table(segments, segment, MO_MAX_TOTAL_NS, table);
    mo_bound_segments_free(segments);
}

/* The ops of a segment with its ends, increasing; returns how many. */
static int collect(const mo_bound_segment *segment, int *ops)
{
    int n = 0;

    if (segment->u != MO_FREE)
        ops[n++] = segment->u;
    for (int i = 0; i < segment->n; i++)
        ops[n++] = segment->ops[i];
    if (segment->v != MO_FREE)
        ops[n++] = segment->v;
    return n;
}

static bool pin_to(mo_instance *x, int op, int device)
{
    if (x->pin[op] != MO_FREE && x->pin[op] != device)
        return false;
    x->pin[op] = device;
    return true;
}

/* By exhaustive search. */
static int64_t exact_ns(const mo_allowed_devices *places,
                        const mo_bound_segment *segment, int a, int b)
{
    bool has_u = segment->u != MO_FREE, has_v = segment->v != MO_FREE;
    mo_regime regime = places->regime;
    int *ops = calloc((size_t) segment->n + 2, sizeof *ops);
    int n = collect(segment, ops);
    int64_t best = 0;
    mo_sub_instance *part;

    regime.memory = MO_MEMORY_NONE;
    MUST(mo_sub_instance_make(places->x, ops, n, has_u, &part, &err));
    if ((!has_u || pin_to(part->x, 0, a)) &&
        (!has_v || pin_to(part->x, n - 1, b))) {
        best = exhaustive_optimum(part->x, &regime);
        if (best == EXHAUSTIVE_NONE)
            best = MO_MAX_TOTAL_NS;
        else if (has_v)
            best -= mo_instance_p_ns(part->x, n - 1, b);
    }
    mo_sub_instance_free(part);
    free(ops);
    return best;
}

static void prove_exactly(const mo_allowed_devices *places,
                          const mo_bound_segment *segment, int64_t *table)
{
    int n_devices = places->x->n_devices;

    for (int a = 0; a < n_devices; a++)
        for (int b = 0; b < n_devices; b++)
            table[a * n_devices + b] = (segment->u == MO_FREE && a > 0) ||
                                               (segment->v == MO_FREE && b > 0)
                                           ? 0
                                           : exact_ns(places, segment, a, b);
}

/* Adds bounds of the segments of the best chain. */
static void add_chain(mo_proven_bounds *proven,
                      const mo_allowed_devices *places, prove *with,
                      int64_t *table)
{
    mo_bound_chain *chain;

    MUST(mo_bound_chain_find(places, &chain, &err));
    for (int s = 0; s < chain->n; s++) {
        const mo_bound_segment *segment = &chain->segments[s];

        with(places, segment, table);
        MUST(mo_proven_bounds_add(proven, segment->u, segment->v, table, &err));
    }
    mo_bound_chain_free(chain);
}

/* The same for clean cuts, with all ops between them. */
static void add_cuts(mo_proven_bounds *proven, const mo_allowed_devices *places,
                     prove *with, int64_t *table)
{
    const mo_instance *x = places->x;
    mo_dag dag = mo_instance_dag(x);
    int *cuts, n_cuts, *ops = calloc((size_t) x->n + 1, sizeof *ops);

    for (int i = 0; i < x->n; i++)
        ops[i] = i;
    MUST(mo_dag_clean_cuts(&dag, &cuts, &n_cuts, &err));
    for (int c = 0; c <= n_cuts; c++) {
        int u = c > 0 ? cuts[c - 1] : MO_FREE;
        int v = c < n_cuts ? cuts[c] : MO_FREE;
        int end = v == MO_FREE ? x->n : v;
        mo_bound_segment segment = { u, v, ops + u + 1, end - u - 1 };

        with(places, &segment, table);
        MUST(mo_proven_bounds_add(proven, u, v, table, &err));
    }
    free(cuts);
    free(ops);
}

static mo_proven_bounds *strength_of(const mo_instance *x,
                                     const mo_regime *regime, bool by_cuts,
                                     prove *with)
{
    size_t K = (size_t) x->n_devices;
    mo_allowed_devices places = { x, *regime,
                                  calloc((size_t) x->n * K + 1, 1) };
    int64_t *table = calloc(K * K, sizeof *table);
    mo_proven_bounds *proven;

    ck_assert(places.allowed && table);
    MUST(mo_allowed_devices_find(&places, &err));
    MUST(mo_proven_bounds_new(x->n_devices, &proven, &err));
    if (by_cuts)
        add_cuts(proven, &places, with, table);
    else
        add_chain(proven, &places, with, table);
    free(table);
    free(places.allowed);
    return proven;
}

static mo_regime regime_of(unsigned seed)
{
    return (mo_regime){ (mo_congestion) (seed % 4), (mo_tensors) (seed / 4 % 2),
                        (mo_memory) (seed / 8 % 3) };
}

static int64_t optimum_or_none(const oracle *o, const mo_regime *regime)
{
    int64_t optimum = exhaustive_optimum(o->p.x, regime);

    return optimum == EXHAUSTIVE_NONE ? 0 : optimum;
}

/* Clean cuts or a chain of any ops, exact or by fast bounds. */
static mo_proven_bounds *strength_by(const mo_instance *x,
                                     const mo_regime *regime, int way)
{
    return strength_of(x, regime, way % 2 == 0,
                       way / 2 == 0 ? prove_exactly : prove_quickly);
}

START_TEST(the_optimum_stays)
{
    oracle_seeds seeds = oracle_part(_i, N_PARTS);
    int n_wrong = 0;

    for (; seeds.next < seeds.end; seeds.next += seeds.step)
        for (int way = 0; way < 4; way++) {
            mo_regime regime = regime_of(seeds.next);
            mo_proven_bounds *proven;
            oracle o;

            oracle_make(&o, seeds.next);
            o.proven = proven = strength_by(o.p.x, &regime, way);
            if (way == 1)
                proven->lower_ns = optimum_or_none(&o, &regime);
            oracle_check(&o, &mo_formulation_compact, &regime);
            n_wrong += o.n_wrong;
            mo_proven_bounds_free(proven);
            oracle_clear(&o);
        }
    ck_assert_int_eq(n_wrong, 0);
}
END_TEST

/* A given start is the model's, and satisfies all rows. */
START_TEST(the_start_keeps_what_is_proven)
{
    mo_regime regime = regime_of((unsigned) _i);
    mo_schedule *start = NULL;
    mo_proven_bounds *proven;
    int64_t makespan_ns, bound_ns;
    model_case c;
    oracle o;

    oracle_make(&o, (unsigned) _i);
    proven = strength_by(o.p.x, &regime, _i / 24 % 2);
    MUST(mo_bound_upper(o.p.x, &regime, &start, &bound_ns, &err));
    makespan_ns = start ? start->makespan_ns : -1;
    open_strong(&c, o.p.x, &regime, 0, proven, start);
    if (c.frame->start && regime.memory != MO_MEMORY_LIVE)
        ck_assert_int_eq(c.frame->start->makespan_ns, makespan_ns);
    if (mo_model_has_start(&c.model) && model_case_violation(&c) > 1e-9)
        ck_abort_msg("seed %d: broken by %g\n%s", _i, model_case_violation(&c),
                     o.text);
    model_case_close(&c);
    mo_proven_bounds_free(proven);
    oracle_clear(&o);
}
END_TEST

/* The bounds of the search, with its schedule as the start.  Where live memory
 * is bounded from above, the model may reject that. */
START_TEST(a_search_keeps_the_optimum)
{
    mo_regime regime = regime_of((unsigned) _i);
    mo_search_strengthen_options options = { .seed = 1, .threads = 1 };
    mo_error err = { 0 };
    mo_status status;
    mo_proven_bounds *proven = NULL;
    mo_schedule *start = NULL;
    int64_t optimum_ns;
    double got_ns;
    model_case c;
    oracle o;

    oracle_make(&o, (unsigned) _i);
    optimum_ns = exhaustive_optimum(o.p.x, &regime);
    status =
        mo_search_strengthen(o.p.x, &regime, &options, &proven, &start, &err);
    if (status == MO_E_INFEASIBLE) {
        ck_assert_int_lt(optimum_ns, 0);
        oracle_clear(&o);
        return;
    }
    ck_assert_msg(status == MO_OK, "%s", err.text);
    open_strong(&c, o.p.x, &regime, 0, proven, start);
    if (mo_model_has_start(&c.model) && model_case_violation(&c) > 1e-9)
        ck_abort_msg("seed %d: broken by %g\n%s", _i, model_case_violation(&c),
                     o.text);
    got_ns = model_case_solve(&c);
    if (fabs(got_ns - (double) optimum_ns) > 1e-6 * (double) optimum_ns + 1e-3)
        ck_abort_msg("seed %d: %g ns, not %lld\n%s", _i, got_ns,
                     (long long) optimum_ns, o.text);
    model_case_close(&c);
    mo_proven_bounds_free(proven);
    oracle_clear(&o);
}
END_TEST

/* With exact bounds along a chain the least makespan is known. */
START_TEST(the_makespan_has_what_the_chain_adds_up_to)
{
    mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                         MO_MEMORY_STATIC };
    problem p = { 0 };
    mo_proven_bounds *proven;
    model_case c;

    problem_make(&p,
                 "* t.m=100 t.n=130; *>* c.m.n=40 c.n.m=40; s; a; b; e; f; g; "
                 "h; s>a; s>b; a>e; b>e; e>f; e>g; f>h; g>h",
                 TWO, NULL);
    proven = strength_of(p.x, &regime, true, prove_exactly);
    open_strong(&c, p.x, &regime, 0, proven, NULL);
    ck_assert_msg(strncmp(model_case_columns(&c), "w 670 .. ", 9) == 0, "%s",
                  c.text);
    ck_assert_int_eq(exhaustive_optimum(p.x, &regime), 670000);
    model_case_close(&c);
    mo_proven_bounds_free(proven);
    problem_clear(&p);
}
END_TEST

START_TEST(what_is_proven_of_the_whole_bounds_the_makespan)
{
    mo_regime regime = { 0 };
    problem p = { 0 };
    mo_proven_bounds *proven;
    model_case c;

    problem_make(&p, FAN, TWO, NULL);
    MUST(mo_proven_bounds_new(2, &proven, &err));
    proven->lower_ns = 333333;
    open_strong(&c, p.x, &regime, 0, proven, NULL);
    ck_assert_msg(strncmp(model_case_columns(&c), "w 333.333 .. ", 13) == 0,
                  "%s", c.text);
    model_case_close(&c);
    mo_proven_bounds_free(proven);
    problem_clear(&p);
}
END_TEST

/* Times of minutes are written to some hundred nanoseconds: bounds proven for
 * the given times need not hold for the rounded ones. */
START_TEST(rounded_times_keep_their_optimum)
{
    mo_regime regime = { .congestion = MO_CONGESTION_PORT };
    problem p = { 0 };
    mo_proven_bounds *proven;
    model_case c;
    double optimum_ns;

    problem_make(&p,
                 "* t.m=70000000.049 t.n=90000000.049; "
                 "*>* c.m.n=20000000.049 c.n.m=20000000.049; "
                 "s; a; b; e; s>a; s>b; a>e; b>e",
                 TWO, NULL);
    proven = strength_of(p.x, &regime, true, prove_exactly);
    proven->lower_ns = exhaustive_optimum(p.x, &regime);
    open_strong(&c, p.x, &regime, 0, proven, NULL);
    ck_assert_ptr_nonnull(c.frame->rounded);
    ck_assert_double_le(model_case_violation(&c), 1e-9);
    optimum_ns = (double) exhaustive_optimum(c.frame->x, &regime);
    ck_assert_double_eq_tol(model_case_solve(&c), optimum_ns,
                            1e-6 * optimum_ns);
    model_case_close(&c);
    mo_proven_bounds_free(proven);
    problem_clear(&p);
}
END_TEST

SUITE(proven_bounds)
{
    solve_or_skip();
    tcase_set_timeout(tests, SECONDS);
    tcase_add_checked_fixture(tests, scratch_enter, scratch_leave);
    EACH(rows_are_what_they_should_be, COUNT(claims));
    TEST(prices_are_part_of_a_row);
    EACH(the_optimum_stays, N_PARTS);
    SOME(the_start_keeps_what_is_proven, at_length(480, 160), 24);
    SOME(a_search_keeps_the_optimum, at_length(480, 160), 24);
    TEST(the_makespan_has_what_the_chain_adds_up_to);
    TEST(what_is_proven_of_the_whole_bounds_the_makespan);
    TEST(rounded_times_keep_their_optimum);
}
