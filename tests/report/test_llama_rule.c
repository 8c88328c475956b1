/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of report/runtime/llama_rule.h: shares that are numbers of layers give
 * each device that many, whatever the numbers. */
#include "report/runtime/llama_rule.h"

#include "base/random.h"
#include "tests/support/suite.h"

enum { MAX_LAYERS = 100, MAX_DEVICES = 8, SAMPLES = 400 };

/* Checks the split of layers and head with counts[k] of them on device k,
 * behind those of the CPU. */
static void check_split(int n_layers, const int *counts, int n_devices)
{
    float shares[MAX_DEVICES];
    int device[MAX_LAYERS + 1], gpu_layers = 0, l;

    for (int k = 0; k < n_devices; k++) {
        shares[k] = (float) counts[k];
        gpu_layers += counts[k];
    }
    mo_llama_rule(shares, n_devices, n_layers, gpu_layers, device);
    for (l = 0; l < n_layers + 1 - gpu_layers; l++)
        ck_assert_int_eq(device[l], MO_LLAMA_CPU);
    for (int k = 0; k < n_devices; k++)
        for (int i = 0; i < counts[k]; i++)
            ck_assert_msg(device[l++] == k, "%d layers, layer %d is on %d",
                          n_layers, l - 1, device[l - 1]);
    ck_assert_int_eq(l, n_layers + 1);
}

/* All splits over up to three devices, and of few layers over up to eight. */
static void check_all(int n_layers, int left, int *counts, int k, int n)
{
    if (k == n) {
        if (left < n_layers + 1)
            check_split(n_layers, counts, n);
        return;
    }
    for (counts[k] = 0; counts[k] <= left; counts[k]++)
        check_all(n_layers, left - counts[k], counts, k + 1, n);
}

START_TEST(every_split_comes_out)
{
    int n_layers = _i + 1, counts[MAX_DEVICES];

    for (int n = 1; n <= MAX_DEVICES; n++)
        if (n <= 2 || (n == 3 && n_layers <= 40) || n_layers <= 5)
            check_all(n_layers, n_layers + 1, counts, 0, n);
}
END_TEST

START_TEST(sampled_splits_come_out)
{
    int n_layers = _i + 1, counts[MAX_DEVICES];
    mo_random r = { (uint64_t) _i };

    for (int n = 3; n <= MAX_DEVICES; n++)
        for (int i = 0; i < SAMPLES; i++) {
            int left = 1 + mo_random_below(&r, n_layers + 1);

            for (int k = 0; k < n; k++) {
                counts[k] = k == n - 1 ? left : mo_random_below(&r, left + 1);
                left -= counts[k];
            }
            check_split(n_layers, counts, n);
        }
}
END_TEST

/* What llama.cpp prints for 33 layers and the head, -ts 3,1. */
START_TEST(shares_are_rounded_as_in_floats)
{
    const float shares[] = { 3, 1 };
    int device[MAX_LAYERS + 1];

    mo_llama_rule(shares, 2, 33, 34, device);
    ck_assert_int_eq(device[25], 0);
    ck_assert_int_eq(device[26], 1);
    mo_llama_rule(shares, 2, 33, 99, device);
    ck_assert_int_eq(device[0], 0);
    ck_assert_int_eq(device[33], 1);
    mo_llama_rule(shares, 0, 33, 99, device);
    ck_assert_int_eq(device[33], MO_LLAMA_CPU);
}
END_TEST

SUITE(llama_rule)
{
    EACH(every_split_comes_out, MAX_LAYERS);
    EACH(sampled_splits_come_out, MAX_LAYERS);
    TEST(shares_are_rounded_as_in_floats);
}
