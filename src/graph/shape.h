/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.h - shapes of tensors, and their text form "1,64,56,56".
 */
#ifndef MO_GRAPH_SHAPE_H
#define MO_GRAPH_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MO_MAX_RANK = 16 };

/* The most elements a tensor may have (dimensions of 0 counted as 1), so that
 * neither its bytes nor the sum of an op's tensors overflow. */
#define MO_MAX_ELEMENTS ((int64_t) 1 << 48)

typedef struct mo_shape {
    int rank;                  /* 0: a scalar */
    int64_t dims[MO_MAX_RANK]; /* each >= 0 (0: an empty tensor) */
} mo_shape;

/* A dynamic dimension, or an unknown rank, of a model that is not static. */
enum { MO_DYNAMIC = -1 };

typedef enum mo_shape_fault {
    MO_SHAPE_OK = 0,
    MO_SHAPE_INVALID, /* not a shape at all ("ellipse") */
    MO_SHAPE_DYNAMIC, /* a dimension is negative, '?' or a range */
    MO_SHAPE_RANGE    /* rank or number of elements too large */
} mo_shape_fault;

/* Parses one shape in the notations of frameworks: "1,64", "[1, 64]", "(1,64)",
 * "1x64", "torch.Size([1, 64])", "".  Fills *shape with MO_SHAPE_OK, and with
 * MO_SHAPE_DYNAMIC, too: MO_DYNAMIC for each such dimension, or for the rank
 * when the text is "...". */
mo_shape_fault mo_shape_read(const char *text, size_t length, mo_shape *shape);

/* Parses one dimension: "64"; "-1", "?" and "1..8" are MO_SHAPE_DYNAMIC. */
mo_shape_fault mo_shape_read_dim(const char *text, size_t length, int64_t *dim);

/* Returns whether it has at most MO_MAX_ELEMENTS; dynamic dimensions count
 * as 1. */
bool mo_shape_fits(const mo_shape *shape);

/* Returns whether neither the rank nor a dimension is dynamic. */
bool mo_shape_is_static(const mo_shape *shape);

bool mo_shape_equal(const mo_shape *a, const mo_shape *b);

/* Returns whether they differ at most along axis, which a must have. */
bool mo_shape_equal_but(const mo_shape *a, const mo_shape *b, int axis);

/* Writes "1,64" without a terminating 0 to a buffer of MO_SHAPE_TEXT_SIZE
 * bytes; returns its length. */
enum { MO_SHAPE_TEXT_SIZE = MO_MAX_RANK * 21 };
size_t mo_shape_write(const mo_shape *shape, char *text);

/* Returns the product of n dimensions, which must not overflow. */
int64_t mo_shape_product(const int64_t *dims, int n);

/* Returns the product of the dimensions of a static shape; it cannot overflow,
 * since mo_shape_read checks it. */
int64_t mo_shape_elements(const mo_shape *shape);

/* Returns the bytes of a tensor (bits rounded up to the unit they are packed
 * in); -1 on overflow, and when dtype is unknown or NULL. */
int64_t mo_shape_bytes(const mo_shape *shape, const char *dtype);

#endif
