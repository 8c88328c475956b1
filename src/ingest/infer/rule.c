/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"
#include "ingest/infer/rule.h"
#include "ingest/infer/rule_fns.h"
#include "ingest/operator_id.h"

#define IN(k)     MO_INFER_RULE_INPUT(k)
#define ALL       MO_INFER_RULE_ALL
#define MAX_PARTS (1 << 16)
#define MAX_TERMS 64
#define MAX_PORTS 64 /* of an operator whose shapes depend on data */

/* Words of the column SHAPE. */
#define SHAPE_NONE .shapes = NULL
#define SHAPE_RULE(f, min, max)                                                \
    .inputs = { min, max }, .shapes = mo_infer_shape_##f
#define SHAPE_RULE_WITH(f, min, max, ...) SHAPE_RULE(f, min, max), __VA_ARGS__
#define SHAPE_SAME(min, max)              SHAPE_RULE(same, min, max)
#define SHAPE_BROADCAST                   SHAPE_RULE(broadcast_binary, 2, 2)
#define SHAPE_REDUCE                      SHAPE_RULE(reduce, 2, 2), .needs = IN(1)
#define SHAPE_RESHAPE(f, min, max)        SHAPE_RULE(f, min, max), .needs = IN(1)
#define SHAPE_SLICE(min, max)             SHAPE_RULE(slice, min, max), .needs = ALL & ~IN(0)
#define SHAPE_BLOCKS(f)                   SHAPE_RULE(f, 4, 4), .needs = IN(1) | IN(2) | IN(3)
#define SHAPE_FOURIER(f)                  SHAPE_RULE(f, 2, 3), .needs = IN(1) | IN(2)
#define SHAPE_CELL(min, max, states)                                           \
    SHAPE_RULE(rnn_cell, min, max), .outputs = { 1, states }
#define SHAPE_SEQUENCE(min, max, states)                                       \
    SHAPE_RULE(rnn_sequence, min, max), .outputs = { 1, 1 + (states) }
#define SHAPE_ONNX_RNN(max, states)                                            \
    SHAPE_RULE(onnx_rnn, 3, max), .outputs = { 1, 1 + (states) }
#define SHAPE_FROM_DATA                                                        \
    SHAPE_RULE(from_data, 0, MAX_PORTS), .outputs = { 1, MAX_PORTS }

/* Words of the column VALUE. */
#define VALUE_NONE                .value = NULL
#define VALUE_EVAL(f, inputs)     .value = mo_infer_eval_##f, .reads = inputs
#define VALUE_UNARY(ints, reals)  VALUE_EVAL(unary, ALL)
#define VALUE_BINARY(ints, reals) VALUE_EVAL(binary, ALL)
#define VALUE_COMPARE(relations)  VALUE_EVAL(compare, ALL)
#define VALUE_REDUCE(ints, reals) VALUE_EVAL(reduce, IN(0))

/* The operators by mo_operator_id, then the other types. */
static const mo_infer_rule rules[] = {
#define OPERATOR(name, class, flops, shape, value, lowering)                   \
    { .type = #name, SHAPE_##shape, VALUE_##value },
#define SHAPE_TYPE(name, shape) { .type = #name, SHAPE_##shape },
#include "ingest/operators.def"
};

enum { N_RULES = sizeof rules / sizeof *rules };

const mo_infer_rule *mo_infer_rule_find(const char *type)
{
    mo_operator_id id = mo_operator_id_of(type);

    if (id != MO_OPERATOR_NO)
        return rules[id].shapes ? &rules[id] : NULL;
    for (int i = MO_OPERATORS; i < N_RULES; i++)
        if (strcmp(rules[i].type, type) == 0)
            return &rules[i];
    return NULL;
}

const mo_infer_rule *mo_infer_rule_at(int index)
{
    for (int i = 0; i < N_RULES; i++)
        if (rules[i].shapes && index-- == 0)
            return &rules[i];
    return NULL;
}

bool mo_infer_rule_set_has(unsigned set, int input)
{
    return set == MO_INFER_RULE_ALL || (input < 32 && set >> input & 1);
}

static mo_status check_count(mo_infer_rule_arity allowed, int count,
                             const char *what, mo_error *err)
{
    if (count >= allowed.min && count <= allowed.max)
        return MO_OK;
    if (allowed.min == allowed.max)
        return mo_fail(err, MO_E_INPUT, "has %d %s, not %d", count, what,
                       allowed.min);
    if (count < allowed.min)
        return mo_fail(err, MO_E_INPUT, "has %d %s, at least %d are needed",
                       count, what, allowed.min);
    return mo_fail(err, MO_E_INPUT, "has %d %s, at most %d are known", count,
                   what, allowed.max);
}

static mo_status check_output(const mo_shape *shape, mo_error *err)
{
    if (shape->rank > MO_MAX_RANK)
        return mo_fail(err, MO_E_LIMIT,
                       "its output has more than %d dimensions", MO_MAX_RANK);
    for (int d = 0; d < shape->rank; d++)
        if (shape->dims[d] < 0)
            return mo_fail(err, MO_E_INPUT,
                           "its output would have %lld elements along "
                           "dimension %d",
                           (long long) shape->dims[d], d);
    if (!mo_shape_fits(shape))
        return mo_fail(err, MO_E_LIMIT, "its output (%s) is too large",
                       mo_dims_format(shape).text);
    return MO_OK;
}

mo_status mo_infer_rule_apply(const mo_infer_rule *rule,
                              const mo_infer_rule_op *op, mo_shape *outputs,
                              mo_error *err)
{
    mo_infer_rule_arity one = { 1, 1 };
    mo_status status;

    status = check_count(rule->inputs, op->n_inputs, "inputs", err);
    if (status == MO_OK)
        status = check_count(rule->outputs.max ? rule->outputs : one,
                             op->n_outputs, "outputs", err);
    if (status == MO_OK)
        status = rule->shapes(op, outputs, err);
    for (int i = 0; status == MO_OK && i < op->n_outputs; i++)
        status = check_output(&outputs[i], err);
    return status;
}
