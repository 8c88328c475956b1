/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering of GridSample, in the names of OpenVINO, ONNX and PyTorch. */
#include "exec/op/lower/lowerings.h"

static bool has_mode(const mo_op_site *site, const char *mode,
                     const char *other)
{
    return mo_op_site_attr_equals(site, "mode", mode) ||
           mo_op_site_attr_equals(site, "mode", other);
}

static mo_status read_attributes(const mo_op_site *site,
                                 mo_call_grid_sample *grid, mo_error *err)
{
    if (has_mode(site, "nearest", "nearest"))
        grid->mode = MO_CALL_GRID_NEAREST;
    else if (has_mode(site, "bicubic", "cubic"))
        grid->mode = MO_CALL_GRID_CUBIC;
    else if (!mo_op_site_has_attr(site, "mode") ||
             has_mode(site, "bilinear", "linear"))
        grid->mode = MO_CALL_GRID_LINEAR;
    else
        return mo_op_site_fail(site, MO_E_SUPPORT, err, "has an unknown mode");
    if (mo_op_site_attr_equals(site, "padding_mode", "border"))
        grid->padding = MO_CALL_GRID_BORDER;
    else if (mo_op_site_attr_equals(site, "padding_mode", "reflection"))
        grid->padding = MO_CALL_GRID_REFLECTION;
    else if (mo_op_site_has_attr(site, "padding_mode") &&
             !mo_op_site_attr_equals(site, "padding_mode", "zeros"))
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "has an unknown padding_mode");
    grid->align_corners = mo_op_site_attr_bool(site, "align_corners", false);
    return MO_OK;
}

mo_status mo_lower_grid_sample(const mo_op_site *site, mo_lower_result *lowered,
                               mo_error *err)
{
    const mo_shape *data = &site->in[0].shape;
    mo_call_grid_sample grid = { 0 };
    mo_call *call;
    mo_status status = mo_op_site_check_arity(site, 2, 2, 1, err);

    if (status == MO_OK)
        status = mo_lower_window_check(site, &grid.spatial, err);
    if (status == MO_OK)
        status = read_attributes(site, &grid, err);
    if (status != MO_OK)
        return status;
    grid.batch = data->dims[0];
    grid.channels = data->dims[1];
    grid.points = 1;
    for (int d = 0; d < grid.spatial; d++) {
        grid.in[d] = data->dims[2 + d];
        grid.points *= site->out[0].shape.dims[2 + d];
        if (grid.in[d] < 1 && mo_tensor_desc_elements(&site->out[0]) > 0)
            return mo_op_site_fail(site, MO_E_INPUT, err,
                                   "has no data to take samples of");
    }
    status = mo_lower_add_call(lowered, MO_CALL_GRID_SAMPLE, 2, 1, &call, err);
    if (status != MO_OK)
        return status;
    call->in[0] = 0;
    call->in[1] = 1;
    call->out[0] = site->n_in;
    call->first_extra = 2;
    call->u.grid_sample = grid;
    return MO_OK;
}
