/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of report/execution.h. */
#include "report/execution.h"

#include <math.h>

#include "base/json.h"
#include "graph/graph.h"
#include "tests/support/suite.h"
#include "tests/support/text.h"

static mo_report_execution_device devices[] = {
    { .id = "A",
      .items = 3,
      .backend = "cpu",
      .threads = 2,
      .cpus = "0-1",
      .weight_bytes = 2048,
      .arena_bytes = 1024,
      .workspace_bytes = 512,
      .allocated_bytes = 4096,
      .capacity_bytes = 1 << 20,
      .busy_ns = 500000,
      .wait_ns = 2100000 },
    { .id = "B\n",
      .backend = "cuda",
      .allocated_bytes = MO_UNKNOWN,
      .capacity_bytes = INT64_MAX,
      .busy_ns = MO_UNKNOWN,
      .wait_ns = MO_UNKNOWN },
};
static mo_report_execution_class classes[] = { { "matmul", 3, 700000,
                                                 600000 } };
static mo_report_execution_output outputs[] = {
    { "probabilities", "f32[1,10]", "out/output0.npy", 2e-7 },
    { "other", "i64[]", NULL, INFINITY },
};

static const int64_t run_ns[] = { 1070000, 1049000, 1050000, 1060500 };

static mo_report_execution sample_report(void)
{
    return (mo_report_execution){
        .graph = "net \"1\".xml",
        .cluster = "two.xml",
        .ops = 5,
        .coarse_ops = 3,
        .edges = 4,
        .transport = "local",
        .precision = "tf32",
        .n_ranks = 1,
        .measured = true,
        .runs = 4,
        .warm_ups = 5,
        .predicted_ns = 1000000,
        .trusted = true,
        .measured_ns = 1050000,
        .spread_ns = 1500,
        .min_ns = 1049000,
        .p95_ns = 1060500,
        .p99_ns = 1070000,
        .run_ns = run_ns,
        .n_disturbed = 1,
        .devices = devices,
        .n_devices = COUNT(devices),
        .n_transfers = 2,
        .sent_bytes = 3072,
        .predicted_transfer_ns = 12300,
        .measured_transfer_ns = 45600,
        .exposed_transfer_ns = 20100,
        .classes = classes,
        .n_classes = COUNT(classes),
        .path_ratio = 0.98,
        .kernel_ratio = 0.5,
        .hidden_ratio = NAN,
        .outputs = outputs,
        .n_outputs = 1,
        .compared = { { "a run on one device", 1e-7 }, { "a folder", 2e-7 } },
        .n_compared = 2,
        .tolerance = 1e-4,
    };
}

static char *written(void (*write)(const mo_report_execution *, mo_out *),
                     const mo_report_execution *e)
{
    mo_out *out = text_new();

    write(e, out);
    return text_end(out);
}

static const char *const lines[] = {
    "predicted   1 ms\n",
    "measured    1.05 ms, median of 4 runs after 5, spread 1.5 us; +5.0 % "
    "against the prediction\n",
    "  min 1.049 ms, p50 1.05 ms, p95 1.0605 ms, p99 1.07 ms\n",
    "transfers   2, 3.00 KiB\n",
    "A                3 ops   2 threads on processors 0-1  weights 2.00 KiB, "
    "values 1.00 KiB, allocated 4.00 KiB of 1.00 MiB, 47.6 % busy, 100.0 % "
    "waiting "
    "for a processor\n",
    "B\\n              0 ops  on cuda  weights ", /* a line stays a line */
    "precision   tf32\n",
    "matmul                 3           700.0           600.0\n"
    "transfers              2            12.3            45.6\n"
    "measured transfers end when the receiver continues; devices waited "
    "20.1 us of that\n",
    "output 0    probabilities f32[1,10] -> out/output0.npy  error 2e-07\n",
    "equal to a run on one device: largest error 1e-07, tolerance 0.0001\n"
    "equal to a folder: largest error 2e-07, tolerance 0.0001\n",
};

START_TEST(the_text_has_all_lines)
{
    mo_report_execution e = sample_report();
    char *text = written(mo_report_execution_text, &e);

    ck_assert_msg(strstr(text, lines[_i]) != NULL, "%s", text);
    free(text);
}
END_TEST

/* One disturbed run of four is no disturbance of the median. */
START_TEST(a_busy_machine_is_reported)
{
    mo_report_execution e = sample_report();
    char *text = written(mo_report_execution_text, &e);

    ck_assert(mo_report_execution_quiet(&e));
    ck_assert_ptr_null(strstr(text, "not quiet"));
    free(text);
    e.n_disturbed = 2;
    text = written(mo_report_execution_text, &e);
    ck_assert_ptr_nonnull(
        strstr(text, "not quiet   device A waited 1.05 ms for a processor in a "
                     "run of 1.05 ms (2 of 4 runs disturbed)\n"));
    free(text);
    e.n_disturbed = 0;
    e.load = "other processes used 1.4 of 2 processors";
    text = written(mo_report_execution_text, &e);
    ck_assert_ptr_nonnull(
        strstr(text, "not quiet   other processes used 1.4 of 2 processors\n"));
    free(text);
    text = written(mo_report_execution_json, &e);
    ck_assert_ptr_nonnull(strstr(text, "\"quiet\": false"));
    ck_assert_ptr_nonnull(
        strstr(text, "\"runs_us\": [1070, 1049, 1050, 1060.5]"));
    ck_assert_ptr_nonnull(strstr(text, "\"cpus\": \"0-1\""));
    ck_assert_ptr_nonnull(strstr(text, "\"wait_us\": 1050}"));
    free(text);
}
END_TEST

START_TEST(differences_are_in_capitals)
{
    mo_report_execution e = sample_report();
    char *text;

    e.n_outputs = 2;
    e.compared[1].max_error = INFINITY;
    text = written(mo_report_execution_text, &e);
    ck_assert_ptr_nonnull(strstr(text, "equal to a run on one device: "));
    ck_assert_ptr_nonnull(strstr(text, "DIFFERS from a folder: largest error "
                                       "inf"));
    free(text);
    text = written(mo_report_execution_json, &e);
    ck_assert_ptr_nonnull(strstr(text, "\"with\": \"a run on one device\", "
                                       "\"max_error\": 1e-7, \"equal\": "
                                       "true}"));
    ck_assert_ptr_nonnull(strstr(text, "\"with\": \"a folder\", \"max_error\""
                                       ": 1e+308, \"equal\": false}"));
    free(text);
}
END_TEST

static const char *const keys[] = {
    "graph",
    "cluster",
    "ops",
    "coarse_ops",
    "edges",
    "devices",
    "makespan_us",
    "measured_us",
    "measured_spread_us",
    "predicted_us",
    "max_error",
    "transport",
    "ranks",
    "precision",
    "runs",
    "warm_ups",
    "min_us",
    "p50_us",
    "p95_us",
    "p99_us",
    "runs_us",
    "quiet",
    "disturbed_runs",
    "path_ratio",
    "kernel_ratio",
    "transfers",
    "sent_bytes",
    "predicted_transfer_us",
    "measured_transfer_us",
    "exposed_transfer_us",
    "by_device",
    "by_class",
    "compared",
    "outputs",
};

START_TEST(json_keys_have_this_order)
{
    mo_report_execution e = sample_report();
    char *text = written(mo_report_execution_json, &e);
    mo_json_cursor c;
    mo_json_member member;

    ck_assert(mo_json_is_object(text, strlen(text)));
    ck_assert(mo_json_open(&c, '{', text, strlen(text)));
    for (int i = 0; i < COUNT(keys); i++) {
        ck_assert_int_eq(mo_json_take_member(&c, &member), 1);
        ck_assert_uint_eq(member.key_length, strlen(keys[i]));
        ck_assert_int_eq(strncmp(member.key, keys[i], member.key_length), 0);
    }
    ck_assert_int_eq(mo_json_take_member(&c, &member), 0);
    free(text);
}
END_TEST

START_TEST(numbers_that_json_has_not_are_large)
{
    mo_report_execution e = sample_report();
    char *text;

    e.n_outputs = 2;
    e.compared[1].max_error = INFINITY;
    text = written(mo_report_execution_json, &e);
    ck_assert(mo_json_is_object(text, strlen(text)));
    free(text);
}
END_TEST

START_TEST(a_plan_alone_has_no_measured_times)
{
    mo_report_execution e = sample_report();
    char *text;
    size_t length;

    e.measured = false;
    e.n_compared = 0;
    e.path_ratio = e.kernel_ratio = NAN;
    text = written(mo_report_execution_json, &e);
    ck_assert_ptr_null(mo_json_find(text, "measured_us", &length));
    ck_assert_ptr_null(mo_json_find(text, "max_error", &length));
    free(text);
    text = written(mo_report_execution_text, &e);
    ck_assert_ptr_null(strstr(text, "measured"));
    free(text);
}
END_TEST

START_TEST(parts_of_a_gpu_are_reported)
{
    mo_report_execution e = sample_report();
    char *text;
    size_t length;

    e.emulated = true;
    devices[0].sms = 64;
    devices[1].sms = 8;
    text = written(mo_report_execution_text, &e);
    ck_assert_ptr_nonnull(strstr(text, "emulated    devices are parts of one "
                                       "GPU; its memory bandwidth, "));
    ck_assert_ptr_nonnull(strstr(text, " on cuda,   8 SMs  weights "));
    free(text);
    text = written(mo_report_execution_json, &e);
    ck_assert(mo_json_is_object(text, strlen(text)));
    ck_assert_ptr_nonnull(mo_json_find(text, "emulated", &length));
    ck_assert_ptr_nonnull(strstr(text, "{\"parts\": [64, 8], "));
    ck_assert_ptr_nonnull(strstr(text, "\"threads\": 0, \"sms\": 8, "));
    free(text);
    devices[0].sms = devices[1].sms = 0;
}
END_TEST

SUITE(execution)
{
    EACH(the_text_has_all_lines, COUNT(lines));
    TEST(a_busy_machine_is_reported);
    TEST(differences_are_in_capitals);
    TEST(json_keys_have_this_order);
    TEST(numbers_that_json_has_not_are_large);
    TEST(a_plan_alone_has_no_measured_times);
    TEST(parts_of_a_gpu_are_reported);
}
