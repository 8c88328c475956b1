/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reducer.h - reduction operators.
 *
 * Elements are register arrays as in pointwise/steps.h. The accumulator is a
 * double for reals and an int64_t for integers.
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_REDUCER_H
#define MO_EXEC_BACKEND_CPU_KERNELS_REDUCER_H

#include <stdint.h>

#include "exec/op/call.h"

typedef union mo_cpu_accumulator {
    double real;
    int64_t integer;
} mo_cpu_accumulator;

typedef enum mo_cpu_reducer_type {
    MO_CPU_REDUCER_F32,
    MO_CPU_REDUCER_F64,
    MO_CPU_REDUCER_INT
} mo_cpu_reducer_type;

typedef struct mo_cpu_reducer {
    mo_cpu_accumulator empty; /* result of an empty reduction */
    /* Reduces a row into one accumulator. */
    void (*row)(const void *row, mo_cpu_accumulator *gathered, int n);
    /* Elementwise: reduces row[i] into gathered[i]. */
    void (*each)(const void *row, mo_cpu_accumulator *gathered, int n);
} mo_cpu_reducer;

const mo_cpu_reducer *mo_cpu_reducer_find(mo_call_reduce_op op,
                                          mo_cpu_reducer_type type);

/* Returns the result to store for an accumulator of count elements. */
double mo_cpu_reducer_finish(mo_call_reduce_op op, double gathered,
                             int64_t count);
int64_t mo_cpu_reducer_finish_int(mo_call_reduce_op op, int64_t gathered,
                                  int64_t count);

#endif
