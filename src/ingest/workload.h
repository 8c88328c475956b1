/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload.h - reader of workloads, moirai-workload(5): graphs with weights
 * that are placed together, and a graph at several shapes.
 *
 * The graphs are read as any other (read.h) and composed (graph/phases.h).
 */
#ifndef MO_INGEST_WORKLOAD_H
#define MO_INGEST_WORKLOAD_H

#include <stdbool.h>

#include "base/error.h"
#include "graph/graph.h"
#include "ingest/input.h"
#include "ingest/read.h"

/* Reads from an input that the caller opened and closes.  Names of graphs are
 * relative to the folder of the input.  options may be NULL and are those of
 * every graph.  The caller frees *graph with mo_graph_free(). */
mo_status mo_workload_read(mo_input *input, const mo_read_options *options,
                           mo_graph **graph, mo_error *err);

/* Returns whether an input has several shapes: "ids=1,32;8,128".  options may
 * be NULL. */
bool mo_workload_has_shapes(const mo_read_options *options);

/* Reads the graph of input, which is opened again for each of these shapes, and
 * composes them: phases of weight 1 with names such as "8x128".  Lists of
 * several inputs go together, shape by shape; an input with one shape has it in
 * all phases.  The caller frees *graph with mo_graph_free(). */
mo_status mo_workload_read_shapes(const mo_input *input,
                                  const mo_read_options *options,
                                  mo_graph **graph, mo_error *err);

#endif
