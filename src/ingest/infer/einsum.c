/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape rule of Einsum: "b...ij,b...jk->b...ik" (lexer: ingest/einsum.h).
 */
#include <string.h>

#include "ingest/einsum.h"
#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

/* Sizes of the equation's labels and of its ellipsis. */
typedef struct labels {
    int64_t size[MO_EINSUM_ELLIPSIS]; /* -1: not seen yet */
    int seen[MO_EINSUM_ELLIPSIS];     /* how often */
    mo_shape ellipsis;
} labels;

/* A size of 1 is stretched, as everywhere. */
static mo_status see_label(labels *known, int label, int64_t dim, mo_error *err)
{
    int64_t *size = &known->size[label];

    known->seen[label]++;
    if (*size >= 0 && dim == 1)
        return MO_OK;
    if (*size >= 0 && *size != 1 && *size != dim)
        return mo_fail(err, MO_E_INPUT, "label '%c' is both %lld and %lld",
                       label, (long long) *size, (long long) dim);
    *size = dim;
    return MO_OK;
}

/* The ellipsis hides count dimensions of shape. */
static mo_status see_ellipsis(labels *known, const mo_shape *shape, int first,
                              int count, mo_error *err)
{
    mo_shape hidden = { .rank = count };

    memcpy(hidden.dims, shape->dims + first,
           (size_t) count * sizeof *hidden.dims);
    if (!mo_dims_broadcast(&known->ellipsis, &hidden, &known->ellipsis))
        return mo_dims_fail_broadcast(err, &known->ellipsis, &hidden);
    return MO_OK;
}

/* Matches one input's subscript, "b...ij", with its shape. */
static mo_status see_subscript(labels *known, mo_einsum_text subscript,
                               const mo_shape *shape, mo_error *err)
{
    int hidden = shape->rank - mo_einsum_count_letters(subscript);
    int next = 0, label = MO_EINSUM_INVALID;
    mo_status status = MO_OK;

    while (status == MO_OK && hidden >= 0 &&
           (label = mo_einsum_take_label(&subscript)) >= 0) {
        if (label == MO_EINSUM_ELLIPSIS) {
            status = see_ellipsis(known, shape, next, hidden, err);
            next += hidden;
            hidden = 0;
        } else {
            status = see_label(known, label, shape->dims[next++], err);
        }
    }
    if (status == MO_OK && (label != MO_EINSUM_END || next != shape->rank))
        return mo_fail(err, MO_E_INPUT, "its equation does not fit %s",
                       mo_dims_format(shape).text);
    return status;
}

static void push_ellipsis(const labels *known, mo_shape *output)
{
    for (int d = 0; d < known->ellipsis.rank; d++)
        mo_dims_push(output, known->ellipsis.dims[d]);
}

static mo_status push_subscript(const labels *known, mo_einsum_text subscript,
                                mo_shape *output, mo_error *err)
{
    int label;

    while ((label = mo_einsum_take_label(&subscript)) >= 0)
        if (label == MO_EINSUM_ELLIPSIS)
            push_ellipsis(known, output);
        else if (known->seen[label] > 0)
            mo_dims_push(output, known->size[label]);
        else
            break;
    if (label != MO_EINSUM_END)
        return mo_fail(err, MO_E_INPUT,
                       "its equation has an output that is in no input");
    return MO_OK;
}

mo_status mo_infer_shape_einsum(const mo_infer_rule_op *op, mo_shape *outputs,
                                mo_error *err)
{
    mo_einsum_equation equation;
    labels known = { .ellipsis = { 0 } };
    mo_status status = MO_OK;

    if (!mo_einsum_find(op->attrs, &equation))
        return mo_fail(err, MO_E_INPUT, "has no equation");
    memset(known.size, -1, sizeof known.size);
    for (int i = 0; status == MO_OK && i < op->n_inputs; i++)
        status =
            see_subscript(&known, mo_einsum_take_subscript(&equation.inputs),
                          &op->inputs[i].shape, err);
    if (status != MO_OK)
        return status;
    if (equation.inputs.at != equation.inputs.end)
        return mo_fail(err, MO_E_INPUT,
                       "its equation is for more than %d inputs", op->n_inputs);
    outputs[0] = (mo_shape){ 0 };
    if (equation.output.at)
        return push_subscript(&known, equation.output, outputs, err);
    /* An equation without an arrow: the output has the labels that occur once,
     * in alphabetical order. */
    push_ellipsis(&known, outputs);
    for (int label = 0; label < MO_EINSUM_ELLIPSIS; label++)
        if (known.seen[label] == 1)
            mo_dims_push(outputs, known.size[label]);
    return MO_OK;
}
