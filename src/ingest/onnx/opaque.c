/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that cannot be run, as layers of their own type. */
#include "ingest/onnx/translate_internal.h"

#include <stdio.h>
#include <string.h>

/* A node that cannot be run, as a layer of its own type, which can be placed:
 * the file must give the shapes of its outputs. */
bool mo_onnx_add_opaque(mo_onnx_translation *t, mo_onnx_scope *scope,
                        mo_onnx_op *op, const char *why)
{
    const mo_onnx_node *node = op->node;
    char type[160];
    const char *kept;
    mo_onnx_ref inputs[64], made;
    mo_shape shapes[16];
    const char *dtypes[16];
    int n = 0;

    if (op->n_outputs == 0 || op->n_outputs > 16)
        return false;
    for (int i = 0; i < op->n_outputs; i++) {
        const mo_onnx_info *info =
            mo_onnx_scope_info(t, scope, node->outputs[i]);
        const char *dtype = info ? mo_onnx_dtype_of(info->type) : NULL;

        if (node->outputs[i][0] == '\0') {
            shapes[i] = (mo_shape){ .rank = 0 };
            dtypes[i] = "f32";
            continue;
        }
        if (!dtype || !mo_shape_is_static(&info->shape))
            return false;
        shapes[i] = info->shape;
        dtypes[i] = dtype;
    }
    for (int i = 0; i < op->n_inputs && n < 64; i++)
        if (mo_onnx_is(op->inputs[i]))
            inputs[n++] = op->inputs[i];
    snprintf(type, sizeof type, "%.60s:%.60s",
             mo_onnx_is_own_domain(node->domain) ? "onnx" : node->domain,
             node->op_type);
    kept = mo_arena_text(mo_onnx_builder_arena(t->b), type, strlen(type));
    if (!kept)
        return false;
    mo_onnx_copy_attributes(op);
    mo_onnx_set_text(t->b, "refused", why);
    made = mo_onnx_add_all_shaped(t->b, kept, inputs, n, shapes, dtypes,
                                  op->n_outputs);
    for (int i = 0; i < op->n_outputs && mo_onnx_is(made); i++)
        op->outputs[i] = (mo_onnx_ref){ made.layer, i };
    return mo_onnx_is(made);
}
