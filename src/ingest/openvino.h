/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openvino.h - reader of OpenVINO IR, versions 10 and 11, from the .xml alone.
 *
 * Four steps: parse the layers (ir/ir.h), infer static shapes (infer/infer.h),
 * constness analysis (openvino/constness.h), conversion to a graph
 * (openvino/ir_graph.h). Flops and traffic come later (work.h).
 */
#ifndef MO_INGEST_OPENVINO_H
#define MO_INGEST_OPENVINO_H

#include "base/error.h"
#include "graph/graph.h"
#include "ingest/input.h"
#include "ingest/read.h"

/* Reads from an input that the caller opened and closes, or from size bytes at
 * data, a buffer the caller owns; file is a name for errors. options may be
 * NULL. The caller frees *graph with mo_graph_free(). */
mo_status mo_openvino_read(mo_input *input, const mo_read_options *options,
                           mo_graph **graph, mo_error *err);
mo_status mo_openvino_read_memory(const char *file, const char *data,
                                  size_t size, const mo_read_options *options,
                                  mo_graph **graph, mo_error *err);

mo_status mo_openvino_list_inputs(mo_input *input, mo_model_inputs *inputs,
                                  mo_error *err);

#endif
