/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infer_case.h - small models with dynamic shapes, built from ir_text.h.
 */
#ifndef MO_TESTS_INGEST_INFER_CASE_H
#define MO_TESTS_INGEST_INFER_CASE_H

#include "base/error.h"
#include "ingest/ir/ir.h"
#include "tests/ingest/ir_text.h"

#define ANY           "<dim>-1</dim>"
#define F32(id, dims) PORT(id, "FP32", dims)
#define I64(id, dims) PORT(id, "I64", dims)

/* x of shape ?,3 and what is made of it. */
#define X                                                                      \
    LAYER(0, "x", "Parameter",                                                 \
          DATA("shape=\"?,3\" element_type=\"f32\"")                           \
              OUTPUTS(F32(0, ANY DIM(3))))
#define RELU_X(id, name)                                                       \
    LAYER(id, name, "ReLU",                                                    \
          INPUTS(F32(0, ANY DIM(3))) OUTPUTS(F32(1, ANY DIM(3))))

/* A list of integers at a place of the .bin. */
#define LIST(id, name, count, offset, size)                                    \
    LAYER(id, name, "Const",                                                   \
          DATA("element_type=\"i64\" shape=\"" #count "\" offset=\"" #offset   \
               "\" size=\"" #size "\"") OUTPUTS(I64(0, DIM(count))))
#define NUMBER(id, name, offset)                                               \
    LAYER(id, name, "Const",                                                   \
          DATA("element_type=\"i64\" shape=\"\" offset=\"" #offset             \
               "\" size=\"8\"") OUTPUTS(I64(0, "")))

/* Parses text as the file "m.xml"; the caller frees the model with
 * mo_ir_free(). */
mo_ir *infer_ir(const char *text);

/* Writes m.bin: the numbers 0, 1, 2, 3, -1 as int64. */
void infer_write_bin(void);

/* mo_infer_shapes() with n shapes and nothing else. */
mo_status infer_with(mo_ir *ir, const char *bin, const char *const *shapes,
                     size_t n, mo_error *err);

/* x -> ReLU -> a result. */
extern const char infer_chain[];

/* x (?,3) -> reshaped to (x's second size, -1): the pattern is computed by
 * ShapeOf, Gather and Concat, with an axis, an index and a -1 from the .bin. */
extern const char infer_flattened[];

#endif
