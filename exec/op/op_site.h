/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_site.h - one operator with its attributes, operand descriptions and
 * constant inputs: the input of lowering.
 *
 * All shapes and types are known; value is set for constant inputs. Everything
 * is borrowed from the caller.
 */
#ifndef MO_EXEC_OP_OP_SITE_H
#define MO_EXEC_OP_OP_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/tensor/dense_tensor.h"
#include "graph/op_attrs.h"

typedef struct mo_op_site {
    const char *name; /* for errors */
    const char *type; /* canonical, "Convolution" (ingest/operator.h) */
    const mo_attr_list *attrs; /* or NULL; "opset" in it is the version */
    int n_in, n_out;
    const mo_tensor_desc *in, *out;
    const mo_tensor_dense *const *value; /* by input: constant, or NULL */
} mo_op_site;

/* Returns the opset's number; INT_MAX when the op has none. */
int mo_op_site_opset(const mo_op_site *site);

/* Read attributes by name; the value is fallback where it is absent. An
 * invalid one is an error that names the op, as is a list without exactly n
 * numbers. */
mo_status mo_op_site_attr_int(const mo_op_site *site, const char *key,
                              int64_t fallback, int64_t *value, mo_error *err);
mo_status mo_op_site_attr_ints(const mo_op_site *site, const char *key,
                               int64_t fallback, int64_t *values, int n,
                               mo_error *err);
mo_status mo_op_site_attr_real(const mo_op_site *site, const char *key,
                               double fallback, double *value, mo_error *err);
bool mo_op_site_attr_bool(const mo_op_site *site, const char *key,
                          bool fallback);
/* Returns true when the attribute is this text, without regard to case. */
bool mo_op_site_attr_equals(const mo_op_site *site, const char *key,
                            const char *text);
bool mo_op_site_has_attr(const mo_op_site *site, const char *key);

/* Reads input i, which must be constant, as a list of at most max integers
 * into the caller's array. */
mo_status mo_op_site_const_ints(const mo_op_site *site, int i, int64_t *values,
                                int max, int *count, mo_error *err);
/* The same with exactly n integers. */
mo_status mo_op_site_const_ints_exact(const mo_op_site *site, int i,
                                      int64_t *values, int n, mo_error *err);
/* Reads input i as one constant number. */
mo_status mo_op_site_const_number(const mo_op_site *site, int i, double *value,
                                  mo_error *err);

/* Sets *at to the axis counted from the front of rank dimensions. */
mo_status mo_op_site_normalize_axis(const mo_op_site *site, int64_t axis,
                                    int rank, int *at, mo_error *err);

/* Fail unless the site has min_in to max_in inputs and n_out outputs; unless
 * output i has this shape. */
mo_status mo_op_site_check_arity(const mo_op_site *site, int min_in, int max_in,
                                 int n_out, mo_error *err);
mo_status mo_op_site_check_output(const mo_op_site *site, int i,
                                  const mo_shape *shape, mo_error *err);

/* Fills err with "op 'conv1' (Convolution): ..." and returns status,
 * MO_E_INPUT or MO_E_SUPPORT. */
mo_status mo_op_site_fail(const mo_op_site *site, mo_status status,
                          mo_error *err, const char *format, ...)
    MO_PRINTF(4, 5);

#endif
