/* SPDX-License-Identifier: Apache-2.0 */
/* Translator of ONNX's Col2Im: overlap-add, one dimension after the other. */
#include <string.h>

#include "base/array.h"
#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"
#include "ingest/onnx/window.h"

/* More rows are reduced instead, which takes one op. */
enum { MOST_ADDED = 16 };

/* Puts stride - 1 zeros behind each element along axis. */
static mo_onnx_ref space(mo_onnx_builder *b, mo_onnx_ref x, int axis,
                         int64_t stride)
{
    int64_t zeros[MO_MAX_RANK] = { 0 }, end[MO_MAX_RANK] = { 0 };
    mo_shape shape = *mo_onnx_shape(b, x), spaced = shape;

    if (stride == 1 || !mo_onnx_is(x))
        return x;
    spaced.rank++;
    for (int d = shape.rank; d > axis; d--)
        spaced.dims[d] = shape.dims[d - 1];
    spaced.dims[axis + 1] = 1;
    end[axis + 1] = stride - 1;
    shape.dims[axis] *= stride;
    if (!mo_shape_fits(&shape))
        return mo_onnx_refuse(b, "has windows that lie too far apart");
    x = mo_onnx_add_pad(b, mo_onnx_reshape(b, x, &spaced), zeros, end);
    return mo_onnx_reshape(b, x, &shape);
}

/*
 * Overlap-add of the rows of x, its last two dimensions: y[i + k * shift] is
 * the sum of x[k][i], in rows as long.
 *
 * Rows end with rows * shift zeros. As one list, row k is therefore shifted by
 * reading it from k * shift elements before its beginning on. Nothing is
 * multiplied, so infinities stay where they are.
 */
static mo_onnx_ref overlap_add(mo_onnx_builder *b, mo_onnx_ref x, int64_t shift)
{
    int64_t zeros[MO_MAX_RANK] = { 0 }, end[MO_MAX_RANK] = { 0 };
    bool marks[MO_MAX_RANK] = { false };
    mo_shape lines = *mo_onnx_shape(b, x), list = lines;
    int axis = lines.rank - 2;
    int64_t rows = lines.dims[axis], length = lines.dims[axis + 1];
    mo_onnx_ref y;

    list.rank--;
    list.dims[axis] = rows * length;
    x = mo_onnx_reshape(b, x, &list);
    lines.dims[axis + 1] -= shift;
    if (rows > MOST_ADDED) {
        x = mo_onnx_cut(b, x, axis, 0, rows * (length - shift));
        marks[axis] = true;
        end[axis] = shift;
        x = mo_onnx_reduce(b, "ReduceSum", mo_onnx_reshape(b, x, &lines), marks,
                           false);
        return mo_onnx_add_pad(b, x, zeros, end);
    }
    y = mo_onnx_cut(b, x, axis, 0, length);
    for (int64_t k = 1; k < rows; k++)
        y = mo_onnx_binary(b, "Add", y,
                           mo_onnx_cut(b, x, axis, k * (length - shift),
                                       k * (length - shift) + length),
                           NULL);
    return y;
}

/* Adds up blocks[batch][kernel...][windows...] to [batch][image...]: every
 * dimension of windows becomes one of an image with padding, in which elements
 * move by their index in the kernel. */
static mo_onnx_ref add_blocks(mo_onnx_builder *b, mo_onnx_ref x,
                              const mo_onnx_window *w, const int64_t *image)
{
    int64_t zeros[MO_MAX_RANK] = { 0 }, end[MO_MAX_RANK] = { 0 };
    mo_shape shape, planes = { .rank = 1 + w->n };
    int64_t shift = 1, plane = 1;

    for (int d = 0; d < w->n; d++)
        x = space(b, x, 1 + w->n + d, w->stride[d]);
    if (!mo_onnx_is(x))
        return x;
    shape = *mo_onnx_shape(b, x);
    planes.dims[0] = shape.dims[0];
    for (int d = 0; d < w->n; d++) {
        end[1 + w->n + d] = w->kernel[d] * w->dilation[d];
        shape.dims[1 + w->n + d] += end[1 + w->n + d];
        planes.dims[1 + d] = shape.dims[1 + w->n + d];
    }
    if (!mo_shape_fits(&shape))
        return mo_onnx_refuse(b, "has windows that lie too far apart");
    x = mo_onnx_add_pad(b, x, zeros, end);
    shape.rank = 2 + w->n;
    for (int d = 0; d < w->n; d++)
        plane *= planes.dims[1 + d];
    shape.dims[1 + w->n] = plane;
    x = mo_onnx_reshape(b, x, &shape);
    for (int d = w->n; d-- > 0 && mo_onnx_is(x);) {
        x = overlap_add(b, x, shift * w->dilation[d]);
        shift *= planes.dims[1 + d];
    }
    x = mo_onnx_reshape(b, x, &planes);
    for (int d = 0; d < w->n && mo_onnx_is(x); d++)
        x = mo_onnx_cut(b, x, 1 + d, w->begin[d], w->begin[d] + image[d]);
    return x;
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
    x = add_blocks(b, mo_onnx_reshape(b, x, &shape), &w, image.at);
    shape = (mo_shape){ .rank = 2 + w.n,
                        .dims = { old.dims[0], old.dims[1] / places } };
    memcpy(shape.dims + 2, image.at, (size_t) w.n * sizeof *shape.dims);
    mo_onnx_out(op, mo_onnx_reshape(b, x, &shape));
}
