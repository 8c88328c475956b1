/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_builder.h - construction of COPY calls by lowerings.
 *
 * Boxes keep one dimension for each dimension of the operator's shapes (or a
 * part of one), so that passes over plans can identify them; backends merge
 * them. Boxes of a call do not write the same element, but where one fills the
 * whole result for the others.
 */
#ifndef MO_EXEC_OP_COPY_BUILDER_H
#define MO_EXEC_OP_COPY_BUILDER_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "exec/op/lower.h"

/* Limit on the boxes of a call: no network needs more, and they would be
 * slow. */
enum { MO_LOWER_COPY_MAX_BOXES = 1 << 16 };

/* Fills strides with the distance of neighbours along each dimension, row by
 * row. */
void mo_lower_copy_strides(const mo_shape *shape, int64_t strides[MO_MAX_RANK]);

/* Returns a box that writes all of a tensor of that shape, and reads one
 * element only. */
mo_call_copy_box mo_lower_copy_box_init(const mo_shape *shape);

/* Appends a dimension behind the others. */
void mo_lower_copy_box_push(mo_call_copy_box *box, int64_t extent,
                            int64_t in_stride, int64_t out_stride);

/* Adds a call with n_boxes zeroed boxes, from the site's first n_in inputs to
 * its outputs; *call is owned by the arena and valid until the next call is
 * added. */
mo_status mo_lower_copy_add_call(const mo_op_site *site, int n_in,
                                 int64_t n_boxes, mo_lower_result *lowered,
                                 mo_call **call, mo_error *err);

/* Adds a call with one box, from operand to operand. */
mo_status mo_lower_copy_add_box(const mo_call_copy_box *box, int from, int to,
                                mo_lower_result *lowered, mo_error *err);

/* Fails where an output's type is not that of input 0: copies do not
 * convert. */
mo_status mo_lower_copy_check_types(const mo_op_site *site, mo_error *err);

#endif
