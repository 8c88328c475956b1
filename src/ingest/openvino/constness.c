/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/openvino/constness.h"

#include <stdlib.h>
#include <string.h>

static bool is_always_live(const char *type)
{
    static const char *const types[] = {
        "Parameter", "Result",         "Assign", "ReadValue",
        "Loop",      "TensorIterator", "If",     "Multinomial",
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return strncmp(type, "Random", strlen("Random")) == 0;
}

static mo_ir_constness fold_layer(const mo_ir_layer *layer,
                                  const mo_ir_constness *folds)
{
    if (strcmp(layer->type, "Const") == 0)
        return MO_IR_CONSTNESS_CONSTANT;
    if (strcmp(layer->type, "ShapeOf") == 0)
        return MO_IR_CONSTNESS_SHAPE;
    if (layer->n_inputs == 0 || is_always_live(layer->type))
        return MO_IR_CONSTNESS_LIVE;
    for (int i = 0; i < layer->n_inputs; i++)
        if (folds[layer->inputs[i].source_layer] == MO_IR_CONSTNESS_LIVE)
            return MO_IR_CONSTNESS_LIVE;
    return MO_IR_CONSTNESS_CONSTANT;
}

mo_status mo_ir_find_constness(const mo_ir *ir, mo_ir_constness **folds,
                               mo_error *err)
{
    size_t n = (size_t) ir->n_layers;
    mo_ir_constness *made = calloc(n + 1, sizeof *made);
    bool *is_read = calloc(n + 1, sizeof *is_read);
    int *order = NULL;
    mo_status status = made && is_read ? mo_ir_topo_order(ir, &order, err)
                                       : mo_fail_memory(err);

    if (status == MO_OK) {
        for (size_t i = 0; i < n; i++)
            made[order[i]] = fold_layer(&ir->layers[order[i]], made);
        /* Backwards, so that a layer's consumers are decided before it. */
        for (int i = ir->n_layers - 1; i >= 0; i--) {
            const mo_ir_layer *layer = &ir->layers[order[i]];
            mo_ir_constness *fold = &made[order[i]];

            if (*fold != MO_IR_CONSTNESS_LIVE && !is_read[order[i]])
                *fold = MO_IR_CONSTNESS_DEAD;
            if (*fold == MO_IR_CONSTNESS_LIVE ||
                *fold == MO_IR_CONSTNESS_CONSTANT)
                for (int k = 0; k < layer->n_inputs; k++)
                    is_read[layer->inputs[k].source_layer] = true;
        }
        *folds = made;
        made = NULL;
    }
    free(order);
    free(is_read);
    free(made);
    return status;
}
