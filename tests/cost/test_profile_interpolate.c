/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of mo_profile_interpolate_us: what is between two rows, and what is
 * not. */
#include "cost/profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

#define MATMUL(s) "MatMul(f16[1," #s ",64], f16[64,32]) f16[1," #s ",32]"

static const char rows[] =
    "<profile>"
    "<op device='A' signature='" MATMUL(
        128) "' median_us='10' flops='100'/>"
             "<op device='A' signature='" MATMUL(
                 512) "' median_us='40' flops='400'/>"
                      "<op device='A' signature='" MATMUL(
                          1024) "' median_us='90'/>"
                                "<op device='A' "
                                "signature='MatMul(f16[2,256,64], f16[64,32]) "
                                "f16[2,256,32]' median_us='1000'/>"
                                "<op device='A' "
                                "signature='MatMul(f16[1,256,64], f16[64,32]) "
                                "f16[1,256,32] "
                                "transpose_b=true' median_us='2000'/>"
                                /* Keys are one longer than queries. */
                                "<op device='A' signature='Attend(f16[8,9]) "
                                "f16[8,8]' median_us='1' "
                                "bytes='10'/>"
                                "<op device='A' signature='Attend(f16[16,17]) "
                                "f16[16,16]' median_us='5' "
                                "bytes='30'/>"
                                "<op device='A' signature='MatMul+Add(f16[8]) "
                                "f16[8] flops=80 bytes=1' "
                                "median_us='1'/>"
                                "<op device='A' signature='MatMul+Add(f16[16]) "
                                "f16[16] flops=160 bytes=2' "
                                "median_us='3'/>"
                                "<op device='NVIDIA H100 80GB HBM3' "
                                "signature='" MATMUL(
                                    128) "' "
                                         "median_us='2'/>"
                                         "<op device='NVIDIA H100 80GB HBM3' "
                                         "signature='" MATMUL(
                                             512) "' "
                                                  "median_us='6'/>"
                                                  "</profile>";

static const struct {
    const char *device, *model, *signature;
    double flops, bytes, us;
} cases[] = {
    /* By flops, and by the length where they are unknown. */
    { "A", NULL, MATMUL(320), 250, MO_UNKNOWN, 25 },
    { "A", NULL, MATMUL(320), MO_UNKNOWN, MO_UNKNOWN, 25 },
    { "A", NULL, MATMUL(320), 325, MO_UNKNOWN, 32.5 },
    { "A", NULL, MATMUL(768), 600, MO_UNKNOWN, 65 },
    /* Beyond the rows, in two directions, of another family. */
    { "A", NULL, MATMUL(64), 50, MO_UNKNOWN, NAN },
    { "A", NULL, MATMUL(2048), 50, MO_UNKNOWN, NAN },
    { "A", NULL, "MatMul(f16[1,256,48], f16[48,32]) f16[1,256,32]", 1, 1, NAN },
    { "A", NULL, "MatMul(f32[1,256,64], f32[64,32]) f32[1,256,32]", 1, 1, NAN },
    { "A", NULL, MATMUL(256) " transpose_b=false", 1, 1, NAN },
    { "B", NULL, MATMUL(256), 1, 1, NAN },
    { "A", NULL, "MatMul", 1, 1, NAN },
    { "A", NULL, "MatMul(?) ?", 1, 1, NAN },
    /* Dimensions that change by equal parts need not be in proportion. */
    { "A", NULL, "Attend(f16[12,13]) f16[12,12]", MO_UNKNOWN, 15, 2 },
    { "A", NULL, "Attend(f16[12,13]) f16[12,12]", MO_UNKNOWN, MO_UNKNOWN, 3 },
    { "A", NULL, "Attend(f16[12,14]) f16[12,12]", MO_UNKNOWN, 15, NAN },
    /* Amounts in a signature are no parameters. */
    { "A", NULL, "MatMul+Add(f16[12]) f16[12] flops=120 bytes=3", 1, 1, 2 },
    /* By model. */
    { "G", "h100", MATMUL(320), MO_UNKNOWN, MO_UNKNOWN, 4 },
};

static double interpolated(const char *text, const char *id, const char *model,
                           const char *signature, double flops, double bytes)
{
    mo_device device = { .id = id, .model = model };
    mo_profile *profile;
    double us;

    device.known = model ? mo_device_find(model) : NULL;
    MUST(mo_profile_read_memory("p", text, strlen(text), &profile, &err));
    us = mo_profile_interpolate_us(profile, &device, signature, flops, bytes);
    mo_profile_free(profile);
    return us;
}

START_TEST(times_are_between_two_rows_of_the_family)
{
    double us =
        interpolated(rows, cases[_i].device, cases[_i].model,
                     cases[_i].signature, cases[_i].flops, cases[_i].bytes);

    if (isnan(cases[_i].us))
        ck_assert(isnan(us));
    else
        ck_assert_double_eq_tol(us, cases[_i].us, 1e-9);
}
END_TEST

/* Rows of a line of sizes with random times: the result is between the times
 * of the neighbours, which are the nearest in size. */
START_TEST(the_nearest_neighbours_bound_the_time)
{
    mo_random r = { mo_random_seed(5, (uint64_t) _i) };
    int n = 2 + mo_random_below(&r, 40), sizes[48], low = -1, high = -1;
    double times[48], us;
    char text[8192] = "<profile>", signature[64];
    size_t length = strlen(text);
    int wanted;

    for (int i = 0; i < n; i++) {
        sizes[i] = (i > 0 ? sizes[i - 1] : 0) + 2 + mo_random_below(&r, 50);
        times[i] = 1 + 100 * mo_random_unit(&r);
        length += (size_t) snprintf(
            text + length, sizeof text - length,
            "<op device='A' signature='Exp(f32[4,%d]) f32[4,%d]' "
            "median_us='%.17g'/>",
            sizes[i], sizes[i], times[i]);
    }
    snprintf(text + length, sizeof text - length, "</profile>");
    wanted = sizes[0] + 1 + mo_random_below(&r, sizes[n - 1] - sizes[0] - 1);
    for (int i = 0; i < n; i++) {
        if (sizes[i] == wanted)
            wanted--; /* sizes are at least two apart */
        if (sizes[i] < wanted)
            low = i;
        if (sizes[i] > wanted && high < 0)
            high = i;
    }
    snprintf(signature, sizeof signature, "Exp(f32[4,%d]) f32[4,%d]", wanted,
             wanted);
    us = interpolated(text, "A", NULL, signature, MO_UNKNOWN, MO_UNKNOWN);
    ck_assert_double_ge(us, fmin(times[low], times[high]) - 1e-9);
    ck_assert_double_le(us, fmax(times[low], times[high]) + 1e-9);
}
END_TEST

/* Writes a row for the first op of a graph. */
static void put_row(mo_out *out, const char *graph, int us)
{
    mo_graph *g = problem_graph(graph);

    mo_out_printf(out, "<op device='A' median_us='%d' signature='", us);
    mo_profile_signature(g, 0, out);
    mo_out_text(out, "'/>");
    mo_graph_free(g);
}

/* Device A was profiled with 128 and with 512 tokens, B was not. */
START_TEST(instances_interpolate_before_they_predict)
{
    problem p = { .explain = true };
    mo_out *out;
    size_t size;
    char *profile;

    MUST(mo_out_memory(&out, &err));
    mo_out_text(out, "<profile>");
    put_row(out, "a op=ReLU shape=1,128,64 dtype=f32 flops=1 bytes=1", 10);
    put_row(out, "a op=ReLU shape=1,512,64 dtype=f32 flops=1 bytes=1", 40);
    mo_out_text(out, "</profile>");
    profile = mo_out_take(out, &size);
    mo_out_abandon(out);
    ck_assert_int_eq(
        problem_try_graph(
            &p,
            problem_graph("a op=ReLU shape=1,320,64 dtype=f32 flops=1 bytes=1"),
            "A model=t4; B model=v100; A-B gbps=8", profile),
        MO_OK);
    ck_assert_int_eq(p.x->p_ns[0], 25000);
    ck_assert_int_eq(p.x->origins[0].source, MO_TIME_INTERPOLATED);
    ck_assert_int_eq(p.x->origins[1].source, MO_TIME_PREDICTED);
    problem_clear(&p);
    free(profile);
}
END_TEST

SUITE(profile_interpolate)
{
    TEST(instances_interpolate_before_they_predict);
    EACH(times_are_between_two_rows_of_the_family, COUNT(cases));
    SOME(the_nearest_neighbours_bound_the_time, 200, 10);
}
