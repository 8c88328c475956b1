/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_case.h - an operator and its inputs in one line of text each.
 *
 *     attributes  "strides=2,2 auto_pad=valid"
 *     inputs      "1,3,9,9 ; =0,-1 ; #5 ; 2x3=1,2,3,4,5,6 ; ~0.5,2"
 *
 * An input is a shape, or a value: '=' before integers and '~' before floats,
 * with the shape in front when it is not a list; '#' before a single integer.
 * "()" is the shape of a scalar.
 */
#ifndef MO_TESTS_INGEST_RULE_CASE_H
#define MO_TESTS_INGEST_RULE_CASE_H

#include "ingest/infer/rule.h"

enum { RULE_CASE_PORTS = 12 };

typedef struct rule_case {
    mo_infer_rule_op op;
    mo_arena *arena;
    mo_infer_rule_input inputs[RULE_CASE_PORTS];
    mo_shape outputs[RULE_CASE_PORTS];
} rule_case;

/* Makes *c; the test fails when a text is wrong. */
void rule_case_make(rule_case *c, const char *type, const char *version,
                    const char *attributes, const char *inputs, int n_outputs);
void rule_case_free(rule_case *c);

/* Returns "1,2 ; 3": the output shapes, or the items of a value, in a static
 * buffer that is valid until the next call. */
const char *rule_case_shapes(const rule_case *c);
const char *rule_case_items(const mo_infer_value *value);

#endif
