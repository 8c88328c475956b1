/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of exec/measure/run_analysis.h, exec/measure/run_analysis.h and
 * mo_run_align_timeline, on a synthetic run:
 *
 *     A  |call 0 0..10|send 10|            |await 10..16|
 *     B  |receive 0|call 1 0..12|await 12..20|call 2 20..30|
 */
#include "exec/measure/run_analysis.h"

#include <math.h>
#include <string.h>

#include "exec/runtime/gather.h"
#include "tests/support/suite.h"
#include "tests/support/text.h"

enum { CALLS = 3 };

typedef struct story {
    mo_exec_plan plan;
    mo_plan_device devices[2];
    mo_plan_step a[3], b[4];
    mo_plan_value values[2];
    mo_plan_call calls[CALLS];
    mo_plan_item items[CALLS];
    mo_plan_transfer transfer;
    mo_run_step a_times[3], b_times[4], *times[2];
    int64_t call_ns[CALLS], busy_ns[2];
    mo_run_result result;
} story;

static story told(void)
{
    return (story){
        .a = { { MO_PLAN_STEP_COMPUTE, 0, 0 },
               { MO_PLAN_STEP_SEND, 0, 2 },
               { MO_PLAN_STEP_AWAIT, 0, 4 } },
        .b = { { MO_PLAN_STEP_COMPUTE, 1, 1 },
               { MO_PLAN_STEP_RECEIVE, 0, 2 },
               { MO_PLAN_STEP_AWAIT, 0, 3 },
               { MO_PLAN_STEP_COMPUTE, 2, 5 } },
        .values = { { .name = "x \"1\"" }, { .name = "x \"1\"" } },
        .calls = { { .item = 0 }, { .item = 1 }, { .item = 2 } },
        .items = { { .name = "first", .type = "ReLU" },
                   { .name = "second", .type = "ReLU" },
                   { .name = "third", .type = "ReLU" } },
        .transfer = { .from = 0,
                      .to = 1,
                      .from_value = 0,
                      .to_value = 1,
                      .bytes = 64 },
        .a_times = { { 0, 10 }, { 10, 10 }, { 10, 16 } },
        .b_times = { { 0, 12 }, { 12, 12 }, { 12, 20 }, { 20, 30 } },
        .call_ns = { 10, 12, 10 },
        .busy_ns = { 10, 22 },
    };
}

/* Points the plan and the result at the arrays. */
static void bind(story *s)
{
    s->devices[0] = (mo_plan_device){ .id = "A", .steps = s->a, .n_steps = 3 };
    s->devices[1] = (mo_plan_device){ .id = "B", .steps = s->b, .n_steps = 4 };
    s->plan = (mo_exec_plan){ .n_devices = 2,
                              .n_values = 2,
                              .n_calls = CALLS,
                              .n_items = CALLS,
                              .n_transfers = 1,
                              .devices = s->devices,
                              .values = s->values,
                              .calls = s->calls,
                              .items = s->items,
                              .transfers = &s->transfer };
    s->times[0] = s->a_times;
    s->times[1] = s->b_times;
    s->result = (mo_run_result){ .n_runs = 1,
                                 .median_ns = 32,
                                 .steps = s->times,
                                 .call_ns = s->call_ns,
                                 .busy_ns = s->busy_ns,
                                 .n_devices = 2 };
}

START_TEST(ratios_follow_from_the_times)
{
    story s = told();
    mo_measure_utilization r;

    bind(&s);
    MUST(mo_measure_utilization_of_run(&s.plan, &s.result, &r, &err));
    /* Both ends were posted at 12, and it took 8 from there; B continues at
     * 20. */
    ck_assert_double_eq(r.path, 30.0 / 32);
    ck_assert_double_eq(r.kernel, 32.0 / (16 + 30));
    ck_assert_double_eq(r.hidden, 0);
}
END_TEST

/* On B 0..12, 6..16 and within that 8..9: from 0 to 16 of 20. */
START_TEST(calls_side_by_side_count_once)
{
    static mo_plan_step b[] = { { MO_PLAN_STEP_RECEIVE, 0, 1 },
                                { MO_PLAN_STEP_COMPUTE, 1, 3 },
                                { MO_PLAN_STEP_COMPUTE, 2, 5 },
                                { MO_PLAN_STEP_COMPUTE, 2, 6 },
                                { MO_PLAN_STEP_AWAIT, 0, 7 } };
    static mo_run_step times[] = {
        { 0, 0 }, { 6, 16 }, { 8, 9 }, { 0, 12 }, { 16, 20 }
    };
    story s = told();
    mo_measure_utilization r;

    s.busy_ns[1] = 23;
    bind(&s);
    s.devices[1].steps = b;
    s.devices[1].n_steps = COUNT(b);
    s.times[1] = times;
    MUST(mo_measure_utilization_of_run(&s.plan, &s.result, &r, &err));
    ck_assert_double_eq(r.kernel, (10.0 + 16) / (16 + 20));
}
END_TEST

/* A sends at 5, before call 0 ends, and call 2 does not wait for the transfer
 * that B awaits until 20. */
START_TEST(nothing_is_walked_through_later_than_it_was)
{
    story s = told();
    mo_measure_utilization r;

    s.a_times[1] = (mo_run_step){ 5, 5 };
    s.b_times[1] = (mo_run_step){ 5, 5 };
    s.b_times[3] = (mo_run_step){ 14, 24 };
    bind(&s);
    s.result.median_ns = 25;
    MUST(mo_measure_utilization_of_run(&s.plan, &s.result, &r, &err));
    ck_assert_double_eq(r.path, 24.0 / 25);
    s.b_times[3] = (mo_run_step){ 12, 13 };
    MUST(mo_measure_utilization_of_run(&s.plan, &s.result, &r, &err));
    ck_assert_double_eq(r.path, 20.0 / 25);
}
END_TEST

START_TEST(a_transfer_behind_a_call_is_hidden)
{
    story s = told();
    mo_measure_utilization r;

    /* Posted from the start; A sends at 10, B awaits at 12. */
    s.b[0] = (mo_plan_step){ MO_PLAN_STEP_RECEIVE, 0, 1 };
    s.b[1] = (mo_plan_step){ MO_PLAN_STEP_COMPUTE, 1, 3 };
    s.b[2].order = 4;
    s.b_times[0] = (mo_run_step){ 0, 0 };
    s.b_times[1] = (mo_run_step){ 0, 12 };
    bind(&s);
    MUST(mo_measure_utilization_of_run(&s.plan, &s.result, &r, &err));
    ck_assert_double_eq(r.hidden, 0.2);
    ck_assert_double_eq(r.path, 30.0 / 32);
}
END_TEST

/* Joint execution: B's first step is a receive, which begins when A sends, at
 * 10, and its first call began at 0. */
START_TEST(the_first_step_need_not_begin_first)
{
    story s = told();
    mo_measure_utilization r;

    s.b[0] = (mo_plan_step){ MO_PLAN_STEP_RECEIVE, 0, 2 };
    s.b[1] = (mo_plan_step){ MO_PLAN_STEP_COMPUTE, 1, 3 };
    s.b[2].order = 4;
    s.b_times[0] = (mo_run_step){ 10, 10 };
    s.b_times[1] = (mo_run_step){ 0, 12 };
    bind(&s);
    MUST(mo_measure_utilization_of_run(&s.plan, &s.result, &r, &err));
    ck_assert_double_eq(r.kernel, 32.0 / (16 + 30));
}
END_TEST

/* B is busy until long after the arrival; A continued at once. */
START_TEST(a_sender_does_not_wait_for_a_late_reader)
{
    static mo_plan_step a[] = { { MO_PLAN_STEP_COMPUTE, 0, 0 },
                                { MO_PLAN_STEP_SEND, 0, 2 },
                                { MO_PLAN_STEP_AWAIT, 0, 4 },
                                { MO_PLAN_STEP_COMPUTE, 0, 6 } };
    static mo_run_step a_times[] = {
        { 0, 10 }, { 10, 10 }, { 10, 12 }, { 12, 30 }
    };
    story s = told();
    mo_measure_utilization r;

    s.b[0] = (mo_plan_step){ MO_PLAN_STEP_RECEIVE, 0, 1 };
    s.b[1] = (mo_plan_step){ MO_PLAN_STEP_COMPUTE, 1, 3 };
    s.b_times[0] = (mo_run_step){ 0, 0 };
    s.b_times[1] = (mo_run_step){ 0, 30 };
    s.b_times[2] = (mo_run_step){ 30, 30 };
    s.b_times[3] = (mo_run_step){ 30, 40 };
    bind(&s);
    s.devices[0].steps = a;
    s.devices[0].n_steps = COUNT(a);
    s.times[0] = a_times;
    s.result.median_ns = 40;
    MUST(mo_measure_utilization_of_run(&s.plan, &s.result, &r, &err));
    ck_assert_double_eq(r.path, 1);
    ck_assert_double_eq(r.hidden, 1);
}
END_TEST

/* A has another call, of 12..32, before it awaits at 34: a transfer complete
 * at 20 does not delay it. */
START_TEST(a_sender_may_ask_late)
{
    static mo_plan_step a[] = { { MO_PLAN_STEP_COMPUTE, 0, 0 },
                                { MO_PLAN_STEP_SEND, 0, 2 },
                                { MO_PLAN_STEP_COMPUTE, 0, 4 },
                                { MO_PLAN_STEP_AWAIT, 0, 6 } };
    static mo_run_step a_times[] = {
        { 0, 10 }, { 10, 10 }, { 12, 32 }, { 34, 35 }
    };
    story s = told();
    mo_measure_utilization r;

    bind(&s);
    s.devices[0].steps = a;
    s.devices[0].n_steps = COUNT(a);
    s.times[0] = a_times;
    s.result.median_ns = 35;
    MUST(mo_measure_utilization_of_run(&s.plan, &s.result, &r, &err));
    ck_assert_double_eq(r.path, 30.0 / 35);
}
END_TEST

START_TEST(without_steps_nothing_is_told)
{
    story s = told();
    mo_measure_utilization r;

    bind(&s);
    s.times[1] = NULL;
    MUST(mo_measure_utilization_of_run(&s.plan, &s.result, &r, &err));
    ck_assert(isnan(r.path) && isnan(r.kernel) && isnan(r.hidden));
    s.result.steps = NULL;
    MUST(mo_measure_utilization_of_run(&s.plan, &s.result, &r, &err));
    ck_assert(isnan(r.path) && isnan(r.kernel) && isnan(r.hidden));
}
END_TEST

static int count(const char *text, const char *part)
{
    int n = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

START_TEST(a_trace_has_calls_and_arrows)
{
    story s = told();
    mo_out *out = text_new();
    char *text;

    bind(&s);
    MUST(mo_measure_write_chrome_trace(&s.plan, &s.result, out, &err));
    text = text_end(out);
    ck_assert_int_eq(count(text, "\"ph\":\"X\""), CALLS + 2);
    ck_assert_int_eq(count(text, "\"ph\":\"s\""), 1);
    ck_assert_int_eq(count(text, "\"ph\":\"f\""), 1);
    ck_assert_int_eq(count(text, "\"process_name\""), 2);
    ck_assert_ptr_nonnull(strstr(text, "\"name\":\"x \\\"1\\\"\""));
    ck_assert_ptr_nonnull(
        strstr(text, "\"name\":\"third\",\"cat\":\"none\",\"ts\":0.02,"
                     "\"dur\":0.01"));
    free(text);
}
END_TEST

/* Though A awaits at 30 only. */
START_TEST(a_trace_ends_what_is_sent_when_it_is_there)
{
    story s = told();
    mo_out *out = text_new();
    char *text;

    s.a_times[2] = (mo_run_step){ 30, 31 };
    bind(&s);
    MUST(mo_measure_write_chrome_trace(&s.plan, &s.result, out, &err));
    text = text_end(out);
    ck_assert_ptr_nonnull(strstr(text, "\"pid\":0,\"tid\":1,"
                                       "\"name\":\"x \\\"1\\\"\","
                                       "\"ts\":0.01,\"dur\":0.01"));
    free(text);
}
END_TEST

/* Each rank has computed its own timeline: B did not know that A sends at
 * 10. */
static void lay_out(story *s)
{
    *s = told();
    bind(s);
    memcpy(s->a_times, (mo_run_step[]){ { 0, 10 }, { 10, 10 }, { 10, 14 } },
           sizeof s->a_times);
    memcpy(s->b_times,
           (mo_run_step[]){ { 0, 4 }, { 4, 4 }, { 4, 9 }, { 9, 12 } },
           sizeof s->b_times);
}

static void check_step(const mo_run_step *step, int64_t begin, int64_t end)
{
    ck_assert_int_eq(step->begin_ns, begin);
    ck_assert_int_eq(step->end_ns, end);
}

START_TEST(ranks_wait_for_what_others_carry)
{
    const int64_t a_took[] = { 10, 4, 0 }, b_took[] = { 4, 5, 0, 3 };
    mo_run_device_record records[] = { { .isolated_ns = a_took },
                                       { .isolated_ns = b_took } };
    story s;

    lay_out(&s);
    MUST(mo_run_align_timeline(&s.plan, records, &s.result, &err));
    check_step(&s.a_times[2], 10, 15);
    check_step(&s.b_times[0], 0, 4);
    check_step(&s.b_times[1], 4, 4);
    check_step(&s.b_times[2], 4, 15);
    check_step(&s.b_times[3], 15, 18);
}
END_TEST

/* B receives late; meanwhile A continued with another call. */
START_TEST(ranks_that_send_go_on)
{
    static mo_plan_step a[] = { { MO_PLAN_STEP_COMPUTE, 0, 0 },
                                { MO_PLAN_STEP_SEND, 0, 2 },
                                { MO_PLAN_STEP_AWAIT, 0, 4 },
                                { MO_PLAN_STEP_COMPUTE, 0, 6 } };
    static mo_run_step a_times[] = {
        { 0, 10 }, { 10, 10 }, { 10, 14 }, { 10, 20 }
    };
    const int64_t a_took[] = { 10, 4, 0, 10 }, b_took[] = { 20, 5, 0, 3 };
    mo_run_device_record records[] = { { .isolated_ns = a_took },
                                       { .isolated_ns = b_took } };
    story s;

    lay_out(&s);
    s.devices[0].steps = a;
    s.devices[0].n_steps = COUNT(a);
    s.times[0] = a_times;
    memcpy(s.b_times,
           (mo_run_step[]){ { 0, 20 }, { 20, 20 }, { 20, 25 }, { 25, 28 } },
           sizeof s.b_times);
    MUST(mo_run_align_timeline(&s.plan, records, &s.result, &err));
    check_step(&a_times[2], 10, 25);
    check_step(&a_times[3], 10, 20);
    check_step(&s.b_times[3], 25, 28);
}
END_TEST

/* Of two transfers that B awaits at 0 the first would have arrived at 5, the
 * second at 9; but the first is sent at 10. */
START_TEST(the_last_to_come_of_several_counts)
{
    static mo_plan_transfer transfers[] = {
        { .from = 0, .to = 1, .from_value = 0, .to_value = 1 },
        { .from = 0, .to = 1, .from_value = 0, .to_value = 1 },
    };
    static mo_plan_step a[] = { { MO_PLAN_STEP_SEND, 1, 0 },
                                { MO_PLAN_STEP_COMPUTE, 0, 1 },
                                { MO_PLAN_STEP_SEND, 0, 2 } };
    static mo_plan_step b[] = { { MO_PLAN_STEP_RECEIVE, 1, 0 },
                                { MO_PLAN_STEP_RECEIVE, 0, 2 },
                                { MO_PLAN_STEP_AWAIT, 0, 3 },
                                { MO_PLAN_STEP_AWAIT, 1, 4 },
                                { MO_PLAN_STEP_COMPUTE, 1, 5 } };
    static mo_run_step a_times[] = { { 0, 0 }, { 0, 10 }, { 10, 10 } };
    static mo_run_step b_times[] = {
        { 0, 0 }, { 0, 0 }, { 0, 5 }, { 0, 9 }, { 9, 12 }
    };
    const int64_t a_took[] = { 9, 10, 5 }, b_took[] = { 9, 5, 0, 0, 3 };
    mo_run_device_record records[] = { { .isolated_ns = a_took },
                                       { .isolated_ns = b_took } };
    story s;

    lay_out(&s);
    s.plan.transfers = transfers;
    s.plan.n_transfers = COUNT(transfers);
    s.devices[0] = (mo_plan_device){ .steps = a, .n_steps = COUNT(a) };
    s.devices[1] = (mo_plan_device){ .steps = b, .n_steps = COUNT(b) };
    s.times[0] = a_times;
    s.times[1] = b_times;
    MUST(mo_run_align_timeline(&s.plan, records, &s.result, &err));
    check_step(&b_times[2], 0, 15);
    check_step(&b_times[4], 15, 18);
}
END_TEST

/* The whole timeline is no longer than the run. */
START_TEST(aligned_it_fits)
{
    const int64_t a_took[] = { 10, 40, 0 }, b_took[] = { 4, 5, 0, 3 };
    mo_run_device_record records[] = { { .isolated_ns = a_took },
                                       { .isolated_ns = b_took } };
    story s;

    lay_out(&s);
    MUST(mo_run_align_timeline(&s.plan, records, &s.result, &err));
    ck_assert_int_eq(s.b_times[3].end_ns, s.result.median_ns);
    ck_assert_int_gt(s.b_times[3].begin_ns, s.b_times[2].begin_ns);
}
END_TEST

/* Transfers staged through host memory have measured timestamps. */
START_TEST(what_was_stamped_stays)
{
    const int64_t a_took[] = { 10, 0, 0 }, b_took[] = { 4, 0, 0, 3 };
    mo_run_device_record records[] = { { .isolated_ns = a_took },
                                       { .isolated_ns = b_took } };
    story s;

    lay_out(&s);
    MUST(mo_run_align_timeline(&s.plan, records, &s.result, &err));
    check_step(&s.a_times[2], 10, 14);
    check_step(&s.b_times[2], 4, 9);
    check_step(&s.b_times[3], 9, 12);
}
END_TEST

SUITE(utilization)
{
    TEST(ratios_follow_from_the_times);
    TEST(calls_side_by_side_count_once);
    TEST(nothing_is_walked_through_later_than_it_was);
    TEST(a_transfer_behind_a_call_is_hidden);
    TEST(the_first_step_need_not_begin_first);
    TEST(a_sender_does_not_wait_for_a_late_reader);
    TEST(a_sender_may_ask_late);
    TEST(without_steps_nothing_is_told);
    TEST(a_trace_has_calls_and_arrows);
    TEST(a_trace_ends_what_is_sent_when_it_is_there);
    TEST(ranks_wait_for_what_others_carry);
    TEST(ranks_that_send_go_on);
    TEST(the_last_to_come_of_several_counts);
    TEST(aligned_it_fits);
    TEST(what_was_stamped_stays);
}
