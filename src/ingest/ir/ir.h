/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ir.h - a model (OpenVINO's intermediate representation) as its file has it:
 * layers, ports, edges. Readers of other formats build the same.
 */
#ifndef MO_INGEST_IR_IR_H
#define MO_INGEST_IR_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "ingest/input.h"
#include "graph/shape.h"

typedef struct mo_ir_port {
    int id;            /* as the file numbers it */
    mo_shape shape;    /* rank -1: the rank itself is dynamic;
                          a dim of -1: that dimension is dynamic */
    const char *dtype; /* "f32", or NULL when the file does not give it */
    int source_layer;  /* inputs: index of the producing layer, or -1 */
    int source_port;   /* inputs: index into its outputs */
} mo_ir_port;

typedef struct mo_ir_layer {
    int64_t id; /* as the file numbers it */
    const char *name, *type;
    const char *version; /* "opset1" */
    const char *attrs;   /* the attributes of <data> as a JSON object of
                            texts, in file order; NULL when there are none */
    mo_ir_port *inputs, *outputs;
    int n_inputs, n_outputs;
    int64_t offset, size; /* Const: place of its bytes in file; else -1 */
    const char *file; /* of these bytes; NULL: the model's file of weights */
    int line;
} mo_ir_layer;

typedef struct mo_ir {
    const char *name;    /* of the net */
    int version;         /* 10 or 11 */
    mo_ir_layer *layers; /* in file order */
    int n_layers;
    const char *file; /* for errors */
    mo_arena *arena;  /* owns everything here */
} mo_ir;

/* Parse a file or memory; the caller frees *ir with mo_ir_free(). Dynamic
 * dimensions are kept. */
mo_status mo_ir_read(mo_input *input, mo_ir **ir, mo_error *err);
mo_status mo_ir_read_memory(const char *file, const char *data, size_t size,
                            mo_ir **ir, mo_error *err);
void mo_ir_free(mo_ir *ir);

/* Computes a topological order: an array of ir->n_layers indices, which the
 * caller frees with free(). A cycle is an error naming its layers and lines. */
mo_status mo_ir_topo_order(const mo_ir *ir, int **order, mo_error *err);

/* Renames the layers with a name that is empty or shared with another by
 * appending
 * "#" and their id. Afterwards all names are distinct; ir owns them. */
mo_status mo_ir_make_names_unique(mo_ir *ir, mo_error *err);

#endif
