/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infer_value.h - small constant tensors, for the evaluation of shape
 * arithmetic.
 *
 * Integers and booleans are held as int64, wrapped to their element type's
 * width; u64 at and above 2^63 as the negative int64 of the same bits. Floats
 * are held as double, rounded to their element type.
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

/* Returns true for element types that a value can hold: not four-bit integers,
 * not strings, not NULL. */
bool mo_infer_value_supports(const char *dtype);

/* Returns a value with zeroed items, at most MO_INFER_VALUE_MAX_ITEMS of a
 * supported type; NULL without memory. arena owns it. */
mo_infer_value *mo_infer_value_new(mo_arena *arena, const mo_shape *shape,
                                   const char *dtype);

/* Returns the bytes of one item in a file; fills the items of value from such
 * bytes, in little endian. */
size_t mo_infer_value_item_bytes(const char *dtype);
void mo_infer_value_decode(mo_infer_value *value, const unsigned char *bytes);

/* Returns an item of type from converted to another type: floats are truncated,
 * integers wrap, as a cast does; where a cast is undefined, the nearest
 * value. */
mo_infer_scalar mo_infer_value_cast(mo_infer_scalar item, const char *from,
                                    const char *to);
/* Returns item i as a real, the nearest one to an integer. */
double mo_infer_value_number(const mo_infer_value *value, int64_t i);

/* Returns a result of arithmetic, wrapped or rounded to the type. */
mo_infer_scalar mo_infer_value_fit_int(int64_t result, const char *dtype);
mo_infer_scalar mo_infer_value_fit_real(double result, const char *dtype);

/*
 * A view maps the items of one shape onto those of another tensor: the item at
 * coordinates c is the other's item base + sum of c[d] * stride[d].
 */
typedef struct mo_infer_view {
    int64_t base, stride[MO_MAX_RANK];
} mo_infer_view;

/* Returns the identity view of a tensor, row by row. */
mo_infer_view mo_infer_view_of(const mo_shape *shape);

/* Returns the view of from broadcast to to (numpy's alignment): stride 0 where
 * from is repeated. */
mo_infer_view mo_infer_view_broadcast(const mo_shape *from, const mo_shape *to);

/* Returns the other tensor's index of item number index of shape. */
int64_t mo_infer_view_at(const mo_infer_view *view, const mo_shape *shape,
                         int64_t index);

/* take: to[i] = from[view(i)]; put: to[view(i)] = from[i]. */
void mo_infer_value_take(mo_infer_value *to, const mo_infer_value *from,
                         const mo_infer_view *view);
void mo_infer_value_put(mo_infer_value *to, const mo_infer_value *from,
                        const mo_infer_view *view);

#endif
