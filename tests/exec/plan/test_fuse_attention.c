/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of exec/plan/passes/fuse_attention.c: spelled-out attention becomes
 * one call, which computes the same, and no copies of its operands are left. */
#include "exec/plan/verify/verify.h"
#include "tests/exec/support/plan_runner.h"
#include "tests/support/suite.h"

static int count(const mo_exec_plan *plan, mo_call_kind kind)
{
    int n = 0;

    for (int c = 0; c < plan->n_calls; c++)
        n += plan->calls[c].call.kind == kind;
    return n;
}

static void make(random_plan *r, unsigned seed, int n_devices)
{
    random_plan_of(r, random_attention(seed), random_attention(seed), NULL,
                   seed, n_devices);
}

static mo_exec_plan *fuse_attention(random_plan *r, const bool *attend_on,
                                    bool fuse)
{
    mo_exec_plan *plan = NULL;
    mo_error why = { 0 };

    r->source.fuses_attention = r->source.can_jit = attend_on;
    r->source.fuse = fuse;
    MUST(mo_plan_build(&r->source, &plan, &err));
    ck_assert_msg(mo_verify_plan(plan, &why) == MO_OK, "%s", why.text);
    return plan;
}

static int must_fail(mo_exec_plan *plan)
{
    mo_error why = { 0 };

    ck_assert_int_eq(mo_verify_plan(plan, &why), MO_E_INPUT);
    ck_assert_ptr_nonnull(strstr(why.text, "attention beyond"));
    return 1;
}

/* Corrupts attention in several ways, one at a time; returns their number. */
static int break_call(mo_exec_plan *plan, int c)
{
    mo_call_attention *a = &plan->calls[c].call.u.attention;
    mo_call_attention whole = *a;
    int64_t *const numbers[] = { &a->q_offset, &a->k_offset, &a->v_offset,
                                 &a->queries,  &a->keys,     &a->v_width };
    int n = 0;

    if (plan->calls[c].call.kind != MO_CALL_ATTENTION)
        return 0;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        *numbers[i] += INT64_C(1) << 40;
        n += must_fail(plan);
        *a = whole;
    }
    a->q_offset = -1;
    n += must_fail(plan);
    *a = whole;
    a->has_mask = !a->has_mask;
    n += must_fail(plan);
    *a = whole;
    if (a->score) {
        a->score->operands[0].elem = MO_ELEM_F16;
        n += must_fail(plan);
        a->score->operands[0].elem = MO_ELEM_F32;
    }
    return n;
}

START_TEST(attention_computes_the_same)
{
    const bool everywhere[RANDOM_PLAN_DEVICES] = { true, true, true, true };
    mo_run_result plain = { 0 }, result = { 0 };
    random_plan r;
    mo_exec_plan *plan;

    make(&r, (unsigned) _i, 1 + _i % 3);
    plan = fuse_attention(&r, everywhere, _i % 2);
    plan_runner_result(r.plan, (unsigned) _i, &plain);
    plan_runner_result(plan, (unsigned) _i, &result);
    check_outputs_close(&result, &plain, 1e-5, _i);
    mo_run_result_clear(&result);
    mo_run_result_clear(&plain);
    mo_plan_free(plan);
    random_plan_clear(&r);
}
END_TEST

/* Scores are not rounded between the original calls. */
START_TEST(halves_are_nearly_the_same)
{
    const bool here = true;
    mo_run_result plain = { 0 }, result = { 0 };
    random_plan r;
    mo_exec_plan *plan;

    make(&r, (unsigned) _i, 1);
    plan_runner_result(r.plan, (unsigned) _i, &plain);
    r.source.storage_elem = MO_ELEM_F16;
    plan = fuse_attention(&r, &here, true);
    plan_runner_result(plan, (unsigned) _i, &result);
    check_outputs_close(&result, &plain, 1e-2, _i);
    mo_run_result_clear(&result);
    mo_run_result_clear(&plain);
    mo_plan_free(plan);
    random_plan_clear(&r);
}
END_TEST

/* Accesses beyond a value or of missing values are refused. */
START_TEST(broken_attention_is_found)
{
    const bool here = true;
    int broken = 0;

    for (unsigned seed = 0; seed < 10; seed++) {
        random_plan r;
        mo_exec_plan *plan;

        make(&r, seed, 1);
        plan = fuse_attention(&r, &here, false);
        for (int c = 0; c < plan->n_calls; c++)
            broken += break_call(plan, c);
        mo_plan_free(plan);
        random_plan_clear(&r);
    }
    ck_assert_int_gt(broken, 50);
}
END_TEST

/* On one device only outputs of the network prevent fusion. */
START_TEST(attention_is_found)
{
    const bool here = true;
    int softmaxes = 0, left = 0, found = 0, copies = 0, copies_left = 0;

    for (unsigned seed = 0; seed < 40; seed++) {
        random_plan r;
        mo_exec_plan *plan;

        make(&r, seed, 1);
        plan = fuse_attention(&r, &here, true);
        softmaxes += count(r.plan, MO_CALL_SOFTMAX);
        left += count(plan, MO_CALL_SOFTMAX);
        found += count(plan, MO_CALL_ATTENTION);
        copies += count(r.plan, MO_CALL_COPY) + count(r.plan, MO_CALL_GATHER);
        copies_left += count(plan, MO_CALL_COPY) + count(plan, MO_CALL_GATHER);
        mo_plan_free(plan);
        random_plan_clear(&r);
    }
    ck_assert_int_eq(found + left, softmaxes);
    ck_assert_msg(left * 5 < softmaxes, "%d of %d are left", left, softmaxes);
    ck_assert_msg(copies_left * 4 < copies, "%d of %d are left", copies_left,
                  copies);
}
END_TEST

static int count_thirds(const mo_exec_plan *plan)
{
    int n = 0;

    for (int c = 0; c < plan->n_calls; c++) {
        const mo_call *call = &plan->calls[c].call;

        n += call->kind == MO_CALL_ATTENTION && call->in[0] == call->in[1] &&
             call->in[0] == call->in[2];
    }
    return n;
}

/* However it was spelled: with fusion, hardly any network keeps three products
 * where one suffices. */
START_TEST(products_of_the_same_rows_become_one)
{
    const bool here = true;
    int apart = 0, together = 0, found = 0;

    for (unsigned seed = 0; seed < 40; seed++) {
        random_plan r;
        mo_exec_plan *plan, *merged;

        make(&r, seed, 1);
        plan = fuse_attention(&r, &here, false);
        merged = fuse_attention(&r, &here, true);
        apart += count_thirds(plan);
        together += count_thirds(merged);
        found += count(merged, MO_CALL_ATTENTION);
        mo_plan_free(merged);
        mo_plan_free(plan);
        random_plan_clear(&r);
    }
    ck_assert_msg(apart * 4 < found * 3 && together * 8 > found * 6,
                  "%d of %d before, %d after", apart, found, together);
}
END_TEST

START_TEST(devices_that_do_not_want_it_are_left_alone)
{
    const bool nowhere[RANDOM_PLAN_DEVICES] = { false };
    random_plan r;
    mo_exec_plan *plan;

    make(&r, 3, 2);
    plan = fuse_attention(&r, nowhere, false);
    ck_assert_int_eq(plan->n_calls, r.plan->n_calls);
    ck_assert_int_eq(count(plan, MO_CALL_ATTENTION), 0);
    mo_plan_free(plan);
    random_plan_clear(&r);
}
END_TEST

SUITE(fuse_attention)
{
    SOME(attention_computes_the_same, 600, 40);
    SOME(halves_are_nearly_the_same, 100, 20);
    TEST(broken_attention_is_found);
    TEST(attention_is_found);
    TEST(products_of_the_same_rows_become_one);
    TEST(devices_that_do_not_want_it_are_left_alone);
}
