/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/device.h. */
#include "cost/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

static const char *const names[] = {
    "rtx2080ti", "t4",   "p4", "rtx3060ti", "v100", "p100",    "a100",
    "h100",      "h200", "l4", "l40s",      "a10",  "rtx3090", "rtx4090",
};

START_TEST(the_devices_of_the_manual_are_known)
{
    const mo_device_model *model = mo_device_find(names[_i]);

    ck_assert_ptr_nonnull(model);
    ck_assert_str_eq(model->name, names[_i]);
}
END_TEST

/*
 * Operations of a multiprocessor, compute unit or core per cycle, by type, for
 * the models whose name begins so; the first match counts. A multiply-add is
 * two operations.
 */
static const struct {
    const char *prefix;
    double rate[MO_MATHS]; /* f32, tf32, f16, bf16, fp8, int8, fp4 */
} per_cycle[] = {
    { "p100", { 128, 0, 256 } },
    { "p4", { 256, 0, 0, 0, 0, 1024 } },
    { "gtx", { 256, 0, 0, 0, 0, 1024 } },
    { "v100", { 128, 0, 1024, 0, 0, 512 } },
    { "rtx2000ada", { 256, 512, 1024, 1024, 2048, 2048 } },
    { "rtx4000ada", { 256, 512, 1024, 1024, 2048, 2048 } },
    { "rtx4500ada", { 256, 512, 1024, 1024, 2048, 2048 } },
    { "rtx5000ada", { 256, 512, 1024, 1024, 2048, 2048 } },
    { "rtx6000ada", { 256, 512, 1024, 1024, 2048, 2048 } },
    { "rtx20", { 128, 0, 512, 0, 0, 2048 } },
    { "titanrtx", { 128, 0, 1024, 0, 0, 2048 } },
    { "quadro", { 128, 0, 1024, 0, 0, 2048 } },
    { "t4", { 128, 0, 1024, 0, 0, 2048 } },
    { "a100", { 128, 1024, 2048, 2048, 0, 4096 } },
    { "a800", { 128, 1024, 2048, 2048, 0, 4096 } },
    { "a30", { 128, 1024, 2048, 2048, 0, 4096 } },
    { "a10g", { 256, 256, 512, 512, 0, 1024 } },
    { "a", { 256, 512, 1024, 1024, 0, 2048 } }, /* but for arc, below */
    { "rtxa", { 256, 512, 1024, 1024, 0, 2048 } },
    { "rtx30", { 256, 256, 512, 512, 0, 2048 } },
    { "orin", { 256, 1024, 2048, 2048, 0, 4096 } },
    { "thor", { 256, 4096, 8192, 8192, 16384, 16384, 32768 } },
    { "rtx40", { 256, 256, 512, 512, 1024, 2048 } },
    { "l40s", { 256, 512, 1024, 1024, 2048, 2048 } },
    { "l40", { 256, 256, 512, 512, 1024, 1024 } },
    { "l20", { 256, 256, 512, 512, 1024, 1024 } },
    { "l4", { 256, 512, 1024, 1024, 2048, 2048 } },
    { "h", { 256, 2048, 4096, 4096, 8192, 8192 } },
    { "gh", { 256, 2048, 4096, 4096, 8192, 8192 } },
    { "b300", { 256, 4096, 8192, 8192, 16384, 512, 49152 } },
    { "gb300", { 256, 4096, 8192, 8192, 16384, 512, 49152 } },
    { "gb10", { 256, 512, 1024, 1024, 2048, 2048, 4096 } },
    { "b", { 256, 4096, 8192, 8192, 16384, 16384, 32768 } },
    { "gb", { 256, 4096, 8192, 8192, 16384, 16384, 32768 } },
    { "rtxpro", { 256, 512, 1024, 1024, 2048, 2048, 4096 } },
    { "rtx50", { 256, 256, 512, 512, 1024, 2048, 4096 } },
    { "mi100", { 256, 0, 1024, 512, 0, 1024 } },
    { "mi2", { 256, 0, 1024, 1024, 0, 1024 } },
    { "mi35", { 256, 0, 4096, 4096, 8192, 8192, 16384 } },
    { "mi3", { 256, 1024, 2048, 2048, 4096, 4096 } },
    { "rx6", { 128, 0, 256, 0, 0, 512 } },
    { "rx9", { 256, 0, 1024, 1024, 2048, 2048 } },
    { "r9700", { 256, 0, 1024, 1024, 2048, 2048 } },
    { "rx7", { 256, 0, 512, 512, 0, 512 } },
    { "w7", { 256, 0, 512, 512, 0, 512 } },
    { "8060s", { 256, 0, 512, 512, 0, 512 } },
    { "arc", { 256, 0, 2048, 2048, 0, 4096 } },
    { "max", { 256, 2048, 4096, 4096, 0, 8192 } },
    { "m", { 256 } },
    { "xeon-8180", { 64 } },
    { "xeon-8280", { 64, 0, 0, 0, 0, 256 } },
    { "xeon-8380", { 64, 0, 0, 0, 0, 256 } },
    { "xeon-8", { 64, 0, 0, 2048, 0, 4096 } },
    { "xeon-6", { 64, 0, 2048, 2048, 0, 4096 } },
    { "epyc-7", { 32 } },
    { "epyc-9654", { 32, 0, 0, 64, 0, 128 } },
    { "epyc-9754", { 32, 0, 0, 64, 0, 128 } },
    { "epyc-9", { 64, 0, 0, 128, 0, 256 } },
    { "ddr", { 32 } },
    { "ryzen-7", { 32, 0, 0, 64, 0, 128 } },
    { "ryzen-9", { 64, 0, 0, 128, 0, 256 } },
    { "graviton2", { 16, 0, 32, 0, 0, 64 } },
    { "gra", { 32, 0, 64, 128, 0, 256 } },
};

static const double *rates_of(const mo_device_model *model)
{
    for (int i = 0; i < COUNT(per_cycle); i++) {
        const char *prefix = per_cycle[i].prefix;

        if (strncmp(model->name, prefix, strlen(prefix)) == 0 &&
            !(strcmp(prefix, "a") == 0 && model->generation == MO_GEN_XE))
            return per_cycle[i].rate;
    }
    ck_abort_msg("%s: operations per cycle unknown", model->name);
}

static int models(void)
{
    int n = 0;

    while (mo_device_models[n].name)
        n++;
    return n;
}

/* Vendors round, and for the P4 they print a boost clock that its peak does not
 * reach. Tensor rates of some are at another clock. H20 is limited by other
 * means. */
START_TEST(a_peak_is_what_the_cores_and_the_clock_make)
{
    const mo_device_model *model = &mo_device_models[_i];
    const double *rate = rates_of(model);

    for (int m = 0; m < MO_MATHS && strcmp(model->name, "h20") != 0; m++) {
        double peak = rate[m] * model->sms * model->clock_mhz / 1000;
        double low = m == MO_MATH_F32 ? 0.96 : 0.86;
        double high = m == MO_MATH_F32 ? 1.04 : 1.08;

        ck_assert_msg(model->gflops[m] >= low * peak &&
                          model->gflops[m] <= high * peak,
                      "%s in %s: %g, not %g", model->name,
                      mo_math_name((mo_math) m), model->gflops[m], peak);
    }
}
END_TEST

START_TEST(every_number_of_a_model_is_there)
{
    const mo_device_model *model = &mo_device_models[_i];

    ck_assert_ptr_nonnull(model->title);
    ck_assert_int_ne(model->generation, MO_GEN_UNKNOWN);
    ck_assert_double_gt(model->bandwidth_gbs, 60);
    ck_assert_double_ge(model->memory_gib,
                        model->generation == MO_GEN_CPU ? 0 : 6);
    ck_assert_double_ge(model->launch_us, 1);
    ck_assert_double_lt(model->launch_us, 20);
    ck_assert_double_ge(model->cache_mib, 2);
    ck_assert_double_ge(model->watts, 15);
    ck_assert_double_le(model->watts, 1400);
    ck_assert_double_ge(model->process_nm, 3);
    ck_assert_double_le(model->process_nm, 16);
}
END_TEST

START_TEST(no_name_belongs_to_two_models)
{
    const mo_device_model *model = &mo_device_models[_i];

    for (const mo_device_model *m = mo_device_models; m != model; m++) {
        ck_assert_str_ne(m->name, model->name);
        ck_assert_str_ne(m->title, model->title);
    }
}
END_TEST

/* The rate of a type that a device lacks is that of the type its operands are
 * converted to. */
START_TEST(types_without_a_rate_are_converted)
{
    static const struct {
        const char *name;
        double tflops[MO_MATHS];
    } peaks[] = {
        { "p4", { 5.5, 5.5, 5.5, 5.5, 5.5, 22, 5.5 } },
        { "t4", { 8.1, 8.1, 65, 8.1, 65, 130, 65 } },
        { "a100", { 19.5, 156, 312, 312, 312, 624, 312 } },
        { "h100", { 66.9, 494.5, 989, 989, 1979, 1979, 1979 } },
        { "b200", { 75, 1125, 2250, 2250, 4500, 4500, 9000 } },
        { "xeon-8480", { 7.2, 7.2, 7.2, 229, 229, 459, 229 } },
    };

    for (int i = 0; i < COUNT(peaks); i++) {
        const mo_device_model *model = mo_device_find(peaks[i].name);

        for (int m = 0; m < MO_MATHS; m++)
            ck_assert_double_eq_tol(
                mo_device_peak_gflops(model->gflops, (mo_math) m),
                1000 * peaks[i].tflops[m], 1e-6);
    }
}
END_TEST

START_TEST(types_have_names)
{
    mo_math math;

    for (int m = 0; m < MO_MATHS; m++) {
        ck_assert(mo_math_find(mo_math_name((mo_math) m), &math));
        ck_assert_int_eq((int) math, m);
    }
    ck_assert(!mo_math_find("f64", &math));
    ck_assert(!mo_math_find("", &math));
}
END_TEST

START_TEST(a_model_is_found_by_its_name_and_its_title)
{
    const mo_device_model *model = &mo_device_models[_i];

    ck_assert_ptr_eq(mo_device_find(model->name), model);
    ck_assert_ptr_eq(mo_device_find(model->title), model);
}
END_TEST

static const struct {
    const char *written, *name;
} spellings[] = {
    { "RTX2080TI", "rtx2080ti" },
    { "RTX 2080 Ti", "rtx2080ti" },
    { "rtx_2080-ti", "rtx2080ti" },
    { "GeForce RTX 2080 Ti", "rtx2080ti" },
    { "NVIDIA T4", "t4" },
    { "Tesla-T4", "t4" },
    { " T4 ", "t4" },
    { "NVIDIA Tesla V100", "v100" },
    { "A100 80GB PCIe", "a100-pcie-80gb" },
    { "A100-SXM4-80GB", "a100-80gb" },
    { "Quadro RTX 8000", "quadro-rtx8000" },
    { "RTX 6000 Ada Generation", "rtx6000ada" },
    { "NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtxpro6000-server" },
    { "Radeon RX 7900 XTX", "rx7900xtx" },
    { "AMD Instinct MI300X", "mi300x" },
    { "AMD Radeon 8060S Graphics", "8060s" },
    { "Intel(R) Arc(TM) A770 Graphics", "arc-a770" },
    { "Intel(R) Data Center GPU Max 1550", "max1550" },
    { "Apple M2 Max", "m2max" },
    { "Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz", "xeon-8380" },
    { "Intel(R) Xeon(R) Platinum 8480+", "xeon-8480" },
    { "AMD EPYC 7763 64-Core Processor", "epyc-7763" },
    { "AMD EPYC 9654 96-Core Processor                ", "epyc-9654" },
    { "AMD Ryzen 9 7950X 16-Core Processor", "ryzen-7950x" },
};

START_TEST(spelling_does_not_matter)
{
    const mo_device_model *model = mo_device_find(spellings[_i].written);

    ck_assert_msg(model != NULL, "'%s' is not found", spellings[_i].written);
    ck_assert_str_eq(model->name, spellings[_i].name);
}
END_TEST

static const char *const unknown_devices[] = {
    "",
    " ",
    "NVIDIA",
    "AMD",
    "t",
    "t44",
    "rtx208",
    "rtx2080tix",
    "V1000",
    "NVIDIA GeForce RTX 4090 Laptop GPU",
    "64-Core Processor",
    "-Core Processor",
    "Graphics",
    "@",
    ("a name that is longer than any that a vendor has printed on a box, and "
     "than the buffer, which holds one hundred and twenty-eight characters"),
};

START_TEST(what_is_not_in_the_table_is_not_found)
{
    ck_assert_ptr_null(mo_device_find(unknown_devices[_i]));
}
END_TEST

/* The table of moirai-cluster(5). */
static const char *manual(void)
{
    static char text[1 << 16];
    const char *top = getenv("top_srcdir");
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/man/moirai-cluster.5", top ? top : ".");
    file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s is not there", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

START_TEST(the_manual_has_the_numbers_of_the_table)
{
    const mo_device_model *m = &mo_device_models[_i];
    char line[256];

    snprintf(line, sizeof line,
             "\n.It %s Ta %g Ta %g Ta %g Ta %g Ta %g Ta %g Ta %g\n", m->name,
             m->gflops[MO_MATH_F32] / 1000, m->gflops[MO_MATH_TF32] / 1000,
             m->gflops[MO_MATH_F16] / 1000, m->gflops[MO_MATH_BF16] / 1000,
             m->gflops[MO_MATH_FP8] / 1000, m->gflops[MO_MATH_INT8] / 1000,
             m->gflops[MO_MATH_FP4] / 1000);
    ck_assert_msg(strstr(manual(), line) != NULL, "not in the manual: %s",
                  line);
    snprintf(line, sizeof line,
             "\n.It %s Ta %g Ta %g Ta %d Ta %g Ta %g Ta %g Ta %g Ta %g\n",
             m->name, m->memory_gib, m->bandwidth_gbs, m->sms, m->clock_mhz,
             m->cache_mib, m->launch_us, m->watts, m->process_nm);
    ck_assert_msg(strstr(manual(), line) != NULL, "not in the manual: %s",
                  line);
}
END_TEST

SUITE(device)
{
    EACH(the_devices_of_the_manual_are_known, COUNT(names));
    EACH(a_peak_is_what_the_cores_and_the_clock_make, models());
    EACH(every_number_of_a_model_is_there, models());
    EACH(no_name_belongs_to_two_models, models());
    TEST(types_without_a_rate_are_converted);
    TEST(types_have_names);
    EACH(a_model_is_found_by_its_name_and_its_title, models());
    EACH(spelling_does_not_matter, COUNT(spellings));
    EACH(what_is_not_in_the_table_is_not_found, COUNT(unknown_devices));
    EACH(the_manual_has_the_numbers_of_the_table, models());
}
