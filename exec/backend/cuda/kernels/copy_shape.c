/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "exec/backend/copy_box.h"
#include "exec/backend/cuda/kernels/copy.h"

/* A box while it is worked out: everything in bytes. */
typedef struct draft {
    mo_backend_copy_dims dims;
    int64_t width, in_offset, out_offset;
    bool fills;
} draft;

static bool divides(const draft *d, int64_t width)
{
    const mo_backend_copy_dim *last = &d->dims.at[d->dims.n - 1];

    if (last->extent * d->width % width != 0 || d->out_offset % width != 0 ||
        (!d->fills && d->in_offset % width != 0))
        return false;
    for (int i = 0; i < d->dims.n - 1; i++)
        if (d->dims.at[i].out % width != 0 || d->dims.at[i].in % width != 0)
            return false;
    return true;
}

/* Neighbours of a row that is contiguous on both sides are moved together. */
static void widen(draft *d)
{
    int64_t width = MO_CUDA_COPY_MAX_WIDTH;
    mo_backend_copy_dim *last;

    if (d->dims.n == 0)
        return;
    last = &d->dims.at[d->dims.n - 1];
    if (last->out != d->width || (last->in != d->width && !d->fills))
        return;
    while (width > d->width && !divides(d, width))
        width /= 2;
    last->extent = last->extent * d->width / width;
    last->out = width;
    last->in = d->fills ? 0 : width;
    d->width = width;
}

/* Squares pay where both sides are long, and are counted in 32 bits. */
static int64_t turned_dim(const draft *d)
{
    enum { LEAST_SIDE = 16, MOST_ELEMENTS = 1 << 30 };
    int n = d->dims.n;
    const mo_backend_copy_dim *at = d->dims.at;
    int64_t elements = 1;

    for (int i = 0; i < n && elements <= MOST_ELEMENTS; i++)
        elements *= at[i].extent;
    if (d->fills || elements > MOST_ELEMENTS || n < 2 ||
        at[n - 1].out != d->width || at[n - 1].in == d->width ||
        at[n - 1].in == 0 || at[n - 1].extent < LEAST_SIDE)
        return MO_CUDA_COPY_NOT_TRANSPOSED;
    for (int i = 0; i < n - 1; i++)
        if (at[i].in == d->width && at[i].extent >= LEAST_SIDE)
            return i;
    return MO_CUDA_COPY_NOT_TRANSPOSED;
}

static void set_form(mo_cuda_copy_shape *form, const draft *d)
{
    form->width = d->width;
    form->fills = d->fills;
    form->turned = turned_dim(d);
    form->rank = d->dims.n;
    for (int i = 0; i < d->dims.n; i++) {
        form->extent[i] = d->dims.at[i].extent;
        form->in_stride[i] = d->dims.at[i].in / d->width;
        form->out_stride[i] = d->dims.at[i].out / d->width;
    }
    if (form->rank == 0) {
        form->rank = 1;
        form->extent[0] = 1;
    }
}

/* As often as there is room for it. */
static void set_filler(mo_cuda_copy_shape *form, uint64_t filler, size_t bytes)
{
    for (size_t at = 0; at < MO_CUDA_COPY_MAX_WIDTH; at += bytes)
        memcpy(form->filler + at, &filler, bytes);
}

mo_cuda_copy_box mo_cuda_copy_box_of(const mo_call_copy *copy,
                                     const mo_call_copy_box *box, mo_elem elem)
{
    size_t bytes = mo_elem_size(elem);
    draft d = { .width = (int64_t) bytes };
    mo_cuda_copy_box made = { .from = box->from, .to = box->to };

    d.dims = mo_backend_copy_dims_collapse(box, d.width);
    d.fills = box->from < 0 && copy->fill_in < 0;
    d.in_offset = box->from < 0 ? 0 : box->in_offset * d.width;
    d.out_offset = box->out_offset * d.width;
    widen(&d);
    set_form(&made.form, &d);
    if (d.fills)
        set_filler(&made.form, mo_backend_copy_fill_bits(box, elem), bytes);
    else if (box->from < 0)
        made.from = copy->fill_in;
    made.in_offset = d.in_offset;
    made.out_offset = d.out_offset;
    return made;
}

static int64_t parts(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

int64_t mo_cuda_copy_shape_blocks(const mo_cuda_copy_shape *form, int threads,
                                  int64_t most)
{
    int64_t blocks = 1;

    for (int64_t d = 0; d < form->rank; d++) {
        bool square = form->turned != MO_CUDA_COPY_NOT_TRANSPOSED &&
                      (d == form->turned || d == form->rank - 1);

        blocks *= square ? parts(form->extent[d], MO_CUDA_COPY_TRANSPOSE_TILE)
                         : form->extent[d];
    }
    if (form->turned != MO_CUDA_COPY_NOT_TRANSPOSED)
        return blocks;
    blocks = parts(blocks, threads);
    return blocks < most ? blocks : most;
}
