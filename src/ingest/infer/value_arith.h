/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arith.h - arithmetic on the values of shape subgraphs.
 *
 * Each function serves a family of operators and tells them apart by their
 * type.  Where an operator has no result (a division by zero, an overflow), the
 * error says so.
 */
#ifndef MO_INGEST_INFER_VALUE_ARITH_H
#define MO_INGEST_INFER_VALUE_ARITH_H

#include "ingest/infer/rule.h"

mo_infer_rule_value_fn mo_infer_arith_unary; /* Abs, Floor, ... */
mo_infer_rule_value_fn mo_infer_arith_convert;
mo_infer_rule_value_fn mo_infer_arith_binary;  /* Add, FloorMod, ... */
mo_infer_rule_value_fn mo_infer_arith_reduce;  /* ReduceProd, ReduceSum, ... */
mo_infer_rule_value_fn mo_infer_arith_compare; /* Equal, Less, ... */
mo_infer_rule_value_fn mo_infer_arith_select;

/* Do the first n inputs make up the shape of value as numpy broadcasts?  (Any
 * other way is too rare among shapes to be followed.) */
mo_status mo_infer_arith_check(const mo_infer_rule_op *op, int n,
                               const mo_infer_value *value, mo_error *err);

/* What of from goes into the i-th item of to. */
mo_infer_scalar mo_infer_arith_item(const mo_infer_value *from,
                                    const mo_infer_value *to, int64_t i);

mo_status mo_infer_arith_fail_mixed(mo_error *err);

#endif
