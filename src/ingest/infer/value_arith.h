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

mo_rule_value mo_arith_unary; /* Abs, Floor, ... */
mo_rule_value mo_arith_convert;
mo_rule_value mo_arith_binary;  /* Add, FloorMod, ... */
mo_rule_value mo_arith_reduce;  /* ReduceProd, ReduceSum, ... */
mo_rule_value mo_arith_compare; /* Equal, Less, ... */
mo_rule_value mo_arith_select;

/* Do the first n inputs make up the shape of value as numpy broadcasts?  (Any
 * other way is too rare among shapes to be followed.) */
mo_status mo_arith_check(const mo_rule_op *op, int n, const mo_value *value,
                         mo_error *err);

/* What of from goes into the i-th item of to. */
mo_item mo_arith_item(const mo_value *from, const mo_value *to, int64_t i);

mo_status mo_arith_fail_mixed(mo_error *err);

#endif
