/* SPDX-License-Identifier: Apache-2.0 */
/* Translators of ONNX's losses. */
#include <string.h>

#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"

/* Weights of the targets, which are classes: those of input 2, or 1; 0 for the
 * class that is ignored. *classes has no such class, and *counts is false where
 * it was. MO_ONNX_NONE: all are 1. */
static mo_onnx_ref target_weights(mo_onnx_op *op, const char *dtype,
                                  mo_onnx_ref *classes, mo_onnx_ref *counts)
{
    mo_onnx_builder *b = op->b;
    const mo_onnx_attribute *ignored = mo_onnx_attr(op, "ignore_index");
    mo_onnx_ref weights = MO_ONNX_NONE, counted;

    if (ignored) {
        *counts = mo_onnx_binary(b, "NotEqual", *classes,
                                 mo_onnx_int(b, ignored->i), "boolean");
        *classes = mo_onnx_select(b, *counts, *classes, mo_onnx_int(b, 0));
    }
    if (mo_onnx_has(op, 2)) {
        mo_onnx_set_int(b, "batch_dims", 0);
        weights = mo_onnx_add(
            b, "Gather",
            MO_ONNX_REFS(mo_onnx_in(op, 2), *classes, mo_onnx_int(b, 0)), 3,
            NULL);
    }
    if (!ignored)
        return weights;
    counted = mo_onnx_convert(b, *counts, dtype);
    return mo_onnx_is(weights)
               ? mo_onnx_binary(b, "Multiply", weights, counted, NULL)
               : counted;
}

/* Minus the logarithm of the probability of each target class, weighted;
 * summed up or averaged. */
static mo_onnx_ref add_loss(mo_onnx_op *op, mo_onnx_ref x)
{
    mo_onnx_builder *b = op->b;
    const char *reduction = mo_onnx_attr_text(op, "reduction", "mean");
    const char *dtype = mo_onnx_dtype(b, x);
    mo_onnx_ref classes = mo_onnx_convert(b, mo_onnx_in(op, 1), "i64");
    mo_shape shape = *mo_onnx_shape(b, classes), column = shape;
    mo_onnx_ref counts = MO_ONNX_NONE, loss, sum;
    mo_onnx_ref weights = target_weights(op, dtype, &classes, &counts);
    bool marks[MO_MAX_RANK] = { false };

    if (mo_onnx_shape(b, x)->rank != shape.rank + 1 || shape.rank < 1)
        return mo_onnx_wrong(b, "has targets of %d dimensions", shape.rank);
    column.rank++;
    column.dims[1] = 1;
    for (int d = 1; d < shape.rank; d++)
        column.dims[d + 1] = shape.dims[d];
    classes = mo_onnx_reshape(b, classes, &column);
    mo_onnx_set_int(b, "axis", 1);
    loss = mo_onnx_binary(b, "GatherElements", x, classes, NULL);
    loss = mo_onnx_unary(b, "Negative", mo_onnx_reshape(b, loss, &shape), NULL);
    if (mo_onnx_is(counts))
        loss = mo_onnx_select(b, counts, loss, mo_onnx_number(b, 0, dtype));
    if (mo_onnx_is(weights))
        loss = mo_onnx_binary(b, "Multiply", loss, weights, NULL);
    if (strcmp(reduction, "none") == 0)
        return loss;
    for (int d = 0; d < shape.rank; d++)
        marks[d] = true;
    if (strcmp(reduction, "mean") == 0 && !mo_onnx_is(weights))
        return mo_onnx_reduce(b, "ReduceMean", loss, marks, false);
    sum = mo_onnx_reduce(b, "ReduceSum", loss, marks, false);
    if (strcmp(reduction, "mean") == 0)
        sum = mo_onnx_binary(
            b, "Divide", sum,
            mo_onnx_reduce(b, "ReduceSum", weights, marks, false), NULL);
    return sum;
}

void mo_onnx_op_nll_loss(mo_onnx_op *op)
{
    mo_onnx_out(op, add_loss(op, mo_onnx_in(op, 0)));
}

/* The same of a softmax over the classes, whose logarithm is output 1. */
void mo_onnx_op_cross_entropy(mo_onnx_op *op)
{
    mo_onnx_ref x = mo_onnx_softmax(op->b, "LogSoftmax", mo_onnx_in(op, 0), 1);

    if (!mo_onnx_is(x))
        return;
    if (mo_onnx_uses(op, 1))
        op->outputs[1] = x;
    mo_onnx_out(op, add_loss(op, x));
}
