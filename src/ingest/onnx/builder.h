/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.h - builds the intermediate representation (ingest/ir) of an ONNX
 * model, layer by layer in topological order.
 *
 * Every shape is static and inferred as soon as a layer is added, by the rules
 * of ingest/infer; small integer tensors are evaluated at once (constant
 * folding), so that a translator of an operator has the values of axes, sizes
 * and shapes.
 *
 * The first failure is kept in the builder, and all later calls do nothing: a
 * translator checks nothing but results it branches on. References are valid
 * after a failure as well: they refer to no layer, whose shape is that of a
 * scalar.
 */
#ifndef MO_INGEST_ONNX_BUILDER_H
#define MO_INGEST_ONNX_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "graph/shape.h"
#include "ingest/infer/infer_value.h"
#include "ingest/ir/ir.h"

typedef struct mo_onnx_builder mo_onnx_builder;

/* An output of a layer. layer -1: none, an absent input. */
typedef struct mo_onnx_ref {
    int layer, port;
} mo_onnx_ref;

#define MO_ONNX_NONE ((mo_onnx_ref){ -1, 0 })

/* An array of them, as an argument. */
#define MO_ONNX_REFS(...) ((const mo_onnx_ref[]){ __VA_ARGS__ })

/* Bytes of a constant in a file. */
typedef struct mo_onnx_location {
    const char *file; /* NULL: the model's own */
    int64_t offset, size;
} mo_onnx_location;

/* Returns a builder of a model in file, which the caller frees with
 * mo_onnx_builder_free(); NULL without memory. */
mo_onnx_builder *mo_onnx_builder_new(const char *file);
void mo_onnx_builder_free(mo_onnx_builder *b);

/* Moves the layers that a result depends on, and all inputs, into *ir, which
 * the caller frees with mo_ir_free(). */
mo_status mo_onnx_builder_finish(mo_onnx_builder *b, const char *name,
                                 mo_ir **ir, mo_error *err);

/* Memory that lives as long as the builder. */
mo_arena *mo_onnx_builder_arena(mo_onnx_builder *b);

/* The first failure: its status, and its text without a place. Clearing it
 * lets the builder go on. */
mo_status mo_onnx_builder_status(const mo_onnx_builder *b);
const char *mo_onnx_builder_why(const mo_onnx_builder *b);
void mo_onnx_builder_clear(mo_onnx_builder *b);

/* Records a failure: MO_E_SUPPORT, the operator cannot be translated;
 * MO_E_INPUT, the model is wrong. Returns MO_ONNX_NONE. */
mo_onnx_ref mo_onnx_refuse(mo_onnx_builder *b, const char *format, ...)
    MO_PRINTF(2, 3);
mo_onnx_ref mo_onnx_wrong(mo_onnx_builder *b, const char *format, ...)
    MO_PRINTF(2, 3);
mo_onnx_ref mo_onnx_fail_memory(mo_onnx_builder *b);

/* Layers added from here on are named after this node. */
void mo_onnx_set_title(mo_onnx_builder *b, const char *title);
/* Reserves the names of inputs and outputs. */
void mo_onnx_reserve(mo_onnx_builder *b, const char *name);

bool mo_onnx_is(mo_onnx_ref ref); /* not MO_ONNX_NONE */
const mo_shape *mo_onnx_shape(const mo_onnx_builder *b, mo_onnx_ref ref);
const char *mo_onnx_dtype(const mo_onnx_builder *b, mo_onnx_ref ref);
bool mo_onnx_is_real(const mo_onnx_builder *b, mo_onnx_ref ref);
/* The elements of a small constant; NULL when they are not known. */
const mo_infer_value *mo_onnx_known(const mo_onnx_builder *b, mo_onnx_ref ref);

/* Attributes of the next layer. */
void mo_onnx_set_int(mo_onnx_builder *b, const char *key, int64_t value);
void mo_onnx_set_ints(mo_onnx_builder *b, const char *key,
                      const int64_t *values, int n);
void mo_onnx_set_real(mo_onnx_builder *b, const char *key, double value);
void mo_onnx_set_reals(mo_onnx_builder *b, const char *key,
                       const double *values, int n);
void mo_onnx_set_texts(mo_onnx_builder *b, const char *key,
                       const char *const *values, int n);
void mo_onnx_set_bool(mo_onnx_builder *b, const char *key, bool value);
void mo_onnx_set_text(mo_onnx_builder *b, const char *key, const char *value);

/* Adds a layer; its output has the shape that the operator's rule gives, and
 * the type dtype, or that of the first input if dtype is NULL. */
mo_onnx_ref mo_onnx_add(mo_onnx_builder *b, const char *type,
                        const mo_onnx_ref *inputs, int n, const char *dtype);
/* The same with n_outputs outputs, the first of which is returned; the others
 * have type other. */
mo_onnx_ref mo_onnx_add_outputs(mo_onnx_builder *b, const char *type,
                                const mo_onnx_ref *inputs, int n, int n_outputs,
                                const char *dtype, const char *other);
/* The same with one output of a given shape, or with several. */
mo_onnx_ref mo_onnx_add_shaped(mo_onnx_builder *b, const char *type,
                               const mo_onnx_ref *inputs, int n,
                               const mo_shape *shape, const char *dtype);
mo_onnx_ref mo_onnx_add_all_shaped(mo_onnx_builder *b, const char *type,
                                   const mo_onnx_ref *inputs, int n,
                                   const mo_shape *shapes,
                                   const char *const *dtypes, int n_outputs);

/* Inputs and outputs of the model, by reserved names. */
mo_onnx_ref mo_onnx_parameter(mo_onnx_builder *b, const char *name,
                              const mo_shape *shape, const char *dtype);
void mo_onnx_result(mo_onnx_builder *b, const char *name, mo_onnx_ref value);

/* Constants: in a file, with the elements of value if they are known; or
 * literal. Equal literals are one layer. */
mo_onnx_ref mo_onnx_stored(mo_onnx_builder *b, const char *name,
                           const mo_onnx_location *where, const mo_shape *shape,
                           const char *dtype, const mo_infer_value *value);
mo_onnx_ref mo_onnx_literal(mo_onnx_builder *b, const mo_infer_value *value);
mo_onnx_ref mo_onnx_ints(mo_onnx_builder *b, const int64_t *values, int n);
mo_onnx_ref mo_onnx_int(mo_onnx_builder *b, int64_t value); /* a scalar */
mo_onnx_ref mo_onnx_number(mo_onnx_builder *b, double value, const char *dtype);
/* A tensor of numbers of any type; reals are rounded to it. */
mo_onnx_ref mo_onnx_numbers(mo_onnx_builder *b, const double *values,
                            const mo_shape *shape, const char *dtype);
/* The constant with another shape of as many elements: nothing is copied. */
mo_onnx_ref mo_onnx_constant_view(mo_onnx_builder *b, mo_onnx_ref constant,
                                  const mo_shape *shape);
bool mo_onnx_is_constant(const mo_onnx_builder *b, mo_onnx_ref ref);

#endif
