/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/axes.h"

mo_status mo_lower_axis_split_at(const mo_op_site *site, int64_t axis,
                                 mo_lower_axis_split *split, mo_error *err)
{
    const mo_shape *shape = &site->in[0].shape;
    mo_status status =
        mo_op_site_normalize_axis(site, axis, shape->rank, &split->at, err);

    if (status != MO_OK)
        return status;
    split->outer = split->inner = 1;
    split->count = shape->dims[split->at];
    for (int d = 0; d < split->at; d++)
        split->outer *= shape->dims[d];
    for (int d = split->at + 1; d < shape->rank; d++)
        split->inner *= shape->dims[d];
    return MO_OK;
}

mo_status mo_lower_axes_mask(const mo_op_site *site, bool marks[MO_MAX_RANK],
                             mo_error *err)
{
    int rank = site->in[0].shape.rank, count = 0, at = 0;
    int64_t axes[MO_MAX_RANK];
    mo_status status = MO_OK;

    for (int d = 0; d < MO_MAX_RANK; d++)
        marks[d] = site->n_in < 2 && d < rank;
    if (site->n_in > 1)
        status = mo_op_site_const_ints(site, 1, axes, MO_MAX_RANK, &count, err);
    for (int i = 0; status == MO_OK && i < count; i++) {
        status = mo_op_site_normalize_axis(site, axes[i], rank, &at, err);
        if (status == MO_OK)
            marks[at] = true;
    }
    return status;
}
