/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of ONNX models: decodes, translates, converts to a graph. */
#include "ingest/onnx.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "ingest/onnx/model.h"
#include "ingest/onnx/translate.h"
#include "ingest/openvino/constness.h"
#include "ingest/openvino/ir_graph.h"

/* ir_version is field 1, and at least 3 in a model of opset 7; the fields of
 * ModelProto that follow it have these tags. TensorFlow's SavedModel has
 * version 1. */
bool mo_onnx_sniff(const char *data, size_t size)
{
    static const char tags[] = { 0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42 };

    return size >= 4 && data[0] == 0x08 && data[1] >= 3 && data[1] < 64 &&
           memchr(tags, data[2], sizeof tags);
}

mo_status mo_onnx_read(mo_input *input, const mo_read_options *options,
                       mo_graph **graph, mo_error *err)
{
    const char *file = mo_input_name(input);
    mo_arena *arena = mo_arena_new();
    mo_onnx_model model = { .graph = NULL };
    mo_ir_constness *folds = NULL;
    mo_ir *ir = NULL;
    mo_status status =
        arena ? mo_onnx_decode(input, arena, &model, err) : mo_fail_memory(err);

    if (status == MO_OK)
        status = mo_onnx_translate(file, &model, options, &ir, err);
    mo_arena_free(arena);
    if (status == MO_OK)
        status = mo_ir_find_constness(ir, &folds, err);
    if (status == MO_OK)
        status = mo_ir_to_graph(
            ir, folds, strcmp(file, MO_READER_STDIN) == 0 ? "model.onnx" : file,
            graph, err);
    free(folds);
    mo_ir_free(ir);
    return status;
}
