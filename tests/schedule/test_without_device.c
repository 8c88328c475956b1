/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/instance/sub_instance.h: an instance minus one of its
 * devices. */
#include "cost/instance/sub_instance.h"
#include "tests/support/exhaustive.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"
#include "tests/support/reference_validate.h"

static const char graph[] =
    "* t.A=1 t.B=2 t.C=4; a t.A=5 t.B=7 t.C=9 memory=64; "
    "b pin=C; c group=g; d group=g; "
    "a>b bytes=8; a>c bytes=8; b>d bytes=16; c>d bytes=8";
static const char cluster[] =
    "A memory_bytes=1024; B memory_bytes=2048; C memory_bytes=4096; "
    "A-B gbps=8; B-C gbps=16; A-C gbps=32";

static mo_instance *without(const problem *p, int device)
{
    mo_instance *x = NULL;

    MUST(mo_instance_without_device(p->x, device, &x, &err));
    return x;
}

START_TEST(the_others_keep_what_they_had)
{
    problem p = { 0 };
    mo_instance *x;
    int K = 3;

    problem_make(&p, graph, cluster, NULL);
    for (int gone = 0; gone < 2; gone++) {
        x = without(&p, gone);
        ck_assert_int_eq(x->n_devices, K - 1);
        for (int a = 0; a < K - 1; a++) {
            int old_a = a + (a >= gone);

            ck_assert_str_eq(x->device_ids[a], p.x->device_ids[old_a]);
            ck_assert_int_eq(x->capacity_bytes[a], p.x->capacity_bytes[old_a]);
            for (int i = 0; i < x->n; i++)
                ck_assert_int_eq(mo_instance_p_ns(x, i, a),
                                 mo_instance_p_ns(p.x, i, old_a));
            for (int b = 0; b < K - 1; b++)
                for (int q = 0; q < x->n_flows; q++)
                    ck_assert_int_eq(
                        mo_instance_flow_ns(x, q, a, b),
                        mo_instance_flow_ns(p.x, q, old_a, b + (b >= gone)));
        }
        ck_assert_int_eq(x->pin[problem_op(&p, "b")], 1);
        ck_assert_int_eq(x->pin[problem_op(&p, "a")], MO_FREE);
        mo_instance_free(x);
    }
    problem_clear(&p);
}
END_TEST

START_TEST(routes_are_those_of_the_pairs)
{
    problem p = { 0 };
    mo_instance *x;

    /* A reaches C through B only. */
    problem_make(&p, "* t.A=1 t.B=1 t.C=1; a; b; a>b bytes=8",
                 "A; B; C; A-B gbps=8; B-C gbps=8", NULL);
    x = without(&p, 1);
    ck_assert_int_eq(x->routing.n_links, p.x->routing.n_links);
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            int n, n_before;
            const int *now = mo_instance_route(x, a, b, &n);
            const int *before = mo_instance_route(p.x, 2 * a, 2 * b, &n_before);

            ck_assert_int_eq(n, n_before);
            for (int r = 0; r < n; r++)
                ck_assert_int_eq(now[r], before[r]);
        }
    ck_assert_int_eq(x->routing.routes[1].n, 2);
    mo_instance_free(x);
    problem_clear(&p);
}
END_TEST

START_TEST(a_pin_holds_the_device)
{
    problem p = { 0 };

    problem_make(&p, graph, cluster, NULL);
    ck_assert_int_eq(mo_instance_first_pinned_to(p.x, 0), MO_FREE);
    ck_assert_int_eq(mo_instance_first_pinned_to(p.x, 2), problem_op(&p, "b"));
    problem_clear(&p);
}
END_TEST

/* Where nothing may run on a device, the optimum is that without it. */
START_TEST(the_optimum_is_that_of_who_never_used_it)
{
    static const char slow[] =
        "* t.A=3 t.B=1000 t.C=2; a t.A=1; b; c t.C=1; d; "
        "a>b bytes=500; a>c bytes=100; b>d bytes=300; c>d bytes=100";
    problem p = { 0 };
    mo_regime regime = regime_of(_i);
    mo_instance *x;

    problem_make(&p, slow, "A; B; C; A-B gbps=8; B-C gbps=8; A-C gbps=8", NULL);
    x = without(&p, 1);
    ck_assert_int_eq(exhaustive_optimum(x, &regime),
                     exhaustive_optimum(p.x, &regime));
    mo_instance_free(x);
    problem_clear(&p);
}
END_TEST

SUITE(without_device)
{
    TEST(the_others_keep_what_they_had);
    TEST(routes_are_those_of_the_pairs);
    TEST(a_pin_holds_the_device);
    EACH(the_optimum_is_that_of_who_never_used_it, N_REGIMES);
}
