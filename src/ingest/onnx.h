/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onnx.h - reader of ONNX models, opsets 7 to today.
 *
 * Three steps: decode the file (onnx/model.h), translate its nodes to layers
 * with static shapes (onnx/translate.h), conversion to a graph as for OpenVINO
 * (openvino/ir_graph.h). Weights stay in the file; ops refer to their place.
 */
#ifndef MO_INGEST_ONNX_H
#define MO_INGEST_ONNX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "graph/graph.h"
#include "ingest/input.h"
#include "ingest/read.h"

/* Returns whether bytes are the beginning of an ONNX model: its version, then
 * a field of ModelProto. */
bool mo_onnx_sniff(const char *data, size_t size);

/* Reads from an input that the caller opened and closes. options may be NULL.
 * The caller frees *graph with mo_graph_free(). */
mo_status mo_onnx_read(mo_input *input, const mo_read_options *options,
                       mo_graph **graph, mo_error *err);

/* Lists the inputs without a default value. */
mo_status mo_onnx_list_inputs(mo_input *input, mo_model_inputs *inputs,
                              mo_error *err);

#endif
