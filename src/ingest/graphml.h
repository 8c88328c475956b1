/*
 * graphml.h - GraphML in (any dialect of moirai-graph(5)) and out (ours).
 */
#ifndef MO_INGEST_GRAPHML_H
#define MO_INGEST_GRAPHML_H

#include "base/error.h"
#include "base/out.h"
#include "graph/graph.h"
#include "ingest/read.h"

mo_status mo_graphml_read(const char *path, const mo_read_options *options,
                          mo_graph **graph, mo_error *err);
mo_status mo_graphml_read_memory(const char *file, const char *data,
                                 size_t size, const mo_read_options *options,
                                 mo_graph **graph, mo_error *err);

/* Writes g: a function of the graph alone, so the same graph is the same
 * bytes; reading them gives an equal graph (mo_graph_digest). */
void mo_graphml_write(const mo_graph *g, mo_out *out);

#endif
