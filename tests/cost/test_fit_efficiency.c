/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/calibrate/sample.h, cost/calibrate/holdout.h,
 * cost/calibrate/fit_efficiency.h and cost/calibrate/accuracy.h. */
#include "cost/calibrate/fit_efficiency.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost/calibrate/accuracy.h"
#include "ingest/read.h"
#include "tests/support/suite.h"

static void add_graph(mo_samples *samples, const char *text)
{
    mo_graph *g;

    MUST(mo_read_memory("g", text, strlen(text), NULL, &g, NULL, &err));
    MUST(mo_samples_add_graph(samples, g, &err));
    mo_graph_free(g);
}

static void add_profile(mo_samples *samples, const char *rows)
{
    size_t size = strlen(rows) + 64;
    char *text = malloc(size);
    mo_profile *p;

    ck_assert_ptr_nonnull(text);
    snprintf(text, size, "<profile>%s</profile>", rows);
    MUST(mo_profile_read_memory("p", text, strlen(text), &p, &err));
    MUST(mo_samples_add_profile(samples, p, &err));
    mo_profile_free(p);
    free(text);
}

#define KEY(id, name)                                                          \
    "<key id='" id "' for='node' attr.name='" name "' attr.type='string'/>"

START_TEST(samples_are_times_on_known_models_of_known_work)
{
    mo_samples s = { 0 };

    add_graph(
        &s,
        "<graphml>" KEY("o", "op") KEY("s", "shape") KEY("d", "dtype")
            KEY("v", "time_us.Tesla V100-SXM2-32GB") KEY("t", "time_us.t4") KEY(
                "x",
                "time_us.X") "<graph edgedefault='directed'>"
                             "<node id='a'><data key='o'>Parameter</data>"
                             "<data key='s'>2,8</data><data key='d'>f32</data>"
                             "<data key='v'>1</data></node>"
                             "<node id='b'><data key='o'>ReLU</data>"
                             "<data key='s'>2,8</data><data key='d'>f32</data>"
                             "<data key='v'>3</data><data key='t'>4</data>"
                             "<data key='x'>5</data></node>"
                             "<node id='c'><data key='o'>MyOp</data>"
                             "<data key='v'>6</data></node>"
                             "<node id='e'><data key='o'>Exp</data>"
                             "<data key='s'>2,8</data><data key='d'>f32</data>"
                             "<data key='v'>0</data></node>"
                             "<edge source='a' target='b'/><edge source='b' "
                             "target='e'/>"
                             "</graph></graphml>");
    ck_assert_uint_eq(s.n, 2);
    ck_assert_uint_eq(s.n_devices, 2);
    /* The parameter, the unknown device, the unknown op, the time of 0. */
    ck_assert_uint_eq(s.skipped, 4);
    ck_assert_double_eq(s.items[0].us + s.items[1].us, 3 + 4);
    ck_assert(s.items[0].key == s.items[1].key);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(s.items[i].work.class, MO_CLASS_ACTIVATION);
        ck_assert_double_eq(s.items[i].work.flops, 16);
        ck_assert_double_eq(s.items[i].work.bytes, 128);
        ck_assert_double_eq(s.items[i].work.output_elements, 16);
    }

    add_profile(&s, "<op device='P4' signature='x' median_us='7' class='pool' "
                    "flops='1' bytes='2' outputs='3'/>"
                    "<op device='p4' signature='y' median_us='7' flops='1' "
                    "bytes='2'/>"
                    "<op device='A' signature='x' median_us='7' class='pool' "
                    "flops='1' bytes='2'/>"
                    "<op device='t4' signature='x' median_us='1e300' "
                    "class='pool' flops='1' bytes='2'/>");
    ck_assert_uint_eq(s.n, 3);
    ck_assert_uint_eq(s.skipped, 7);
    ck_assert_int_eq(s.items[2].device,
                     mo_samples_device(&s, mo_device_find("p4")));
    ck_assert_int_eq(s.items[2].work.class, MO_CLASS_POOL);
    ck_assert_double_eq(s.items[2].work.output_elements, 3);
    mo_samples_clear(&s);
    ck_assert_uint_eq(s.n, 0);
}
END_TEST

static const char *const names[] = { "v100", "p100", "t4", "p4" };

/* Rows of one class on four devices, as a roofline with these factors has
 * them: half of them bound by arithmetic, half by memory, none by the launch.
 */
static void add_ideal(mo_samples *s, const mo_efficiencies *truth,
                      mo_class class)
{
    for (int d = 0; d < COUNT(names); d++) {
        mo_device device = mo_device_from_model(mo_device_find(names[d]));

        for (int i = 0; i < 40; i++) {
            bool computes = i % 2 == 0;
            mo_workload work = {
                .class = class,
                .flops = (computes ? 1e10 : 1e3) * (1 + i),
                .bytes = (computes ? 1e5 : 5e8) * (1 + i),
                .output_elements = 1e8,
            };
            char row[256];

            snprintf(row, sizeof row,
                     "<op device='%s' signature='%d-%d' class='%s' "
                     "flops='%.17g' bytes='%.17g' outputs='%.17g' "
                     "median_us='%.17g'/>",
                     names[d], (int) class, i, mo_class_name(class), work.flops,
                     work.bytes, work.output_elements,
                     mo_predict_roofline_us(truth, &work, &device));
            add_profile(s, row);
        }
    }
}

static double off(double got, double wanted)
{
    return fabs(got / wanted - 1);
}

START_TEST(a_fit_finds_the_factors_that_made_the_times)
{
    static const mo_efficiencies truth = {
        .n = 2,
        .rows = { { MO_CLASS_CONVOLUTION, MO_GEN_UNKNOWN, 0.45, 0.6, 1.5,
                    MO_MATH_F32 },
                  { MO_CLASS_SOFTMAX, MO_GEN_UNKNOWN, 0.8, 0.9, 1,
                    MO_MATH_F32 } },
    };
    mo_samples s = { 0 };
    mo_efficiencies table;

    add_ideal(&s, &truth, MO_CLASS_CONVOLUTION);
    add_ideal(&s, &truth, MO_CLASS_SOFTMAX);
    MUST(mo_fit_efficiency(&s, NULL, &table, &err));
    ck_assert_int_eq(table.n, 2 * 4); /* any, pascal, volta, turing */
    for (int i = 0; i < table.n; i++) {
        const mo_efficiency *row = &table.rows[i];
        const mo_efficiency *made =
            mo_efficiency_of(&truth, row->class, MO_GEN_UNKNOWN);

        ck_assert_double_lt(off(row->compute, made->compute), 0.05);
        ck_assert_double_lt(off(row->memory, made->memory), 0.05);
        ck_assert(mo_class_name(row->class));
    }
    mo_samples_clear(&s);
}
END_TEST

START_TEST(generations_differ_where_their_times_do)
{
    static const mo_efficiencies truth = {
        .n = 2,
        .rows = { { MO_CLASS_MOVE, MO_GEN_UNKNOWN, 0.6, 0.5, 1, MO_MATH_F32 },
                  { MO_CLASS_MOVE, MO_GEN_VOLTA, 0.6, 0.9, 1, MO_MATH_F32 } },
    };
    mo_samples s = { 0 };
    mo_efficiencies table;
    double volta, turing;

    add_ideal(&s, &truth, MO_CLASS_MOVE);
    MUST(mo_fit_efficiency(&s, NULL, &table, &err));
    volta = mo_efficiency_of(&table, MO_CLASS_MOVE, MO_GEN_VOLTA)->memory;
    turing = mo_efficiency_of(&table, MO_CLASS_MOVE, MO_GEN_TURING)->memory;
    ck_assert_double_gt(volta, 0.75);
    ck_assert_double_lt(turing, 0.6);
    mo_samples_clear(&s);
}
END_TEST

START_TEST(a_fit_is_the_same_every_time_and_in_any_order)
{
    static const mo_efficiencies truth = {
        .n = 1,
        .rows = { { MO_CLASS_POOL, MO_GEN_UNKNOWN, 0.3, 0.4, 2, MO_MATH_F32 } },
    };
    mo_samples s = { 0 };
    mo_efficiencies once, again;

    add_ideal(&s, &truth, MO_CLASS_POOL);
    MUST(mo_fit_efficiency(&s, NULL, &once, &err));
    for (size_t i = 0; i < s.n / 2; i++) {
        mo_sample swapped = s.items[i];

        s.items[i] = s.items[s.n - 1 - i];
        s.items[s.n - 1 - i] = swapped;
    }
    MUST(mo_fit_efficiency(&s, NULL, &again, &err));
    ck_assert_int_eq(once.n, again.n);
    for (int i = 0; i < once.n; i++) {
        ck_assert_int_eq(once.rows[i].generation, again.rows[i].generation);
        ck_assert_double_eq_tol(once.rows[i].compute, again.rows[i].compute,
                                1e-3);
        ck_assert_double_eq_tol(once.rows[i].memory, again.rows[i].memory,
                                1e-3);
    }
    mo_samples_clear(&s);
}
END_TEST

START_TEST(only_the_training_part_counts)
{
    static const mo_efficiencies truth = {
        .n = 2,
        .rows = { { MO_CLASS_MOVE, MO_GEN_UNKNOWN, 0.6, 0.5, 1, MO_MATH_F32 },
                  { MO_CLASS_MOVE, MO_GEN_VOLTA, 0.6, 0.9, 1, MO_MATH_F32 } },
    };
    mo_samples s = { 0 };
    mo_efficiencies table;
    mo_holdout_set *part;

    add_ideal(&s, &truth, MO_CLASS_MOVE);
    part = calloc(s.n, sizeof *part);
    MUST(mo_holdout_split(&s, "t4,p4,p100", NULL, part, &err));
    MUST(mo_fit_efficiency(&s, part, &table, &err));
    for (int i = 0; i < table.n; i++) {
        ck_assert_int_ne(table.rows[i].generation, MO_GEN_VOLTA);
        ck_assert_double_lt(table.rows[i].memory, 0.55);
    }
    free(part);
    mo_samples_clear(&s);
}
END_TEST

static mo_samples four_devices(int n_ops)
{
    mo_samples s = { 0 };

    for (int d = 0; d < COUNT(names); d++)
        for (int i = 0; i < n_ops; i++) {
            char row[128];

            snprintf(row, sizeof row,
                     "<op device='%s' signature='op %d' class='move' "
                     "flops='0' bytes='%d' median_us='10'/>",
                     names[d], i, 1000 * (i + 1));
            add_profile(&s, row);
        }
    return s;
}

static const struct {
    const char *train, *test;
    mo_holdout_set parts[4]; /* by device */
} splits[] = {
    { "v100,t4",
      NULL,
      { MO_HOLDOUT_TRAIN, MO_HOLDOUT_TEST, MO_HOLDOUT_TRAIN,
        MO_HOLDOUT_TEST } },
    { NULL,
      "Tesla P4",
      { MO_HOLDOUT_TRAIN, MO_HOLDOUT_TRAIN, MO_HOLDOUT_TRAIN,
        MO_HOLDOUT_TEST } },
    { "V100",
      "p4",
      { MO_HOLDOUT_TRAIN, MO_HOLDOUT_NEITHER, MO_HOLDOUT_NEITHER,
        MO_HOLDOUT_TEST } },
};

START_TEST(devices_are_held_out_by_name)
{
    mo_samples s = four_devices(3);
    mo_holdout_set part[12];

    MUST(mo_holdout_split(&s, splits[_i].train, splits[_i].test, part, &err));
    for (size_t i = 0; i < s.n; i++)
        ck_assert_int_eq(part[i], splits[_i].parts[s.items[i].device]);
    mo_samples_clear(&s);
}
END_TEST

START_TEST(else_one_op_in_five_is_held_out_on_all_devices)
{
    enum { N = 300 };
    mo_samples s = four_devices(N);
    mo_holdout_set *part = calloc(s.n, sizeof *part);
    size_t held = 0;

    MUST(mo_holdout_split(&s, NULL, NULL, part, &err));
    for (size_t i = 0; i < s.n; i++) {
        ck_assert_int_eq(part[i], part[i % N]);
        held += part[i] == MO_HOLDOUT_TEST;
    }
    ck_assert_uint_gt(held, s.n / 8);
    ck_assert_uint_lt(held, s.n / 3);
    free(part);
    mo_samples_clear(&s);
}
END_TEST

static const struct {
    const char *train, *test;
    mo_status status;
    const char *error;
} bad_splits[] = {
    { "v100,", NULL, MO_E_USAGE, "'' is no device model we know" },
    { "x", NULL, MO_E_USAGE, "'x' is no device model we know" },
    { NULL, "a100", MO_E_INPUT, "no times measured on 'a100'" },
    { "t4", "v100,T4", MO_E_USAGE, "'t4' is in --train and in --test" },
    { "v100,p100,t4,p4", NULL, MO_E_INPUT,
      "of 4 rows none is left to test on" },
    { NULL, "v100,p100,t4,p4", MO_E_INPUT, "of 4 rows none is left to fit to" },
};

START_TEST(wrong_choices_are_reported)
{
    mo_samples s = four_devices(1);
    mo_holdout_set part[4];
    mo_error err = { 0 };

    ck_assert_int_eq(mo_holdout_split(&s, bad_splits[_i].train,
                                      bad_splits[_i].test, part, &err),
                     bad_splits[_i].status);
    ck_assert_ptr_eq(strstr(err.text, bad_splits[_i].error), err.text);
    mo_samples_clear(&s);
}
END_TEST

START_TEST(errors_are_relative_and_summed_by_class_and_device)
{
    static const mo_prediction given[] = {
        { MO_CLASS_MATMUL, MO_MATH_F32, 0, 100, 110 },
        { MO_CLASS_MATMUL, MO_MATH_F32, 0, 100, 70 },
        { MO_CLASS_MATMUL, MO_MATH_F32, 1, 200, 300 },
        { MO_CLASS_POOL, MO_MATH_F32, 1, 10, 10 },
    };
    mo_predictions predictions = { 0 };
    mo_accuracy a;

    for (int i = 0; i < COUNT(given); i++)
        MUST(mo_predictions_add(&predictions, &given[i], &err));
    MUST(mo_accuracy_of(&predictions, MO_CLASS_MATMUL, MO_UNKNOWN, MO_UNKNOWN,
                        &a, &err));
    ck_assert_uint_eq(a.n, 3);
    ck_assert_double_eq_tol(a.mean, 0.3, 1e-12); /* 0.1, 0.3, 0.5 */
    ck_assert_double_eq_tol(a.median, 0.3, 1e-12);
    ck_assert_double_eq(a.measured_us, 400);
    ck_assert_double_eq(a.predicted_us, 480);

    MUST(mo_accuracy_of(&predictions, MO_UNKNOWN, MO_UNKNOWN, 1, &a, &err));
    ck_assert_uint_eq(a.n, 2);
    ck_assert_double_eq_tol(a.median, 0.25, 1e-12);

    MUST(mo_accuracy_of(&predictions, MO_CLASS_FREE, MO_UNKNOWN, MO_UNKNOWN, &a,
                        &err));
    ck_assert_uint_eq(a.n, 0);
    ck_assert_double_eq(a.mean, 0);
    mo_predictions_clear(&predictions);
}
END_TEST

START_TEST(a_perfect_fit_has_no_error_on_what_it_did_not_see)
{
    static const mo_efficiencies truth = {
        .n = 1,
        .rows = { { MO_CLASS_GATHER, MO_GEN_UNKNOWN, 0.6, 0.35, 1,
                    MO_MATH_F32 } },
    };
    mo_samples s = { 0 };
    mo_predictions predictions = { 0 };
    mo_efficiencies table;
    mo_accuracy a;
    mo_holdout_set *part;

    add_ideal(&s, &truth, MO_CLASS_GATHER);
    part = calloc(s.n, sizeof *part);
    MUST(mo_holdout_split(&s, "v100,t4", "p4", part, &err));
    MUST(mo_fit_efficiency(&s, part, &table, &err));
    MUST(mo_predictions_add_roofline(&predictions, &s, part, &table, &err));
    ck_assert_uint_eq(predictions.n, s.n / 4);
    MUST(mo_accuracy_of(&predictions, MO_UNKNOWN, MO_UNKNOWN, MO_UNKNOWN, &a,
                        &err));
    ck_assert_double_lt(a.mean, 0.05);
    mo_predictions_clear(&predictions);
    free(part);
    mo_samples_clear(&s);
}
END_TEST

/* Products of f16 on two generations, with times by the model of kernels and
 * these factors; of f32 with times by the roofline and others. Rows of a
 * profile have the sizes in their signatures. */
START_TEST(factors_are_fitted_by_type)
{
    static const mo_efficiencies truth = {
        .n = 2,
        .rows = { { MO_CLASS_MATMUL, MO_GEN_UNKNOWN, 0.7, 0.6, 2, MO_MATH_F16 },
                  { MO_CLASS_MATMUL, MO_GEN_UNKNOWN, 0.4, 0.5, 1,
                    MO_MATH_F32 } },
    };
    static const char *const types[] = { "f32", "f16" };
    static const char *const models[] = { "a100", "l40s" };
    static const int sizes[] = { 1, 16, 256, 1024, 4096, 8192 };
    mo_samples s = { 0 };
    mo_efficiencies table;
    mo_profile *profile;
    const mo_efficiency *row;
    char *text = malloc(1 << 16);
    size_t length = (size_t) sprintf(text, "<profile>");

    for (int i = 0; i < 2 * 2 * COUNT(sizes) * 2; i++) {
        int m = sizes[i / 4 % COUNT(sizes)],
            n = i / 4 / COUNT(sizes) ? 512 : 4096;
        bool is_half = i % 2;
        mo_device device =
            mo_device_from_model(mo_device_find(models[i / 2 % 2]));
        double bytes = is_half ? 2 : 4;
        mo_workload work = { .class = MO_CLASS_MATMUL,
                             .flops = 2.0 * m * n * 4096,
                             .bytes = bytes * (4096.0 * (m + n) + m * n),
                             .output_elements = m * n,
                             .math = is_half ? MO_MATH_F16 : MO_MATH_F32 };

        if (is_half)
            work.product = (mo_product){ 1, m, n, 4096, 2, 2, 2, 0 };
        length += (size_t) sprintf(
            text + length,
            "<op device='%s' class='matmul' flops='%.17g' bytes='%.17g' "
            "outputs='%d' median_us='%.17g' signature='MatMul(%s[%d,4096], "
            "%s[4096,%d]) %s[%d,%d]'/>",
            models[i / 2 % 2], work.flops, work.bytes, m * n,
            mo_predict_roofline_us(&truth, &work, &device), types[is_half], m,
            types[is_half], n, types[is_half], m, n);
    }
    strcpy(text + length, "</profile>");
    MUST(mo_profile_read_memory("p", text, strlen(text), &profile, &err));
    MUST(mo_samples_add_profile(&s, profile, &err));
    MUST(mo_fit_efficiency(&s, NULL, &table, &err));
    row = mo_efficiency_of_type(&table, MO_CLASS_MATMUL, MO_MATH_F16,
                                MO_GEN_UNKNOWN);
    ck_assert_ptr_nonnull(row);
    ck_assert_double_eq_tol(row->compute, 0.7, 0.04);
    ck_assert_double_eq_tol(row->memory, 0.6, 0.04);
    ck_assert_double_eq_tol(row->launch, 2, 0.5);
    row = mo_efficiency_of(&table, MO_CLASS_MATMUL, MO_GEN_UNKNOWN);
    ck_assert_double_eq_tol(row->compute, 0.4, 0.04);
    ck_assert_ptr_null(mo_efficiency_of_type(&table, MO_CLASS_MATMUL,
                                             MO_MATH_FP8, MO_GEN_UNKNOWN));
    mo_profile_free(profile);
    mo_samples_clear(&s);
    free(text);
}
END_TEST

SUITE(fit_efficiency)
{
    TEST(samples_are_times_on_known_models_of_known_work);
    TEST(a_fit_finds_the_factors_that_made_the_times);
    TEST(generations_differ_where_their_times_do);
    TEST(a_fit_is_the_same_every_time_and_in_any_order);
    TEST(only_the_training_part_counts);
    EACH(devices_are_held_out_by_name, COUNT(splits));
    TEST(else_one_op_in_five_is_held_out_on_all_devices);
    EACH(wrong_choices_are_reported, COUNT(bad_splits));
    TEST(errors_are_relative_and_summed_by_class_and_device);
    TEST(a_perfect_fit_has_no_error_on_what_it_did_not_see);
    TEST(factors_are_fitted_by_type);
}
