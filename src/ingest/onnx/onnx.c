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

static bool has_default(const mo_onnx_graph *g, const char *name)
{
    for (size_t i = 0; i < g->n_initializers; i++)
        if (strcmp(g->initializers[i].name, name) == 0)
            return true;
    return false;
}

mo_status mo_onnx_list_inputs(mo_input *input, mo_model_inputs *inputs,
                              mo_error *err)
{
    mo_onnx_model model = { .graph = NULL };
    mo_status status = mo_onnx_decode(input, inputs->arena, &model, err);
    const mo_onnx_graph *g = model.graph;

    if (status != MO_OK || !g)
        return status;
    inputs->items =
        mo_arena_array(inputs->arena, g->n_inputs, sizeof *inputs->items);
    if (!inputs->items)
        return mo_fail_memory(err);
    for (size_t i = 0; i < g->n_inputs; i++) {
        const mo_onnx_info *info = &g->inputs[i];

        if (!has_default(g, info->name))
            inputs->items[inputs->n++] =
                (mo_model_input){ .name = info->name,
                                  .dtype = mo_onnx_dtype_of(info->type),
                                  .shape = info->shape,
                                  .dim_names = info->dim_names };
    }
    return MO_OK;
}
