/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edge_resolve.h - resolution of an OpenVINO model's edges: from the ids in
 * the file to indices.
 */
#ifndef MO_INGEST_IR_EDGE_RESOLVE_H
#define MO_INGEST_IR_EDGE_RESOLVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ingest/ir/ir.h"

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
