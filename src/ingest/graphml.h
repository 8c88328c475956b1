/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graphml.h - reader of GraphML (any dialect of moirai-graph(5)) and writer
 * (this program's own dialect).
 */
#ifndef MO_INGEST_GRAPHML_H
#define MO_INGEST_GRAPHML_H

#include "base/error.h"
#include "base/out.h"
#include "graph/graph.h"
#include "ingest/input.h"
#include "ingest/read.h"

/* Reads input to its end; the caller frees *graph with mo_graph_free() and
 * closes input. The graph has what the file gives and nothing more:
 * mo_read_graph() fills in the flops, traffic and sizes that follow from it.
 * options may be NULL. */
mo_status mo_graphml_read(mo_input *input, const mo_read_options *options,
                          mo_graph **graph, mo_error *err);

/* The same from size bytes at data, a buffer the caller owns; file is a name
 * for errors. */
mo_status mo_graphml_read_memory(const char *file, const char *data,
                                 size_t size, const mo_read_options *options,
                                 mo_graph **graph, mo_error *err);

/* Writes g: a function of the graph alone, so that equal graphs give equal
 * bytes; reading them returns an equal graph (mo_graph_digest). A failed write
 * is kept in out. */
void mo_graphml_write(const mo_graph *g, mo_out *out);

#endif
