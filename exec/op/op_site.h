/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.h - one operator where it stands: what it is told and what it is given.
 *
 * What the lowering of an operator sees.  Shapes and types are all known; the
 * values of some inputs are, too: constants.
 */
#ifndef MO_EXEC_OP_OP_SITE_H
#define MO_EXEC_OP_OP_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/tensor/dense_tensor.h"

typedef struct mo_op_site {
    const char *name;  /* for errors */
    const char *type;  /* canonical, "Convolution" (ingest/operator.h) */
    const char *attrs; /* JSON object, or NULL; "opset" in it is the version */
    int n_in, n_out;
    const mo_tensor_desc *in, *out;
    const mo_tensor_dense *const *value; /* by input: its value, or NULL */
} mo_op_site;

/* The opset's number; a large one when the op does not say. */
int mo_op_site_opset(const mo_op_site *site);

/* Attributes by name; fallback where it is absent.  A broken one is an error
 * that names the op, as is a list that has not n numbers. */
mo_status mo_op_site_attr_int(const mo_op_site *site, const char *key,
                              int64_t fallback, int64_t *value, mo_error *err);
mo_status mo_op_site_attr_ints(const mo_op_site *site, const char *key,
                               int64_t fallback, int64_t *values, int n,
                               mo_error *err);
mo_status mo_op_site_attr_real(const mo_op_site *site, const char *key,
                               double fallback, double *value, mo_error *err);
bool mo_op_site_attr_bool(const mo_op_site *site, const char *key,
                          bool fallback);
/* Is it this text, whatever the case of its letters? */
bool mo_op_site_attr_equals(const mo_op_site *site, const char *key,
                            const char *text);
bool mo_op_site_has_attr(const mo_op_site *site, const char *key);

/* Input i as a list of integers, which must be constant; at most max. */
mo_status mo_op_site_const_ints(const mo_op_site *site, int i, int64_t *values,
                                int max, int *count, mo_error *err);
/* The same with exactly n integers. */
mo_status mo_op_site_const_ints_exact(const mo_op_site *site, int i,
                                      int64_t *values, int n, mo_error *err);
/* Input i as one constant number. */
mo_status mo_op_site_const_number(const mo_op_site *site, int i, double *value,
                                  mo_error *err);

/* Axis counted from the front of rank dimensions. */
mo_status mo_op_site_normalize_axis(const mo_op_site *site, int64_t axis,
                                    int rank, int *at, mo_error *err);

/* Fails unless it has min_in to max_in inputs and n_out outputs; unless output
 * i has this shape. */
mo_status mo_op_site_check_arity(const mo_op_site *site, int min_in, int max_in,
                                 int n_out, mo_error *err);
mo_status mo_op_site_check_output(const mo_op_site *site, int i,
                                  const mo_shape *shape, mo_error *err);

/* "op 'conv1' (Convolution): ..." with MO_E_INPUT or MO_E_SUPPORT. */
mo_status mo_op_site_fail(const mo_op_site *site, mo_status status,
                          mo_error *err, const char *format, ...)
    MO_PRINTF(4, 5);

#endif
