/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_shapes.h - shapes and values that the user gives for a model's inputs.
 */
#ifndef MO_INGEST_INFER_INPUT_SHAPES_H
#define MO_INGEST_INFER_INPUT_SHAPES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "ingest/ir/ir.h"
#include "ingest/read.h"

/* Sets the shapes of the Parameters of ir from "NAME=DIMS", or "DIMS" when
 * there is one input only; NAME may also be an input's place, counted from 0.
 * Those with a value become a Const with a literal (value_text.h). changed, an
 * array by layer that the caller owns, is set for each that had another size
 * before.
 *
 * Errors: a name that is no input, an input named twice, dims that are not
 * sizes or do not have the input's rank, a value that does not fit, an input
 * left dynamic. */
mo_status mo_infer_set_inputs(mo_ir *ir, const mo_read_options *options,
                              bool *changed, mo_error *err);

#endif
