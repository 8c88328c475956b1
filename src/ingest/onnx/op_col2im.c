/* SPDX-License-Identifier: Apache-2.0 */
/* Translator of ONNX's Col2Im: overlap-add by a scatter. */
#include <string.h>

#include "base/array.h"
#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"
#include "ingest/onnx/window.h"

/* Returns the places of blocks[kernel...][windows...] in a padded image, as one
 * list. */
static mo_onnx_ref places_of(mo_onnx_builder *b, const mo_onnx_window *w,
                             const mo_shape *blocks, const mo_shape *padded)
{
    mo_shape list = { .rank = 1, .dims = { 1 } };
    mo_onnx_ref sum = mo_onnx_int(b, 0);
    int64_t pitch = 1;

    for (int d = w->n; d-- > 0; pitch *= padded->dims[1 + d]) {
        int64_t steps[2] = { w->dilation[d] * pitch, w->stride[d] * pitch };

        for (int i = 0; i < 2; i++) {
            int axis = i * w->n + d;
            mo_onnx_ref at = mo_onnx_count_along(b, 0, blocks->dims[1 + axis],
                                                 axis, 2 * w->n);

            list.dims[0] *= blocks->dims[1 + axis];
            at = mo_onnx_with_number(b, "Multiply", at, (double) steps[i]);
            sum = mo_onnx_binary(b, "Add", sum, at, NULL);
        }
    }
    return mo_onnx_reshape(b, sum, &list);
}

/* Adds up blocks[batch][kernel...][windows...] to [batch][image...]. Nothing is
 * multiplied, so infinities stay where they are. */
static mo_onnx_ref add_blocks(mo_onnx_builder *b, mo_onnx_ref x,
                              const mo_onnx_window *w, const mo_shape *blocks,
                              const int64_t *image)
{
    mo_shape padded = { .rank = 1 + w->n, .dims = { blocks->dims[0] } };
    mo_shape planes = { .rank = 2, .dims = { blocks->dims[0], 1 } };
    mo_shape columns = planes;
    mo_onnx_ref zeros, places, axis;

    for (int d = 0; d < w->n; d++)
        padded.dims[1 + d] = image[d] + w->begin[d] + w->end[d];
    if (!mo_shape_fits(&padded))
        return mo_onnx_refuse(b, "has windows that lie too far apart");
    for (int d = 0; d < w->n; d++) {
        planes.dims[1] *= padded.dims[1 + d];
        columns.dims[1] *= blocks->dims[1 + d] * blocks->dims[1 + w->n + d];
    }
    zeros = mo_onnx_broadcast(b, mo_onnx_number(b, 0, mo_onnx_dtype(b, x)),
                              &planes);
    x = mo_onnx_reshape(b, x, &columns);
    places = places_of(b, w, blocks, &padded);
    axis = mo_onnx_int(b, 1);
    mo_onnx_set_text(b, "reduction", "sum");
    x = mo_onnx_add(b, "ScatterUpdate", MO_ONNX_REFS(zeros, places, x, axis), 4,
                    NULL);
    x = mo_onnx_reshape(b, x, &padded);
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
    x = add_blocks(b, x, &w, &shape, image.at);
    shape = (mo_shape){ .rank = 2 + w.n,
                        .dims = { old.dims[0], old.dims[1] / places } };
    memcpy(shape.dims + 2, image.at, (size_t) w.n * sizeof *shape.dims);
    mo_onnx_out(op, mo_onnx_reshape(b, x, &shape));
}
