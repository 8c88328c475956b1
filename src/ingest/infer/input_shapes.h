/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_shapes.h - shapes that the user gives for a model's inputs.
 */
#ifndef MO_INGEST_INFER_INPUT_SHAPES_H
#define MO_INGEST_INFER_INPUT_SHAPES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "ingest/ir/ir.h"

/* Sets the shapes of the Parameters of ir from "NAME=DIMS", or "DIMS" when
 * there is one input only; NAME may also be an input's place, counted from 0.
 * changed, an array by layer that the caller owns, is set for each Parameter
 * that had another size before.
 *
 * Errors: a name that is no input, an input named twice, dims that are not
 * sizes or do not have the input's rank, an input left dynamic. */
mo_status mo_infer_set_input_shapes(mo_ir *ir, const char *const *shapes,
                                    size_t n_shapes, bool *changed,
                                    mo_error *err);

#endif
