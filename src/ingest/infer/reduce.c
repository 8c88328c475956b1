/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/infer/rule_args.h"
#include "ingest/infer/value_arith.h"
#include "ingest/infer/dims.h"

static mo_status infer_reduce(const mo_infer_rule_op *op, mo_shape *outputs,
                              mo_error *err)
{
    const mo_shape *from = &op->inputs[0].shape;
    bool marks[MO_MAX_RANK], keep = mo_infer_arg_bool(op, "keep_dims", false);
    mo_status status = mo_infer_arg_marks(op, 1, from->rank, marks, err);

    if (status != MO_OK)
        return status;
    outputs[0] = (mo_shape){ 0 };
    for (int d = 0; d < from->rank; d++)
        if (!marks[d])
            mo_dims_push(outputs, from->dims[d]);
        else if (keep)
            mo_dims_push(outputs, 1);
    return MO_OK;
}

#define REDUCE(name, evaluate)                                                 \
    {                                                                          \
        .type = name, .inputs = { 2, 2 }, .shapes = infer_reduce,              \
        .needs = MO_INFER_RULE_INPUT(1), .value = evaluate,                    \
        .reads = MO_INFER_RULE_INPUT(0)                                        \
    }

const mo_infer_rule mo_infer_rules_reduce[] = {
    REDUCE("ReduceL1", NULL),
    REDUCE("ReduceL2", NULL),
    REDUCE("ReduceLogicalAnd", mo_infer_arith_reduce),
    REDUCE("ReduceLogicalOr", mo_infer_arith_reduce),
    REDUCE("ReduceMax", mo_infer_arith_reduce),
    REDUCE("ReduceMean", mo_infer_arith_reduce),
    REDUCE("ReduceMin", mo_infer_arith_reduce),
    REDUCE("ReduceProd", mo_infer_arith_reduce),
    REDUCE("ReduceSum", mo_infer_arith_reduce),
    { .type = NULL },
};
