/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scatter_reduce.h - reduction of updates into data of any type, for scatters.
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_SCATTER_REDUCE_H
#define MO_EXEC_BACKEND_CPU_KERNELS_SCATTER_REDUCE_H

#include <stdint.h>

#include "exec/tensor/elem.h"

typedef enum mo_cpu_scatter_reduce_op {
    MO_CPU_SCATTER_REDUCE_ZERO, /* sets to 0; the values of updates are not read
                                 */
    MO_CPU_SCATTER_REDUCE_ONE,
    MO_CPU_SCATTER_REDUCE_SET,
    MO_CPU_SCATTER_REDUCE_SUM,
    MO_CPU_SCATTER_REDUCE_SUB,
    MO_CPU_SCATTER_REDUCE_PROD,
    MO_CPU_SCATTER_REDUCE_MIN,
    MO_CPU_SCATTER_REDUCE_MAX
} mo_cpu_scatter_reduce_op;

/* data[i] = data[i] op updates[i] for count elements. Integers wrap around;
 * for booleans a sum is "or", a product "and". */
void mo_cpu_scatter_reduce(mo_cpu_scatter_reduce_op op, mo_elem elem,
                           void *data, const void *updates, int64_t count);

/* data[i] /= by; integers are rounded down. */
void mo_cpu_scatter_divide(mo_elem elem, void *data, int64_t i, int64_t by);

#endif
