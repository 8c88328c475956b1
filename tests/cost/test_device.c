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

/* fp32 cores in an SM of the chip that a model is made of. */
static int cores_per_sm(const mo_device_model *model)
{
    static const char *const with_64[] = { "p100", "v100", "rtx2080ti", "t4",
                                           "a100" };

    for (int i = 0; i < COUNT(with_64); i++)
        if (strncmp(model->name, with_64[i], strlen(with_64[i])) == 0)
            return 64;
    return 128;
}

static int models(void)
{
    int n = 0;

    while (mo_device_models[n].name)
        n++;
    return n;
}

/* A multiplication and an addition per core and cycle. Vendors round, and for
 * the P4 they print a boost clock that its peak does not reach. */
START_TEST(a_peak_is_what_the_cores_and_the_clock_make)
{
    const mo_device_model *model = &mo_device_models[_i];
    double peak =
        2.0 * cores_per_sm(model) * model->sms * model->clock_mhz / 1000;

    ck_assert_msg(fabs(model->gflops / peak - 1) < 0.04, "%s: %g, not %g",
                  model->name, model->gflops, peak);
}
END_TEST

START_TEST(every_number_of_a_model_is_there)
{
    const mo_device_model *model = &mo_device_models[_i];

    ck_assert_ptr_nonnull(model->title);
    ck_assert_int_ne(model->generation, MO_GEN_UNKNOWN);
    ck_assert_double_gt(model->bandwidth_gbs, 100);
    ck_assert_double_ge(model->memory_gib, 8);
    ck_assert_double_gt(model->launch_us, 1);
    ck_assert_double_lt(model->launch_us, 20);
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
};

START_TEST(spelling_does_not_matter)
{
    const mo_device_model *model = mo_device_find(spellings[_i].written);

    ck_assert_msg(model != NULL, "'%s' is not found", spellings[_i].written);
    ck_assert_str_eq(model->name, spellings[_i].name);
}
END_TEST

static const char *const unknown_devices[] = {
    "", " ", "NVIDIA", "t", "t44", "rtx2080", "rtx2080tix", "V1000", "mi300x",
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
             "\n.It %s Ta %g Ta %g Ta %g Ta %d Ta %g Ta %g\n", m->name,
             m->gflops / 1000, m->memory_gib, m->bandwidth_gbs, m->sms,
             m->clock_mhz, m->launch_us);
    ck_assert_msg(strstr(manual(), line) != NULL, "not in the manual: %s",
                  line);
}
END_TEST

SUITE(device)
{
    EACH(the_devices_of_the_manual_are_known, COUNT(names));
    EACH(a_peak_is_what_the_cores_and_the_clock_make, models());
    EACH(every_number_of_a_model_is_there, models());
    EACH(a_model_is_found_by_its_name_and_its_title, models());
    EACH(spelling_does_not_matter, COUNT(spellings));
    EACH(what_is_not_in_the_table_is_not_found, COUNT(unknown_devices));
    EACH(the_manual_has_the_numbers_of_the_table, models());
}
