/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind threads */
/* Tests of exec/plan/passes: a plan with pointwise fusion or channels-last
 * layout verifies, is smaller, and computes the same. */
#include "exec/plan/verify/verify.h"
#include "tests/exec/support/plan_runner.h"
#include "tests/support/suite.h"

static int n_last(const mo_exec_plan *plan)
{
    int n = 0;

    for (int v = 0; v < plan->n_values; v++)
        n += plan->values[v].channels_last;
    return n;
}

static int n_epilogues(const mo_exec_plan *plan)
{
    int n = 0;

    for (int c = 0; c < plan->n_calls; c++)
        n += plan->calls[c].call.after != NULL;
    return n;
}

/* The network of the seed on that many devices, built again with these
 * passes. */
static void check_passes(random_plan *r, int seed, bool fuse, bool layout,
                         const mo_run_result *plain)
{
    mo_run_result result = { 0 };
    mo_exec_plan *plan = NULL;
    mo_error why = { 0 };

    r->source.fuse = fuse;
    r->source.layout = layout;
    MUST(mo_plan_build(&r->source, &plan, &err));
    ck_assert_msg(mo_verify_plan(plan, &why) == MO_OK, "seed %d: %s", seed,
                  why.text);
    if (!layout)
        ck_assert_int_le(plan->n_calls, r->plan->n_calls);
    plan_runner_result(plan, (unsigned) seed, &result);
    check_outputs_close(&result, plain, 1e-5, seed);
    mo_run_result_clear(&result);
    mo_plan_free(plan);
}

START_TEST(passes_change_nothing_that_comes_out)
{
    static const bool can_jit[RANDOM_PLAN_DEVICES] = { true, true, true, true };
    unsigned seed = (unsigned) _i;
    random_plan r;
    mo_run_result plain = { 0 };

    random_plan_of(&r, random_picture(seed), random_picture(seed), NULL, seed,
                   1 + _i % 3);
    plan_runner_result(r.plan, seed, &plain);
    check_passes(&r, _i, true, false, &plain);
    check_passes(&r, _i, false, true, &plain);
    check_passes(&r, _i, true, true, &plain);
    r.source.can_jit = can_jit;
    check_passes(&r, _i, true, false, &plain);
    check_passes(&r, _i, true, true, &plain);
    r.source.as_placed = true;
    check_passes(&r, _i, true, true, &plain);
    mo_run_result_clear(&plain);
    random_plan_clear(&r);
}
END_TEST

static int n_transposed_last(const mo_exec_plan *plan)
{
    int n = 0;

    for (int c = 0; c < plan->n_calls; c++) {
        const mo_call *call = &plan->calls[c].call;

        n += call->kind == MO_CALL_CONV && call->u.conv.transposed &&
             call->u.conv.channels_last;
    }
    return n;
}

/* Over many networks both passes apply. */
START_TEST(passes_do_something)
{
    int fused = 0, laid = 0, transposed = 0;

    for (unsigned seed = 0; seed < 60; seed++) {
        random_plan r;
        mo_exec_plan *plan = NULL;

        random_plan_of(&r, random_picture(seed), random_picture(seed), NULL,
                       seed, 1);
        r.source.fuse = r.source.layout = true;
        MUST(mo_plan_build(&r.source, &plan, &err));
        fused += n_epilogues(plan);
        laid += n_last(plan);
        transposed += n_transposed_last(plan);
        mo_plan_free(plan);
        random_plan_clear(&r);
    }
    ck_assert_int_gt(fused, 15);
    ck_assert_int_gt(laid, 300);
    ck_assert_int_gt(transposed, 30);
}
END_TEST

/* The number of items with a time of their own. */
static int n_timed(const mo_exec_plan *plan)
{
    int n = 0;

    for (int i = 0; i < plan->n_items; i++)
        for (int c = 0; c < plan->n_calls; c++)
            if (plan->calls[c].timed_as == i) {
                n++;
                break;
            }
    return n;
}

static int n_timed_of(random_plan *r)
{
    mo_exec_plan *plan = NULL;
    int n;

    MUST(mo_plan_build(&r->source, &plan, &err));
    n = n_timed(plan);
    mo_plan_free(plan);
    return n;
}

START_TEST(ops_that_are_placed_apart_have_a_time_each)
{
    static const bool can_jit[RANDOM_PLAN_DEVICES] = { true, true, true, true };
    int lost = 0;

    for (unsigned seed = 0; seed < 20; seed++) {
        random_plan r;
        int plain;

        random_plan_of(&r, random_picture(seed), random_picture(seed), NULL,
                       seed, 1);
        plain = n_timed(r.plan);
        r.source.fuse = true;
        r.source.can_jit = can_jit;
        lost += plain - n_timed_of(&r);
        r.source.as_placed = true;
        ck_assert_msg(n_timed_of(&r) == plain, "seed %u", seed);
        random_plan_clear(&r);
    }
    ck_assert_int_gt(lost, 20);
}
END_TEST

/* The SiLU of a sum, as exporters write it, or the ReLU of a sum as double. */
static mo_graph *small_network(bool mixed)
{
    static const struct {
        const char *op, *dtype, *after[2];
    } nodes[2][5] = { { { "Parameter", "f32", { NULL, NULL } },
                        { "Add", "f32", { "n0", "n0" } },
                        { "Sigmoid", "f32", { "n1", NULL } },
                        { "Multiply", "f32", { "n2", "n1" } },
                        { "Result", "f32", { "n3", NULL } } },
                      { { "Parameter", "f32", { NULL, NULL } },
                        { "Add", "f32", { "n0", "n0" } },
                        { "Convert", "f64", { "n1", NULL } },
                        { "ReLU", "f64", { "n2", NULL } },
                        { "Result", "f64", { "n3", NULL } } } };
    mo_out *made = NULL, *edges = NULL;

    MUST(mo_out_memory(&made, &err));
    MUST(mo_out_memory(&edges, &err));
    for (int i = 0; i < 5; i++) {
        const char *const *after = nodes[mixed][i].after;

        mo_out_printf(made,
                      "<node id='n%d'><data key='op'>%s</data>"
                      "<data key='shape'>4,8</data>"
                      "<data key='dtype'>%s</data></node>",
                      i, nodes[mixed][i].op, nodes[mixed][i].dtype);
        for (int k = 0; k < 2 && after[k]; k++)
            mo_out_printf(edges,
                          "<edge source='%s' target='n%d'><data key='src_port'>"
                          "0</data><data key='dst_port'>%d</data></edge>",
                          after[k], i, k);
    }
    return random_graphml(made, edges);
}

static int n_calls_of(random_plan *r)
{
    mo_exec_plan *plan = NULL;
    int n;

    MUST(mo_plan_build(&r->source, &plan, &err));
    n = plan->n_calls;
    mo_plan_free(plan);
    return n;
}

/* Also on devices that compile nothing; floats are not fused with doubles. */
START_TEST(pointwise_ops_are_fused_beyond_the_rules)
{
    for (int mixed = 0; mixed < 2; mixed++) {
        random_plan r;

        random_plan_of(&r, small_network(mixed), small_network(mixed), NULL, 2,
                       1);
        ck_assert_int_eq(r.plan->n_calls, 3);
        r.source.fuse = true;
        ck_assert_int_eq(n_calls_of(&r), mixed ? 2 : 1);
        r.source.as_placed = true;
        ck_assert_int_eq(n_calls_of(&r), 3);
        random_plan_clear(&r);
    }
}
END_TEST

SUITE(fuse_and_layout)
{
    TEST(pointwise_ops_are_fused_beyond_the_rules);
    SOME(passes_change_nothing_that_comes_out, 300, 20);
    TEST(passes_do_something);
    TEST(ops_that_are_placed_apart_have_a_time_each);
}
