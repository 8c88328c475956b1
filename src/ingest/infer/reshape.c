/* SPDX-License-Identifier: Apache-2.0 */
/* Shape rules of Reshape, Squeeze and Unsqueeze. */
#include <string.h>

#include "base/array.h"
#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

/* The items of a pattern, each 0 already replaced where it stands for the
 * input's own dimension.  free is the place of -1, or -1. */
typedef struct pattern {
    mo_shape shape;
    int free;
    int64_t input, output; /* product of the dimensions not taken over */
    bool empty;            /* a dimension of 0 was taken over */
} pattern;

static mo_status add_dim(pattern *p, int64_t dim, mo_error *err)
{
    if (dim < -1)
        return mo_fail(err, MO_E_INPUT, "its pattern asks for %lld",
                       (long long) dim);
    if (dim == -1 && p->free >= 0)
        return mo_fail(err, MO_E_INPUT, "its pattern has more than one -1");
    if (dim == -1)
        p->free = p->shape.rank;
    else if (!mo_int64_mul(p->output, dim, &p->output))
        return mo_fail(err, MO_E_LIMIT, "its output is too large");
    mo_dims_push(&p->shape, dim);
    return MO_OK;
}

static mo_status resolve_pattern(const mo_shape *from,
                                 const mo_infer_arg_list *wanted,
                                 bool special_zero, pattern *p, mo_error *err)
{
    mo_status status = MO_OK;

    *p = (pattern){ .free = -1, .input = 1, .output = 1 };
    for (int d = 0; status == MO_OK && d < wanted->count; d++) {
        bool keep = special_zero && wanted->at[d] == 0;

        if (keep && d >= from->rank)
            return mo_fail(err, MO_E_INPUT,
                           "its pattern keeps dimension %d of %s", d,
                           mo_dims_format(from).text);
        if (!keep) {
            status = add_dim(p, wanted->at[d], err);
            p->input *= d < from->rank ? from->dims[d] : 1;
            continue;
        }
        mo_dims_push(&p->shape, from->dims[d]);
        p->empty = p->empty || from->dims[d] == 0;
    }
    for (int d = wanted->count; d < from->rank; d++)
        p->input *= from->dims[d];
    return status;
}

/* -1 stands for the quotient of the input's and the other dimensions. For an
 * empty tensor any number would do: OpenVINO takes 1. */
static bool fill_free(pattern *p)
{
    if (p->free < 0)
        return p->input == p->output || p->empty;
    if (p->output == 0) {
        p->shape.dims[p->free] = 1;
        return p->input == 0;
    }
    if (p->input % p->output != 0)
        return false;
    p->shape.dims[p->free] = p->input / p->output;
    return true;
}

mo_status mo_infer_shape_reshape(const mo_infer_rule_op *op, mo_shape *outputs,
                                 mo_error *err)
{
    const mo_shape *from = &op->inputs[0].shape;
    mo_infer_arg_list wanted;
    pattern p;
    mo_status status = mo_infer_arg_list_of(op, 1, &wanted, err);

    if (status != MO_OK)
        return status;
    if (op->inputs[1].shape.rank == 0) /* 1: make it a scalar */
        wanted.count = 0;
    status = resolve_pattern(
        from, &wanted, mo_infer_arg_bool(op, "special_zero", false), &p, err);
    if (status != MO_OK)
        return status;
    if (!fill_free(&p))
        return mo_fail(err, MO_E_INPUT, "cannot turn %s into %s",
                       mo_dims_format(from).text,
                       mo_dims_format(&p.shape).text);
    outputs[0] = p.shape;
    return MO_OK;
}

mo_status mo_infer_shape_squeeze(const mo_infer_rule_op *op, mo_shape *outputs,
                                 mo_error *err)
{
    const mo_shape *from = &op->inputs[0].shape;
    bool marks[MO_MAX_RANK], all = op->n_inputs == 1;
    mo_status status = MO_OK;

    if (!all)
        status = mo_infer_arg_marks(op, 1, from->rank, marks, err);
    if (status != MO_OK)
        return status;
    if (all || op->inputs[1].value->count == 0)
        memset(marks, true, sizeof marks);
    outputs[0] = (mo_shape){ 0 };
    for (int d = 0; d < from->rank; d++)
        if (!marks[d] || from->dims[d] != 1)
            mo_dims_push(outputs, from->dims[d]);
    return MO_OK;
}

mo_status mo_infer_shape_unsqueeze(const mo_infer_rule_op *op,
                                   mo_shape *outputs, mo_error *err)
{
    const mo_shape *from = &op->inputs[0].shape;
    bool marks[MO_MAX_RANK];
    mo_infer_arg_list axes;
    int rank, next = 0;
    mo_status status = mo_infer_arg_list_of(op, 1, &axes, err);

    if (status != MO_OK)
        return status;
    rank = from->rank + axes.count;
    if (rank > MO_MAX_RANK)
        return mo_fail(err, MO_E_LIMIT,
                       "its output has more than %d dimensions", MO_MAX_RANK);
    status = mo_infer_arg_marks(op, 1, rank, marks, err);
    if (status != MO_OK)
        return status;
    outputs[0] = (mo_shape){ .rank = rank };
    for (int d = 0; d < rank; d++)
        if (!marks[d] && next == from->rank)
            return mo_fail(err, MO_E_INPUT, "names an axis twice");
        else
            outputs[0].dims[d] = marks[d] ? 1 : from->dims[next++];
    return MO_OK;
}

mo_status mo_infer_eval_reshape(const mo_infer_rule_op *op, int output,
                                mo_infer_value *value, mo_error *err)
{
    (void) output;
    (void) err;
    memcpy(value->items, op->inputs[0].value->items,
           (size_t) value->count * sizeof *value->items);
    return MO_OK;
}
