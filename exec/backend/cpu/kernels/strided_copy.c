/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/kernels/strided_copy.h"

#include <string.h>

#include "base/ablation.h"
#include "exec/backend/copy_box.h"

/* Bytes worth a job of their own, and rows of a block of a transposition. */
enum { JOB_BYTES = 1 << 16, SQUARE = 16 };

/* The row that is contiguous on both sides becomes the element. */
static void widen_element(mo_backend_copy_dims *list, int64_t *width)
{
    const mo_backend_copy_dim *last;

    if (list->n == 0)
        return;
    last = &list->at[list->n - 1];
    if (last->in == *width && last->out == *width) {
        *width *= last->extent;
        list->n--;
    }
}

/* Moves the dimension along which the input is contiguous right before the
 * last one, along which the output is: a plane to transpose. */
static void order_for_transpose(mo_backend_copy_dims *list, int64_t width)
{
    if (list->n < 3 || list->at[list->n - 1].out != width)
        return;
    for (int i = 0; i < list->n - 1; i++)
        if (list->at[i].in == width) {
            mo_backend_copy_dim contiguous = list->at[i];

            mo_backend_copy_dims_remove(list, i);
            mo_backend_copy_dims_insert(list, list->n - 1, contiguous);
            return;
        }
}

/* Divides the work by its size alone, independent of the number of threads. */
static void divide_work(mo_cpu_strided_copy *box)
{
    const mo_cpu_copy_plane *plane = &box->plane;
    int64_t row = plane->columns * (int64_t) plane->width;
    int64_t unit;

    box->row_step = row < JOB_BYTES ? JOB_BYTES / row : 1;
    if (mo_cpu_copy_plane_is_transposed(plane))
        box->row_step = (box->row_step + SQUARE - 1) / SQUARE * SQUARE;
    if (box->row_step > plane->rows)
        box->row_step = plane->rows;
    box->n_units = (plane->rows + box->row_step - 1) / box->row_step;
    for (int d = 0; d < box->rank; d++)
        box->n_units *= box->extent[d];
    unit = box->row_step * row;
    box->n_at_once = unit < JOB_BYTES ? JOB_BYTES / unit : 1;
}

static void set_dims(mo_cpu_strided_copy *box, mo_backend_copy_dims *list,
                     int64_t width)
{
    const mo_backend_copy_dim *row, *column;

    while (list->n < 2)
        mo_backend_copy_dims_insert(list, 0,
                                    (mo_backend_copy_dim){ .extent = 1 });
    row = &list->at[list->n - 2];
    column = &list->at[list->n - 1];
    box->plane =
        (mo_cpu_copy_plane){ row->extent,   column->extent, row->in,
                             column->in,    row->out,       column->out,
                             (size_t) width };
    box->rank = list->n - 2;
    for (int d = 0; d < box->rank; d++) {
        box->extent[d] = list->at[d].extent;
        box->in_stride[d] = list->at[d].in;
        box->out_stride[d] = list->at[d].out;
    }
    box->move = mo_cpu_copy_fn_for(&box->plane);
    divide_work(box);
}

/* Splits a very long row into shorter ones, so that several workers copy it;
 * the remainder is a second box. */
static int set_long_rows(mo_cpu_strided_copy made[2],
                         mo_backend_copy_dims *list, int64_t width)
{
    int64_t n = width / JOB_BYTES, rest = width % JOB_BYTES;
    mo_backend_copy_dims around = *list;

    mo_backend_copy_dims_insert(
        list, list->n, (mo_backend_copy_dim){ n, JOB_BYTES, JOB_BYTES });
    set_dims(&made[0], list, JOB_BYTES);
    if (rest == 0)
        return 1;
    made[1] =
        (mo_cpu_strided_copy){ .from = made[0].from,
                               .to = made[0].to,
                               .in_offset = made[0].in_offset + n * JOB_BYTES,
                               .out_offset =
                                   made[0].out_offset + n * JOB_BYTES };
    set_dims(&made[1], &around, rest);
    return 2;
}

int mo_cpu_strided_copy_init(const mo_call_copy_box *box, mo_elem elem,
                             mo_cpu_strided_copy made[2])
{
    int64_t width = (int64_t) mo_elem_size(elem);
    mo_backend_copy_dims list;

    if (mo_backend_copy_box_elements(box) == 0)
        return 0;
    made[0] =
        (mo_cpu_strided_copy){ .from = box->from,
                               .to = box->to,
                               .in_offset =
                                   box->from < 0 ? 0 : box->in_offset * width,
                               .out_offset = box->out_offset * width };
    if (box->from < 0)
        made[0].fill = mo_backend_copy_fill_bits(box, elem);
    list = mo_backend_copy_dims_collapse(box, width);
    if (!mo_ablated(MO_ABLATION_copy_wide_elements))
        widen_element(&list, &width);
    order_for_transpose(&list, width);
    if (width / 2 >= JOB_BYTES && !mo_ablated(MO_ABLATION_copy_long_rows))
        return set_long_rows(made, &list, width);
    set_dims(&made[0], &list, width);
    return 1;
}

/* Begin of a work item: some rows of one plane. */
typedef struct place {
    int64_t index[MO_MAX_RANK];
    int64_t row, in, out;
} place;

static place find_place(const mo_cpu_strided_copy *box, int64_t unit)
{
    int64_t parts = (box->plane.rows + box->row_step - 1) / box->row_step;
    place at = { .row = unit % parts * box->row_step,
                 .in = box->in_offset,
                 .out = box->out_offset };

    unit /= parts;
    for (int d = box->rank; d-- > 0;) {
        at.index[d] = unit % box->extent[d];
        unit /= box->extent[d];
        at.in += at.index[d] * box->in_stride[d];
        at.out += at.index[d] * box->out_stride[d];
    }
    return at;
}

/* Advances to the next plane. */
static void advance_plane(const mo_cpu_strided_copy *box, place *at)
{
    for (int d = box->rank; d-- > 0;) {
        at->in += box->in_stride[d];
        at->out += box->out_stride[d];
        if (++at->index[d] < box->extent[d])
            return;
        at->in -= box->extent[d] * box->in_stride[d];
        at->out -= box->extent[d] * box->out_stride[d];
        at->index[d] = 0;
    }
}

void mo_cpu_strided_copy_run(const mo_cpu_strided_copy *box, const void *in,
                             void *out, int64_t begin, int64_t end)
{
    place at = find_place(box, begin);
    mo_cpu_copy_plane part = box->plane;

    for (int64_t unit = begin; unit < end; unit++) {
        int64_t left = box->plane.rows - at.row;

        part.rows = left < box->row_step ? left : box->row_step;
        box->move(&part, (const char *) in + at.in + at.row * box->plane.in_row,
                  (char *) out + at.out + at.row * box->plane.out_row);
        at.row += part.rows;
        if (at.row == box->plane.rows) {
            at.row = 0;
            advance_plane(box, &at);
        }
    }
}
