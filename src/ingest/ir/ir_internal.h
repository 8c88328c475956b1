/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ir_internal.h - steps of the parser of OpenVINO IR: validation and completion
 * of a layer (layer_check.c), resolution of edges (edge_resolve.c).
 */
#ifndef MO_INGEST_IR_IR_INTERNAL_H
#define MO_INGEST_IR_IR_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ingest/ir/ir.h"

/* layer_check.c */

/* Sets *dtype to the type of a name; NULL for "dynamic", "undefined" and
 * "unspecified".  An unknown name is an error. */
mo_status mo_ir_read_dtype(const mo_ir *ir, const char *name, size_t length,
                           int line, const char **dtype, mo_error *err);

/* Returns the value of a string attribute of layer, *length bytes, not
 * terminated, owned by layer; NULL when there is none of that name. */
const char *mo_ir_attribute(const mo_ir_layer *layer, const char *name,
                            size_t *length);

/* Fills what the ports lack from <data> (the type of a Const, the dynamic rank
 * of a Parameter) and checks that the rest agrees with it: ports have distinct
 * ids, a Const has as many bytes as its shape needs. */
mo_status mo_ir_complete_layer(const mo_ir *ir, mo_ir_layer *layer,
                               mo_error *err);

/* edge_resolve.c */

/* An <edge> as the file has it. */
typedef struct mo_ir_edge {
    int64_t from_layer, to_layer;
    int from_port, to_port;
    int line;
} mo_ir_edge;

/* The most ports of a layer that does not number them in ascending order. */
enum { MO_IR_MAX_UNORDERED_PORTS = 1024 };

/*
 * Sets the source of every input of ir, and its dtype from there when it has
 * none of its own.
 *
 * Errors: a layer id used twice; an edge from or to a layer or port that does
 * not exist; an input with two sources or none.
 */
mo_status mo_ir_resolve_edges(mo_ir *ir, const mo_ir_edge *edges,
                              size_t n_edges, mo_error *err);

#endif
