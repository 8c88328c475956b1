/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_box.h - strided boxes of copy calls, common to all backends.
 */
#ifndef MO_EXEC_BACKEND_COPY_BOX_H
#define MO_EXEC_BACKEND_COPY_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/backend.h"
#include "exec/op/call.h"

/* Bounds check: returns MO_E_INPUT if a box leaves its tensors or its element
 * sizes differ. */
mo_status mo_backend_copy_check(const mo_call *call,
                                const mo_backend_operand *in,
                                const mo_tensor_desc *out, mo_error *err);

/* Returns true if the boxes write no more elements than the results have. As
 * each of these is written, each is written once, and the order of boxes does
 * not matter. */
bool mo_backend_copy_boxes_disjoint(const mo_call *call,
                                    const mo_tensor_desc *out);

/* Returns the number of elements; 0 if an extent is 0 or less, INT64_MAX on
 * overflow. */
int64_t mo_backend_copy_box_elements(const mo_call_copy_box *box);

/* Returns the bytes of the element that a box fills with, in memory order from
 * the first byte on; elem is its type. */
uint64_t mo_backend_copy_fill_bits(const mo_call_copy_box *box, mo_elem elem);

/* Dimensions of a box, outermost first: sorted by descending stride in the
 * output. Strides are in bytes, 0 in the input of a fill. Dimensions of extent
 * 1 are dropped and those that are contiguous on both sides are merged. */
typedef struct mo_backend_copy_dim {
    int64_t extent, in, out;
} mo_backend_copy_dim;

enum {
    MO_BACKEND_COPY_MAX_DIMS = MO_MAX_RANK + 2
}; /* two spare for a backend */

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
