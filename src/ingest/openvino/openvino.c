/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of OpenVINO models: parses, infers shapes, converts to a graph. */
#include "ingest/openvino.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/compress.h"
#include "ingest/openvino/constness.h"
#include "ingest/infer/infer.h"
#include "ingest/ir/ir.h"
#include "ingest/openvino/ir_graph.h"
#include "graph/dtype.h"
#include "graph/shape.h"

/* Shapes that inference did not reach, or made too large. */
static mo_status check_shape(const mo_ir *ir, const mo_ir_layer *layer,
                             const mo_shape *shape, mo_error *err)
{
    if (!mo_shape_is_static(shape))
        return mo_fail_at(err, MO_E_INPUT, ir->file, layer->line,
                          "the shape of layer '%.80s' is dynamic: give those "
                          "of the inputs with --shape INPUT=1,128",
                          layer->name);
    if (!mo_shape_fits(shape))
        return mo_fail_at(err, MO_E_LIMIT, ir->file, layer->line,
                          "a tensor of layer '%.80s' has more than 2^48 "
                          "elements: give smaller shapes",
                          layer->name);
    return MO_OK;
}

/* The constants of model.xml and model.xml.gz are in model.bin; of a model from
 * standard input as well. */
static mo_status bin_path(const char *path, char **bin, mo_error *err)
{
    static const char ending[] = ".bin";
    size_t length = mo_compress_stem(path);

    if (strcmp(path, MO_READER_STDIN) == 0) {
        path = "model";
        length = strlen(path);
    } else if (length > 4 && strncasecmp(path + length - 4, ".xml", 4) == 0) {
        length -= 4;
    }
    *bin = malloc(length + sizeof ending);
    if (!*bin)
        return mo_fail_memory(err);
    memcpy(*bin, path, length);
    memcpy(*bin + length, ending, sizeof ending);
    return MO_OK;
}

/* Takes ownership of ir and frees it. */
static mo_status convert_ir(mo_ir *ir, const mo_read_options *options,
                            mo_graph **graph, mo_error *err)
{
    static const mo_read_options none = { .shapes = { 0 } };
    char *bin = NULL;
    mo_ir_constness *folds = NULL;
    mo_status status = bin_path(ir->file, &bin, err);

    options = options ? options : &none;
    if (status == MO_OK)
        status = mo_infer_shapes(ir, bin, options, err);
    for (int i = 0; i < ir->n_layers && status == MO_OK; i++) {
        const mo_ir_layer *layer = &ir->layers[i];

        for (int k = 0; k < layer->n_outputs && status == MO_OK; k++)
            status = check_shape(ir, layer, &layer->outputs[k].shape, err);
    }
    if (status == MO_OK)
        status = mo_ir_find_constness(ir, &folds, err);
    if (status == MO_OK)
        status = mo_ir_make_names_unique(ir, err);
    if (status == MO_OK)
        status = mo_ir_to_graph(ir, folds, bin, graph, err);
    free(folds);
    free(bin);
    mo_ir_free(ir);
    return status;
}

mo_status mo_openvino_read(mo_input *input, const mo_read_options *options,
                           mo_graph **graph, mo_error *err)
{
    mo_ir *ir;
    mo_status status = mo_ir_read(input, &ir, err);

    return status == MO_OK ? convert_ir(ir, options, graph, err) : status;
}

mo_status mo_openvino_read_memory(const char *file, const char *data,
                                  size_t size, const mo_read_options *options,
                                  mo_graph **graph, mo_error *err)
{
    mo_ir *ir;
    mo_status status = mo_ir_read_memory(file, data, size, &ir, err);

    return status == MO_OK ? convert_ir(ir, options, graph, err) : status;
}

mo_status mo_openvino_list_inputs(mo_input *input, mo_model_inputs *inputs,
                                  mo_error *err)
{
    mo_ir *ir = NULL;
    mo_status status = mo_ir_read(input, &ir, err);

    if (status != MO_OK)
        return status;
    inputs->items = mo_arena_array(inputs->arena, (size_t) ir->n_layers,
                                   sizeof *inputs->items);
    if (!inputs->items)
        status = mo_fail_memory(err);
    for (int i = 0; i < ir->n_layers && status == MO_OK; i++) {
        const mo_ir_layer *layer = &ir->layers[i];
        mo_model_input *item = &inputs->items[inputs->n];
        const char *dtype =
            layer->n_outputs > 0 ? layer->outputs[0].dtype : NULL;

        if (strcmp(layer->type, "Parameter") != 0 || layer->n_outputs != 1)
            continue;
        *item = (mo_model_input){
            .name =
                mo_arena_text(inputs->arena, layer->name, strlen(layer->name)),
            .dtype = dtype ? mo_dtype_find(dtype, strlen(dtype)) : NULL,
            .shape = layer->outputs[0].shape
        };
        inputs->n++;
        if (!item->name)
            status = mo_fail_memory(err);
    }
    mo_ir_free(ir);
    return status;
}
