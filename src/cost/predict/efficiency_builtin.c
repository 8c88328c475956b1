/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in efficiency factors by operator class and GPU generation. */
#include "cost/efficiency.h"

/*
 * Fitted to BERT-Large on V100, P100, T4 and P4 (bench/cost), except for
 * launches, which are long in the framework it was measured in and not in
 * others, and rounded. Classes absent from that network have the factors of
 * the most similar ones, and moves those of its copy.
 */
#define ANY MO_GEN_UNKNOWN

const mo_efficiencies mo_efficiencies_builtin = {
    .n = 35,
    .rows = {
        /* class, generation, compute, memory, launch */
        { MO_CLASS_NONE, ANY, 1, 1, 0, MO_MATH_F32 },
        { MO_CLASS_FREE, ANY, 1, 1, 0, MO_MATH_F32 },
        { MO_CLASS_SHAPE, ANY, 1, 1, 0, MO_MATH_F32 },

        { MO_CLASS_MATMUL, ANY, 0.64, 0.76, 1, MO_MATH_F32 },
        { MO_CLASS_MATMUL, MO_GEN_PASCAL, 0.62, 0.78, 1, MO_MATH_F32 },
        { MO_CLASS_MATMUL, MO_GEN_VOLTA, 0.67, 0.76, 1, MO_MATH_F32 },
        { MO_CLASS_MATMUL, MO_GEN_TURING, 0.64, 0.72, 1, MO_MATH_F32 },
        { MO_CLASS_CONVOLUTION, ANY, 0.64, 0.76, 1, MO_MATH_F32 },
        { MO_CLASS_ATTENTION, ANY, 0.64, 0.76, 1, MO_MATH_F32 },

        { MO_CLASS_ELEMENTWISE, ANY, 0.6, 0.76, 1, MO_MATH_F32 },
        { MO_CLASS_ELEMENTWISE, MO_GEN_PASCAL, 0.6, 0.72, 1, MO_MATH_F32 },
        { MO_CLASS_ELEMENTWISE, MO_GEN_VOLTA, 0.6, 0.84, 1, MO_MATH_F32 },
        { MO_CLASS_ELEMENTWISE, MO_GEN_TURING, 0.6, 0.76, 1, MO_MATH_F32 },
        { MO_CLASS_ACTIVATION, ANY, 0.6, 0.77, 1, MO_MATH_F32 },
        { MO_CLASS_ACTIVATION, MO_GEN_PASCAL, 0.6, 0.75, 1, MO_MATH_F32 },
        { MO_CLASS_ACTIVATION, MO_GEN_VOLTA, 0.6, 0.88, 1, MO_MATH_F32 },
        { MO_CLASS_ACTIVATION, MO_GEN_TURING, 0.6, 0.75, 1, MO_MATH_F32 },
        { MO_CLASS_SOFTMAX, ANY, 0.6, 0.75, 1, MO_MATH_F32 },
        { MO_CLASS_SOFTMAX, MO_GEN_PASCAL, 0.6, 0.72, 1, MO_MATH_F32 },
        { MO_CLASS_SOFTMAX, MO_GEN_VOLTA, 0.6, 0.86, 1, MO_MATH_F32 },
        { MO_CLASS_SOFTMAX, MO_GEN_TURING, 0.6, 0.72, 1, MO_MATH_F32 },
        { MO_CLASS_NORMALIZATION, ANY, 0.6, 0.5, 1, MO_MATH_F32 },
        { MO_CLASS_NORMALIZATION, MO_GEN_PASCAL, 0.6, 0.47, 1, MO_MATH_F32 },
        { MO_CLASS_NORMALIZATION, MO_GEN_VOLTA, 0.6, 0.49, 1, MO_MATH_F32 },
        { MO_CLASS_NORMALIZATION, MO_GEN_TURING, 0.6, 0.56, 1, MO_MATH_F32 },
        { MO_CLASS_REDUCTION, ANY, 0.6, 0.7, 1, MO_MATH_F32 },
        { MO_CLASS_POOL, ANY, 0.6, 0.7, 1, MO_MATH_F32 },

        { MO_CLASS_GATHER, ANY, 0.6, 0.4, 1, MO_MATH_F32 },
        { MO_CLASS_GATHER, MO_GEN_PASCAL, 0.6, 0.37, 1, MO_MATH_F32 },
        { MO_CLASS_GATHER, MO_GEN_VOLTA, 0.6, 0.47, 1, MO_MATH_F32 },
        { MO_CLASS_GATHER, MO_GEN_TURING, 0.6, 0.4, 1, MO_MATH_F32 },
        { MO_CLASS_MOVE, ANY, 0.6, 0.65, 1, MO_MATH_F32 },
        { MO_CLASS_MOVE, MO_GEN_PASCAL, 0.6, 0.6, 1, MO_MATH_F32 },
        { MO_CLASS_MOVE, MO_GEN_VOLTA, 0.6, 0.66, 1, MO_MATH_F32 },
        { MO_CLASS_MOVE, MO_GEN_TURING, 0.6, 0.68, 1, MO_MATH_F32 },
    },
};

/*
 * In tiles of m x n, a product does 2 m n flops for every m + n elements it
 * loads: 16 flops per byte of f32 in tiles of 64 x 64. Later generations use
 * tiles of 128 x 256 (43), and those with tens of megabytes of cache find most
 * of their loads in it.
 */
static const double product_reuse[] = {
    [MO_GEN_UNKNOWN] = 43, [MO_GEN_CPU] = 128,    [MO_GEN_PASCAL] = 16,
    [MO_GEN_VOLTA] = 16,   [MO_GEN_TURING] = 16,  [MO_GEN_AMPERE] = 43,
    [MO_GEN_ADA] = 128,    [MO_GEN_HOPPER] = 128, [MO_GEN_BLACKWELL] = 128,
    [MO_GEN_CDNA] = 43,    [MO_GEN_RDNA] = 128,   [MO_GEN_BLACKWELL_RTX] = 128,
    [MO_GEN_XE] = 43,      [MO_GEN_APPLE] = 43,
};

double mo_efficiency_max_reuse(mo_class class, mo_generation generation)
{
    switch (class) {
    case MO_CLASS_MATMUL:
    case MO_CLASS_CONVOLUTION:
    case MO_CLASS_ATTENTION:
        return product_reuse[generation];
    default:
        return 0;
    }
}
