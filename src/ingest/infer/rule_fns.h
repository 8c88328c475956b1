/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_fns.h - prototypes of the functions that rows of operators.def name:
 * mo_infer_shape_<f> in their column SHAPE, mo_infer_eval_<f> in VALUE.
 */
#ifndef MO_INGEST_INFER_RULE_FNS_H
#define MO_INGEST_INFER_RULE_FNS_H

#include "ingest/infer/rule.h"

/* Of the words that stand for one function. */
mo_infer_rule_shapes_fn mo_infer_shape_same;
mo_infer_rule_shapes_fn mo_infer_shape_broadcast_binary;
mo_infer_rule_shapes_fn mo_infer_shape_reduce;
mo_infer_rule_shapes_fn mo_infer_shape_slice;
mo_infer_rule_shapes_fn mo_infer_shape_rnn_cell;
mo_infer_rule_shapes_fn mo_infer_shape_rnn_sequence;
mo_infer_rule_shapes_fn mo_infer_shape_onnx_rnn;
mo_infer_rule_shapes_fn mo_infer_shape_from_data;
mo_infer_rule_value_fn mo_infer_eval_unary;
mo_infer_rule_value_fn mo_infer_eval_binary;
mo_infer_rule_value_fn mo_infer_eval_compare;
mo_infer_rule_value_fn mo_infer_eval_reduce;

/* Of those that name it. */
#define DECLARE_SHAPE(f) mo_infer_rule_shapes_fn mo_infer_shape_##f;
#define DECLARE_SHAPE_NONE
#define DECLARE_SHAPE_SAME(min, max)
#define DECLARE_SHAPE_BROADCAST
#define DECLARE_SHAPE_REDUCE
#define DECLARE_SHAPE_SLICE(min, max)
#define DECLARE_SHAPE_CELL(min, max, states)
#define DECLARE_SHAPE_SEQUENCE(min, max, states)
#define DECLARE_SHAPE_ONNX_RNN(max, states)
#define DECLARE_SHAPE_FROM_DATA
#define DECLARE_SHAPE_RESHAPE(f, min, max) DECLARE_SHAPE(f)
#define DECLARE_SHAPE_BLOCKS(f)            DECLARE_SHAPE(f)
#define DECLARE_SHAPE_FOURIER(f)           DECLARE_SHAPE(f)
#define DECLARE_SHAPE_RULE(f, min, max)    DECLARE_SHAPE(f)
#define DECLARE_SHAPE_RULE_WITH(f, ...)    DECLARE_SHAPE(f)

#define DECLARE_VALUE_NONE
#define DECLARE_VALUE_UNARY(on_ints, on_reals)
#define DECLARE_VALUE_BINARY(on_ints, on_reals)
#define DECLARE_VALUE_REDUCE(on_ints, on_reals)
#define DECLARE_VALUE_COMPARE(relations)
#define DECLARE_VALUE_EVAL(f, inputs) mo_infer_rule_value_fn mo_infer_eval_##f;

#define OPERATOR(name, class, flops, shape, value, lowering)                   \
    DECLARE_SHAPE_##shape DECLARE_VALUE_##value
#define SHAPE_TYPE(name, shape) DECLARE_SHAPE_##shape
#include "ingest/operators.def"

#endif
