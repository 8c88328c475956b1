/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graphml.h - GraphML in (any dialect of moirai-graph(5)) and out (ours).
 */
#ifndef MO_INGEST_GRAPHML_H
#define MO_INGEST_GRAPHML_H

#include "base/error.h"
#include "base/out.h"
#include "graph/graph.h"
#include "ingest/input.h"
#include "ingest/read.h"

/* What the file says and nothing more: flops, traffic and sizes that only
 * follow from it are filled in by mo_read_graph.  options may be NULL. */
mo_status mo_graphml_read(mo_input *input, const mo_read_options *options,
                          mo_graph **graph, mo_error *err);

/* The same over bytes in memory; file is for errors. */
mo_status mo_graphml_read_memory(const char *file, const char *data,
                                 size_t size, const mo_read_options *options,
                                 mo_graph **graph, mo_error *err);

/* Writes g: a function of the graph alone, so the same graph is the same
 * bytes; reading them gives an equal graph (mo_graph_digest). */
void mo_graphml_write(const mo_graph *g, mo_out *out);

#endif
