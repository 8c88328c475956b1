/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and outputs of the model; the end of the translation. */
#include "ingest/onnx/builder_internal.h"

#include <stdlib.h>
#include <string.h>

/* Returns the name, which was reserved, or another one where an input or output
 * has it. */
static const char *end_name(mo_onnx_builder *b, const char *name)
{
    int before = mo_intern_count(b->ends), number = 0;

    if (b->error.status != MO_OK ||
        mo_intern_put(b->ends, name, strlen(name), &number, &b->error) != MO_OK)
        return NULL;
    return number < before ? mo_onnx_unique_name(b, name)
                           : mo_intern_text(b->ends, number);
}

mo_onnx_ref mo_onnx_parameter(mo_onnx_builder *b, const char *name,
                              const mo_shape *shape, const char *dtype)
{
    int index;

    mo_onnx_set_text(b, "element_type", dtype);
    mo_onnx_set_ints(b, "shape", shape->dims, shape->rank);
    index = mo_onnx_append_layer(b, "Parameter", end_name(b, name), NULL, 0, 1);
    if (index < 0)
        return MO_ONNX_NONE;
    b->layers[index].attrs = mo_onnx_take_attributes(b);
    b->layers[index].outputs[0] =
        (mo_ir_port){ .shape = *shape, .dtype = dtype, .source_layer = -1 };
    return (mo_onnx_ref){ index, 0 };
}

void mo_onnx_result(mo_onnx_builder *b, const char *name, mo_onnx_ref value)
{
    int index;

    if (b->error.status == MO_OK && value.layer < 0)
        mo_onnx_wrong(b, "is made by no node");
    if (b->error.status != MO_OK)
        return;
    index = mo_onnx_append_layer(b, "Result", end_name(b, name), &value, 1, 1);
    if (index >= 0)
        b->layers[index].outputs[0] =
            (mo_ir_port){ .shape = *mo_onnx_shape(b, value),
                          .dtype = mo_onnx_dtype(b, value),
                          .source_layer = -1 };
}

mo_status mo_onnx_builder_finish(mo_onnx_builder *b, const char *name,
                                 mo_ir **ir, mo_error *err)
{
    bool *needed = calloc(b->n + 1, sizeof *needed);
    int *place = calloc(b->n + 1, sizeof *place);
    mo_status status = needed && place ? MO_OK : mo_fail_memory(err);
    int n = 0;

    if (status == MO_OK) {
        /* Layers in topological order: backwards, users come before what they
         * use. */
        for (size_t i = b->n; i-- > 0;) {
            const mo_ir_layer *layer = &b->layers[i];

            if (strcmp(layer->type, "Result") == 0 ||
                strcmp(layer->type, "Parameter") == 0)
                needed[i] = true;
            for (int k = 0; needed[i] && k < layer->n_inputs; k++)
                needed[layer->inputs[k].source_layer] = true;
        }
        for (size_t i = 0; i < b->n; i++)
            if (needed[i])
                place[i] = n++;
        b->ir->layers =
            mo_arena_array(b->ir->arena, (size_t) n, sizeof *b->ir->layers);
        b->ir->name = mo_arena_text(b->ir->arena, name, strlen(name));
        if (!b->ir->layers || !b->ir->name)
            status = mo_fail_memory(err);
    }
    for (size_t i = 0; status == MO_OK && i < b->n; i++) {
        mo_ir_layer *layer = &b->ir->layers[place[i]];

        if (!needed[i])
            continue;
        *layer = b->layers[i];
        layer->id = place[i];
        for (int k = 0; k < layer->n_inputs; k++)
            layer->inputs[k].source_layer =
                place[layer->inputs[k].source_layer];
    }
    if (status == MO_OK) {
        b->ir->n_layers = n;
        *ir = b->ir;
        b->ir = NULL;
    }
    free(needed);
    free(place);
    return status;
}
