/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "cost/kernel_model.h"

/*
 * Fitted by least squares of log(predicted / measured), large errors counted
 * linearly, to the medians over frameworks of the tables of aiconfigurator
 * 0.8.0 (NVIDIA, Apache-2.0): ampere to A100, ada to L40S, hopper to H100 and
 * H200, blackwell to B200, GB200 and GB300, unknown to all of them. Of a
 * product only the shapes with
 *
 *     (1000003 m + 10007 n + 101 k) mod 5 = 0
 *
 * were used, 700 of each device and type; bench/products prints the errors on
 * the others. Half precision is f16 by TensorRT-LLM, vLLM and SGLang, the rest
 * TensorRT-LLM alone; its fp8, int8 and fp4 quantise the activations within
 * the time measured, which is in launch_us.
 */
typedef struct product_row {
    mo_generation generation;
    mo_operands operands;
    mo_product_constants constants;
} product_row;

/* clang-format off */
static const product_row product_rows[] = {
    /* launch, compute, energy, process, throttle, cache, tile, memory, latency,
     * latency bytes, split, resident */
    { MO_GEN_UNKNOWN, MO_OPERANDS_HALF,
      { 2.51, 0.759, 0.966, 4, 210, 109, 0.349, 0.783, 1.64, 4.10e6, 2.89, 0.13 } },

    { MO_GEN_AMPERE, MO_OPERANDS_HALF,
      { 1.21, 0.86, 1.6, 7, 300, 36.2, 2.08, 0.786, 4.8, 1.02e6, 1.69, 0.0969 } },
    { MO_GEN_AMPERE, MO_OPERANDS_INT8,
      { 4.37, 0.93, 0.9, 7, 300, 29.5, 5.39, 0.885, 7.46, 1.02e6, 15, 0.0767 } },
    { MO_GEN_AMPERE, MO_OPERANDS_INT8_WEIGHTS,
      { 6.67, 0.913, 1.6, 7, 300, 21.3, 2.72, 0.95, 5.7, 1.02e6, 13.1, 0.0856 } },
    { MO_GEN_AMPERE, MO_OPERANDS_INT4_WEIGHTS,
      { 7.65, 0.88, 1.6, 7, 300, 15.1, 1.96, 0.95, 4.05, 1.02e6, 15.2, 0.094 } },

    { MO_GEN_ADA, MO_OPERANDS_HALF,
      { 1.2, 0.873, 3.14, 5, 365, 18, 0.761, 0.805, 5.08, 3.00e6, 1.44, 0.203 } },
    { MO_GEN_ADA, MO_OPERANDS_FP8,
      { 10.8, 0.61, 2.95, 5, 365, 16.9, 0.787, 0.764, 6.11, 3.00e6, 3.85, 0.211 } },
    { MO_GEN_ADA, MO_OPERANDS_INT8,
      { 3.46, 0.921, 0.838, 5, 365, 17.2, 1.01, 0.9, 9.57, 3.00e6, 8.81, 0.118 } },
    { MO_GEN_ADA, MO_OPERANDS_INT8_WEIGHTS,
      { 2.75, 0.728, 1.92, 5, 365, 16.1, 1.01, 0.908, 11.3, 3.00e6, 4.18, 0.124 } },
    { MO_GEN_ADA, MO_OPERANDS_INT4_WEIGHTS,
      { 2.84, 0.731, 1.93, 5, 365, 11, 0.96, 0.936, 10.5, 3.00e6, 5.26, 0.135 } },

    { MO_GEN_HOPPER, MO_OPERANDS_HALF,
      { 1.06, 1, 1.55, 4, 255, 66, 1.72, 0.889, 3.72, 2.03e6, 2.8, 0.22 } },
    { MO_GEN_HOPPER, MO_OPERANDS_FP8,
      { 12.6, 0.576, 1.14, 4, 255, 43.6, 1.91, 0.809, 3.04, 2.03e6, 3.81, 0.154 } },
    { MO_GEN_HOPPER, MO_OPERANDS_INT8,
      { 3.22, 0.634, 1.44, 4, 255, 26, 4.15, 0.95, 6.73, 2.03e6, 20, 0.131 } },
    { MO_GEN_HOPPER, MO_OPERANDS_INT8_WEIGHTS,
      { 6.92, 0.998, 0.979, 4, 255, 31.6, 1.63, 0.924, 3.91, 2.03e6, 12.9, 0.183 } },
    { MO_GEN_HOPPER, MO_OPERANDS_INT4_WEIGHTS,
      { 7.26, 0.999, 1.04, 4, 255, 22, 1.39, 0.712, 4.54, 2.03e6, 10.4, 0.166 } },

    { MO_GEN_BLACKWELL, MO_OPERANDS_HALF,
      { 1.89, 1, 0.998, 4, 69.2, 91.6, 0.474, 0.823, 1.9, 2.88e6, 2.85, 0.0786 } },
    { MO_GEN_BLACKWELL, MO_OPERANDS_FP8,
      { 14.2, 0.944, 0.911, 4, 69.2, 46, 0.503, 0.781, 2.23, 2.88e6, 16.5, 0.0707 } },
    { MO_GEN_BLACKWELL, MO_OPERANDS_FP4,
      { 9.12, 0.999, 0.84, 4, 69.2, 46.1, 0.565, 0.401, 1.64, 2.88e6, 20, 0.0883 } },
};

/*
 * The same tables and medians, f16 without a window: 1000 configurations of
 * each device were fitted to. Time per call of a framework, with what surrounds
 * the kernel.
 */
typedef struct attention_row {
    mo_generation generation;
    bool has_few_queries;
    mo_attention_constants constants;
} attention_row;

static const attention_row attention_rows[] = {
    /* launch, compute, exp clocks, tile, memory, latency, resident, cache,
     * split */
    { MO_GEN_UNKNOWN, false,
      { 9.24, 0.579, 0.0327, 3.33, 0.347, 9.67, 0.86, 4.69, 2 } },
    { MO_GEN_AMPERE, false,
      { 10.6, 0.648, 0.0473, 3.37, 0.324, 3.09, 0.173, 30.4, 2 } },
    { MO_GEN_ADA, false,
      { 6, 0.642, 0.273, 2.38, 0.412, 6.22, 0.812, 30, 2 } },
    { MO_GEN_HOPPER, false,
      { 10.6, 0.986, 0.108, 1.55, 0.243, 6.88, 0.206, 30, 2 } },
    { MO_GEN_BLACKWELL, false,
      { 10.5, 1, 0.0607, 4.34, 0.219, 7.88, 0.0645, 30.8, 2 } },

    { MO_GEN_UNKNOWN, true,
      { 6.98, 0.1, 0.0214, 3.22, 0.81, 1.22, 1, 78.3, 5.69 } },
    { MO_GEN_AMPERE, true,
      { 10.8, 0.287, 0.0521, 3.72, 0.708, 7.4, 0.116, 12.7, 5.5 } },
    { MO_GEN_ADA, true,
      { 5.33, 0.158, 0.0487, 3.15, 0.804, 2.82, 0.992, 29.5, 4.6 } },
    { MO_GEN_HOPPER, true,
      { 7.05, 0.117, 0.0533, 3.39, 0.889, 5.66, 0.247, 29.8, 4.74 } },
    { MO_GEN_BLACKWELL, true,
      { 6.8, 0.1, 0.0565, 3.2, 0.892, 1.31, 1, 49, 2.37 } },
};
/* clang-format on */

enum {
    N_PRODUCT_ROWS = sizeof product_rows / sizeof *product_rows,
    N_ATTENTION_ROWS = sizeof attention_rows / sizeof *attention_rows
};

static const product_row *find_product(mo_generation generation,
                                       mo_operands operands)
{
    for (int i = 0; i < N_PRODUCT_ROWS; i++)
        if (product_rows[i].generation == generation &&
            product_rows[i].operands == operands)
            return &product_rows[i];
    return NULL;
}

const mo_product_constants *mo_product_constants_of(mo_generation generation,
                                                    mo_operands operands)
{
    const product_row *row = find_product(generation, operands);

    if (!row)
        row = find_product(generation, MO_OPERANDS_HALF);
    if (!row)
        row = find_product(MO_GEN_UNKNOWN, MO_OPERANDS_HALF);
    return &row->constants;
}

const mo_attention_constants *
mo_attention_constants_of(mo_generation generation, bool has_few_queries)
{
    const attention_row *found = NULL;

    for (int i = 0; i < N_ATTENTION_ROWS; i++) {
        const attention_row *row = &attention_rows[i];

        if (row->has_few_queries != has_few_queries)
            continue;
        if (row->generation == generation ||
            (row->generation == MO_GEN_UNKNOWN && !found))
            found = row;
    }
    return &found->constants;
}
