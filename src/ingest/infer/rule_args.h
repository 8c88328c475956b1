/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_args.h - arguments of shape rules: attributes, axes, input values.
 *
 * Attributes come from a file: every number is checked against
 * MO_INFER_ARG_LIMIT, so that the sum of an attribute and a dimension cannot
 * overflow. Products use mo_int64_mul().
 */
#ifndef MO_INGEST_INFER_RULE_ARGS_H
#define MO_INGEST_INFER_RULE_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "ingest/infer/rule.h"

#define MO_INFER_ARG_LIMIT ((int64_t) 1 << 31)

/* Returns the opset's number; INT_MAX when the operator has none. */
int mo_infer_arg_opset(const mo_infer_rule_op *op);

/* Reads an attribute of exactly n integers into the caller's array; all
 * fallback when it is absent. */
mo_status mo_infer_arg_ints(const mo_infer_rule_op *op, const char *key,
                            int64_t fallback, int64_t *values, int n,
                            mo_error *err);
mo_status mo_infer_arg_int(const mo_infer_rule_op *op, const char *key,
                           int64_t fallback, int64_t *value, mo_error *err);

bool mo_infer_arg_bool(const mo_infer_rule_op *op, const char *key,
                       bool fallback);
bool mo_infer_arg_is(const mo_infer_rule_op *op, const char *key,
                     const char *text);

/* Sets *at to the axis counted from the front of rank dimensions. */
mo_status mo_infer_arg_axis(int64_t axis, int rank, int *at, mo_error *err);

/* Returns the value of an input, borrowed from op; fails when it is not
 * known. */
mo_status mo_infer_arg_value(const mo_infer_rule_op *op, int input,
                             const mo_infer_value **value, mo_error *err);

/* Fails if the values of the first n inputs, which are known, have a number
 * that is not an int64: u64 of 2^63 and above. */
mo_status mo_infer_arg_check_int64(const mo_infer_rule_op *op, int n,
                                   mo_error *err);

/* The value of an input as a list of at most MO_MAX_RANK integers; a scalar is
 * a list of one. */
typedef struct mo_infer_arg_list {
    int count;
    int64_t at[MO_MAX_RANK];
} mo_infer_arg_list;

mo_status mo_infer_arg_list_of(const mo_infer_rule_op *op, int input,
                               mo_infer_arg_list *list, mo_error *err);

/* The same with exactly n integers. */
mo_status mo_infer_arg_exactly(const mo_infer_rule_op *op, int input, int n,
                               mo_infer_arg_list *list, mo_error *err);

/* The value of an input that is one integer; or one axis of rank dimensions. */
mo_status mo_infer_arg_scalar(const mo_infer_rule_op *op, int input,
                              int64_t *value, mo_error *err);
mo_status mo_infer_arg_axis_of(const mo_infer_rule_op *op, int input, int rank,
                               int *at, mo_error *err);

/* Sets marks[d] for each axis d that the input's value lists, false for the
 * others. */
mo_status mo_infer_arg_marks(const mo_infer_rule_op *op, int input, int rank,
                             bool marks[MO_MAX_RANK], mo_error *err);

mo_status mo_infer_arg_rank(const mo_infer_rule_op *op, int input, int min,
                            int max, mo_error *err);

/* slice.c: the strided view that Slice and StridedSlice select of their
 * data. */
typedef struct mo_infer_slice {
    mo_shape shape;     /* of the selection; its rank may exceed MO_MAX_RANK */
    mo_infer_view view; /* into the data; steps may be negative */
} mo_infer_slice;

/* Resolves an op of one of the two types; the caller ensures that the values
 * of all inputs but the first are known. */
mo_status mo_infer_slice_read(const mo_infer_rule_op *op, mo_infer_slice *cut,
                              mo_error *err);

#endif
