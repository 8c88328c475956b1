#include "cost/efficiency.h"

/* Rows in the order compute, memory, launch, reuse. */
#define ANY(class, ...)                                                        \
    {                                                                          \
        MO_CLASS_##class, MO_GEN_UNKNOWN, __VA_ARGS__                          \
    }
#define ON(class, generation, ...)                                             \
    {                                                                          \
        MO_CLASS_##class, MO_GEN_##generation, __VA_ARGS__                     \
    }

const mo_efficiencies mo_efficiencies_builtin = {
    .n = 14,
    .rows = {
        ANY(NONE, 1, 1, 0, 0),
        ANY(FREE, 1, 1, 0, 0),
        ANY(SHAPE, 1, 1, 0, 0),
        ANY(MATMUL, 0.7, 0.7, 1, 16),
        ANY(CONVOLUTION, 0.7, 0.7, 1, 16),
        ANY(ATTENTION, 0.7, 0.7, 1, 16),
        ANY(POOL, 0.5, 0.7, 1, 0),
        ANY(ELEMENTWISE, 0.5, 0.7, 1, 0),
        ANY(ACTIVATION, 0.5, 0.7, 1, 0),
        ANY(NORMALIZATION, 0.5, 0.7, 1, 0),
        ANY(SOFTMAX, 0.5, 0.7, 1, 0),
        ANY(REDUCTION, 0.5, 0.7, 1, 0),
        ANY(GATHER, 0.5, 0.7, 1, 0),
        ANY(MOVE, 0.5, 0.7, 1, 0),
    },
};
