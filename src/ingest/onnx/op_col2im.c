/* SPDX-License-Identifier: Apache-2.0 */
/* Translator of ONNX's Col2Im: overlap-add, one dimension after the other. */
#include <string.h>

#include "base/array.h"
#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"
#include "ingest/onnx/window.h"

/*
 * Overlap-add of one dimension: y[l * stride + k * dilation] is the sum of
 * x[k][l], and `wide` elements of y from `begin` on are kept.
 *
 * axis is that of k, l is the next one. Zeros are put between the elements of a
 * row. Rows, each padded to the length W, are one list; read in rows of W -
 * dilation, row k is shifted by k * dilation, and columns are added. Nothing is
 * multiplied, so infinities stay where they are.
 */
static mo_onnx_ref overlap_add(mo_onnx_builder *b, mo_onnx_ref x, int axis,
                               int64_t stride, int64_t dilation, int64_t begin,
                               int64_t wide)
{
    int64_t zeros[MO_MAX_RANK] = { 0 }, end[MO_MAX_RANK] = { 0 };
    bool marks[MO_MAX_RANK] = { false };
    mo_shape shape = *mo_onnx_shape(b, x);
    int64_t rows = shape.dims[axis], length = shape.dims[axis + 1] * stride;
    mo_shape list = shape, lines = shape, spaced = shape;

    lines.dims[axis + 1] = length + rows * dilation;
    if (!mo_shape_fits(&lines))
        return mo_onnx_refuse(b, "has windows that lie too far apart");
    if (stride > 1) {
        spaced.rank++;
        for (int d = shape.rank; d > axis + 1; d--)
            spaced.dims[d] = shape.dims[d - 1];
        spaced.dims[axis + 2] = 1;
        end[axis + 2] = stride - 1;
        x = mo_onnx_add_pad(b, mo_onnx_reshape(b, x, &spaced), zeros, end);
        end[axis + 2] = 0;
        shape.dims[axis + 1] = length;
        x = mo_onnx_reshape(b, x, &shape);
    }
    if (rows > 1) {
        end[axis + 1] = rows * dilation;
        x = mo_onnx_add_pad(b, x, zeros, end);
        list.dims[axis] = 1;
        list.dims[axis + 1] = rows * lines.dims[axis + 1];
        x = mo_onnx_cut(b, mo_onnx_reshape(b, x, &list), axis + 1, 0,
                        rows * (lines.dims[axis + 1] - dilation));
        lines.dims[axis + 1] -= dilation;
        x = mo_onnx_reshape(b, x, &lines);
    }
    marks[axis] = true;
    x = mo_onnx_reduce(b, "ReduceSum", x, marks, false);
    return mo_onnx_cut(b, x, axis, begin, begin + wide);
}

/* Blocks, columns of the input, added up to an image. */
void mo_onnx_op_col2im(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0);
    mo_shape old = *mo_onnx_shape(b, x), shape;
    mo_onnx_list image = mo_onnx_in_ints(op, 1, "image shape");
    mo_onnx_list block = mo_onnx_in_ints(op, 2, "block shape");
    int64_t places = 1, blocks = 1;
    mo_onnx_window w = { .n = block.n };
    int64_t order[MO_MAX_RANK] = { 0 };

    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    if (old.rank != 3 || block.n < 1 || block.n > 3 || image.n != block.n) {
        mo_onnx_wrong(b, "has blocks of %d dimensions for an image of %d",
                      block.n, image.n);
        return;
    }
    for (int d = 0; d < w.n; d++) {
        w.kernel[d] = block.at[d];
        if (block.at[d] < 1 || !mo_int64_mul(places, block.at[d], &places) ||
            places > old.dims[1])
            mo_onnx_wrong(b, "has blocks of another size than its columns");
        if (image.at[d] < 1 || image.at[d] > 1 << 30)
            mo_onnx_wrong(b, "has an image of %lld elements",
                          (long long) image.at[d]);
    }
    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    mo_onnx_read_window(op, image.at, &w);
    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    shape = (mo_shape){ .rank = 1 + 2 * w.n,
                        .dims = { old.dims[0] * (old.dims[1] / places) } };
    for (int d = 0; d < w.n; d++) {
        int64_t span = (w.kernel[d] - 1) * w.dilation[d] + 1;
        int64_t room = image.at[d] + w.begin[d] + w.end[d] - span;

        shape.dims[1 + d] = w.kernel[d];
        shape.dims[1 + w.n + d] = room / w.stride[d] + 1;
        order[1 + 2 * d] = 1 + d;
        order[2 + 2 * d] = 1 + w.n + d;
        if (room < 0 ||
            !mo_int64_mul(blocks, shape.dims[1 + w.n + d], &blocks)) {
            blocks = -1;
            break;
        }
    }
    if (blocks != old.dims[2] || old.dims[1] % places != 0) {
        mo_onnx_wrong(b, "has %lld blocks of %lld channels",
                      (long long) old.dims[2], (long long) old.dims[1]);
        return;
    }
    x = mo_onnx_transpose(b, mo_onnx_reshape(b, x, &shape), order);
    for (int d = 0; d < w.n && mo_onnx_is(x); d++)
        x = overlap_add(b, x, 1 + d, w.stride[d], w.dilation[d], w.begin[d],
                        image.at[d]);
    shape = (mo_shape){ .rank = 2 + w.n,
                        .dims = { old.dims[0], old.dims[1] / places } };
    memcpy(shape.dims + 2, image.at, (size_t) w.n * sizeof *shape.dims);
    mo_onnx_out(op, mo_onnx_reshape(b, x, &shape));
}
