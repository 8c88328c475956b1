/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "ingest/infer/value_arith.h"
#include "ingest/infer/dims.h"

mo_status mo_infer_arith_fail_mixed(mo_error *err)
{
    return mo_fail(err, MO_E_SUPPORT, "mixes integers and floats");
}

mo_status mo_infer_arith_check(const mo_infer_rule_op *op, int n,
                               const mo_infer_value *value, mo_error *err)
{
    mo_shape shape = op->inputs[0].shape;
    bool match = true;

    for (int k = 1; match && k < n; k++)
        match = mo_dims_broadcast(&shape, &op->inputs[k].shape, &shape);
    if (!match || !mo_shape_equal(&shape, &value->shape))
        return mo_fail(err, MO_E_SUPPORT, "does not broadcast as numpy does");
    return MO_OK;
}

mo_infer_scalar mo_infer_arith_item(const mo_infer_value *from,
                                    const mo_infer_value *to, int64_t i)
{
    mo_infer_view view = mo_infer_view_broadcast(&from->shape, &to->shape);

    return from->items[mo_infer_view_at(&view, &to->shape, i)];
}

/* How two numbers stand to each other, as a bit. */
enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

static const struct {
    const char *type;
    int holds; /* the relations in which it is true */
} comparisons[] = {
    { "Equal", EQUAL },     { "NotEqual", LESS | GREATER | UNORDERED },
    { "Less", LESS },       { "LessEqual", LESS | EQUAL },
    { "Greater", GREATER }, { "GreaterEqual", GREATER | EQUAL },
};

static int relation(mo_infer_scalar a, mo_infer_scalar b, bool real)
{
    if (!real)
        return a.i < b.i ? LESS : a.i > b.i ? GREATER : EQUAL;
    if (isnan(a.r) || isnan(b.r))
        return UNORDERED;
    return a.r < b.r ? LESS : a.r > b.r ? GREATER : EQUAL;
}

mo_status mo_infer_arith_compare(const mo_infer_rule_op *op, int output,
                                 mo_infer_value *value, mo_error *err)
{
    const mo_infer_value *a = op->inputs[0].value, *b = op->inputs[1].value;
    mo_status status = mo_infer_arith_check(op, 2, value, err);
    int c = 0;

    (void) output;
    if (status != MO_OK)
        return status;
    if (a->real != b->real || value->real)
        return mo_infer_arith_fail_mixed(err);
    while (strcmp(comparisons[c].type, op->type) != 0)
        c++;
    for (int64_t i = 0; i < value->count; i++) {
        int is = relation(mo_infer_arith_item(a, value, i),
                          mo_infer_arith_item(b, value, i), a->real);

        value->items[i].i = (comparisons[c].holds & is) != 0;
    }
    return MO_OK;
}

mo_status mo_infer_arith_select(const mo_infer_rule_op *op, int output,
                                mo_infer_value *value, mo_error *err)
{
    const mo_infer_value *condition = op->inputs[0].value;
    mo_status status = mo_infer_arith_check(op, 3, value, err);

    (void) output;
    if (status != MO_OK)
        return status;
    if (condition->real || op->inputs[1].value->real != value->real ||
        op->inputs[2].value->real != value->real)
        return mo_infer_arith_fail_mixed(err);
    for (int64_t i = 0; i < value->count; i++) {
        bool holds = mo_infer_arith_item(condition, value, i).i != 0;

        value->items[i] =
            mo_infer_arith_item(op->inputs[holds ? 1 : 2].value, value, i);
    }
    return MO_OK;
}
