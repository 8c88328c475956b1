/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule.h - what an operator makes of the shapes that come in.
 *
 * One table, operator type -> rule, with OpenVINO's names and semantics.  A
 * rule sees the operator's type, opset and attributes, the shapes of its inputs
 * and such input values as are known; it gives the output shapes.  It knows
 * nothing of files and graphs: whoever has shapes and attributes can ask it.
 *
 * Some operators also compute with shapes (ShapeOf, Gather, Concat, ...); their
 * rules evaluate small tensors, too.
 */
#ifndef MO_INGEST_INFER_RULE_H
#define MO_INGEST_INFER_RULE_H

#include "base/error.h"
#include "ingest/infer/infer_value.h"
#include "graph/shape.h"

typedef struct mo_infer_rule_input {
    mo_shape shape;              /* static */
    const mo_infer_value *value; /* NULL when it is not known, and then */
    const char *unknown;         /* why: "it depends on ..." */
} mo_infer_rule_input;

typedef struct mo_infer_rule_op {
    const char *type;    /* "Convolution" */
    const char *version; /* "opset1", or NULL: the newest */
    const char *attrs;   /* JSON object, or NULL */
    const mo_infer_rule_input *inputs;
    int n_inputs, n_outputs;
} mo_infer_rule_op;

/* Fills op->n_outputs shapes.  The error says what is wrong and leaves it to
 * the caller to say where.  MO_E_SUPPORT: the shapes may be fine, but cannot be
 * told (a value is not known, or the size depends on the data). */
typedef mo_status mo_infer_rule_shapes_fn(const mo_infer_rule_op *op,
                                          mo_shape *outputs, mo_error *err);

/* Fills the items of one output, whose shape and element type stand in *value
 * already.  The values of all inputs in needs and reads are known, and the
 * shape came from this rule. */
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
    unsigned needs;                /* inputs whose values shapes looks at */
    mo_infer_rule_value_fn *value; /* NULL: never evaluated */
    unsigned reads;                /* inputs whose values value looks at */
} mo_infer_rule;

/* NULL when there is no rule for the type. */
const mo_infer_rule *mo_infer_rule_find(const char *type);

/* The index-th of the table, NULL behind its end: for tests and manuals. */
const mo_infer_rule *mo_infer_rule_at(int index);

bool mo_infer_rule_set_has(unsigned set, int input);

/* rule->shapes, with the numbers of inputs and outputs checked before and the
 * outputs after it: no rank above MO_MAX_RANK, no negative dimension, nothing
 * with more than MO_MAX_ELEMENTS. */
mo_status mo_infer_rule_apply(const mo_infer_rule *rule,
                              const mo_infer_rule_op *op, mo_shape *outputs,
                              mo_error *err);

#endif
