/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/device.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <strings.h>
#include <string.h>

/*
 * Peaks, bandwidths and boost clocks of the vendors' data sheets; a peak is
 * the product of SMs, cores and clock, up to rounding. Of a model sold in
 * several builds the short name is the one for server sockets (SXM). Kernel
 * launches are in no data sheet: they are the cost of small kernels back to
 * back, within a microsecond.
 */
const mo_device_model mo_device_models[] = {
    { "p4", "Tesla P4", MO_GEN_PASCAL, 5500, 192, 20, 1114, 8, 7 },
    { "p100", "Tesla P100-SXM2-16GB", MO_GEN_PASCAL, 10600, 732, 56, 1480, 16,
      6 },
    { "p100-pcie", "Tesla P100-PCIE-16GB", MO_GEN_PASCAL, 9300, 732, 56, 1303,
      16, 6 },

    { "v100", "Tesla V100-SXM2-32GB", MO_GEN_VOLTA, 15700, 900, 80, 1530, 32,
      5 },
    { "v100-16gb", "Tesla V100-SXM2-16GB", MO_GEN_VOLTA, 15700, 900, 80, 1530,
      16, 5 },
    { "v100-pcie", "Tesla V100-PCIE-32GB", MO_GEN_VOLTA, 14000, 900, 80, 1380,
      32, 5 },
    { "v100-pcie-16gb", "Tesla V100-PCIE-16GB", MO_GEN_VOLTA, 14000, 900, 80,
      1380, 16, 5 },

    { "rtx2080ti", "NVIDIA GeForce RTX 2080 Ti", MO_GEN_TURING, 13400, 616, 68,
      1545, 11, 6 },
    { "t4", "Tesla T4", MO_GEN_TURING, 8100, 320, 40, 1590, 16, 7 },

    { "a100", "NVIDIA A100-SXM4-40GB", MO_GEN_AMPERE, 19500, 1555, 108, 1410,
      40, 5 },
    { "a100-80gb", "NVIDIA A100-SXM4-80GB", MO_GEN_AMPERE, 19500, 2039, 108,
      1410, 80, 5 },
    { "a100-pcie", "NVIDIA A100-PCIE-40GB", MO_GEN_AMPERE, 19500, 1555, 108,
      1410, 40, 5 },
    { "a100-pcie-80gb", "NVIDIA A100 80GB PCIe", MO_GEN_AMPERE, 19500, 1935,
      108, 1410, 80, 5 },
    { "a10", "NVIDIA A10", MO_GEN_AMPERE, 31200, 600, 72, 1695, 24, 5 },
    { "rtx3060ti", "NVIDIA GeForce RTX 3060 Ti", MO_GEN_AMPERE, 16200, 448, 38,
      1665, 8, 6 },
    { "rtx3090", "NVIDIA GeForce RTX 3090", MO_GEN_AMPERE, 35600, 936, 82, 1695,
      24, 5 },

    { "l4", "NVIDIA L4", MO_GEN_ADA, 30300, 300, 58, 2040, 24, 5 },
    { "l40s", "NVIDIA L40S", MO_GEN_ADA, 91600, 864, 142, 2520, 48, 4 },
    { "rtx4090", "NVIDIA GeForce RTX 4090", MO_GEN_ADA, 82600, 1008, 128, 2520,
      24, 4 },

    { "h100", "NVIDIA H100 80GB HBM3", MO_GEN_HOPPER, 66900, 3350, 132, 1980,
      80, 4 },
    { "h100-pcie", "NVIDIA H100 PCIe", MO_GEN_HOPPER, 51200, 2039, 114, 1755,
      80, 4 },
    { "h200", "NVIDIA H200", MO_GEN_HOPPER, 66900, 4800, 132, 1980, 141, 4 },

    { NULL, NULL, MO_GEN_UNKNOWN, 0, 0, 0, 0, 0, 0 }
};

static const char *skip_separators(const char *text)
{
    return text + strspn(text, " \t-_");
}

/* Skips brand names, which drivers print or omit. */
static const char *skip_brands(const char *text)
{
    static const char *const brands[] = { "nvidia", "geforce", "tesla" };
    size_t n = sizeof brands / sizeof *brands;

    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(brands[i]);

        text = skip_separators(text);
        if (strncasecmp(text, brands[i], length) == 0)
            text += length;
    }
    return skip_separators(text);
}

static bool is_same(const char *a, const char *b)
{
    a = skip_brands(a);
    b = skip_brands(b);
    while (*a && tolower((unsigned char) *a) == tolower((unsigned char) *b)) {
        a = skip_separators(a + 1);
        b = skip_separators(b + 1);
    }
    return *a == '\0' && *b == '\0';
}

const mo_device_model *mo_device_find(const char *name)
{
    for (const mo_device_model *m = mo_device_models; m->name; m++)
        if (is_same(name, m->name) || is_same(name, m->title))
            return m;
    return NULL;
}
