/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boxes.h - what every backend has to know of a copy's boxes.
 */
#ifndef MO_EXEC_BACKEND_COPY_BOX_H
#define MO_EXEC_BACKEND_COPY_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/backend.h"
#include "exec/op/call.h"

/* Do all boxes lie within tensors that are there, of elements that fit? */
mo_status mo_backend_copy_check(const mo_call *call,
                                const mo_backend_operand *in,
                                const mo_tensor_desc *out, mo_error *err);

/* No more elements are written than the results have; as every one of these is
 * written, that is once, and the order of boxes does not matter. */
bool mo_backend_copy_boxes_disjoint(const mo_call *call,
                                    const mo_tensor_desc *out);

/* 0 where an extent is; INT64_MAX where there are more than that. */
int64_t mo_backend_copy_box_elements(const mo_call_copy_box *box);

/* The element that a box fills with, as it lies in memory, in the first bytes;
 * whose type that is. */
uint64_t mo_backend_copy_fill_bits(const mo_call_copy_box *box, mo_elem elem);

/* Dimensions of a box, the outermost first: the farther its steps in the output
 * the farther out.  Strides are in bytes, 0 in the input of a fill.  None has
 * one element only, and those that lie behind each other on both sides are
 * one. */
typedef struct mo_backend_copy_dim {
    int64_t extent, in, out;
} mo_backend_copy_dim;

enum {
    MO_BACKEND_COPY_MAX_DIMS = MO_MAX_RANK + 2
}; /* room for two of a backend's own */

typedef struct mo_backend_copy_dims {
    int n;
    mo_backend_copy_dim at[MO_BACKEND_COPY_MAX_DIMS];
} mo_backend_copy_dims;

/* width: bytes of an element. */
mo_backend_copy_dims mo_backend_copy_dims_collapse(const mo_call_copy_box *box,
                                                   int64_t width);

void mo_backend_copy_dims_remove(mo_backend_copy_dims *dims, int i);
void mo_backend_copy_dims_insert(mo_backend_copy_dims *dims, int i,
                                 mo_backend_copy_dim dim);

#endif
