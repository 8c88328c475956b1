/* SPDX-License-Identifier: Apache-2.0 */
/* Access of translators to a node: attributes and inputs. */
#include "ingest/onnx/translate_internal.h"

#include <math.h>

const mo_onnx_attribute *mo_onnx_attr(const mo_onnx_op *op, const char *name)
{
    return mo_onnx_scope_attribute(op->scope, op->node, name);
}

/* The attribute, which must be of that type; NULL: there is none, or it is
 * not. */
static const mo_onnx_attribute *typed_attribute(const mo_onnx_op *op,
                                                const char *name, int type,
                                                const char *what)
{
    const mo_onnx_attribute *a = mo_onnx_attr(op, name);

    if (!a || a->type == 0 || a->type == type)
        return a;
    mo_onnx_wrong(op->b, "its attribute %s is not %s", name, what);
    return NULL;
}

int64_t mo_onnx_attr_int(const mo_onnx_op *op, const char *name,
                         int64_t fallback)
{
    const mo_onnx_attribute *a =
        typed_attribute(op, name, MO_ONNX_ATTR_INT, "an integer");

    return a ? a->i : fallback;
}

double mo_onnx_attr_real(const mo_onnx_op *op, const char *name,
                         double fallback)
{
    const mo_onnx_attribute *a =
        typed_attribute(op, name, MO_ONNX_ATTR_FLOAT, "a number");

    return a ? a->f : fallback;
}

const char *mo_onnx_attr_text(const mo_onnx_op *op, const char *name,
                              const char *fallback)
{
    const mo_onnx_attribute *a =
        typed_attribute(op, name, MO_ONNX_ATTR_STRING, "a text");

    return a && a->s ? a->s : fallback;
}

mo_onnx_list mo_onnx_attr_ints(const mo_onnx_op *op, const char *name)
{
    const mo_onnx_attribute *a =
        typed_attribute(op, name, MO_ONNX_ATTR_INTS, "a list of integers");
    mo_onnx_list list = { .n = -1 };

    if (!a)
        return list;
    if (a->n_ints > MO_ONNX_MAX_LIST) {
        mo_onnx_refuse(op->b, "its %s are more than %d numbers", name,
                       MO_ONNX_MAX_LIST);
        return list;
    }
    list.n = (int) a->n_ints;
    for (int i = 0; i < list.n; i++)
        list.at[i] = a->ints[i];
    return list;
}

mo_onnx_ref mo_onnx_in(const mo_onnx_op *op, int i)
{
    return i < op->n_inputs ? op->inputs[i] : MO_ONNX_NONE;
}

bool mo_onnx_has(const mo_onnx_op *op, int i)
{
    return mo_onnx_is(mo_onnx_in(op, i));
}

bool mo_onnx_uses(const mo_onnx_op *op, int i)
{
    return i < op->n_outputs && op->node->outputs[i][0] != '\0';
}

void mo_onnx_out(mo_onnx_op *op, mo_onnx_ref value)
{
    if (op->n_outputs > 0)
        op->outputs[0] = value;
}

mo_onnx_list mo_onnx_in_ints(const mo_onnx_op *op, int i, const char *what)
{
    const mo_infer_value *value = mo_onnx_known(op->b, mo_onnx_in(op, i));
    mo_onnx_list list = { .n = -1 };

    if (!mo_onnx_has(op, i))
        return list;
    if (!value) {
        mo_onnx_refuse(op->b, "its %s is not known before it runs", what);
        return list;
    }
    if (value->count > MO_ONNX_MAX_LIST) {
        mo_onnx_refuse(op->b, "its %s are more than %d numbers", what,
                       MO_ONNX_MAX_LIST);
        return list;
    }
    list.n = (int) value->count;
    for (int k = 0; k < list.n; k++)
        list.at[k] =
            mo_infer_value_cast(value->items[k], value->dtype, "i64").i;
    return list;
}

mo_onnx_list mo_onnx_list_of(const mo_onnx_op *op, const char *name, int i,
                             int since)
{
    return op->version < since ? mo_onnx_attr_ints(op, name)
                               : mo_onnx_in_ints(op, i, name);
}

double mo_onnx_in_number(const mo_onnx_op *op, int i, const char *what,
                         double fallback)
{
    const mo_infer_value *value = mo_onnx_known(op->b, mo_onnx_in(op, i));

    if (!mo_onnx_has(op, i))
        return fallback;
    if (!value || value->count != 1) {
        mo_onnx_refuse(op->b,
                       "its %s is not one number that is known before "
                       "it runs",
                       what);
        return fallback;
    }
    return mo_infer_value_number(value, 0);
}

int64_t mo_onnx_in_int(const mo_onnx_op *op, int i, const char *what,
                       int64_t fallback)
{
    const double most = (double) ((int64_t) 1 << 40);
    double number = mo_onnx_in_number(op, i, what, (double) fallback);

    if (isnan(number)) {
        mo_onnx_wrong(op->b, "has a %s that is no number", what);
        return fallback;
    }
    return (int64_t) (number < -most ? -most : number > most ? most : number);
}

void mo_onnx_copy_attributes(const mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;

    for (size_t i = 0; i < op->node->n_attributes; i++) {
        const char *name = op->node->attributes[i].name;
        const mo_onnx_attribute *a = mo_onnx_attr(op, name);

        if (!a || a->t || a->g || a->n_ints > MO_ONNX_MAX_LIST ||
            a->n_floats > MO_ONNX_MAX_LIST || a->n_strings > MO_ONNX_MAX_LIST)
            continue;
        if (a->n_ints > 0)
            mo_onnx_set_ints(b, name, a->ints, (int) a->n_ints);
        else if (a->n_floats > 0)
            mo_onnx_set_reals(b, name, a->floats, (int) a->n_floats);
        else if (a->n_strings > 0)
            mo_onnx_set_texts(b, name, a->strings, (int) a->n_strings);
        else if (a->s)
            mo_onnx_set_text(b, name, a->s);
        else if (a->f != 0)
            mo_onnx_set_real(b, name, a->f);
        else
            mo_onnx_set_int(b, name, a->i);
    }
}
