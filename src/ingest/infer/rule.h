/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule.h - shape rules: output shapes of an operator from its input shapes.
 *
 * One rule for each operator type (column SHAPE of operators.def), with
 * OpenVINO's names and semantics. A rule reads the operator's type, opset and
 * attributes, the shapes of its inputs and the input values that are known; it
 * computes the output shapes. It does not depend on files and graphs.
 *
 * Rules of operators that compute with shapes (ShapeOf, Gather, Concat, ...)
 * also evaluate small tensors (column VALUE).
 *
 * All rules are pure functions and may be called from any thread.
 */
#ifndef MO_INGEST_INFER_RULE_H
#define MO_INGEST_INFER_RULE_H

#include "base/error.h"
#include "graph/op_attrs.h"
#include "ingest/infer/infer_value.h"
#include "graph/shape.h"

typedef struct mo_infer_rule_input {
    mo_shape shape; /* static */
    const mo_infer_value
        *value;          /* borrowed; NULL when it is not known, and then */
    const char *unknown; /* why: "it depends on ..." */
} mo_infer_rule_input;

typedef struct mo_infer_rule_op {
    const char *type;          /* "Convolution" */
    const char *version;       /* "opset1", or NULL: the newest */
    const mo_attr_list *attrs; /* or NULL */
    const mo_infer_rule_input *inputs;
    int n_inputs, n_outputs;
} mo_infer_rule_op;

/* Fills outputs, a buffer of op->n_outputs shapes. The error's text describes
 * what is wrong; the caller adds the op's name and place. MO_E_SUPPORT: the
 * shapes may be valid, but cannot be derived (a value is not known, or the
 * size depends on the data). */
typedef mo_status mo_infer_rule_shapes_fn(const mo_infer_rule_op *op,
                                          mo_shape *outputs, mo_error *err);

/* Fills the items of one output, whose shape and element type are set in
 * *value already. The caller ensures that the values of all inputs in needs
 * and reads are known, and that the shape came from this rule. */
typedef mo_status mo_infer_rule_value_fn(const mo_infer_rule_op *op, int output,
                                         mo_infer_value *value, mo_error *err);

typedef struct mo_infer_rule_arity {
    int min, max;
} mo_infer_rule_arity;

/* Sets of inputs: bit k is input k, MO_INFER_RULE_ALL is every one. */
#define MO_INFER_RULE_INPUT(k) (1u << (k))
#define MO_INFER_RULE_ALL      (~0u)

typedef struct mo_infer_rule {
    const char *type;
    mo_infer_rule_arity inputs, outputs; /* outputs of 0, 0: exactly one */
    mo_infer_rule_shapes_fn *shapes;
    unsigned needs;                /* input values that shapes reads */
    mo_infer_rule_value_fn *value; /* NULL: never evaluated */
    unsigned reads;                /* input values that value reads */
} mo_infer_rule;

/* Returns the rule of a type, in that case; NULL when there is none. */
const mo_infer_rule *mo_infer_rule_find(const char *type);

/* Returns rule number index, in the order of operators.def; NULL behind the
 * last: for tests and manuals. */
const mo_infer_rule *mo_infer_rule_at(int index);

bool mo_infer_rule_set_has(unsigned set, int input);

/* Calls rule->shapes; checks the numbers of inputs and outputs before, and the
 * outputs after it: no rank above MO_MAX_RANK, no negative dimension, at most
 * MO_MAX_ELEMENTS elements. */
mo_status mo_infer_rule_apply(const mo_infer_rule *rule,
                              const mo_infer_rule_op *op, mo_shape *outputs,
                              mo_error *err);

#endif
