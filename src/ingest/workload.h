/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload.h - reader of workloads, moirai-workload(5): graphs with weights
 * that are placed together.
 *
 * The graphs are read as any other (read.h) and composed (graph/phases.h).
 */
#ifndef MO_INGEST_WORKLOAD_H
#define MO_INGEST_WORKLOAD_H

#include "base/error.h"
#include "graph/graph.h"
#include "ingest/input.h"
#include "ingest/read.h"

/* Reads from an input that the caller opened and closes.  Names of graphs are
 * relative to the folder of the input.  options may be NULL and are those of
 * every graph.  The caller frees *graph with mo_graph_free(). */
mo_status mo_workload_read(mo_input *input, const mo_read_options *options,
                           mo_graph **graph, mo_error *err);

#endif
