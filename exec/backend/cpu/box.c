#include "exec/backend/cpu/box.h"

#include <string.h>

#include "base/array.h"

/* What is worth a job of its own, and the rows done before going on. */
enum { JOB_BYTES = 1 << 16, SQUARE = 16 };

/* ---- inside of the tensors? */

/* Are all elements that offset and strides lead to within 0 .. elements - 1? */
static bool is_within(const mo_copy_box *box, int64_t offset,
                      const int64_t *stride, int64_t elements)
{
    int64_t low = offset, high = offset;

    for (int d = 0; d < box->rank; d++) {
        int64_t way;

        if (!mo_int64_mul(box->extent[d] - 1, stride[d], &way) ||
            !mo_int64_add(way < 0 ? low : high, way, way < 0 ? &low : &high))
            return false;
    }
    return low >= 0 && high < elements;
}

static bool is_empty(const mo_copy_box *box)
{
    for (int d = 0; d < box->rank; d++)
        if (box->extent[d] <= 0)
            return true;
    return false;
}

static mo_status check(const mo_copy_box *box, const mo_call_operand *in,
                       const mo_desc *out, mo_error *err)
{
    const mo_desc *to = &out[box->to];
    const mo_desc *from = box->from < 0 ? NULL : &in[box->from].desc;

    if (!is_within(box, box->out_offset, box->out_stride,
                   mo_desc_elements(to)) ||
        (from && !is_within(box, box->in_offset, box->in_stride,
                            mo_desc_elements(from))))
        return mo_fail(err, MO_E_INPUT, "a copy leaves its tensors");
    if (from && mo_elem_bytes(from->elem) != mo_elem_bytes(to->elem))
        return mo_fail(err, MO_E_INPUT, "a copy cannot turn %s into %s",
                       mo_elem_name(from->elem), mo_elem_name(to->elem));
    return MO_OK;
}

/* ---- dimensions */

typedef struct dim {
    int64_t extent, in, out; /* strides, in bytes */
} dim;

typedef struct dims {
    int n;
    dim at[MO_MAX_RANK + 2];
} dims;

static void push(dims *list, dim d)
{
    list->at[list->n++] = d;
}

static void take_out(dims *list, int i)
{
    list->n--;
    memmove(list->at + i, list->at + i + 1,
            (size_t) (list->n - i) * sizeof *list->at);
}

static void put_in(dims *list, int i, dim d)
{
    memmove(list->at + i + 1, list->at + i,
            (size_t) (list->n - i) * sizeof *list->at);
    list->at[i] = d;
    list->n++;
}

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

/* Outermost first: the larger its steps in the output, the farther out.  Which
 * dimension comes first does not change what is copied. */
static dims sorted_dims(const mo_copy_box *box, int64_t width)
{
    dims list = { 0 };

    for (int d = 0; d < box->rank; d++) {
        dim one = { .extent = box->extent[d] };
        int i = list.n;

        if (one.extent == 1)
            continue;
        one.in = box->from < 0 ? 0 : box->in_stride[d] * width;
        one.out = box->out_stride[d] * width;
        while (i > 0 && magnitude(list.at[i - 1].out) < magnitude(one.out))
            i--;
        put_in(&list, i, one);
    }
    return list;
}

/* Two that lie behind each other on both sides are one. */
static void merge_dims(dims *list)
{
    for (int i = list->n - 1; i > 0; i--) {
        dim *outer = &list->at[i - 1], *inner = &list->at[i];

        if (outer->in != inner->in * inner->extent ||
            outer->out != inner->out * inner->extent)
            continue;
        inner->extent *= outer->extent;
        take_out(list, i - 1);
    }
}

/* The row that is contiguous on both sides becomes the element. */
static void widen_element(dims *list, int64_t *width)
{
    const dim *last;

    if (list->n == 0)
        return;
    last = &list->at[list->n - 1];
    if (last->in == *width && last->out == *width) {
        *width *= last->extent;
        list->n--;
    }
}

/* A turned plane has the dimension along which the input is contiguous right
 * before the last, along which the output is. */
static void turn_plane(dims *list, int64_t width)
{
    if (list->n < 3 || list->at[list->n - 1].out != width)
        return;
    for (int i = 0; i < list->n - 1; i++)
        if (list->at[i].in == width) {
            dim contiguous = list->at[i];

            take_out(list, i);
            put_in(list, list->n - 1, contiguous);
            return;
        }
}

/* ---- boxes */

/* How the work is cut: by its size alone, whoever does it. */
static void cut_work(mo_cpu_box *box)
{
    const mo_cpu_plane *plane = &box->plane;
    int64_t row = plane->columns * (int64_t) plane->width;
    int64_t unit;

    box->row_step = row < JOB_BYTES ? JOB_BYTES / row : 1;
    if (mo_cpu_plane_is_turned(plane))
        box->row_step = (box->row_step + SQUARE - 1) / SQUARE * SQUARE;
    if (box->row_step > plane->rows)
        box->row_step = plane->rows;
    box->n_units = (plane->rows + box->row_step - 1) / box->row_step;
    for (int d = 0; d < box->rank; d++)
        box->n_units *= box->extent[d];
    unit = box->row_step * row;
    box->n_at_once = unit < JOB_BYTES ? JOB_BYTES / unit : 1;
}

static void set_dims(mo_cpu_box *box, dims *list, int64_t width)
{
    const dim *row, *column;

    while (list->n < 2)
        put_in(list, 0, (dim){ .extent = 1 });
    row = &list->at[list->n - 2];
    column = &list->at[list->n - 1];
    box->plane =
        (mo_cpu_plane){ row->extent, column->extent, row->in,       column->in,
                        row->out,    column->out,    (size_t) width };
    box->rank = list->n - 2;
    for (int d = 0; d < box->rank; d++) {
        box->extent[d] = list->at[d].extent;
        box->in_stride[d] = list->at[d].in;
        box->out_stride[d] = list->at[d].out;
    }
    box->move = mo_cpu_move_for(&box->plane);
    cut_work(box);
}

/* A very long row is cut into shorter ones, so that several can move it; the
 * rest that is left over at their ends is a second box. */
static int set_long_rows(mo_cpu_box made[2], dims *list, int64_t width)
{
    int64_t n = width / JOB_BYTES, rest = width % JOB_BYTES;
    dims around = *list;

    push(list, (dim){ n, JOB_BYTES, JOB_BYTES });
    set_dims(&made[0], list, JOB_BYTES);
    if (rest == 0)
        return 1;
    made[1] = (mo_cpu_box){ .from = made[0].from,
                            .to = made[0].to,
                            .in_offset = made[0].in_offset + n * JOB_BYTES,
                            .out_offset = made[0].out_offset + n * JOB_BYTES };
    set_dims(&made[1], &around, rest);
    return 2;
}

mo_status mo_cpu_box_make(const mo_copy_box *box, const mo_call_operand *in,
                          const mo_desc *out, mo_cpu_box made[2], int *n_made,
                          mo_error *err)
{
    mo_elem elem = out[box->to].elem;
    int64_t width = (int64_t) mo_elem_bytes(elem);
    mo_status status;
    dims list;

    *n_made = 0;
    if (is_empty(box))
        return MO_OK;
    status = check(box, in, out, err);
    if (status != MO_OK)
        return status;
    made[0] =
        (mo_cpu_box){ .from = box->from,
                      .to = box->to,
                      .in_offset = box->from < 0 ? 0 : box->in_offset * width,
                      .out_offset = box->out_offset * width };
    if (box->from < 0)
        mo_dense_put(&(mo_dense){ { elem, { 0 } }, &made[0].fill, false }, 0,
                     box->fill);
    list = sorted_dims(box, width);
    merge_dims(&list);
    widen_element(&list, &width);
    turn_plane(&list, width);
    *n_made = 1;
    if (width >= 2 * JOB_BYTES)
        *n_made = set_long_rows(made, &list, width);
    else
        set_dims(&made[0], &list, width);
    return MO_OK;
}

/* ---- running */

/* Where a unit begins: part of the rows of one of the planes. */
typedef struct place {
    int64_t index[MO_MAX_RANK];
    int64_t row, in, out;
} place;

static place find_place(const mo_cpu_box *box, int64_t unit)
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

/* On to the next plane. */
static void step(const mo_cpu_box *box, place *at)
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

void mo_cpu_box_run(const mo_cpu_box *box, const void *in, void *out,
                    int64_t begin, int64_t end)
{
    place at = find_place(box, begin);
    mo_cpu_plane part = box->plane;

    for (int64_t unit = begin; unit < end; unit++) {
        int64_t left = box->plane.rows - at.row;

        part.rows = left < box->row_step ? left : box->row_step;
        box->move(&part, (const char *) in + at.in + at.row * box->plane.in_row,
                  (char *) out + at.out + at.row * box->plane.out_row);
        at.row += part.rows;
        if (at.row == box->plane.rows) {
            at.row = 0;
            step(box, &at);
        }
    }
}
