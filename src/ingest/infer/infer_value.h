/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.h - small tensors whose contents are known while shapes are derived.
 *
 * Integers and booleans are held as int64, wrapped to their element type's
 * width; floats as double, rounded to its digits.
 */
#ifndef MO_INGEST_INFER_INFER_VALUE_H
#define MO_INGEST_INFER_INFER_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "graph/shape.h"

enum { MO_INFER_VALUE_MAX_ITEMS = 65536 };

typedef union mo_infer_scalar {
    int64_t i;
    double r;
} mo_infer_scalar;

typedef struct mo_infer_value {
    mo_shape shape;
    const char *dtype; /* "i64" */
    bool real;         /* the items are .r, else .i */
    int64_t count;
    mo_infer_scalar *items; /* row by row */
} mo_infer_value;

/* Can tensors of this type be held here?  (Not four-bit integers, not texts.)
 * A NULL type cannot. */
bool mo_infer_value_supports(const char *dtype);

/* A value with zeroed items, at most MO_INFER_VALUE_MAX_ITEMS of a type that
 * can be held; NULL when there is no memory. */
mo_infer_value *mo_infer_value_new(mo_arena *arena, const mo_shape *shape,
                                   const char *dtype);

/* Bytes of one item in a file; and the items out of such bytes, in little
 * endian. */
size_t mo_infer_value_item_bytes(const char *dtype);
void mo_infer_value_decode(mo_infer_value *value, const unsigned char *bytes);

/* An item as another type's: floats are cut, integers wrap, as a cast does;
 * what no cast defines becomes the nearest there is. */
mo_infer_scalar mo_infer_value_cast(mo_infer_scalar item, bool from_real,
                                    const char *dtype);

/* A result of arithmetic, brought to what the type can hold. */
mo_infer_scalar mo_infer_value_fit_int(int64_t result, const char *dtype);
mo_infer_scalar mo_infer_value_fit_real(double result, const char *dtype);

/*
 * A view maps the items of one shape onto those of another tensor: the item at
 * coordinates c is the other's item base + sum of c[d] * stride[d].
 */
typedef struct mo_infer_view {
    int64_t base, stride[MO_MAX_RANK];
} mo_infer_view;

/* The tensor itself, row by row. */
mo_infer_view mo_infer_view_of(const mo_shape *shape);

/* from, repeated along the dimensions it lacks in to (as numpy aligns them). */
mo_infer_view mo_infer_view_broadcast(const mo_shape *from, const mo_shape *to);

/* Where the index-th item of shape is in the other tensor. */
int64_t mo_infer_view_at(const mo_infer_view *view, const mo_shape *shape,
                         int64_t index);

/* to = what the view shows of from; from at its place in to. */
void mo_infer_value_take(mo_infer_value *to, const mo_infer_value *from,
                         const mo_infer_view *view);
void mo_infer_value_put(mo_infer_value *to, const mo_infer_value *from,
                        const mo_infer_view *view);

#endif
