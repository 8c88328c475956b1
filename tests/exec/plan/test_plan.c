/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/plan/build.h and exec/plan/ir/plan_json.h: thousands of random
 * networks and placements become plans that the verifier accepts. */
#include "exec/plan/ir/plan.h"

#include "base/out.h"
#include "exec/plan/ir/value_table.h"
#include "exec/plan/verify/verify.h"
#include "exec/plan/ir/plan_json.h"
#include "tests/exec/support/random_plan.h"
#include "tests/support/suite.h"

/* The JSON text of a plan; the caller frees it with free(). */
static char *text_of(const mo_exec_plan *plan)
{
    mo_out *out = NULL;
    size_t size;
    char *text;

    MUST(mo_out_memory(&out, &err));
    mo_plan_write_json(plan, out);
    text = mo_out_take(out, &size);
    mo_out_abandon(out);
    ck_assert_ptr_nonnull(text);
    return text;
}

static int devices_of(int i)
{
    return 1 + i % RANDOM_PLAN_DEVICES;
}

START_TEST(any_placement_becomes_a_plan_that_verifies)
{
    random_plan r;
    mo_error err = { 0 };

    random_plan_make(&r, (unsigned) _i, devices_of(_i));
    ck_assert_msg(mo_verify_plan(r.plan, &err) == MO_OK, "seed %d: %s", _i,
                  err.text);
    random_plan_clear(&r);
}
END_TEST

START_TEST(the_same_source_is_the_same_plan)
{
    random_plan a, b;
    char *first, *second;

    random_plan_make(&a, (unsigned) _i, devices_of(_i));
    random_plan_make(&b, (unsigned) _i, devices_of(_i));
    first = text_of(a.plan);
    second = text_of(b.plan);
    ck_assert_msg(strcmp(first, second) == 0, "seed %d", _i);
    free(second);
    free(first);
    random_plan_clear(&b);
    random_plan_clear(&a);
}
END_TEST

START_TEST(a_tensor_goes_to_a_device_once)
{
    random_plan r;
    const mo_exec_plan *plan;

    random_plan_make(&r, (unsigned) _i, devices_of(_i));
    plan = r.plan;
    for (int a = 0; a < plan->n_transfers; a++)
        for (int b = 0; b < a; b++)
            ck_assert_msg(
                plan->transfers[a].to != plan->transfers[b].to ||
                    mo_plan_value_root(plan->values,
                                       plan->transfers[a].from_value) !=
                        mo_plan_value_root(plan->values,
                                           plan->transfers[b].from_value),
                "seed %d: transfers %d and %d", _i, a, b);
    random_plan_clear(&r);
}
END_TEST

START_TEST(one_device_sends_nothing)
{
    random_plan r;

    random_plan_make(&r, (unsigned) _i, 1);
    ck_assert_int_eq(r.plan->n_transfers, 0);
    ck_assert_int_eq(r.plan->devices[0].n_steps, r.plan->n_calls);
    random_plan_clear(&r);
}
END_TEST

/* Dead code is eliminated. */
START_TEST(every_call_is_needed)
{
    random_plan r;
    const mo_exec_plan *plan;
    bool *read;

    random_plan_make(&r, (unsigned) _i, devices_of(_i));
    plan = r.plan;
    read = calloc((size_t) plan->n_values + 1, sizeof *read);
    for (int c = 0; c < plan->n_calls; c++)
        for (int i = 0; i < plan->calls[c].call.n_in; i++)
            read[mo_plan_value_root(plan->values, plan->calls[c].call.in[i])] =
                true;
    for (int t = 0; t < plan->n_transfers; t++)
        read[plan->transfers[t].from_value] = true;
    for (int i = 0; i < plan->n_outputs; i++)
        read[mo_plan_value_root(plan->values, plan->outputs[i].value)] = true;
    for (int c = 0; c < plan->n_calls; c++) {
        const mo_call *call = &plan->calls[c].call;
        bool any = false;

        for (int i = 0; i < call->n_out; i++)
            any = any || read[call->out[i]];
        ck_assert_msg(any, "seed %d: call %d", _i, c);
    }
    free(read);
    random_plan_clear(&r);
}
END_TEST

SUITE(plan)
{
    SOME(any_placement_becomes_a_plan_that_verifies, 1000, 40);
    SOME(the_same_source_is_the_same_plan, 50, 4);
    SOME(a_tensor_goes_to_a_device_once, 200, 8);
    SOME(one_device_sends_nothing, 50, 4);
    SOME(every_call_is_needed, 200, 8);
}
