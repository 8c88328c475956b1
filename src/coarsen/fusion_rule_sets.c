/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in sets of fusion rules, by target. */
#include "coarsen/fusion_rules.h"

/* Convolutions and matrix products with their epilogues. */
#define CONVOLUTIONS                                                           \
    "conv bias\n"                                                              \
    "conv bias act\n"                                                          \
    "conv bias add\n"                                                          \
    "conv bias add act\n"                                                      \
    "conv act\n"                                                               \
    "conv add\n"                                                               \
    "conv add act\n"
#define NORMALIZED_CONVOLUTIONS                                                \
    "conv bn\n"                                                                \
    "conv bn act\n"                                                            \
    "conv bn add\n"                                                            \
    "conv bn add act\n"                                                        \
    "conv bias bn\n"                                                           \
    "conv bias bn act\n"                                                       \
    "conv bias bn add\n"                                                       \
    "conv bias bn add act\n"
#define PRODUCTS                                                               \
    "matmul bias\n"                                                            \
    "matmul bias relu\n"                                                       \
    "matmul bias gelu\n"                                                       \
    "matmul relu\n"                                                            \
    "matmul gelu\n"                                                            \
    "matmul add\n"                                                             \
    "matmul bias add\n"
#define PRODUCTS_OF_ANY_END                                                    \
    "matmul bias\n"                                                            \
    "matmul bias act\n"                                                        \
    "matmul bias add\n"                                                        \
    "matmul bias add act\n"                                                    \
    "matmul act\n"                                                             \
    "matmul add\n"                                                             \
    "matmul add act\n"
#define NORMALIZATIONS                                                         \
    "norm scale\n"                                                             \
    "norm scale bias\n"                                                        \
    "norm bias\n"
#define ATTENTION                                                              \
    "matmul softmax matmul\n"                                                  \
    "matmul scale softmax matmul\n"                                            \
    "matmul bias softmax matmul\n"                                             \
    "matmul scale bias softmax matmul\n"

const mo_fusion_rule_set mo_fusion_rule_sets[] = {
    { "default", "what moirai-exec runs as one call",
      CONVOLUTIONS NORMALIZED_CONVOLUTIONS PRODUCTS NORMALIZATIONS },
    { "eigen", "the paper's table, with or without a bias",
      "conv bn\n"
      "conv bn relu\n"
      "conv bn add relu\n"
      "conv bias bn\n"
      "conv bias bn relu\n"
      "conv bias bn add relu\n" },
    { "cublaslt", "matrix products with cuBLASLt's epilogues", PRODUCTS },
    { "cudnn", "convolutions and attention as cuDNN's graphs take them",
      CONVOLUTIONS NORMALIZED_CONVOLUTIONS ATTENTION },
    { "onednn", "convolutions and products with oneDNN's post-ops",
      CONVOLUTIONS NORMALIZED_CONVOLUTIONS PRODUCTS_OF_ANY_END },
    { "none", "nothing: every op on its own", "" },
    { NULL, NULL, NULL },
};
