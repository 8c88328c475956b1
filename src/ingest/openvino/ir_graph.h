/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ir_graph.h - a model's layers become ops, constants and edges.
 */
#ifndef MO_INGEST_OPENVINO_IR_GRAPH_H
#define MO_INGEST_OPENVINO_IR_GRAPH_H

#include "base/error.h"
#include "graph/graph.h"
#include "ingest/openvino/constness.h"
#include "ingest/ir/ir.h"

/*
 * Makes a graph of ir, whose shapes are static and whose names are different.
 * folds says what each layer is; bin is the path of the file with the
 * constants, whose last part goes into the ops' weights.
 *
 * An op's weight_bytes are those of the constants it reads, as it reads them: a
 * constant that is stored as f16 and converted counts as what it is converted
 * to.  Parameters and Results get the attribute "index", their number in file
 * order.
 */
mo_status mo_ir_to_graph(const mo_ir *ir, const mo_ir_constness *folds,
                         const char *bin, mo_graph **graph, mo_error *err);

#endif
