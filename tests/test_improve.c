/* Claims of exec/plan: a plan whose calls are fused, or whose pictures lie
 * channels last, verifies, is smaller, and computes the same. */
#include "exec/compare.h"
#include "exec/plan/verify.h"
#include "exec/run.h"

#include "base/random.h"
#include "tests/random_plan.h"
#include "tests/suite.h"

static void run(mo_plan *plan, unsigned seed, mo_run_result *result)
{
    const mo_backend *backends[RANDOM_PLAN_DEVICES];
    mo_unit_options units[RANDOM_PLAN_DEVICES];
    int rank_of[RANDOM_PLAN_DEVICES] = { 0 };
    mo_dense input = { 0 };
    mo_run_options options = { .transport = &mo_transport_local,
                               .backends = backends,
                               .units = units,
                               .rank_of = rank_of,
                               .inputs = &input,
                               .runs = 1 };

    for (int d = 0; d < RANDOM_PLAN_DEVICES; d++) {
        backends[d] = &mo_backend_cpu;
        units[d] = (mo_unit_options){ .threads = 1 };
    }
    ck_assert_int_eq(plan->n_inputs, 1);
    MUST(mo_dense_new(&plan->inputs[0].desc, &input, &err));
    mo_dense_random(&input, seed, 1, 2);
    MUST(mo_transport_local.open(&(mo_world_options){ 0 }, &options.world,
                                 &err));
    MUST(mo_run_plan(plan, &options, result, &err));
    mo_transport_local.close(options.world);
    mo_dense_clear(&input);
}

static int n_last(const mo_plan *plan)
{
    int n = 0;

    for (int v = 0; v < plan->n_values; v++)
        n += plan->values[v].channels_last;
    return n;
}

static int n_epilogues(const mo_plan *plan)
{
    int n = 0;

    for (int c = 0; c < plan->n_calls; c++)
        n += plan->calls[c].call.after != NULL;
    return n;
}

static void check_same(const mo_run_result *a, const mo_run_result *b, int seed)
{
    ck_assert_int_eq(a->n_outputs, b->n_outputs);
    for (int i = 0; i < a->n_outputs; i++) {
        mo_difference d = mo_compare(&a->outputs[i], &b->outputs[i]);

        ck_assert_msg(d.same_shape && d.relative < 1e-5,
                      "seed %d: output %d is off by %g", seed, i, d.relative);
    }
}

/* The network of the seed on so many devices, made again with these passes. */
static void check_passes(random_plan *r, int seed, bool fuse, bool layout,
                         const mo_run_result *plain)
{
    mo_run_result result = { 0 };
    mo_plan *plan = NULL;
    mo_error why = { 0 };

    r->source.fuse = fuse;
    r->source.layout = layout;
    MUST(mo_plan_make(&r->source, &plan, &err));
    ck_assert_msg(mo_plan_verify(plan, &why) == MO_OK, "seed %d: %s", seed,
                  why.text);
    if (!layout)
        ck_assert_int_le(plan->n_calls, r->plan->n_calls);
    run(plan, (unsigned) seed, &result);
    check_same(&result, plain, seed);
    mo_run_result_clear(&result);
    mo_plan_free(plan);
}

START_TEST(passes_change_nothing_that_comes_out)
{
    unsigned seed = (unsigned) _i;
    random_plan r;
    mo_run_result plain = { 0 };

    random_plan_of(&r, random_picture(seed), random_picture(seed), NULL, seed,
                   1 + _i % 3);
    run(r.plan, seed, &plain);
    check_passes(&r, _i, true, false, &plain);
    check_passes(&r, _i, false, true, &plain);
    check_passes(&r, _i, true, true, &plain);
    mo_run_result_clear(&plain);
    random_plan_clear(&r);
}
END_TEST

/* Over many networks both passes find something to do. */
START_TEST(passes_do_something)
{
    int fused = 0, laid = 0;

    for (unsigned seed = 0; seed < 20; seed++) {
        random_plan r;
        mo_plan *plan = NULL;

        random_plan_of(&r, random_picture(seed), random_picture(seed), NULL,
                       seed, 1);
        r.source.fuse = r.source.layout = true;
        MUST(mo_plan_make(&r.source, &plan, &err));
        fused += n_epilogues(plan);
        laid += n_last(plan);
        mo_plan_free(plan);
        random_plan_clear(&r);
    }
    ck_assert_int_gt(fused, 5);
    ck_assert_int_gt(laid, 100);
}
END_TEST

SUITE(improve)
{
    SOME(passes_change_nothing_that_comes_out, 300, 20);
    TEST(passes_do_something);
}
