/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dense.h - tensors in the memory of this process, row by row.
 */
#ifndef MO_EXEC_TENSOR_DENSE_TENSOR_H
#define MO_EXEC_TENSOR_DENSE_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/tensor/elem.h"
#include "ingest/shape.h"

/* What a tensor is like. */
typedef struct mo_tensor_desc {
    mo_elem elem;
    mo_shape shape; /* static */
} mo_tensor_desc;

int64_t mo_tensor_desc_elements(const mo_tensor_desc *desc);
int64_t mo_tensor_desc_bytes(const mo_tensor_desc *desc);
bool mo_tensor_desc_equal(const mo_tensor_desc *a, const mo_tensor_desc *b);

/* "f32[1,64]", for errors; returns text. */
enum { MO_TENSOR_DESC_TEXT_SIZE = MO_SHAPE_TEXT_SIZE + 16 };
const char *mo_tensor_desc_format(const mo_tensor_desc *desc,
                                  char text[MO_TENSOR_DESC_TEXT_SIZE]);

typedef struct mo_tensor_dense {
    mo_tensor_desc desc;
    void *data;
    bool own; /* data goes with mo_tensor_clear */
} mo_tensor_dense;

/* A zeroed tensor that owns its data, aligned to 64 bytes; clear is harmless on
 * zeros. */
mo_status mo_tensor_new(const mo_tensor_desc *desc, mo_tensor_dense *dense,
                        mo_error *err);
void mo_tensor_clear(mo_tensor_dense *dense);

/* Fills it with numbers that look random and depend on nothing but seed: reals
 * evenly from -scale to scale, integers from 0 to below - 1, booleans. */
void mo_tensor_fill_random(mo_tensor_dense *dense, uint64_t seed, double scale,
                           int64_t below);

/* Element i as a number, whatever the type; and integers exactly. */
double mo_tensor_get_double(const mo_tensor_dense *dense, int64_t i);
int64_t mo_tensor_get_int(const mo_tensor_dense *dense, int64_t i);

/* Stores a number, rounded to a real type; or an integer, of which an integer
 * type keeps as many bits as it has. */
void mo_tensor_set_double(mo_tensor_dense *dense, int64_t i, double x);
void mo_tensor_set_int(mo_tensor_dense *dense, int64_t i, int64_t x);

#endif
