/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/kernel_model.h: limits in closed
 * form, monotonicity, and measured products of public tables. */
#include "cost/kernel_model.h"

#include <math.h>

#include "base/random.h"
#include "tests/support/suite.h"

/* 10^8 flops and 10^6 bytes in a microsecond, 100 multiprocessors that load
 * 10^5 bytes in a microsecond each. */
static const mo_kernel_device plain = {
    .gflops = 100000,
    .bandwidth_gbs = 1000,
    .clock_mhz = 1000,
    .sms = 100,
};

/* Nothing but the work costs time. */
static const mo_product_constants ideal = {
    .compute = 0.8,
    .memory = 0.5,
    .cache_bytes = 1e6,
    .latency_bytes = 1,
};

static mo_product product_of(double m, double n, double k)
{
    return (mo_product){ 1, m, n, k, 2, 2, 2, 0 };
}

static double us_of(mo_product p, mo_kernel_device d, mo_product_constants c)
{
    return mo_product_us(&p, &d, &c);
}

static void is_near(double got, double wanted, double tolerance)
{
    ck_assert_msg(fabs(got - wanted) <= tolerance * wanted,
                  "%g is not %g within %g %%", got, wanted, 100 * tolerance);
}

START_TEST(a_large_product_takes_its_flops_over_the_peak)
{
    mo_product p = product_of(128 * 100, 128 * 100, 8192);

    is_near(us_of(p, plain, ideal), 2 * p.m * p.n * p.k / (0.8 * 1e8), 0.01);
    p.batch = 3;
    is_near(us_of(p, plain, ideal), 6 * p.m * p.n * p.k / (0.8 * 1e8), 0.01);
}
END_TEST

START_TEST(a_product_with_a_vector_takes_its_bytes_over_the_bandwidth)
{
    mo_product p = product_of(1, 65536, 8192);
    mo_product_constants c = ideal;
    double bytes = 2 * (p.k + p.n * p.k + p.n);

    is_near(us_of(p, plain, c), bytes / 0.5e6, 0.01);
    p.b_bytes = 0.5; /* of weights in four bits */
    is_near(us_of(p, plain, c), (2 * p.k + 0.5 * p.n * p.k + 2 * p.n) / 0.5e6,
            0.01);
    c.latency_us = 50;
    c.launch_us = 7;
    is_near(us_of(p, plain, c), 57 + (2 * p.k + 0.5 * p.n * p.k) / 0.5e6, 0.01);
}
END_TEST

/* 100 tiles are one wave, one more are two; with a long sum it pays to split
 * it, with a short one it does not. */
START_TEST(one_tile_more_than_a_wave_is_another_wave)
{
    mo_product_constants c = ideal;
    mo_kernel_device d = plain;
    double one, two;

    d.bandwidth_gbs = 1e9;
    c.tile_us = 1000; /* far more than the arithmetic */
    one = us_of(product_of(256 * 10, 128 * 10, 64), d, c);
    two = us_of(product_of(256 * 10, 128 * 10 + 1, 64), d, c);
    is_near(one, 1000, 0.02);
    is_near(two, 2000, 0.02);
}
END_TEST

START_TEST(a_long_sum_of_few_outputs_is_split)
{
    mo_product p = product_of(16, 64, 1 << 20); /* one tile */
    mo_product_constants c = ideal;
    mo_kernel_device d = plain;
    double flops = 2 * p.m * p.n * p.k;

    d.bandwidth_gbs = 1e9;
    is_near(us_of(p, d, c), flops / (16 * 0.8e6), 0.01);
    c.split_us = 1e4;
    is_near(us_of(p, d, c), flops / 0.8e6, 0.01);
}
END_TEST

/* A quarter of the power is half of the rate, after a while. */
START_TEST(power_limits_long_kernels_by_its_root)
{
    mo_product p = product_of(12800, 12800, 8192);
    mo_product_constants c = ideal;
    mo_kernel_device d = plain;
    double flops = 2 * p.m * p.n * p.k, free_us = us_of(p, d, c);

    c.energy_pj = 4;
    d.watts = 100; /* 400 at the peak of 100 * 10^12 a second */
    c.throttle_us = 1;
    is_near(us_of(p, d, c), flops / 0.5e8, 0.01);
    c.throttle_us = 1e12;
    is_near(us_of(p, d, c), free_us, 0.01);
    d.watts = 400;
    c.throttle_us = 1;
    is_near(us_of(p, d, c), free_us, 0.01);
    c.process_nm = 4; /* and 16 pJ at 4 * 4^(1 / 1.4) nm */
    d.process_nm = 4 * pow(4, 1 / 1.4);
    is_near(us_of(p, d, c), flops / 0.5e8, 0.01);
}
END_TEST

START_TEST(what_stays_in_the_cache_is_not_loaded)
{
    mo_product p = product_of(1, 1024, 1024);
    mo_product_constants c = ideal;
    mo_kernel_device d = plain;
    double cold = us_of(p, d, c), warm;

    c.resident = 0.5;
    d.cache_mib = 400; /* a hundred times the operands */
    warm = us_of(p, d, c);
    ck_assert_double_lt(warm, cold / 2);
    p.n = 1024 * 1024; /* ten times the share */
    is_near(us_of(p, d, c), 2.0 * 1024 * p.n / 0.5e6, 0.02);
}
END_TEST

START_TEST(nothing_takes_a_launch)
{
    mo_product_constants c = ideal;

    c.launch_us = 3;
    ck_assert_double_eq(us_of(product_of(0, 5, 0), plain, c), 3);
}
END_TEST

static const mo_generation measured[] = { MO_GEN_UNKNOWN, MO_GEN_AMPERE,
                                          MO_GEN_ADA, MO_GEN_HOPPER,
                                          MO_GEN_BLACKWELL };

static double random_size(mo_random *r)
{
    return floor(exp2(16 * mo_random_unit(r)));
}

static mo_kernel_device random_device(mo_random *r)
{
    return (mo_kernel_device){
        .gflops = 1e4 * exp2(8 * mo_random_unit(r)),
        .bandwidth_gbs = 100 * exp2(6 * mo_random_unit(r)),
        .clock_mhz = 500 + 2000 * mo_random_unit(r),
        .cache_mib = 100 * mo_random_unit(r),
        .watts = 50 + 1000 * mo_random_unit(r),
        .sms = 1 + mo_random_below(r, 200),
    };
}

/* Returns a factor of a little or much more than 1. */
static double random_growth(mo_random *r)
{
    return 1 + pow(mo_random_unit(r), 4) * 7;
}

START_TEST(products_never_shrink_with_a_size_nor_with_a_slower_device)
{
    mo_random r = { mo_random_seed(23, (uint64_t) _i) };
    mo_product p =
        product_of(random_size(&r), random_size(&r), random_size(&r));
    mo_kernel_device d = random_device(&r), faster = d;
    const mo_product_constants *c = mo_product_constants_of(
        measured[_i % COUNT(measured)],
        (mo_operands) mo_random_below(&r, MO_OPERANDS_INT4_WEIGHTS + 1));
    double us = mo_product_us(&p, &d, c), eps = 1e-12 * us;
    double *sizes[] = { &p.m, &p.n, &p.k, &p.batch, &p.b_bytes };

    ck_assert(isfinite(us) && us > 0);
    for (int i = 0; i < COUNT(sizes); i++) {
        double before = *sizes[i];

        *sizes[i] = i < 4 ? ceil(before * random_growth(&r)) : before * 2;
        ck_assert_double_ge(mo_product_us(&p, &d, c), us - eps);
        *sizes[i] = before;
    }
    faster.gflops *= random_growth(&r);
    ck_assert_double_le(mo_product_us(&p, &faster, c), us + eps);
    faster.bandwidth_gbs *= random_growth(&r);
    ck_assert_double_le(mo_product_us(&p, &faster, c), us + eps);
    faster.watts *= random_growth(&r);
    ck_assert_double_le(mo_product_us(&p, &faster, c), us + eps);
}
END_TEST

START_TEST(attention_never_shrinks_with_a_size_nor_with_a_slower_device)
{
    mo_random r = { mo_random_seed(24, (uint64_t) _i) };
    double kv_heads = 1 + mo_random_below(&r, 16);
    mo_attention a = {
        .batch = 1 + mo_random_below(&r, 64),
        .keys = random_size(&r),
        .heads = kv_heads * (1 + mo_random_below(&r, 8)),
        .kv_heads = kv_heads,
        .head_size = 16 * (1 + mo_random_below(&r, 16)),
        .element_bytes = 2,
        .kv_bytes = 2,
        .is_causal = mo_random_below(&r, 2) == 0,
    };
    bool is_few = mo_random_below(&r, 2) == 0;
    mo_kernel_device d = random_device(&r), faster = d;
    const mo_attention_constants *c =
        mo_attention_constants_of(measured[_i % COUNT(measured)], is_few);
    double us, eps, before;

    a.queries = is_few ? 1 + mo_random_below(&r, 16) : 17 + random_size(&r);
    us = mo_attention_us(&a, &d, c);
    eps = 1e-12 * us;
    ck_assert(isfinite(us) && us > 0);
    before = a.keys;
    a.keys = ceil(before * random_growth(&r));
    /* The queries of a causal mask end with the keys. */
    if (a.queries <= before || a.queries > a.keys || !a.is_causal)
        ck_assert_double_ge(mo_attention_us(&a, &d, c), us - eps);
    a.keys = before;
    a.batch++;
    ck_assert_double_ge(mo_attention_us(&a, &d, c), us - eps);
    a.batch--;
    a.head_size *= 2;
    ck_assert_double_ge(mo_attention_us(&a, &d, c), us - eps);
    a.head_size /= 2;
    faster.gflops *= random_growth(&r);
    faster.bandwidth_gbs *= random_growth(&r);
    ck_assert_double_le(mo_attention_us(&a, &faster, c), us + eps);
}
END_TEST

/* One multiprocessor has a tile of 128 queries and 1024 keys, or on average
 * half as many with a causal mask: 4 * 64 flops for every pair. */
START_TEST(attention_takes_its_pairs_over_the_peak)
{
    mo_attention a = { 100, 1024, 1024, 8, 8, 64, 2, 2, false };
    mo_attention_constants c = { .compute = 0.5,
                                 .memory = 1,
                                 .cache_bytes = 1e9 };
    mo_kernel_device d = plain;
    double pairs = 100 * 8 * 1024.0 * 1024;

    d.bandwidth_gbs = 1e9;
    is_near(mo_attention_us(&a, &d, &c), pairs * 256 / 0.5e8, 0.01);
    a.is_causal = true;
    is_near(mo_attention_us(&a, &d, &c),
            pairs * (0.5 + 64.0 / 1024) * 256 / 0.5e8, 0.01);
    c.exp_clocks = 1; /* 1000 a microsecond on each of 100 */
    is_near(mo_attention_us(&a, &d, &c),
            pairs * (0.5 + 64.0 / 1024) * (256 / 0.5e8 + 1e-5), 0.01);
}
END_TEST

/* A token reads the cache of keys and values once, for all heads that share
 * it. */
START_TEST(decoding_takes_the_bytes_of_its_cache)
{
    mo_attention a = { 64, 1, 8192, 32, 8, 128, 2, 2, true };
    mo_attention_constants c = { .compute = 1,
                                 .memory = 0.5,
                                 .cache_bytes = 1e9 };
    mo_kernel_device d = plain;

    d.gflops = 1e12;
    is_near(mo_attention_us(&a, &d, &c), 2 * 64 * 8192.0 * 8 * 128 * 2 / 0.5e6,
            0.01);
    a.kv_bytes = 1;
    is_near(mo_attention_us(&a, &d, &c), 2 * 64 * 8192.0 * 8 * 128 * 1 / 0.5e6,
            0.01);
}
END_TEST

/* Products of f16 in microseconds: medians over the frameworks in the tables of
 * aiconfigurator 0.8.0 (NVIDIA, Apache-2.0), of shapes that the constants were
 * not fitted to. */
enum { N_DEVICES = 6 };

static const struct {
    const char *name;
    mo_generation generation;
    mo_kernel_device figures; /* of the data sheets */
} devices[N_DEVICES] = {
    { "A100", MO_GEN_AMPERE, { 312e3, 2039, 1410, 40, 400, 7, 108 } },
    { "L40S", MO_GEN_ADA, { 362e3, 864, 2520, 96, 350, 5, 142 } },
    { "H100", MO_GEN_HOPPER, { 989e3, 3350, 1980, 50, 700, 4, 132 } },
    { "H200", MO_GEN_HOPPER, { 989e3, 4800, 1980, 50, 700, 4, 132 } },
    { "B200", MO_GEN_BLACKWELL, { 2250e3, 8000, 1965, 126, 1000, 4, 148 } },
    { "GB300", MO_GEN_BLACKWELL, { 2500e3, 8000, 2062, 126, 1400, 4, 152 } },
};

static const struct {
    double m, n, k, us[N_DEVICES];
} products[] = {
    { 1, 4096, 512, { 5.94, 3.994, 3.579, 3.572, 3.679, 3.589 } },
    { 1, 7168, 8192, { 87.28, 159.3, 45.02, 33, 24.9, 22.97 } },
    { 2, 1536, 768, { 6.858, 4.54, 3.649, 4.494, 3.704, 3.698 } },
    { 16, 7168, 2560, { 31.49, 53.13, 15.6, 12.18, 8.487, 8.728 } },
    { 32, 65536, 10240, { 811.5, 2049, 476, 329.9, 227.6, 218.3 } },
    { 64, 5120, 2560, { 22.39, 40.55, 12.06, 9.729, 7.434, 7.726 } },
    { 80, 1024, 10240, { 23.79, 35.99, 12.83, 11.62, 10.94, 10.12 } },
    { 80, 6144, 1024, { 13.77, 10.17, 7.855, 6.471, 5.132, 5.109 } },
    { 160, 3584, 768, { 10.44, 8.431, 4.671, 4.567, 3.638, 3.565 } },
    { 192, 3584, 3584, { 32.74, 46.38, 15.52, 12.62, 11.11, 10.1 } },
    { 1024, 7168, 10240, { 652.9, 612.8, 207.4, 208, 109.3, 81.2 } },
    { 512, 65536, 256, { 103.8, 154.6, 44.19, 38.11, 20.07, 18.47 } },
    { 2048, 8192, 4096, { 556.7, 545.6, 179.7, 179.6, 89.7, 75.75 } },
    { 2048, 1024, 5120, { 104.2, 82.12, 30.08, 29.89, 17.11, 15.6 } },
    { 4096, 3584, 12288, { 1485, 1613, 487.6, 492.2, 251.9, 210.7 } },
    { 4096, 256, 3072, { 41.73, 32.81, 15.69, 13.57, 8.896, 8.332 } },
    { 8192, 3072, 6144, { 1263, 1343, 394.1, 393.4, 201.9, 167.1 } },
    { 8192, 10240, 3072, { 2217, 2268, 684.5, 688, 317.1, 257.9 } },
};

enum { N_PRODUCTS = COUNT(products) };

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* Median error at most 15 %, totals within 10 %. */
START_TEST(measured_products_are_predicted)
{
    const mo_product_constants *c =
        mo_product_constants_of(devices[_i].generation, MO_OPERANDS_HALF);
    double errors[N_PRODUCTS], sum = 0, total = 0;

    for (int i = 0; i < N_PRODUCTS; i++) {
        mo_product p = product_of(products[i].m, products[i].n, products[i].k);
        double us = mo_product_us(&p, &devices[_i].figures, c);

        errors[i] = fabs(us / products[i].us[_i] - 1);
        sum += us;
        total += products[i].us[_i];
    }
    qsort(errors, N_PRODUCTS, sizeof *errors, compare_doubles);
    ck_assert_msg(errors[N_PRODUCTS / 2] <= 0.15, "%s: median error %.1f %%",
                  devices[_i].name, 100 * errors[N_PRODUCTS / 2]);
    ck_assert_msg(fabs(sum / total - 1) <= 0.1, "%s: total %+.1f %%",
                  devices[_i].name, 100 * (sum / total - 1));
}
END_TEST

SUITE(kernel_model)
{
    TEST(a_large_product_takes_its_flops_over_the_peak);
    TEST(a_product_with_a_vector_takes_its_bytes_over_the_bandwidth);
    TEST(one_tile_more_than_a_wave_is_another_wave);
    TEST(a_long_sum_of_few_outputs_is_split);
    TEST(power_limits_long_kernels_by_its_root);
    TEST(what_stays_in_the_cache_is_not_loaded);
    TEST(nothing_takes_a_launch);
    SOME(products_never_shrink_with_a_size_nor_with_a_slower_device, 2000, 20);
    SOME(attention_never_shrinks_with_a_size_nor_with_a_slower_device, 2000,
         20);
    TEST(attention_takes_its_pairs_over_the_peak);
    TEST(decoding_takes_the_bytes_of_its_cache);
    EACH(measured_products_are_predicted, N_DEVICES);
}
