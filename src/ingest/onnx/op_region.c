/* SPDX-License-Identifier: Apache-2.0 */
/* Translators of ONNX operators that sample or place regions of images:
 * RoiAlign, DeformConv, AffineGrid, MaxUnpool, CenterCropPad. They become
 * gathers, samples and convolutions. */
#include <stdlib.h>
#include <string.h>

#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"
#include "ingest/onnx/window.h"

/* A real number for each index of one of rank dimensions: first, first +
 * step, ... */
static mo_onnx_ref number_line(mo_onnx_builder *b, double first, double step,
                               int64_t n, int axis, int rank)
{
    mo_shape shape = { .rank = rank };
    double *items;
    mo_onnx_ref made;

    for (int d = 0; d < rank; d++)
        shape.dims[d] = d == axis ? n : 1;
    if (n < 0 || n > MO_INFER_VALUE_MAX_ITEMS)
        return mo_onnx_refuse(b, "has a side of more than %d",
                              MO_INFER_VALUE_MAX_ITEMS);
    items = calloc((size_t) n + 1, sizeof *items);
    if (!items)
        return mo_onnx_fail_memory(b);
    for (int64_t i = 0; i < n; i++)
        items[i] = first + step * (double) i;
    made = mo_onnx_numbers(b, items, &shape, "f32");
    free(items);
    return made;
}

/* Points of all regions along one axis: their lower and upper neighbours and
 * the weights of both, [regions, points]. */
typedef struct axis_points {
    mo_onnx_ref index[2], weight[2];
    int64_t n;
} axis_points;

/* Column i of the regions, scaled and shifted. */
static mo_onnx_ref region_edge(mo_onnx_op *op, int i, double offset)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_cut(b, mo_onnx_in(op, 1), 1, i, i + 1);
    double scale = mo_onnx_attr_real(op, "spatial_scale", 1);

    x = mo_onnx_with_number(b, "Multiply", x, scale);
    return offset != 0 ? mo_onnx_with_number(b, "Subtract", x, offset) : x;
}

static axis_points region_points(mo_onnx_op *op, int column, int64_t size,
                                 int64_t bins, int64_t samples, bool half_pixel)
{
    mo_onnx_builder *b = op->b;
    double offset = half_pixel ? 0.5 : 0;
    mo_onnx_ref start = region_edge(op, column, offset);
    mo_onnx_ref side = mo_onnx_binary(
        b, "Subtract", region_edge(op, column + 2, offset), start, NULL);
    axis_points p = { .n = bins * samples };
    mo_onnx_ref at, low, share, inside;
    double last = (double) size - 1;

    if (!half_pixel)
        side = mo_onnx_with_number(b, "Maximum", side, 1);
    side = mo_onnx_with_number(b, "Divide", side, (double) bins);
    at =
        number_line(b, 0.5 / (double) samples, 1 / (double) samples, p.n, 1, 2);
    at = mo_onnx_binary(b, "Multiply", at, side, NULL);
    at = mo_onnx_binary(b, "Add", at, start, NULL);
    inside = mo_onnx_binary(
        b, "LogicalAnd",
        mo_onnx_binary(b, "GreaterEqual", at, mo_onnx_number(b, -1, "f32"),
                       "boolean"),
        mo_onnx_binary(b, "LessEqual", at,
                       mo_onnx_number(b, (double) size, "f32"), "boolean"),
        NULL);
    inside = mo_onnx_convert(b, inside, "f32");
    at = mo_onnx_with_number(b, "Maximum", at, 0);
    at = mo_onnx_with_number(b, "Minimum", at, last);
    low = mo_onnx_unary(b, "Floor", at, NULL);
    share = mo_onnx_binary(b, "Subtract", at, low, NULL);
    p.weight[1] = mo_onnx_binary(b, "Multiply", share, inside, NULL);
    p.weight[0] = mo_onnx_binary(b, "Subtract", inside, p.weight[1], NULL);
    p.index[0] = mo_onnx_convert(b, low, "i64");
    low = mo_onnx_with_number(b, "Add", low, 1);
    low = mo_onnx_with_number(b, "Minimum", low, last);
    p.index[1] = mo_onnx_convert(b, low, "i64");
    return p;
}

/* [regions, n] -> [regions, n, 1, 1] or [regions, 1, n, 1]. */
static mo_onnx_ref spread(mo_onnx_builder *b, mo_onnx_ref x, int axis, int rank)
{
    const mo_shape *old = mo_onnx_shape(b, x);
    mo_shape shape = { .rank = rank, .dims = { old->dims[0], 1, 1, 1 } };

    shape.dims[axis] = old->dims[1];
    return mo_onnx_reshape(b, x, &shape);
}

/* Means (or maxima) of samples of each bin of each region; samples are
 * interpolated from four neighbours. */
void mo_onnx_op_roi_align(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0), batch, sum = MO_ONNX_NONE;
    mo_shape image = *mo_onnx_shape(b, x), rows, grid;
    int64_t regions = mo_onnx_shape(b, mo_onnx_in(op, 1))->dims[0];
    int64_t high = mo_onnx_attr_int(op, "output_height", 1);
    int64_t wide = mo_onnx_attr_int(op, "output_width", 1);
    int64_t samples = mo_onnx_attr_int(op, "sampling_ratio", 0);
    const char *mode = mo_onnx_attr_text(op, "mode", "avg");
    bool largest = strcmp(mode, "max") == 0;
    bool half_pixel =
        strcmp(mo_onnx_attr_text(op, "coordinate_transformation_mode",
                                 op->version < 16 ? "output_half_pixel"
                                                  : "half_pixel"),
               "half_pixel") == 0;
    bool marks[MO_MAX_RANK] = { [2] = true, [4] = true };
    axis_points y, z;

    if (image.rank != 4 || high < 1 || wide < 1 ||
        mo_onnx_shape(b, mo_onnx_in(op, 1))->rank != 2) {
        mo_onnx_wrong(b, "has no image of 4 dimensions, or no bins");
        return;
    }
    if (samples > 64 || high > 1024 || wide > 1024) {
        mo_onnx_refuse(b,
                       "has %lld x %lld bins, sampling_ratio %lld; at most "
                       "1024 x 1024 and 64 are run",
                       (long long) high, (long long) wide, (long long) samples);
        return;
    }
    if (samples < 1) {
        mo_onnx_refuse(b,
                       "its number of samples depends on the regions: "
                       "sampling_ratio is %lld",
                       (long long) samples);
        return;
    }
    y = region_points(op, 1, image.dims[2], high, samples, half_pixel);
    z = region_points(op, 0, image.dims[3], wide, samples, half_pixel);
    rows = (mo_shape){ .rank = 2,
                       .dims = { image.dims[0] * image.dims[2] * image.dims[3],
                                 image.dims[1] } };
    x = mo_onnx_transpose(b, x, (const int64_t[]){ 0, 2, 3, 1 });
    x = mo_onnx_reshape(b, x, &rows);
    batch = mo_onnx_convert(b, mo_onnx_in(op, 2), "i64");
    batch = mo_onnx_with_number(b, "Multiply", batch,
                                (double) (image.dims[2] * image.dims[3]));
    batch = mo_onnx_reshape(
        b, batch, &(mo_shape){ .rank = 3, .dims = { regions, 1, 1 } });
    for (int corner = 0; corner < 4; corner++) {
        mo_onnx_ref at = mo_onnx_with_number(
            b, "Multiply", spread(b, y.index[corner / 2], 1, 3),
            (double) image.dims[3]);
        mo_onnx_ref weight =
            mo_onnx_binary(b, "Multiply", spread(b, y.weight[corner / 2], 1, 4),
                           spread(b, z.weight[corner % 2], 2, 4), NULL);

        at = mo_onnx_binary(b, "Add", at, spread(b, z.index[corner % 2], 2, 3),
                            NULL);
        at = mo_onnx_binary(b, "Add", at, batch, NULL);
        mo_onnx_set_int(b, "batch_dims", 0);
        at = mo_onnx_add(b, "Gather", MO_ONNX_REFS(x, at, mo_onnx_int(b, 0)), 3,
                         NULL);
        at = mo_onnx_binary(b, "Multiply", at, weight, NULL);
        sum = corner == 0 ? at
                          : mo_onnx_binary(b, largest ? "Maximum" : "Add", sum,
                                           at, NULL);
    }
    grid = (mo_shape){ .rank = 6,
                       .dims = { regions, high, samples, wide, samples,
                                 image.dims[1] } };
    sum = mo_onnx_reshape(b, sum, &grid);
    sum = mo_onnx_reduce(b, largest ? "ReduceMax" : "ReduceMean", sum, marks,
                         false);
    if (mo_onnx_builder_status(b) == MO_OK)
        mo_onnx_out(op,
                    mo_onnx_transpose(b, sum, (const int64_t[]){ 0, 3, 1, 2 }));
}

/* Where the kernel's taps fall along axis, as grids have it: -1 and 1 are the
 * edges of the image. offsets: [images, taps, 2, high, wide]. */
static mo_onnx_ref tap_positions(mo_onnx_op *op, const mo_onnx_window *w,
                                 mo_onnx_ref offsets, int axis, int64_t size)
{
    mo_onnx_builder *b = op->b;
    mo_shape s = *mo_onnx_shape(b, offsets);
    double taps[64];
    bool marks[MO_MAX_RANK] = { [2] = true };
    mo_onnx_ref at =
        mo_onnx_squeeze(b, mo_onnx_cut(b, offsets, 2, axis, axis + 1), marks);

    for (int64_t k = 0; k < s.dims[1]; k++)
        taps[k] = (double) ((axis == 0 ? k / w->kernel[1] : k % w->kernel[1]) *
                                w->dilation[axis] -
                            w->begin[axis]);
    at = mo_onnx_binary(
        b, "Add", at,
        mo_onnx_numbers(
            b, taps, &(mo_shape){ .rank = 4, .dims = { 1, s.dims[1], 1, 1 } },
            "f32"),
        NULL);
    at = mo_onnx_binary(b, "Add", at,
                        number_line(b, 0, (double) w->stride[axis],
                                    s.dims[3 + axis], 2 + axis, 4),
                        NULL);
    at = mo_onnx_with_number(b, "Multiply", at, 2 / (double) size);
    at = mo_onnx_with_number(b, "Add", at, 1 / (double) size - 1);
    s = (mo_shape){ .rank = 5,
                    .dims = { s.dims[0], s.dims[1], s.dims[3], s.dims[4], 1 } };
    return mo_onnx_reshape(b, at, &s);
}

/* A convolution whose taps are moved: all taps are sampled at once, into
 * channels of a convolution of one tap. */
void mo_onnx_op_deform_conv(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0), weights = mo_onnx_in(op, 1);
    mo_onnx_ref offsets = mo_onnx_in(op, 2), mask = mo_onnx_in(op, 4), grid;
    mo_shape image = *mo_onnx_shape(b, x);
    mo_shape filter = *mo_onnx_shape(b, weights);
    mo_shape out = *mo_onnx_shape(b, offsets), shape;
    int64_t parts = mo_onnx_attr_int(op, "offset_group", 1), taps, images;
    mo_onnx_window w = { .n = 0 };

    if (!mo_onnx_read_conv_window(op, 1, &w))
        return;
    taps = w.kernel[0] * (w.n > 1 ? w.kernel[1] : 1);
    if (w.n != 2) {
        mo_onnx_refuse(b, "has %d spatial dimensions, not 2", w.n);
        return;
    }
    if (taps > 64) {
        mo_onnx_refuse(b, "has more than 64 taps");
        return;
    }
    if (parts < 1 || image.dims[1] % parts != 0 || out.rank != 4 ||
        out.dims[1] != parts * taps * 2 || filter.dims[1] < 1) {
        mo_onnx_wrong(b, "has offsets of other groups or taps");
        return;
    }
    images = image.dims[0] * parts;
    shape = (mo_shape){ .rank = 5,
                        .dims = { images, taps, 2, out.dims[2], out.dims[3] } };
    offsets = mo_onnx_reshape(b, offsets, &shape);
    if (!mo_onnx_is(offsets))
        return;
    grid = mo_onnx_concat(
        b,
        MO_ONNX_REFS(tap_positions(op, &w, offsets, 1, image.dims[3]),
                     tap_positions(op, &w, offsets, 0, image.dims[2])),
        2, 4);
    shape =
        (mo_shape){ .rank = 4,
                    .dims = { images, taps * out.dims[2], out.dims[3], 2 } };
    grid = mo_onnx_reshape(b, grid, &shape);
    shape = (mo_shape){ .rank = 4,
                        .dims = { images, image.dims[1] / parts, image.dims[2],
                                  image.dims[3] } };
    x = mo_onnx_reshape(b, x, &shape);
    mo_onnx_set_text(b, "mode", "linear");
    mo_onnx_set_text(b, "padding_mode", "zeros");
    mo_onnx_set_int(b, "align_corners", 0);
    x = mo_onnx_binary(b, "GridSample", x, grid, NULL);
    shape = (mo_shape){ .rank = 5,
                        .dims = { images, image.dims[1] / parts, taps,
                                  out.dims[2], out.dims[3] } };
    x = mo_onnx_reshape(b, x, &shape);
    if (mo_onnx_is(mask)) {
        shape.dims[1] = 1;
        x = mo_onnx_binary(b, "Multiply", x, mo_onnx_reshape(b, mask, &shape),
                           NULL);
    }
    shape = (mo_shape){ .rank = 4,
                        .dims = { image.dims[0], image.dims[1] * taps,
                                  out.dims[2], out.dims[3] } };
    x = mo_onnx_reshape(b, x, &shape);
    shape =
        (mo_shape){ .rank = 4,
                    .dims = { filter.dims[0], filter.dims[1] * taps, 1, 1 } };
    weights = mo_onnx_reshape(b, weights, &shape);
    mo_onnx_out(op, mo_onnx_convolve(op, x, weights,
                                     &(mo_onnx_window){ .n = 2,
                                                        .kernel = { 1, 1 },
                                                        .stride = { 1, 1 },
                                                        .dilation = { 1, 1 } },
                                     mo_onnx_attr_int(op, "group", 1),
                                     mo_onnx_in(op, 3)));
}

/* The grid of GridSample that a matrix of each image gives: x times its first
 * column, y times its second, ..., plus its last. */
void mo_onnx_op_affine_grid(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref theta = mo_onnx_in(op, 0), sum;
    mo_shape matrix = *mo_onnx_shape(b, theta), column, grid;
    mo_onnx_list size = mo_onnx_in_ints(op, 1, "size");
    bool corners = mo_onnx_attr_int(op, "align_corners", 0) != 0;
    int n = size.n - 2;

    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    if (n < 2 || n > 3 || matrix.rank != 3 || matrix.dims[1] != n ||
        matrix.dims[2] != n + 1) {
        mo_onnx_wrong(b, "has no matrices of 2 x 3 or 3 x 4 for its size");
        return;
    }
    column = grid = (mo_shape){ .rank = n + 2, .dims = { matrix.dims[0] } };
    for (int d = 0; d < n; d++) {
        column.dims[1 + d] = 1;
        grid.dims[1 + d] = size.at[2 + d];
    }
    column.dims[n + 1] = grid.dims[n + 1] = n;
    sum = mo_onnx_reshape(b, mo_onnx_cut(b, theta, 2, n, n + 1), &column);
    for (int k = 0; k < n; k++) { /* column k belongs to the k-th last side */
        int axis = n - k;
        double sides = (double) size.at[1 + axis];
        double step = corners ? 2 / (sides - 1) : 2 / sides;
        mo_onnx_ref line =
            number_line(b, corners ? -1 : -1 + step / 2, sides > 1 ? step : 0,
                        size.at[1 + axis], axis, n + 2);
        mo_onnx_ref times =
            mo_onnx_reshape(b, mo_onnx_cut(b, theta, 2, k, k + 1), &column);

        times = mo_onnx_binary(b, "Multiply", line, times, NULL);
        sum = mo_onnx_binary(b, "Add", sum, times, NULL);
    }
    mo_onnx_out(op, mo_onnx_broadcast(b, sum, &grid));
}

/* Puts maxima back where they were; zeros elsewhere. */
void mo_onnx_op_max_unpool(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0), indices = mo_onnx_in(op, 1), y;
    mo_shape old = *mo_onnx_shape(b, x), shape = old;
    mo_shape flat = { .rank = 1, .dims = { mo_shape_elements(&old) } }, whole;
    mo_onnx_list sizes = mo_onnx_in_ints(op, 2, "output shape");
    int64_t begin[MO_MAX_RANK] = { 0 }, end[MO_MAX_RANK] = { 0 };
    mo_onnx_window w = { .n = 0 };
    bool larger = false;

    if (!mo_onnx_read_pool_window(op, &w))
        return;
    for (int d = 0; d < w.n; d++)
        shape.dims[2 + d] = (old.dims[2 + d] - 1) * w.stride[d] - w.begin[d] -
                            w.end[d] + w.kernel[d];
    if (!mo_shape_is_static(&shape) || !mo_shape_fits(&shape) ||
        (sizes.n >= 0 && sizes.n != old.rank)) {
        mo_onnx_wrong(b, "has an output of no size");
        return;
    }
    whole = (mo_shape){ .rank = 1, .dims = { mo_shape_elements(&shape) } };
    y = mo_onnx_broadcast(b, mo_onnx_number(b, 0, mo_onnx_dtype(b, x)), &whole);
    mo_onnx_set_text(b, "reduction", "none");
    mo_onnx_set_bool(b, "use_init_val", true);
    y = mo_onnx_add(b, "ScatterElementsUpdate",
                    MO_ONNX_REFS(y, mo_onnx_reshape(b, indices, &flat),
                                 mo_onnx_reshape(b, x, &flat),
                                 mo_onnx_int(b, 0)),
                    4, NULL);
    y = mo_onnx_reshape(b, y, &shape);
    for (int d = 0; d < sizes.n; d++) {
        end[d] = sizes.at[d] - shape.dims[d];
        larger = larger || end[d] != 0;
        if (end[d] < 0)
            mo_onnx_wrong(b, "has an output smaller than its windows");
    }
    if (larger)
        y = mo_onnx_add_pad(b, y, begin, end);
    mo_onnx_out(op, y);
}

/* The middle of x, or x in the middle of zeros, along some axes. */
void mo_onnx_op_center_crop_pad(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0);
    mo_shape shape = *mo_onnx_shape(b, x);
    mo_onnx_list sizes = mo_onnx_in_ints(op, 1, "shape");
    mo_onnx_list axes = mo_onnx_attr_ints(op, "axes");
    int64_t begin[MO_MAX_RANK] = { 0 }, end[MO_MAX_RANK] = { 0 };
    bool pads = false;

    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    if (sizes.n < 0 || sizes.n > shape.rank ||
        (axes.n >= 0 && axes.n != sizes.n)) {
        mo_onnx_wrong(b, "has %d sizes for %d axes", sizes.n, axes.n);
        return;
    }
    for (int i = 0; i < sizes.n; i++) {
        int axis = mo_onnx_axis(b, axes.n >= 0 ? axes.at[i] : i, shape.rank);
        int64_t size = shape.dims[axis], wanted = sizes.at[i];

        if (wanted < 0 || wanted > (int64_t) 1 << 40)
            mo_onnx_wrong(b, "has a size of %lld", (long long) wanted);
        else if (wanted < size)
            x = mo_onnx_cut(b, x, axis, (size - wanted) / 2,
                            (size - wanted) / 2 + wanted);
        else {
            begin[axis] = (wanted - size) / 2;
            end[axis] = wanted - size - begin[axis];
            pads = pads || wanted > size;
        }
    }
    mo_onnx_out(op, pads ? mo_onnx_add_pad(b, x, begin, end) : x);
}
