/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/predict.h, by hand-computed cases. */
#include "cost/predict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ingest/read.h"
#include "tests/support/graphs.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#define CLOSE 1e-9 /* relative */

/* The work of an op in f32. */
#define WORK(c, f, b, o)                                                       \
    {                                                                          \
        .class = c, .flops = f, .bytes = b, .output_elements = o               \
    }

static void is_close(double got, double wanted)
{
    if (isnan(wanted))
        ck_assert_msg(isnan(got), "%.17g is not unknown", got);
    else
        ck_assert_msg(fabs(got - wanted) <= CLOSE * fabs(wanted),
                      "%.17g is not %.17g", got, wanted);
}

/* Half of the peak, four fifths of the bandwidth, two launches. */
static const mo_efficiencies simple = {
    .n = 2,
    .rows = { { MO_CLASS_MATMUL, MO_GEN_UNKNOWN, 0.5, 0.8, 2, MO_MATH_F32 },
              { MO_CLASS_ELEMENTWISE, MO_GEN_UNKNOWN, 0.5, 0.8, 2,
                MO_MATH_F32 } },
};

/* 10^10 flops and 5 * 10^8 bytes in a millisecond, 50 multiprocessors. */
static const mo_device plain = {
    .id = "plain",
    .gflops = { 10000 },
    .bandwidth_gbs = 500,
    .launch_us = 5,
    .clock_mhz = 1000,
    .sms = 50,
};

enum { BLOCK = 1024, UNKNOWN_REUSE = 43 };

static const struct {
    const char *what;
    mo_workload work;
    double us;
} rooflines[] = {
    /* 10^9 flops at 5 * 10^6 a microsecond. */
    { "one full wave", WORK(MO_CLASS_MATMUL, 1e9, 1e6, 50 * BLOCK), 10 + 200 },
    { "half a wave", WORK(MO_CLASS_MATMUL, 1e9, 1e6, 25 * BLOCK), 10 + 400 },
    { "a wave and a half", WORK(MO_CLASS_MATMUL, 1e9, 1e6, 75 * BLOCK),
      10 + 200 / 0.75 },
    { "one element more than a wave is two waves",
      WORK(MO_CLASS_MATMUL, 1e9, 1e6, 50 * BLOCK + 1),
      10 + 200 / (51.0 / 100) },
    { "spread over an unknown number", WORK(MO_CLASS_MATMUL, 1e9, 1e6, 0),
      10 + 200 },

    /* At 4 * 10^5 bytes a microsecond. */
    { "bound by memory", WORK(MO_CLASS_ELEMENTWISE, 1e6, 4e8, 5e7), 10 + 1000 },
    { "copies", WORK(MO_CLASS_ELEMENTWISE, 0, 4e8, 5e7), 10 + 1000 },
    { "a little of each", WORK(MO_CLASS_ELEMENTWISE, 5e9, 4e6, 0), 10 + 1000 },
    { "nothing", WORK(MO_CLASS_ELEMENTWISE, 0, 0, 0), 10 },

    { "no work at run time", WORK(MO_CLASS_NONE, 0, 0, 8), 0 },
    { "another view", WORK(MO_CLASS_FREE, MO_UNKNOWN, MO_UNKNOWN, 8), 0 },
    { "flops unknown", WORK(MO_CLASS_MATMUL, MO_UNKNOWN, 1e6, 8), NAN },
    { "bytes unknown", WORK(MO_CLASS_MATMUL, 1e6, MO_UNKNOWN, 8), NAN },
};

START_TEST(the_roofline_is_launch_and_the_slower_of_two)
{
    is_close(mo_predict_roofline_us(&simple, &rooflines[_i].work, &plain),
             rooflines[_i].us);
}
END_TEST

START_TEST(a_product_loads_its_operands_once_per_tile)
{
    mo_workload work = WORK(MO_CLASS_MATMUL, 1e9, 1e6, 0);
    mo_device fast = plain, pascal = plain;

    /* 10^9 flops take 20 us there, and 10^9 / 43 bytes 58. */
    fast.gflops[MO_MATH_F32] = 100000;
    is_close(mo_predict_roofline_us(&simple, &work, &fast),
             10 + 1e9 / UNKNOWN_REUSE / 4e5);
    ck_assert_double_eq(
        mo_efficiency_max_reuse(MO_CLASS_MATMUL, MO_GEN_UNKNOWN),
        UNKNOWN_REUSE);

    /* 10^9 / 16 bytes take 156 us, 10^9 flops 200. */
    pascal.generation = MO_GEN_PASCAL;
    is_close(mo_predict_roofline_us(&simple, &work, &pascal), 10 + 200);
    pascal.gflops[MO_MATH_F32] = 20000;
    is_close(mo_predict_roofline_us(&simple, &work, &pascal),
             10 + 1e9 / 16 / 4e5);
}
END_TEST

START_TEST(what_of_the_device_is_unknown_makes_the_time_unknown)
{
    mo_workload both = WORK(MO_CLASS_MATMUL, 1e9, 1e6, 0);
    mo_workload copy = WORK(MO_CLASS_ELEMENTWISE, 0, 4e8, 0);
    mo_device d = plain;

    d.gflops[MO_MATH_F32] = 0;
    is_close(mo_predict_roofline_us(&simple, &both, &d), NAN);
    is_close(mo_predict_roofline_us(&simple, &copy, &d), 10 + 1000);
    d = plain;
    d.bandwidth_gbs = 0;
    is_close(mo_predict_roofline_us(&simple, &both, &d), NAN);
    d = plain;
    d.sms = 0; /* as if every wave were full */
    both.output_elements = 1;
    is_close(mo_predict_roofline_us(&simple, &both, &d), 10 + 200);
    d.launch_us = 0;
    is_close(mo_predict_roofline_us(&simple, &both, &d), 200);
}
END_TEST

START_TEST(a_reduction_is_spread_over_what_it_reads)
{
    /* 8 * 50 blocks of 1024 elements, of which the bytes are half: one wave of
     * 50 multiprocessors with 8 blocks each. */
    mo_workload work = WORK(MO_CLASS_REDUCTION, 1e9, 8.0 * 400 * BLOCK, 1);
    double full = mo_predict_roofline_us(NULL, &work, &plain);

    work.bytes /= 2;
    is_close(mo_predict_roofline_us(NULL, &work, &plain) - 5, 2 * (full - 5));
}
END_TEST

/* Origin and device: a third of the bandwidth, half the multiprocessors, two
 * thirds of the clock; a ridge of 20 flops a byte. */
static const mo_device origin = {
    .id = "o",
    .gflops = { 15000 },
    .bandwidth_gbs = 900,
    .launch_us = 5,
    .clock_mhz = 1500,
    .sms = 80,
};
static const mo_device target = {
    .id = "d",
    .gflops = { 6000 },
    .bandwidth_gbs = 300,
    .launch_us = 7,
    .clock_mhz = 1000,
    .sms = 40,
};

static const struct {
    const char *what;
    mo_workload work;
    double factor;
} waves[] = {
    /* Many waves: bandwidth^g * clock^(1-g) * SMs^(1-g) = 3^g * 3^(1-g). */
    { "no flops: g = 1", WORK(MO_CLASS_MOVE, 0, 1e6, 0), 3 },
    { "no bytes: g = 0", WORK(MO_CLASS_ACTIVATION, 1e6, 0, 0), 3 },
    { "on the ridge: g = 1/2", WORK(MO_CLASS_ACTIVATION, 20e6, 1e6, 0), 3 },

    /* One wave on both: bandwidth * W_d / W_o = 3/2, or clock = 3/2. */
    { "one block, no flops", WORK(MO_CLASS_MOVE, 0, 8, 1), 1.5 },
    { "one block, no bytes", WORK(MO_CLASS_ACTIVATION, 8, 0, 1), 1.5 },

    /* W_o = 640, W_d = 320. */
    { "4 waves for 2", WORK(MO_CLASS_MOVE, 0, 8, 961 * BLOCK), 2 * 1.5 },
    { "5 waves for 3", WORK(MO_CLASS_MOVE, 0, 8, 1281 * BLOCK), 5.0 / 3 * 1.5 },
    { "2 waves for 1", WORK(MO_CLASS_MOVE, 0, 8, 640 * BLOCK), 2 * 1.5 },
};

START_TEST(waves_scale_as_in_habitat)
{
    is_close(mo_predict_wave_us(NULL, &waves[_i].work, &origin, 100, &target),
             100 * waves[_i].factor);
}
END_TEST

static const struct {
    double intensity, g;
} shares[] = {
    { 2, 0.95 }, { 10, 0.75 }, { 20, 0.5 }, { 40, 0.25 }, { 200, 0.05 },
};

START_TEST(g_follows_from_the_intensity_and_the_ridge_of_the_device)
{
    mo_workload work =
        WORK(MO_CLASS_ACTIVATION, shares[_i].intensity * 1e6, 1e6, 0);
    mo_device slow = target;

    /* The clock alone differs. */
    slow.sms = 80;
    slow.bandwidth_gbs = 900;
    slow.gflops[MO_MATH_F32] = 18000;
    is_close(mo_predict_wave_us(NULL, &work, &origin, 100, &slow),
             100 * pow(1.5, 1 - shares[_i].g));
}
END_TEST

START_TEST(products_scale_by_the_ratio_of_rooflines)
{
    mo_workload work = WORK(MO_CLASS_MATMUL, 1e9, 1e6, 0);
    double here = mo_predict_roofline_us(&simple, &work, &origin);
    double there = mo_predict_roofline_us(&simple, &work, &target);

    /* 10 + 10^9 / 7.5 * 10^6, 14 + 10^9 / 3 * 10^6. */
    is_close(here, 10 + 1000 / 7.5);
    is_close(there, 14 + 1000 / 3.0);
    is_close(mo_predict_wave_us(&simple, &work, &origin, 100, &target),
             100 * there / here);
}
END_TEST

START_TEST(where_there_are_no_waves_rooflines_are_compared)
{
    mo_workload work = WORK(MO_CLASS_MOVE, 0, 76e6, 0);
    mo_device cpu = { .id = "c",
                      .is_cpu = true,
                      .gflops = { 100 },
                      .bandwidth_gbs = 90,
                      .sms = 8,
                      .clock_mhz = 3000 };
    mo_device vague = target;
    double here = mo_predict_roofline_us(NULL, &work, &origin);

    is_close(mo_predict_wave_us(NULL, &work, &origin, 100, &cpu),
             100 * mo_predict_roofline_us(NULL, &work, &cpu) / here);
    vague.clock_mhz = 0;
    is_close(mo_predict_wave_us(NULL, &work, &origin, 100, &vague),
             100 * mo_predict_roofline_us(NULL, &work, &vague) / here);
    vague.bandwidth_gbs = 0;
    is_close(mo_predict_wave_us(NULL, &work, &origin, 100, &vague), NAN);

    /* Nothing to do, and no launches known of. */
    work = (mo_workload) WORK(MO_CLASS_MATMUL, 0, 0, 0);
    cpu.launch_us = 0;
    is_close(mo_predict_wave_us(NULL, &work, &cpu, 100, &cpu), 100);
    is_close(mo_predict_wave_us(NULL, &work, &cpu, 100, &target), NAN);
}
END_TEST

START_TEST(what_is_no_kernel_takes_as_long_elsewhere)
{
    mo_workload view = WORK(MO_CLASS_FREE, 0, 0, 8);
    mo_workload unknown = WORK(MO_CLASS_ACTIVATION, MO_UNKNOWN, 8, 8);
    mo_workload move = WORK(MO_CLASS_MOVE, 0, 8, 8);

    is_close(mo_predict_wave_us(NULL, &view, &origin, 12, &target), 12);
    is_close(mo_predict_wave_us(NULL, &unknown, &origin, 12, &target), NAN);
    is_close(mo_predict_wave_us(NULL, &move, &origin, NAN, &target), NAN);
    is_close(mo_predict_wave_us(NULL, &move, &origin, 12, &origin), 12);
}
END_TEST

static const struct {
    const char *type;
    mo_class class;
} classes[] = {
    { "conv2d", MO_CLASS_CONVOLUTION },
    { "MatMul+Add+Gelu", MO_CLASS_MATMUL },
    { "Add+SoftMax", MO_CLASS_SOFTMAX },
    { "Add+ReLU", MO_CLASS_ELEMENTWISE },
    { "MyOp+ReLU", MO_CLASS_ACTIVATION },
    { "Reshape", MO_CLASS_FREE },
    { "MyOp", MO_CLASS_ELEMENTWISE },
    { "+", MO_CLASS_ELEMENTWISE },
};

START_TEST(a_fused_op_is_of_the_class_of_its_heaviest_part)
{
    char text[64];
    mo_graph *g;

    snprintf(text, sizeof text, "x:%s", classes[_i].type);
    g = graph_of(text);
    ck_assert_int_eq(mo_workload_of(g, 0).class, classes[_i].class);
    ck_assert_double_eq(mo_workload_of(g, 0).output_elements, 0);
    ck_assert_double_eq(mo_workload_of(g, 0).flops, MO_UNKNOWN);
    mo_graph_free(g);
}
END_TEST

/* Two ops with measured times on V100, the second in no column. */
static const char measured[] =
    "<graphml><key id='o' for='node' attr.name='op' attr.type='string'/>"
    "<key id='s' for='node' attr.name='shape' attr.type='string'/>"
    "<key id='d' for='node' attr.name='dtype' attr.type='string'/>"
    "<key id='t' for='node' attr.name='time_us.v100' attr.type='double'/>"
    "<graph edgedefault='directed'>"
    "<node id='a'><data key='o'>Parameter</data><data key='s'>2,1024</data>"
    "<data key='d'>f32</data><data key='t'>0</data></node>"
    "<node id='b'><data key='o'>ReLU</data><data key='s'>2,1024</data>"
    "<data key='d'>f32</data><data key='t'>30</data></node>"
    "<node id='c'><data key='o'>Exp</data><data key='s'>2,1024</data>"
    "<data key='d'>f32</data></node>"
    "<edge source='a' target='b'/><edge source='b' target='c'/>"
    "</graph></graphml>";

static mo_graph *measured_graph(void)
{
    mo_graph *g;

    MUST(mo_read_memory("g", measured, strlen(measured), NULL, &g, NULL, &err));
    return g;
}

static mo_predictor predictor(const char *text, const mo_profile *profile)
{
    mo_predictor made;

    MUST(mo_predictor_parse(text, NULL, profile, &made, &err));
    return made;
}

START_TEST(workloads_come_from_the_graph)
{
    mo_graph *g = measured_graph();
    mo_workload work = mo_workload_of(g, id_of(g, "b"));

    ck_assert_int_eq(work.class, MO_CLASS_ACTIVATION);
    ck_assert_double_eq(work.flops, 2048);
    ck_assert_double_eq(work.bytes, 16384);
    ck_assert_double_eq(work.output_elements, 2048);
    mo_graph_free(g);
}
END_TEST

START_TEST(wave_prediction_starts_from_the_column_of_its_device)
{
    mo_graph *g = measured_graph();
    mo_predictor wave = predictor("wave:Tesla V100-SXM2-32GB", NULL);
    mo_device t4 = mo_device_from_model(mo_device_find("t4"));
    mo_workload work = mo_workload_of(g, id_of(g, "b"));

    is_close(mo_predictor_us(&wave, g, id_of(g, "b"), &t4),
             mo_predict_wave_us(NULL, &work, &wave.origin, 30, &t4));
    is_close(mo_predictor_us(&wave, g, id_of(g, "a"), &t4), 0);
    is_close(mo_predictor_us(&wave, g, id_of(g, "c"), &t4), NAN);
    mo_graph_free(g);
}
END_TEST

START_TEST(wave_prediction_starts_from_the_profile_else)
{
    static const char text[] =
        "<profile><op device='v100' median_us='40' "
        "signature='Exp(f32[2,1024]) f32[2,1024]'/></profile>";
    mo_graph *g = measured_graph();
    mo_device t4 = mo_device_from_model(mo_device_find("t4"));
    mo_workload work = mo_workload_of(g, id_of(g, "c"));
    mo_profile *profile;
    mo_predictor wave;

    MUST(mo_profile_read_memory("p", text, strlen(text), &profile, &err));
    wave = predictor("wave:v100", profile);
    is_close(mo_predictor_us(&wave, g, id_of(g, "c"), &t4),
             mo_predict_wave_us(NULL, &work, &wave.origin, 40, &t4));
    mo_profile_free(profile);
    mo_graph_free(g);
}
END_TEST

START_TEST(a_device_of_the_cluster_comes_before_a_model)
{
    mo_device own = { .id = "v100", .gflops = { 1 } };
    mo_cluster cluster = { .devices = &own, .n_devices = 1 };
    mo_predictor wave;

    MUST(mo_predictor_parse("wave:v100", &cluster, NULL, &wave, &err));
    ck_assert_double_eq(wave.origin.gflops[MO_MATH_F32], 1);
    MUST(mo_predictor_parse("wave:t4", &cluster, NULL, &wave, &err));
    ck_assert_double_eq(wave.origin.gflops[MO_MATH_F32], 8100);
}
END_TEST

START_TEST(the_roofline_reads_fitted_factors)
{
    mo_graph *g = measured_graph();
    mo_device v100 = mo_device_from_model(mo_device_find("v100"));
    mo_predictor builtin = predictor("roofline", NULL), fitted, zero = { 0 };

    scratch_write("f.xml", "<efficiency><factors class='activation' "
                           "memory='0.1' launch='4'/></efficiency>");
    fitted = predictor("roofline:f.xml", NULL);
    is_close(mo_predictor_us(&builtin, g, id_of(g, "b"), &v100),
             5 + 2048 / (0.6 * (2.0 / 640) * 15700e3));
    is_close(mo_predictor_us(&fitted, g, id_of(g, "b"), &v100),
             20 + 16384 / (0.1 * 900e3));
    is_close(mo_predictor_us(&zero, g, id_of(g, "b"), &v100),
             mo_predictor_us(&builtin, g, id_of(g, "b"), &v100));
    mo_graph_free(g);
}
END_TEST

static const char *const bad_costs[] = {
    "", "roof", "roofline:", "wave", "wave:", "wave:nosuch", "wave:A"
};

START_TEST(other_costs_are_usage_errors)
{
    mo_predictor made;
    mo_error err = { 0 };

    ck_assert_int_eq(mo_predictor_parse(bad_costs[_i], NULL, NULL, &made, &err),
                     MO_E_USAGE);
    ck_assert_str_ne(err.text, "");
}
END_TEST

SUITE(predict)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(the_roofline_is_launch_and_the_slower_of_two, COUNT(rooflines));
    TEST(a_product_loads_its_operands_once_per_tile);
    TEST(what_of_the_device_is_unknown_makes_the_time_unknown);
    TEST(a_reduction_is_spread_over_what_it_reads);
    EACH(waves_scale_as_in_habitat, COUNT(waves));
    EACH(g_follows_from_the_intensity_and_the_ridge_of_the_device,
         COUNT(shares));
    TEST(products_scale_by_the_ratio_of_rooflines);
    TEST(where_there_are_no_waves_rooflines_are_compared);
    TEST(what_is_no_kernel_takes_as_long_elsewhere);
    EACH(a_fused_op_is_of_the_class_of_its_heaviest_part, COUNT(classes));
    TEST(workloads_come_from_the_graph);
    TEST(wave_prediction_starts_from_the_column_of_its_device);
    TEST(wave_prediction_starts_from_the_profile_else);
    TEST(a_device_of_the_cluster_comes_before_a_model);
    TEST(the_roofline_reads_fitted_factors);
    EACH(other_costs_are_usage_errors, COUNT(bad_costs));
}
