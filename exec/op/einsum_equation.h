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

/* Letters are their codes; dimension i from the end of "..." is the first label
 * behind them plus i. */
enum { MO_EINSUM_DOTS = 128, MO_EINSUM_LABELS = MO_EINSUM_DOTS + MO_MAX_RANK };

typedef struct mo_term {
    int operand; /* of the lowered op */
    int n;
    int label[MO_MAX_RANK];
    int64_t stride[MO_MAX_RANK];
} mo_term;

typedef struct mo_einsum {
    mo_term *inputs; /* one for each of the site's */
    mo_term output;
    int64_t size[MO_EINSUM_LABELS]; /* -1: there is no such label */
} mo_einsum;

mo_status mo_einsum_read(const mo_site *site, mo_arena *arena,
                         mo_einsum *einsum, mo_error *err);

/* Where a label stands in a term, or -1. */
int mo_term_find(const mo_term *term, int label);

/* The stride of a label in a term, 0 where it is not there. */
int64_t mo_term_stride(const mo_term *term, int label);

/* One more label, behind the others; false when there is no room. */
bool mo_term_push(mo_term *term, int label);

/* Strides of a tensor that has the term's dimensions and lies row by row; its
 * shape. */
mo_shape mo_term_lay(const mo_einsum *einsum, mo_term *term);

#endif
