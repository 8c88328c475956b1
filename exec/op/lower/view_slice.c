/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of operators that keep every element: views (reshapes) and slices.
 */
#include "exec/op/lower/lowerings.h"

#include "exec/op/copy_builder.h"
#include "exec/op/shape_check.h"
#include "ingest/infer/rule_args.h"

enum { MANY = MO_CALL_MAX_OPERANDS };

/* The new shape is known; the attributes and inputs it follows from are not
 * read. */
mo_status mo_lower_view(const mo_op_site *site, mo_lower_result *lowered,
                        mo_error *err)
{
    char from[MO_TENSOR_DESC_TEXT_SIZE], to[MO_TENSOR_DESC_TEXT_SIZE];
    mo_call *call;
    mo_status status = mo_op_site_check_arity(site, 1, MANY, 1, err);

    if (status == MO_OK)
        status = mo_lower_copy_check_types(site, err);
    if (status != MO_OK)
        return status;
    if (mo_tensor_desc_elements(&site->in[0]) !=
        mo_tensor_desc_elements(&site->out[0]))
        return mo_op_site_fail(site, MO_E_INPUT, err, "cannot turn %s into %s",
                               mo_tensor_desc_format(&site->in[0], from),
                               mo_tensor_desc_format(&site->out[0], to));
    status = mo_lower_add_call(lowered, MO_CALL_VIEW, 1, 1, &call, err);
    if (status == MO_OK) {
        call->in[0] = 0;
        call->out[0] = site->n_in;
    }
    return status;
}

mo_status mo_lower_slice(const mo_op_site *site, mo_lower_result *lowered,
                         mo_error *err)
{
    mo_error why = { 0 };
    mo_call_copy_box box;
    mo_infer_rule_op op;
    mo_infer_slice cut;
    mo_status status = mo_op_site_check_arity(site, 3, 5, 1, err);

    if (status == MO_OK)
        status = mo_lower_copy_check_types(site, err);
    if (status == MO_OK)
        status = mo_op_site_rule_op(site,
                                    MO_INFER_RULE_ALL & ~MO_INFER_RULE_INPUT(0),
                                    lowered->arena, &op, err);
    if (status != MO_OK)
        return status;
    status = mo_infer_slice_read(&op, &cut, &why);
    if (status != MO_OK)
        return mo_op_site_fail(site, status, err, "%s", why.text);
    status = mo_op_site_check_output(site, 0, &cut.shape, err);
    if (status != MO_OK)
        return status;
    box = mo_lower_copy_box_init(&cut.shape);
    box.in_offset = cut.view.base;
    for (int d = 0; d < box.rank; d++)
        box.in_stride[d] = cut.view.stride[d];
    return mo_lower_copy_add_box(&box, 0, site->n_in, lowered, err);
}
