/* SPDX-License-Identifier: Apache-2.0 */
/*
 * einsum.h - an equation such as "b...ij,b...jk->b...ik", taken apart.
 *
 * A term is a tensor whose dimensions have labels and strides.  A label that
 * stands twice in one term means its diagonal: both strides together.  The
 * dimensions behind "..." have labels of their own.  A dimension of 1 repeats:
 * its stride is 0.
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
    mo_lower_einsum_term *inputs; /* one for each of the site's */
    mo_lower_einsum_term output;
    int64_t size[MO_LOWER_EINSUM_LABELS]; /* -1: there is no such label */
} mo_lower_einsum_equation;

mo_status mo_lower_einsum_parse(const mo_op_site *site, mo_arena *arena,
                                mo_lower_einsum_equation *einsum,
                                mo_error *err);

/* Where a label stands in a term, or -1. */
int mo_lower_einsum_term_find(const mo_lower_einsum_term *term, int label);

/* The stride of a label in a term, 0 where it is not there. */
int64_t mo_lower_einsum_term_stride(const mo_lower_einsum_term *term,
                                    int label);

/* One more label, behind the others; false when there is no room. */
bool mo_lower_einsum_term_push(mo_lower_einsum_term *term, int label);

/* Strides of a tensor that has the term's dimensions and lies row by row; its
 * shape. */
mo_shape mo_lower_einsum_term_pack(const mo_lower_einsum_equation *einsum,
                                   mo_lower_einsum_term *term);

#endif
