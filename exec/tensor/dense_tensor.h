/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dense_tensor.h - dense tensors in host memory, in row-major order.
 */
#ifndef MO_EXEC_TENSOR_DENSE_TENSOR_H
#define MO_EXEC_TENSOR_DENSE_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/tensor/elem.h"
#include "graph/shape.h"

/* Element type and shape of a tensor. */
typedef struct mo_tensor_desc {
    mo_elem elem;
    mo_shape shape; /* static: no dynamic dimensions */
} mo_tensor_desc;

/* Return the number of elements and of bytes; the shape must be static and its
 * size within int64. */
int64_t mo_tensor_desc_elements(const mo_tensor_desc *desc);
int64_t mo_tensor_desc_bytes(const mo_tensor_desc *desc);
/* Returns whether element type and shape are the same. */
bool mo_tensor_desc_equal(const mo_tensor_desc *a, const mo_tensor_desc *b);

/* Writes "f32[1,64]" into the caller's buffer and returns it. */
enum { MO_TENSOR_DESC_TEXT_SIZE = MO_SHAPE_TEXT_SIZE + 16 };
const char *mo_tensor_desc_format(const mo_tensor_desc *desc,
                                  char text[MO_TENSOR_DESC_TEXT_SIZE]);

typedef struct mo_tensor_dense {
    mo_tensor_desc desc;
    void *data;
    bool own; /* mo_tensor_clear() frees data */
} mo_tensor_dense;

/* Allocates a zeroed buffer, aligned to 64 bytes, that *dense owns; the caller
 * frees it with mo_tensor_clear(), which accepts a zeroed struct. */
mo_status mo_tensor_new(const mo_tensor_desc *desc, mo_tensor_dense *dense,
                        mo_error *err);
void mo_tensor_clear(mo_tensor_dense *dense);

/* Fills the tensor with pseudo-random values that depend on seed only: floats
 * uniformly from -scale to scale, integers from 0 to below - 1, booleans. */
void mo_tensor_fill_random(mo_tensor_dense *dense, uint64_t seed, double scale,
                           int64_t below);

/* Returns element i as a double, whatever the type; the second returns
 * integers exactly (floats: rounded towards zero). */
double mo_tensor_get_double(const mo_tensor_dense *dense, int64_t i);
int64_t mo_tensor_get_int(const mo_tensor_dense *dense, int64_t i);

/* Returns the number of elements that are infinite or NaN. */
int64_t mo_tensor_count_not_finite(const mo_tensor_dense *dense);

/* Stores a number, rounded to the element type; or an integer, of which an
 * integer type keeps the low bits. */
void mo_tensor_set_double(mo_tensor_dense *dense, int64_t i, double x);
void mo_tensor_set_int(mo_tensor_dense *dense, int64_t i, int64_t x);

/* Maximum relative and absolute error between two tensors. */
typedef struct mo_tensor_difference {
    bool same_shape;
    double relative; /* largest |a - b| / max(largest |b|, tiny), over all; NaN
                        in one only, or unequal infinities: INFINITY */
    double absolute;
    int64_t at; /* element with the largest error */
} mo_tensor_difference;

/* Compares a with the reference b; element types may differ. Different shapes:
 * both errors are INFINITY. */
mo_tensor_difference mo_tensor_compare(const mo_tensor_dense *a,
                                       const mo_tensor_dense *b);

#endif
