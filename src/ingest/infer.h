/*
 * infer.h - static shapes for a model that was exported with dynamic ones.
 *
 * The user names the inputs (--shape input=1,128); every layer's output shape
 * follows from its inputs' by the operator's rule.  Shape arithmetic (ShapeOf,
 * Gather, Concat, ...) is evaluated on the way; the few constants it needs are
 * read from the model's .bin.
 */
#ifndef MO_INGEST_INFER_H
#define MO_INGEST_INFER_H

#include <stddef.h>

#include "base/error.h"
#include "ingest/ir.h"

/* Gives every dynamic dimension of ir a size.  A model without any is left
 * alone unless shapes are given, which then re-shape it.  bin_path is where the
 * constants stand (may not exist: an error only when it is needed).
 *
 * Errors: an input left dynamic (names the layer and the option to give), a
 * name that is no input (lists the inputs), a shape that contradicts the static
 * dimensions of the input or an operator, an operator without a rule. */
mo_status mo_infer_shapes(mo_ir *ir, const char *bin_path,
                          const char *const *shapes, size_t n_shapes,
                          mo_error *err);

#endif
