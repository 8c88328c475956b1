/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infer.h - shape inference: static shapes for a model with dynamic ones.
 *
 * The user gives the inputs' shapes (--shape input=1,128); every layer's
 * output shape follows from its inputs' by the operator's rule (infer/rule.h).
 * Shape arithmetic (ShapeOf, Gather, Concat, ...) is evaluated on the way; the
 * few constants it needs are read from the model's .bin.
 */
#ifndef MO_INGEST_INFER_INFER_H
#define MO_INGEST_INFER_INFER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "ingest/ir/ir.h"
#include "ingest/read.h"

/*
 * Sets every dynamic dimension of ir. A model without any is left alone unless
 * options are given. Shapes re-shape it: a given size overrides the file's.
 * Inputs with a value become constants.
 *
 * Shapes are "NAME=DIMS", NAME being an input's name or its place, counted
 * from 0; or "DIMS" alone when there is one input. Values are "NAME=NUMBERS" or
 * "NUMBERS" (value_text.h). bin_path is the file of the
 * constants; it may be NULL or not exist, which is an error only when a
 * constant is needed. A layer without a rule, or whose rule lacks a value (an
 * unknown operator, a constant out of reach), keeps the shapes of the file, if
 * they are static and no layer before it was re-shaped.
 *
 * Errors: an input left dynamic (names it and the option to give), a name that
 * is no input (lists the inputs), a shape with another rank than the input's
 * or that an operator contradicts (names the layer and the shapes), an
 * operator without a rule. After an error ir is incomplete: the caller frees
 * it.
 */
mo_status mo_infer_shapes(mo_ir *ir, const char *bin_path,
                          const mo_read_options *options, mo_error *err);

/* input_shapes.c: sets the shapes of the Parameters of ir from the shapes and
 * values of the options, by the same rules. A Parameter with a value becomes a
 * Const with a literal (value_text.h). changed, an array by layer that the
 * caller owns, is set for each that had another size before.
 *
 * Errors: a name that is no input, an input named twice, dims that are not
 * sizes or do not have the input's rank, a value that does not fit, an input
 * left dynamic. */
mo_status mo_infer_set_inputs(mo_ir *ir, const mo_read_options *options,
                              bool *changed, mo_error *err);

#endif
