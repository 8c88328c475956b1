/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of solvers/search/decomp: segmentation.h, segment_class.h,
 * boundary_path.h and compose.h. */
#include "solvers/search/decomp/segmentation.h"

#include "schedule/heuristic/heft.h"
#include "solvers/search/decomp/segment_class.h"
#include "solvers/search/decomp/boundary_path.h"
#include "solvers/search/decomp/compose.h"
#include "tests/support/dense_problem.h"
#include "tests/support/problem.h"
#include "tests/support/layered_problem.h"
#include "tests/support/suite.h"
#include "tests/support/reference_validate.h"

static const mo_regime by_port = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                   MO_MEMORY_NONE };

#define TWO "A; B; A-B gbps=8"

/* Times and memory of u belong to the segment before. */
static const struct {
    const char *graph;
    int n_segments, n_classes;
} divided[] = {
    { "* t.A=1; * t.B=1; a", 2, 2 },
    { "* t.A=1; * t.B=1; a; b; c; d; a>b bytes=1; b>c bytes=1; c>d bytes=1", 5,
      3 },
    { "* t.A=1; * t.B=1; a; b; c; d; a>b bytes=1; b>c bytes=1; c>d bytes=2", 5,
      4 },
    { "* t.A=1; * t.B=1; a; b; a>b bytes=1; c t.A=2; b>c bytes=1;"
      "d; c>d bytes=1",
      5, 4 },
    /* A cut between two ops of a group is used only if it is of the group,
     * too. */
    { "* t.A=1; * t.B=1; a colocate=g; b; c; d colocate=g; a>b bytes=1;"
      "b>c bytes=1; c>d bytes=1",
      3, 3 },
    { "* t.A=1; * t.B=1; a colocate=g; b colocate=g; c colocate=g; d;"
      "a>b bytes=1; b>c bytes=1; c>d bytes=1",
      5, 4 },
    /* Parallel ops leave no cut. */
    { "* t.A=1; * t.B=1; a; b", 1, 1 },
};

START_TEST(equal_segments_are_one_class)
{
    problem p = { 0 };
    mo_decomp_segments *segments = NULL;

    problem_make(&p, divided[_i].graph, TWO, NULL);
    MUST(mo_decomp_segments_find(p.x, &by_port, true, &segments, &err));
    ck_assert_int_eq(segments->n, divided[_i].n_segments);
    ck_assert_int_eq(segments->n_classes, divided[_i].n_classes);
    mo_decomp_segments_free(segments);
    MUST(mo_decomp_segments_find(p.x, &by_port, false, &segments, &err));
    ck_assert_int_eq(segments->n, 1);
    mo_decomp_segments_free(segments);
    problem_clear(&p);
}
END_TEST

/* All state that one search would have. */
typedef struct decomposition {
    mo_decomp_states states;
    int device[8], of[8];
    mo_decomp_segments *segments;
    mo_decomp_classes *classes;
    mo_decomp_path *path;
} decomposition;

static void open_decomposition(decomposition *w, const mo_instance *x,
                               const mo_regime *regime)
{
    *w = (decomposition){ 0 };
    w->states = (mo_decomp_states){ x->n_devices, w->device, w->of, true };
    ck_assert_int_le(x->n_devices, COUNT(w->device));
    for (int k = 0; k < x->n_devices; k++)
        w->device[k] = w->of[k] = k;
    MUST(mo_decomp_segments_find(x, regime, true, &w->segments, &err));
    MUST(mo_decomp_classes_new(w->segments, &w->states, regime, false,
                               &w->classes, &err));
    MUST(mo_decomp_path_new(w->segments, x->n_devices, &w->path, &err));
}

static void close_decomposition(decomposition *w)
{
    mo_decomp_path_free(w->path);
    mo_decomp_classes_free(w->classes);
    mo_decomp_segments_free(w->segments);
}

static int64_t upper_path(decomposition *w)
{
    for (int i = 0; i < w->classes->n; i++)
        w->path->tables[i] = w->classes->classes[i].upper_ns;
    return mo_decomp_path_shortest(w->path);
}

/* Splits two schedules and composes the best segments of both. */
static void check_composition(const mo_instance *x, const mo_regime *regime)
{
    decomposition w;
    int64_t best_ns = INT64_MAX;

    open_decomposition(&w, x, regime);
    for (int i = 0; i < 2; i++) {
        mo_schedule *s = NULL, *stitched = NULL;
        int *placement = calloc((size_t) x->n, sizeof *placement);

        for (int op = 0; op < x->n; op++)
            placement[op] = x->pin[op] == MO_FREE ? 0 : x->pin[op];
        MUST(mo_heft(x, regime, i == 0 ? NULL : placement, &s, &err));
        free(placement);
        if (!s)
            continue;
        best_ns = s->makespan_ns < best_ns ? s->makespan_ns : best_ns;
        MUST(mo_decomp_split_schedule(w.classes, s, &err));
        ck_assert_int_le(upper_path(&w), best_ns);
        MUST(mo_decomp_compose(w.classes, w.path, NULL, &stitched, &err));
        ck_assert_int_le(stitched->makespan_ns, upper_path(&w));
        ck_assert_ptr_null(broken_rule(x, stitched));
        mo_schedule_free(stitched);
        mo_schedule_free(s);
    }
    close_decomposition(&w);
}

START_TEST(split_schedules_compose_again)
{
    problem p = { 0 };

    if (_i % 2 == 0)
        stack_make(&p, (unsigned) _i);
    else
        crowd_make(&p, (unsigned) _i);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);

        if (regime.memory == MO_MEMORY_NONE)
            check_composition(p.x, &regime);
    }
    problem_clear(&p);
}
END_TEST

START_TEST(an_end_takes_its_group_along)
{
    problem p = { 0 };
    decomposition w;
    mo_instance pinned;
    bool possible = false;
    const mo_decomp_class *cls = NULL;

    problem_make(&p,
                 "* t.A=1; * t.B=1; a; b colocate=g; c; d colocate=g pin=B;"
                 "e; a>b bytes=1; a>c bytes=1; b>d bytes=1; c>d bytes=1;"
                 "d>e bytes=1",
                 TWO, NULL);
    open_decomposition(&w, p.x, &by_port);
    for (int i = 0; i < w.classes->n; i++)
        cls = w.classes->classes[i].part ? &w.classes->classes[i] : cls;
    ck_assert_ptr_nonnull(cls);
    MUST(mo_decomp_class_pin_boundary(w.classes, cls, 0 * 2 + 1, &pinned,
                                      &possible, &err));
    ck_assert(possible);
    ck_assert_int_eq(pinned.pin[0], 0);
    ck_assert_int_eq(pinned.pin[1], 1);
    ck_assert_int_eq(pinned.pin[2], MO_FREE);
    free(pinned.pin);
    MUST(mo_decomp_class_pin_boundary(w.classes, cls, 0, &pinned, &possible,
                                      &err));
    ck_assert(!possible);
    free(pinned.pin);
    close_decomposition(&w);
    problem_clear(&p);
}
END_TEST

/* Two tensors through one port run one behind the other; without congestion at
 * once. */
START_TEST(direct_transfers_share_a_port)
{
    static const struct {
        mo_congestion congestion;
        int64_t ns;
    } cases[] = { { MO_CONGESTION_PORT, 3000 },
                  { MO_CONGESTION_CHANNEL, 3000 },
                  { MO_CONGESTION_LINK, 3000 },
                  { MO_CONGESTION_NONE, 2000 } };
    problem p = { 0 };

    problem_make(&p,
                 "* t.A=1; * t.B=1; a; b; a>b bytes=1000 src_port=0;"
                 "a>b bytes=2000 src_port=1",
                 TWO, NULL);
    for (int i = 0; i < COUNT(cases); i++) {
        mo_regime regime = { cases[i].congestion, MO_TENSORS_PER_EDGE,
                             MO_MEMORY_NONE };

        ck_assert_int_eq(mo_decomp_direct_transfer_ns(p.x, &regime, 0, 0, 1),
                         cases[i].ns);
        ck_assert_int_eq(mo_decomp_direct_transfer_ns(p.x, &regime, 0, 1, 1),
                         0);
    }
    problem_clear(&p);
}
END_TEST

SUITE(segmentation)
{
    EACH(equal_segments_are_one_class, COUNT(divided));
    SOME(split_schedules_compose_again, 200, 6);
    TEST(an_end_takes_its_group_along);
    TEST(direct_transfers_share_a_port);
}
