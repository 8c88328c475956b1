/* SPDX-License-Identifier: Apache-2.0 */
/* Shape rules of products of matrices. */
#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

/* The matrix of an operand: rows, columns, and what lies in front of them. */
typedef struct matrix {
    mo_shape batch;
    int64_t rows, columns;
} matrix;

/* A vector is a row on the left and a column on the right; it is never
 * transposed. */
static matrix matrix_of(const mo_shape *shape, bool transposed, bool right)
{
    matrix m = { .batch = *shape, .rows = 1, .columns = 1 };

    if (shape->rank == 1) {
        m.batch.rank = 0;
        *(right ? &m.rows : &m.columns) = shape->dims[0];
        return m;
    }
    m.batch.rank -= 2;
    m.rows = shape->dims[shape->rank - (transposed ? 1 : 2)];
    m.columns = shape->dims[shape->rank - (transposed ? 2 : 1)];
    return m;
}

static mo_status product_shape(const mo_infer_rule_op *op, int second,
                               mo_shape *outputs, mo_error *err)
{
    const mo_shape *left = &op->inputs[0].shape;
    const mo_shape *right = &op->inputs[second].shape;
    matrix a, b;
    mo_status status = mo_infer_arg_rank(op, 0, 1, MO_MAX_RANK, err);

    if (status == MO_OK)
        status = mo_infer_arg_rank(op, second, 1, MO_MAX_RANK, err);
    if (status != MO_OK)
        return status;
    a = matrix_of(left, mo_infer_arg_bool(op, "transpose_a", false), false);
    b = matrix_of(right, mo_infer_arg_bool(op, "transpose_b", false), true);
    if (a.columns != b.rows)
        return mo_fail(err, MO_E_INPUT,
                       "cannot multiply %s by %s: %lld columns meet %lld rows",
                       mo_dims_format(left).text, mo_dims_format(right).text,
                       (long long) a.columns, (long long) b.rows);
    if (!mo_dims_broadcast(&a.batch, &b.batch, outputs))
        return mo_dims_fail_broadcast(err, left, right);
    if (left->rank > 1)
        mo_dims_push(outputs, a.rows);
    if (right->rank > 1)
        mo_dims_push(outputs, b.columns);
    return MO_OK;
}

mo_status mo_infer_shape_matmul(const mo_infer_rule_op *op, mo_shape *outputs,
                                mo_error *err)
{
    return product_shape(op, 1, outputs, err);
}

/* Each factor is followed by its scale and its zero point. */
mo_status mo_infer_shape_qlinear_matmul(const mo_infer_rule_op *op,
                                        mo_shape *outputs, mo_error *err)
{
    return product_shape(op, 3, outputs, err);
}
