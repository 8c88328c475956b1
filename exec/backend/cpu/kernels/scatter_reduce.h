/*
 * merge.h - numbers of any type merged into others, as scatters do it.
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_SCATTER_REDUCE_H
#define MO_EXEC_BACKEND_CPU_KERNELS_SCATTER_REDUCE_H

#include <stdint.h>

#include "exec/tensor/elem.h"

typedef enum mo_merge_op {
    MO_MERGE_ZERO, /* of the updates only their number counts */
    MO_MERGE_ONE,
    MO_MERGE_SET,
    MO_MERGE_SUM,
    MO_MERGE_SUB,
    MO_MERGE_PROD,
    MO_MERGE_MIN,
    MO_MERGE_MAX
} mo_merge_op;

/* count elements of data, each with the one at its place in updates.  Integers
 * wrap around; of booleans a sum is "or", a product "and". */
void mo_cpu_scatter_reduce(mo_merge_op op, mo_elem elem, void *data, const void *updates,
              int64_t count);

/* Element i of data by a number; integers are rounded down. */
void mo_merge_divide(mo_elem elem, void *data, int64_t i, int64_t by);

#endif
