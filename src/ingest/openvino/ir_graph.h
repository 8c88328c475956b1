/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ir_graph.h - conversion of an OpenVINO model to a graph: layers become ops,
 * constants and edges.
 */
#ifndef MO_INGEST_OPENVINO_IR_GRAPH_H
#define MO_INGEST_OPENVINO_IR_GRAPH_H

#include "base/error.h"
#include "graph/graph.h"
#include "ingest/openvino/constness.h"
#include "ingest/ir/ir.h"

/*
 * Makes a graph of ir, with static shapes and distinct names;
 * the caller frees *graph with mo_graph_free(). folds is the constness of each
 * layer; bin is the path of the file with the constants; its last part goes
 * into the ops' weights.
 *
 * An op's weight_bytes are those of the constants it reads, as it reads them:
 * a constant that is stored as f16 and converted counts in the type it is
 * converted to. Parameters and Results get the attribute "index", their number
 * in file order.
 */
mo_status mo_ir_to_graph(const mo_ir *ir, const mo_ir_constness *folds,
                         const char *bin, mo_graph **graph, mo_error *err);

#endif
