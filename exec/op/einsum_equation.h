/* SPDX-License-Identifier: Apache-2.0 */
/*
 * einsum_equation.h - parsed einsum equation: "b...ij,b...jk->b...ik" with the
 * strides of its terms.
 *
 * A term is a tensor with a label and a stride for each dimension. A label
 * that occurs twice in one term selects its diagonal: the sum of both strides.
 * The dimensions behind "..." have labels of their own. A dimension of 1 is
 * repeated: its stride is 0.
 */
#ifndef MO_EXEC_OP_EINSUM_EQUATION_H
#define MO_EXEC_OP_EINSUM_EQUATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "exec/op/op_site.h"
#include "ingest/einsum.h"

/* Letters are their codes; dimension i from the end of "..." is
 * MO_EINSUM_ELLIPSIS + i. */
enum { MO_LOWER_EINSUM_LABELS = MO_EINSUM_ELLIPSIS + MO_MAX_RANK };

typedef struct mo_lower_einsum_term {
    int operand; /* of the lowered op */
    int n;
    int label[MO_MAX_RANK];
    int64_t stride[MO_MAX_RANK];
} mo_lower_einsum_term;

typedef struct mo_lower_einsum_equation {
    mo_lower_einsum_term *inputs; /* by input of the site; of the arena */
    mo_lower_einsum_term output;
    int64_t size[MO_LOWER_EINSUM_LABELS]; /* -1: there is no such label */
} mo_lower_einsum_equation;

mo_status mo_lower_einsum_parse(const mo_op_site *site, mo_arena *arena,
                                mo_lower_einsum_equation *einsum,
                                mo_error *err);

/* Returns the place of a label in a term, or -1. */
int mo_lower_einsum_term_find(const mo_lower_einsum_term *term, int label);

/* Returns the stride of a label in a term, 0 where it does not occur. */
int64_t mo_lower_einsum_term_stride(const mo_lower_einsum_term *term,
                                    int label);

/* Appends a label; returns false when the term is full. */
bool mo_lower_einsum_term_push(mo_lower_einsum_term *term, int label);

/* Sets the strides of a dense tensor with the term's dimensions, row by row;
 * returns its shape. */
mo_shape mo_lower_einsum_term_pack(const mo_lower_einsum_equation *einsum,
                                   mo_lower_einsum_term *term);

#endif
