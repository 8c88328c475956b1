/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that cannot be run, as layers of their own type. */
#include "ingest/onnx/translate_internal.h"

#include <stdio.h>
#include <string.h>

/* Attributes that are one number, a text or a list of integers. */
static void copy_attributes(mo_onnx_builder *b, const mo_onnx_scope *scope,
                            const mo_onnx_node *node)
{
    for (size_t i = 0; i < node->n_attributes; i++) {
        const char *name = node->attributes[i].name;
        const mo_onnx_attribute *a = mo_onnx_scope_attribute(scope, node, name);

        if (!a || a->t || a->g || a->n_strings > 0)
            continue;
        if (a->n_ints > 0 && a->n_ints <= MO_ONNX_MAX_LIST)
            mo_onnx_set_ints(b, name, a->ints, (int) a->n_ints);
        else if (a->s)
            mo_onnx_set_text(b, name, a->s);
        else if (a->f != 0)
            mo_onnx_set_real(b, name, a->f);
        else if (a->n_ints == 0 && a->n_floats == 0)
            mo_onnx_set_int(b, name, a->i);
    }
}

/* A node that cannot be run, as a layer of its own type, which can be placed:
 * the file must give the shapes of its outputs. */
bool mo_onnx_add_opaque(mo_onnx_translation *t, mo_onnx_scope *scope,
                        mo_onnx_op *op)
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
    copy_attributes(t->b, scope, node);
    made = mo_onnx_add_all_shaped(t->b, kept, inputs, n, shapes, dtypes,
                                  op->n_outputs);
    for (int i = 0; i < op->n_outputs && mo_onnx_is(made); i++)
        op->outputs[i] = (mo_onnx_ref){ made.layer, i };
    return mo_onnx_is(made);
}
