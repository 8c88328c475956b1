/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of primal/spine.h. */
#include "solvers/search/primal/spine.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/heuristic/heft.h"
#include "tests/support/dense_problem.h"
#include "tests/support/exhaustive.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"
#include "tests/support/reference_validate.h"

static mo_schedule *place(const mo_instance *x, const mo_regime *regime,
                          int threads)
{
    mo_primal_spine_options options = { .seed = 7, .threads = threads };
    mo_primal_spine *along;
    mo_schedule *s = NULL;

    MUST(mo_primal_spine_new(x, regime, &options, &along, &err));
    MUST(mo_primal_spine_improve(along, 20, NULL, &err));
    MUST(mo_primal_spine_improve(along, 10, NULL, &err));
    MUST(mo_primal_spine_assemble(along, &s, &err));
    mo_primal_spine_free(along);
    return s;
}

START_TEST(what_it_finds_is_valid_and_no_better_than_the_best)
{
    random_problem r;
    problem p = { 0 };

    random_problem_make(&r, (unsigned) _i);
    if (problem_try(&p, r.graph, r.cluster, NULL) == MO_OK)
        for (int i = 0; i < N_REGIMES; i += 5) {
            mo_regime regime = regime_of((i + _i) % N_REGIMES);
            mo_schedule *s = place(p.x, &regime, 1);
            if (s) {
                check_valid(p.x, s);
                if (regime.memory != MO_MEMORY_LIVE)
                    ck_assert_int_ge(s->makespan_ns,
                                     exhaustive_optimum(p.x, &regime));
            }
            mo_schedule_free(s);
        }
    random_problem_clear(&r);
    problem_clear(&p);
}
END_TEST

/* Two towers beside a chain, each read at its end: HEFT sends the chain over
 * the slow link for a short-term gain. */
static const char towers[] =
    "* t.A=4 t.B=5; s t.A=1 t.B=9; a; b; c; d; "
    "l t.A=9 t.B=9; m t.A=9 t.B=9; z t.A=1 t.B=9; "
    "*>* bytes=5000; s>a; a>b; b>c; c>d; d>z; s>l; l>m; m>z";

START_TEST(threads_change_nothing)
{
    problem p = { 0 };
    mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_ONCE, MO_MEMORY_NONE };
    mo_schedule *one, *several;

    problem_make(&p, towers, "A; B; A-B gbps=8", NULL);
    one = place(p.x, &regime, 1);
    several = place(p.x, &regime, 5);
    ck_assert_ptr_nonnull(one);
    check_valid(p.x, one);
    ck_assert_int_eq(one->makespan_ns, several->makespan_ns);
    ck_assert(memcmp(one->device, several->device,
                     (size_t) one->n * sizeof *one->device) == 0);
    mo_schedule_free(one);
    mo_schedule_free(several);
    problem_clear(&p);
}
END_TEST

START_TEST(the_tower_beside_goes_to_the_idle_device)
{
    problem p = { 0 };
    mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_ONCE, MO_MEMORY_NONE };
    mo_schedule *s;

    problem_make(&p, towers, "A; B; A-B gbps=8", NULL);
    s = place(p.x, &regime, 1);
    ck_assert_int_ne(s->device[problem_op(&p, "l")],
                     s->device[problem_op(&p, "b")]);
    /* Everything on A takes 36 us. */
    ck_assert_int_le(s->makespan_ns, 1000 + 5000 + 20000 + 5000 + 1000);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

/* Two blocks of four parallel ops. */
static const char blocks[] =
    "* t.A=4 t.B=4; s; a; b; c; d; m; e; f; g; h; z; *>* bytes=1000;"
    "s>a; s>b; s>c; s>d; a>m; b>m; c>m; d>m;"
    "m>e; m>f; m>g; m>h; e>z; f>z; g>z; h>z";

static mo_schedule *all_on(const mo_instance *x, const mo_regime *regime,
                           int device)
{
    int *on = calloc((size_t) x->n + 1, sizeof *on);
    mo_schedule *s = NULL;

    ck_assert(on);
    for (int i = 0; i < x->n; i++)
        on[i] = device;
    MUST(mo_heft(x, regime, on, &s, &err));
    free(on);
    return s;
}

START_TEST(ends_follow_a_schedule_and_their_blocks_are_made_anew)
{
    problem p = { 0 };
    mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_ONCE, MO_MEMORY_NONE };
    mo_primal_spine_options options = { .seed = 7, .threads = 1 };
    mo_schedule *first = NULL, *moved;
    mo_primal_spine *along;
    int s, m, other;

    problem_make(&p, blocks, "A; B; A-B gbps=8", NULL);
    s = problem_op(&p, "s");
    m = problem_op(&p, "m");
    MUST(mo_primal_spine_new(p.x, &regime, &options, &along, &err));
    MUST(mo_primal_spine_improve(along, 50, NULL, &err));
    MUST(mo_primal_spine_assemble(along, &first, &err));
    ck_assert(!mo_primal_spine_adopt_ends(along, first));
    other = 1 - first->device[s];
    moved = all_on(p.x, &regime, other);
    ck_assert(mo_primal_spine_adopt_ends(along, moved));
    mo_schedule_free(moved);
    MUST(mo_primal_spine_improve(along, 50, NULL, &err));
    MUST(mo_primal_spine_assemble(along, &moved, &err));
    check_valid(p.x, moved);
    ck_assert_int_eq(moved->device[m], other);
    ck_assert_int_eq(moved->makespan_ns, first->makespan_ns);
    mo_schedule_free(first);
    mo_schedule_free(moved);
    mo_primal_spine_free(along);
    problem_clear(&p);
}
END_TEST

SUITE(spine)
{
    SOME(what_it_finds_is_valid_and_no_better_than_the_best, 200, 10);
    TEST(threads_change_nothing);
    TEST(ends_follow_a_schedule_and_their_blocks_are_made_anew);
    TEST(the_tower_beside_goes_to_the_idle_device);
}
