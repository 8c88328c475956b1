/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.h - tensor shapes as graphs hold them: "1,64,56,56", outputs separated
 * by ';'.
 */
#ifndef MO_INGEST_SHAPE_H
#define MO_INGEST_SHAPE_H

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

/* A model that is not static yet has shapes with dims of -1, or a rank of -1
 * where not even that is known. */
enum { MO_DYNAMIC = -1 };

typedef enum mo_shape_fault {
    MO_SHAPE_OK = 0,
    MO_SHAPE_INVALID, /* not a shape at all ("ellipse") */
    MO_SHAPE_DYNAMIC, /* a dimension is negative, '?' or a range */
    MO_SHAPE_RANGE    /* rank or number of elements too large */
} mo_shape_fault;

/* Reads one shape as people and frameworks write it: "1,64", "[1, 64]",
 * "(1,64)", "1x64", "torch.Size([1, 64])", "".  With MO_SHAPE_DYNAMIC *shape
 * is filled, too: MO_DYNAMIC for each such dimension, or for the rank when the
 * text is "...". */
mo_shape_fault mo_shape_read(const char *text, size_t length, mo_shape *shape);

/* Reads one dimension: "64"; "-1", "?" and "1..8" are MO_SHAPE_DYNAMIC. */
mo_shape_fault mo_shape_read_dim(const char *text, size_t length, int64_t *dim);

/* Has it at most MO_MAX_ELEMENTS?  Dynamic dimensions count as 1. */
bool mo_shape_fits(const mo_shape *shape);

/* No dimension is dynamic, and neither is the rank. */
bool mo_shape_is_static(const mo_shape *shape);

bool mo_shape_equal(const mo_shape *a, const mo_shape *b);

/* Do they differ along axis, which a has, at most? */
bool mo_shape_equal_but(const mo_shape *a, const mo_shape *b, int axis);

/* The port-th of the shapes in text ("a;b;c", see ingest/text_list.h); false
 * when there are fewer or it is not a static shape. */
bool mo_shape_at(const char *text, int port, mo_shape *shape);

/* Writes "1,64" without a terminating 0; returns its length. */
enum { MO_SHAPE_TEXT_SIZE = MO_MAX_RANK * 21 };
size_t mo_shape_write(const mo_shape *shape, char *text);

/* Product of the dims of a static shape: always fits, mo_shape_read made sure
 * of it. */
int64_t mo_shape_elements(const mo_shape *shape);

/* Bytes of a tensor (bits rounded up to what they are packed in); -1 on
 * overflow or unknown dtype. */
int64_t mo_shape_bytes(const mo_shape *shape, const char *dtype);

#endif
