/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - an ONNX model as its file has it: graphs, nodes, attributes,
 * tensors.
 *
 * Large tensors are not read: a tensor has the place of its bytes in the file.
 * Texts are "" where the file has none. One arena, which the caller of
 * mo_onnx_decode() owns, holds everything.
 */
#ifndef MO_INGEST_ONNX_MODEL_H
#define MO_INGEST_ONNX_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "graph/shape.h"
#include "ingest/input.h"

/* Types of elements by their numbers in ONNX. */
enum {
    MO_ONNX_FLOAT = 1,
    MO_ONNX_UINT8 = 2,
    MO_ONNX_INT8 = 3,
    MO_ONNX_INT64 = 7,
    MO_ONNX_STRING = 8,
    MO_ONNX_BOOL = 9,
    MO_ONNX_FLOAT16 = 10,
    MO_ONNX_DOUBLE = 11,
    MO_ONNX_BFLOAT16 = 16
};

typedef struct mo_onnx_tensor {
    const char *name;
    int type;
    mo_shape shape;
    int64_t offset, size; /* of the bytes in the model's file; -1: elsewhere */
    const unsigned char *bytes; /* these bytes, if they are few; else NULL */
    const char *external;       /* name of the file with the bytes, or NULL */
    int64_t external_offset, external_size; /* size -1: up to its end */
    const int64_t *ints;                    /* typed elements */
    const double *reals;
    size_t n_ints, n_reals;
} mo_onnx_tensor;

typedef struct mo_onnx_graph mo_onnx_graph;

/* Types of attributes by their numbers in ONNX. */
enum {
    MO_ONNX_ATTR_FLOAT = 1,
    MO_ONNX_ATTR_INT = 2,
    MO_ONNX_ATTR_STRING = 3,
    MO_ONNX_ATTR_INTS = 7
};

typedef struct mo_onnx_attribute {
    const char *name;
    int type;              /* 0: not given */
    const char *reference; /* attribute of the calling node, or "" */
    double f;
    int64_t i;
    const char *s; /* NULL: none */
    const mo_onnx_tensor *t;
    const mo_onnx_graph *g;
    const double *floats;
    const int64_t *ints;
    const char **strings;
    size_t n_floats, n_ints, n_strings;
} mo_onnx_attribute;

typedef struct mo_onnx_node {
    const char *name, *op_type, *domain;
    const char **inputs, **outputs; /* "": absent */
    mo_onnx_attribute *attributes;
    size_t n_inputs, n_outputs, n_attributes;
} mo_onnx_node;

/* A tensor by name: an input, an output, or a result in between. */
typedef struct mo_onnx_info {
    const char *name;
    bool is_tensor;
    int type;               /* of elements; 0: not given */
    mo_shape shape;         /* rank -1: not given; dims of -1: dynamic */
    const char **dim_names; /* by dimension, NULL: none; or NULL */
} mo_onnx_info;

struct mo_onnx_graph {
    const char *name;
    mo_onnx_node *nodes;
    mo_onnx_tensor *initializers;
    mo_onnx_info *inputs, *outputs, *infos;
    size_t n_nodes, n_initializers, n_inputs, n_outputs, n_infos;
    bool is_sparse; /* it has sparse weights */
};

typedef struct mo_onnx_opset {
    const char *domain;
    int64_t version;
} mo_onnx_opset;

typedef struct mo_onnx_function {
    const char *name, *domain;
    const char **inputs, **outputs;
    mo_onnx_node *nodes;
    mo_onnx_opset *opsets;
    mo_onnx_attribute *defaults;
    size_t n_inputs, n_outputs, n_nodes, n_opsets, n_defaults;
} mo_onnx_function;

typedef struct mo_onnx_model {
    int64_t ir_version;
    const mo_onnx_graph *graph; /* NULL: there is none */
    mo_onnx_opset *opsets;
    mo_onnx_function *functions;
    size_t n_opsets, n_functions;
    size_t n_nodes; /* of all graphs and functions */
} mo_onnx_model;

/*
 * Decodes all of input into *model, in memory of arena. Sizes of the file are
 * checked before anything is allocated for them. MO_E_SUPPORT: this build has
 * no decoder; MO_E_SYNTAX: the file is damaged or no ONNX model; MO_E_LIMIT:
 * graphs nested too deep, texts or typed lists too long.
 */
mo_status mo_onnx_decode(mo_input *input, mo_arena *arena, mo_onnx_model *model,
                         mo_error *err);

#endif
