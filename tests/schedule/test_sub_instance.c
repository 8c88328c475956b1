/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/instance/sub_instance.h: the optimum of a part of an
 * instance. */
#include "cost/instance/sub_instance.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

static const char graph[] =
    "* t.A=1 t.B=2; a t.A=5 t.B=7 memory=64; b t.A=3 t.B=4 pin=B; c; d; e; "
    "a>b bytes=8; a>c bytes=8; b>d bytes=16; c>d bytes=8; a>e bytes=8";

START_TEST(a_part_has_its_ops_and_the_flows_among_them)
{
    problem p = { 0 };
    mo_sub_instance *part;
    int ops[3];

    problem_make(&p, graph, "A; B; A-B gbps=8", NULL);
    ops[0] = problem_op(&p, "a");
    ops[1] = problem_op(&p, "b");
    ops[2] = problem_op(&p, "d");
    ck_assert_int_lt(ops[1], ops[2]);
    ck_assert_int_eq(mo_sub_instance_make(p.x, ops, 3, false, &part, NULL),
                     MO_OK);
    ck_assert_int_eq(part->x->n, 3);
    ck_assert_int_eq(part->x->n_flows, 2);
    ck_assert_int_eq(part->x->n_tensors, 2);
    ck_assert_int_eq(part->x->pin[1], 1);
    ck_assert_int_eq(mo_instance_p_ns(part->x, 0, 1), 7000);
    for (int q = 0; q < 2; q++) {
        int old = part->flow[q];
        ck_assert_int_eq(part->op[part->x->flows[q].from],
                         p.x->flows[old].from);
        ck_assert_int_eq(part->op[part->x->flows[q].to], p.x->flows[old].to);
        ck_assert_int_eq(mo_instance_flow_ns(part->x, q, 0, 1),
                         mo_instance_flow_ns(p.x, old, 0, 1));
        ck_assert_int_eq(part->x->in_flows[part->x->in_start[q + 1]], q);
    }
    ck_assert_int_eq(part->x->in_start[0], 0);
    ck_assert_int_eq(part->x->in_start[1], 0);
    ck_assert_int_eq(part->x->in_start[3], 2);
    mo_sub_instance_free(part);
    problem_clear(&p);
}
END_TEST

START_TEST(from_the_end_of_the_first_that_takes_nothing)
{
    problem p = { 0 };
    mo_sub_instance *part;
    int all[] = { 0, 1, 2, 3, 4 };

    problem_make(&p, graph, "A; B; A-B gbps=8", NULL);
    ck_assert_int_eq(mo_sub_instance_make(p.x, all, 5, true, &part, NULL),
                     MO_OK);
    ck_assert_int_eq(mo_instance_p_ns(part->x, 0, 0), 0);
    ck_assert_int_eq(mo_instance_p_ns(part->x, 0, 1), 0);
    ck_assert_int_eq(part->x->memory_bytes[0], 0);
    ck_assert_int_eq(mo_instance_p_ns(p.x, 0, 1), 7000);
    ck_assert_int_eq(part->x->n_flows, p.x->n_flows);
    ck_assert_int_eq(part->x->n_tensors, p.x->n_tensors);
    mo_sub_instance_free(part);
    problem_clear(&p);
}
END_TEST

SUITE(sub_instance)
{
    TEST(a_part_has_its_ops_and_the_flows_among_them);
    TEST(from_the_end_of_the_first_that_takes_nothing);
}
