/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder_internal.h - the builder's data, shared by its files: attributes
 * (attributes.c), constants (constant.c), inputs, outputs and the end
 * (builder_ends.c).
 */
#ifndef MO_INGEST_ONNX_BUILDER_INTERNAL_H
#define MO_INGEST_ONNX_BUILDER_INTERNAL_H

#include "base/intern.h"
#include "base/out.h"
#include "ingest/onnx/builder.h"

enum { MO_ONNX_MAX_LITERAL = 1 << 16 }; /* elements evaluated into a literal */

struct mo_onnx_builder {
    mo_ir *ir;
    mo_ir_layer *layers;
    const mo_infer_value **known; /* by layer: of its first output, or NULL */
    size_t n, room, known_room;
    mo_intern *names; /* in use */
    int *uses;        /* by name: the number of the last one like it */
    size_t uses_room;
    mo_intern *ends;     /* names of inputs and outputs of the model */
    mo_intern *literals; /* texts of literal constants */
    int *literal_layers;
    size_t literals_room;
    const char *title;
    mo_out *attrs; /* of the next layer */
    int n_attrs;
    mo_out *text; /* of a literal */
    int64_t items_left;
    mo_error error;
};

/* Returns name, or name#2, name#3, ... where it is taken; NULL without
 * memory. The builder owns it. */
const char *mo_onnx_unique_name(mo_onnx_builder *b, const char *name);

/* Appends a layer with n_outputs outputs, to be filled in by the caller;
 * returns its index, or -1 after a failure. name is NULL after one, too. */
int mo_onnx_append_layer(mo_onnx_builder *b, const char *type, const char *name,
                         const mo_onnx_ref *inputs, int n, int n_outputs);

/* Takes the attributes that were set, as JSON; NULL: none, or no memory. */
const char *mo_onnx_take_attributes(mo_onnx_builder *b);

#endif
