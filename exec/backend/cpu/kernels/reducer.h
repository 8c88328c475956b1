/*
 * fold.h - many elements into one, for every way to reduce.
 *
 * Elements are registers as in point_step.h.  What is gathered is a double for
 * reals and an int64_t for integers.
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_REDUCER_H
#define MO_EXEC_BACKEND_CPU_KERNELS_REDUCER_H

#include <stdint.h>

#include "exec/op/call.h"

typedef union mo_folded {
    double real;
    int64_t integer;
} mo_folded;

typedef enum mo_fold_type {
    MO_FOLD_F32,
    MO_FOLD_F64,
    MO_FOLD_INT
} mo_fold_type;

typedef struct mo_fold {
    mo_folded empty; /* what nothing at all gives */
    /* A row into one. */
    void (*row)(const void *row, mo_folded *gathered, int n);
    /* Elements into as many gathered ones, one into each. */
    void (*each)(const void *row, mo_folded *gathered, int n);
} mo_fold;

const mo_fold *mo_fold_of(mo_reduce_op op, mo_fold_type type);

/* What is stored of what count elements have given. */
double mo_fold_end(mo_reduce_op op, double gathered, int64_t count);
int64_t mo_fold_end_int(mo_reduce_op op, int64_t gathered, int64_t count);

#endif
