/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of Interpolate, in its three forms: opset 1 (axes are an
 * attribute), opset 4 (sizes and scales are both inputs), opset 11 (one of
 * them is). What only ONNX's Resize has are attributes "onnx" and
 * "exclude_outside", two kinds of coordinates, and input 3 of opset 11 beside
 * the sizes: the scales by axis, and where coordinates are those of a region
 * also its starts and ends.
 */
#include <math.h>
#include <stddef.h>

#include "exec/op/copy_builder.h"
#include "exec/op/lower/lowerings.h"
#include "graph/op_attrs.h"

typedef struct word {
    const char *text;
    int meaning;
} word;

static const word modes[] = {
    { "nearest", MO_CALL_INTERPOLATE_NEAREST },
    { "linear", MO_CALL_INTERPOLATE_LINEAR },
    { "linear_onnx", MO_CALL_INTERPOLATE_LINEAR_ONNX },
    { "cubic", MO_CALL_INTERPOLATE_CUBIC },
    { NULL, 0 },
};

static const word coordinates[] = {
    { "half_pixel", MO_CALL_COORDINATES_HALF_PIXEL },
    { "pytorch_half_pixel", MO_CALL_COORDINATES_PYTORCH_HALF_PIXEL },
    { "asymmetric", MO_CALL_COORDINATES_ASYMMETRIC },
    { "tf_half_pixel_for_nn", MO_CALL_COORDINATES_TF_HALF_PIXEL_NN },
    { "align_corners", MO_CALL_COORDINATES_ALIGN_CORNERS },
    { "half_pixel_symmetric", MO_CALL_COORDINATES_HALF_PIXEL_SYMMETRIC },
    { "tf_crop_and_resize", MO_CALL_COORDINATES_TF_CROP },
    { NULL, 0 },
};

static const word roundings[] = {
    { "round_prefer_floor", MO_CALL_NEAREST_PREFER_FLOOR },
    { "round_prefer_ceil", MO_CALL_NEAREST_PREFER_CEIL },
    { "floor", MO_CALL_NEAREST_FLOOR },
    { "ceil", MO_CALL_NEAREST_CEIL },
    { "simple", MO_CALL_NEAREST_SIMPLE },
    { NULL, 0 },
};

/* Reads an enumerated attribute; the first of the words where it is absent. */
static mo_status read_enum(const mo_op_site *site, const char *key,
                           const word *words, int *meaning, mo_error *err)
{
    *meaning = words->meaning;
    if (!mo_op_site_has_attr(site, key))
        return MO_OK;
    for (; words->text; words++)
        if (mo_op_site_attr_equals(site, key, words->text)) {
            *meaning = words->meaning;
            return MO_OK;
        }
    return mo_op_site_fail(site, MO_E_SUPPORT, err, "has an unknown %s", key);
}

/* Opset 1 has corners, aligned or not, and nothing else. */
static mo_status read_opset1_modes(const mo_op_site *site,
                                   mo_call_interpolate *call, mo_error *err)
{
    int mode;
    mo_status status = read_enum(site, "mode", modes, &mode, err);

    call->mode = (mo_call_interpolate_mode) mode;
    call->coordinates = mo_op_site_attr_bool(site, "align_corners", true)
                            ? MO_CALL_COORDINATES_ALIGN_CORNERS
                            : MO_CALL_COORDINATES_ASYMMETRIC;
    call->nearest = MO_CALL_NEAREST_SIMPLE;
    call->antialias = mo_op_site_attr_bool(site, "antialias", false);
    call->cubic = -0.75;
    return status;
}

static mo_status read_ways(const mo_op_site *site, mo_call_interpolate *call,
                           mo_error *err)
{
    int mode = 0, places = 0, nearest = 0;
    mo_status status;

    if (mo_op_site_opset(site) < 4)
        return read_opset1_modes(site, call, err);
    status = read_enum(site, "mode", modes, &mode, err);
    if (status == MO_OK)
        status = read_enum(site, "coordinate_transformation_mode", coordinates,
                           &places, err);
    if (status == MO_OK)
        status = read_enum(site, "nearest_mode", roundings, &nearest, err);
    if (status == MO_OK)
        status =
            mo_op_site_attr_real(site, "cube_coeff", -0.75, &call->cubic, err);
    call->mode = (mo_call_interpolate_mode) mode;
    call->coordinates = (mo_call_interpolate_coordinates) places;
    call->nearest = (mo_call_interpolate_nearest) nearest;
    call->antialias = mo_op_site_attr_bool(site, "antialias", false);
    call->onnx = mo_op_site_attr_bool(site, "onnx", false);
    call->exclude_outside =
        mo_op_site_attr_bool(site, "exclude_outside", false);
    if (status == MO_OK && !call->onnx &&
        call->coordinates > MO_CALL_COORDINATES_ALIGN_CORNERS)
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "has coordinates of ONNX only");
    return status;
}

/* The axes that are resized, in the order of sizes and scales. */
typedef struct axes {
    int count, at[MO_MAX_RANK];
} axes;

static mo_status read_axes(const mo_op_site *site, axes *a, mo_error *err)
{
    int opset = mo_op_site_opset(site), rank = site->in[0].shape.rank;
    int input = opset < 11 ? 3 : 2, count = 0;
    int64_t list[MO_MAX_RANK];
    mo_status status = MO_OK;

    if (opset < 4) {
        count = site->attrs
                    ? mo_attr_ints(site->attrs, "axes", list, MO_MAX_RANK)
                    : 0;
    } else if (site->n_in > input) {
        status =
            mo_op_site_const_ints(site, input, list, MO_MAX_RANK, &count, err);
    } else {
        for (; count < rank; count++)
            list[count] = count;
    }
    if (count < 0 || count > MO_MAX_RANK)
        return mo_op_site_fail(site, MO_E_INPUT, err, "its axes are no axes");
    for (int i = 0; status == MO_OK && i < count; i++)
        status = mo_op_site_normalize_axis(site, list[i], rank, &a->at[i], err);
    a->count = count;
    return status;
}

/* Pads may be fewer than dimensions: the others have none.  Those of opset 1
 * are one number for all axes. */
static mo_status read_pads(const mo_op_site *site, const axes *a,
                           const char *key, int64_t pads[MO_MAX_RANK],
                           mo_error *err)
{
    int rank = site->in[0].shape.rank, n = 0;
    int64_t list[MO_MAX_RANK];

    if (mo_op_site_has_attr(site, key))
        n = mo_attr_ints(site->attrs, key, list, MO_MAX_RANK);
    if (n < 0 || n > MO_MAX_RANK)
        return mo_op_site_fail(site, MO_E_INPUT, err, "its %s are no integers",
                               key);
    if (mo_op_site_opset(site) < 4)
        for (int i = 0; i < a->count && n > 0; i++)
            pads[a->at[i]] = list[0];
    else
        for (int d = 0; d < n && d < rank; d++)
            pads[d] = list[d];
    for (int d = 0; d < rank; d++)
        if (pads[d] < 0 || pads[d] > MO_MAX_ELEMENTS)
            return mo_op_site_fail(site, MO_E_SUPPORT, err,
                                   "its %s are out of range", key);
    return MO_OK;
}

/* Scales as given, or derived from the sizes. They are floats: coordinates
 * computed from them must be the same everywhere. */
static mo_status read_scales(const mo_op_site *site, const axes *a,
                             mo_call_interpolate *call, mo_error *err)
{
    int opset = mo_op_site_opset(site), input = opset < 11 ? 2 : 1;
    bool given = opset >= 4 && mo_op_site_attr_equals(
                                   site, "shape_calculation_mode", "scales");

    if (given && (site->n_in <= input || !site->value[input] ||
                  mo_tensor_desc_elements(&site->in[input]) < a->count))
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "needs a constant scale for each of %d axes",
                               a->count);
    for (int i = 0; i < a->count; i++) {
        int d = a->at[i];
        float scale = given
                          ? (float) mo_tensor_get_double(site->value[input], i)
                          : (float) call->out[d] / (float) call->in[d];

        if (!(scale > 0 && isfinite(scale)) && call->out[d] > 0)
            return mo_op_site_fail(
                site, MO_E_INPUT, err, "cannot make %lld out of %lld elements",
                (long long) call->out[d], (long long) call->in[d]);
        call->scale[d] = scale;
        call->moves[d] = true;
    }
    return MO_OK;
}

/* Reads input 3: scales, and for a region starts and ends, each by axis. */
static mo_status read_onnx(const mo_op_site *site, const axes *a,
                           mo_call_interpolate *call, mo_error *err)
{
    bool crops = call->coordinates == MO_CALL_COORDINATES_TF_CROP;
    int n = (crops ? 3 : 1) * a->count;

    if (!call->onnx)
        return MO_OK;
    if (site->n_in < 4 || !site->value[3] ||
        mo_tensor_desc_elements(&site->in[3]) != n)
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "needs %d constants, scales and a region", n);
    for (int i = 0; i < n; i++) {
        double number = mo_tensor_get_double(site->value[3], i);
        int d = a->at[i % a->count];

        if (!isfinite(number) ||
            (i < a->count && call->out[d] > 0 && !((float) number > 0)))
            return mo_op_site_fail(site, MO_E_INPUT, err,
                                   "has a scale or region out of range");
        if (i < a->count)
            call->scale[d] = number;
        else
            call->crop[i / a->count - 1][d] = number;
    }
    return MO_OK;
}

/* Zeros around the data, in a temporary of that shape. */
static mo_status add_padding(const mo_op_site *site,
                             const mo_tensor_desc *padded, const int64_t *begin,
                             mo_lower_result *lowered, int *temp, mo_error *err)
{
    mo_call_copy_box data = mo_lower_copy_box_init(&padded->shape);
    mo_call *call;
    mo_status status = mo_lower_add_temp(lowered, site, padded, temp, err);

    if (status == MO_OK)
        status = mo_lower_copy_add_call(site, 1, 2, lowered, &call, err);
    if (status != MO_OK)
        return status;
    call->out[0] = *temp;
    call->u.copy.boxes[0] = data;
    call->u.copy.boxes[0].from = MO_CALL_COPY_FILL;
    mo_lower_copy_strides(&site->in[0].shape, data.in_stride);
    for (int d = 0; d < data.rank; d++) {
        data.extent[d] = site->in[0].shape.dims[d];
        data.out_offset += begin[d] * data.out_stride[d];
    }
    call->u.copy.boxes[1] = data;
    return MO_OK;
}

/* *from = the data with its padding: a temporary, or the input where it has
 * none. */
static mo_status pad_input(const mo_op_site *site, const axes *a,
                           mo_call_interpolate *call, mo_lower_result *lowered,
                           int *from, mo_error *err)
{
    int64_t begin[MO_MAX_RANK] = { 0 }, end[MO_MAX_RANK] = { 0 };
    mo_tensor_desc padded = site->in[0];
    mo_status status = read_pads(site, a, "pads_begin", begin, err);

    if (status == MO_OK)
        status = read_pads(site, a, "pads_end", end, err);
    if (status != MO_OK)
        return status;
    for (int d = 0; d < padded.shape.rank; d++) {
        padded.shape.dims[d] += begin[d] + end[d];
        call->in[d] = padded.shape.dims[d];
    }
    *from = 0;
    if (!mo_shape_fits(&padded.shape))
        return mo_op_site_fail(site, MO_E_LIMIT, err, "its pads are too large");
    if (mo_shape_equal(&padded.shape, &site->in[0].shape))
        return MO_OK;
    return add_padding(site, &padded, begin, lowered, from, err);
}

/* Dimensions that are not resized must be equal to the data's. */
static mo_status check_sizes(const mo_op_site *site,
                             const mo_call_interpolate *call, mo_error *err)
{
    for (int d = 0; d < call->rank; d++)
        if (!call->moves[d] && call->in[d] != call->out[d])
            return mo_op_site_fail(site, MO_E_INPUT, err,
                                   "resizes dimension %d, which is none of its "
                                   "axes",
                                   d);
        else if (call->in[d] == 0 && call->out[d] > 0)
            return mo_op_site_fail(site, MO_E_INPUT, err, "resizes nothing");
    return MO_OK;
}

mo_status mo_lower_interpolate(const mo_op_site *site, mo_lower_result *lowered,
                               mo_error *err)
{
    mo_call_interpolate interpolate = { 0 };
    int from = 0;
    mo_call *call;
    mo_status status = mo_op_site_check_arity(site, 2, 4, 1, err);

    if (status == MO_OK)
        status = mo_lower_copy_check_types(site, err);
    if (status == MO_OK && site->out[0].shape.rank != site->in[0].shape.rank)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "cannot change the number of dimensions");
    if (status == MO_OK) {
        axes a = { 0 };
        status = read_ways(site, &interpolate, err);

        interpolate.rank = site->in[0].shape.rank;
        for (int d = 0; d < interpolate.rank; d++) {
            interpolate.out[d] = site->out[0].shape.dims[d];
            interpolate.scale[d] = 1;
        }
        if (status == MO_OK)
            status = read_axes(site, &a, err);
        if (status == MO_OK)
            status = pad_input(site, &a, &interpolate, lowered, &from, err);
        if (status == MO_OK)
            status = read_scales(site, &a, &interpolate, err);
        if (status == MO_OK)
            status = read_onnx(site, &a, &interpolate, err);
        if (status == MO_OK)
            status = check_sizes(site, &interpolate, err);
    }
    if (status != MO_OK)
        return status;
    if (interpolate.mode != MO_CALL_INTERPOLATE_NEAREST &&
        !mo_elem_is_float(site->in[0].elem))
        return mo_op_site_fail(
            site, MO_E_SUPPORT, err,
            "integers are resized by nearest neighbours only");
    status = mo_lower_add_call(lowered, MO_CALL_INTERPOLATE, 1, 1, &call, err);
    if (status != MO_OK)
        return status;
    call->in[0] = from;
    call->out[0] = site->n_in;
    call->u.interpolate = interpolate;
    return MO_OK;
}
