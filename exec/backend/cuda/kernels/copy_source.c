/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator of the device code of strided copies, with vector accesses and
 * transposition through shared memory.
 */
#include <stdio.h>
#include <string.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "exec/backend/copy_box.h"
#include "exec/backend/cuda/kernels/copy.h"

/* A box under construction: all sizes in bytes. */
typedef struct box_draft {
    mo_backend_copy_dims dims;
    int64_t width, in_offset, out_offset;
    bool fills;
} box_draft;

static bool can_use_width(const box_draft *d, int64_t width)
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

/* Merges neighbouring elements of rows that are contiguous on both sides into
 * words. */
static void widen_elements(box_draft *d)
{
    int64_t width = MO_CUDA_COPY_MAX_WIDTH;
    mo_backend_copy_dim *last;

    if (d->dims.n == 0)
        return;
    last = &d->dims.at[d->dims.n - 1];
    if (last->out != d->width || (last->in != d->width && !d->fills))
        return;
    while (width > d->width && !can_use_width(d, width))
        width /= 2;
    last->extent = last->extent * d->width / width;
    last->out = width;
    last->in = d->fills ? 0 : width;
    d->width = width;
}

/* Tiles pay where both sides are long; their indices have 32 bits. */
static int64_t find_transposed_dim(const box_draft *d)
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

mo_cuda_copy_box mo_cuda_copy_box_of(const mo_call_copy *copy,
                                     const mo_call_copy_box *box, mo_elem elem)
{
    size_t bytes = mo_elem_size(elem);
    box_draft d = { .width = (int64_t) bytes };
    mo_cuda_copy_box made = { .from = box->from, .to = box->to };

    d.dims = mo_backend_copy_dims_collapse(box, d.width);
    d.fills = box->from < 0 && copy->fill_in < 0;
    d.in_offset = box->from < 0 ? 0 : box->in_offset * d.width;
    d.out_offset = box->out_offset * d.width;
    widen_elements(&d);
    made.shape.width = d.width;
    made.shape.fills = d.fills;
    made.shape.transposed = mo_ablated(MO_ABLATION_cuda_copy_tiles)
                                ? MO_CUDA_COPY_NOT_TRANSPOSED
                                : find_transposed_dim(&d);
    made.shape.rank = d.dims.n;
    for (int i = 0; i < d.dims.n; i++) {
        made.shape.extent[i] = d.dims.at[i].extent;
        made.shape.in_stride[i] = d.dims.at[i].in / d.width;
        made.shape.out_stride[i] = d.dims.at[i].out / d.width;
    }
    if (made.shape.rank == 0) {
        made.shape.rank = 1;
        made.shape.extent[0] = 1;
    }
    if (d.fills) {
        /* Repeats the filler over a whole word. */
        uint64_t filler = mo_backend_copy_fill_bits(box, elem);

        for (size_t at = 0; at < MO_CUDA_COPY_MAX_WIDTH; at += bytes)
            memcpy(made.shape.filler + at, &filler, bytes);
    } else if (box->from < 0)
        made.from = copy->fill_in;
    made.in_offset = d.in_offset;
    made.out_offset = d.out_offset;
    return made;
}

int64_t mo_cuda_copy_shape_blocks(const mo_cuda_copy_shape *shape, int threads,
                                  int64_t most)
{
    int64_t blocks = 1;

    for (int64_t d = 0; d < shape->rank; d++) {
        bool square = shape->transposed != MO_CUDA_COPY_NOT_TRANSPOSED &&
                      (d == shape->transposed || d == shape->rank - 1);

        blocks *=
            square ? mo_ceil_div(shape->extent[d], MO_CUDA_COPY_TRANSPOSE_TILE)
                   : shape->extent[d];
    }
    if (shape->transposed != MO_CUDA_COPY_NOT_TRANSPOSED)
        return blocks;
    blocks = mo_ceil_div(blocks, threads);
    return blocks < most ? blocks : most;
}

enum { INDEX_SIZE = 24 };

static const char *word_type(const mo_cuda_copy_shape *shape)
{
    return mo_cuda_bytes_type_name(shape->width);
}

static bool is_transposed(const mo_cuda_copy_shape *shape)
{
    return shape->transposed != MO_CUDA_COPY_NOT_TRANSPOSED;
}

static int64_t count_words(const mo_cuda_copy_shape *shape)
{
    return mo_shape_product(shape->extent, (int) shape->rank);
}

static mo_point_access make_access(const int64_t *stride)
{
    mo_point_access access = { 0 };

    memcpy(access.stride, stride, sizeof access.stride);
    return access;
}

static bool needs_64_bits(const mo_cuda_copy_shape *shape)
{
    mo_point_access in = make_access(shape->in_stride);
    mo_point_access out = make_access(shape->out_stride);
    int rank = (int) shape->rank;

    return mo_cuda_needs_64bit_offsets(&in, shape->extent, rank) ||
           mo_cuda_needs_64bit_offsets(&out, shape->extent, rank) ||
           count_words(shape) > INT32_MAX;
}

/* "in[...]" or "out[...]"; a and b are the indices within a tile. */
static void emit_element(const mo_cuda_copy_shape *shape, mo_cuda_source *code,
                         const char *name, const int64_t *stride)
{
    char names[MO_MAX_RANK][INDEX_SIZE];
    const char *indices[MO_MAX_RANK];
    mo_point_access access = make_access(stride);
    int rank = (int) shape->rank;

    for (int d = 0; d < rank; d++) {
        if (is_transposed(shape) && (d == shape->transposed || d == rank - 1))
            snprintf(names[d], INDEX_SIZE, d == rank - 1 ? "b" : "a");
        else
            snprintf(names[d], INDEX_SIZE, "i%d", d);
        indices[d] = names[d];
    }
    mo_cuda_source_printf(code, "%s[", name);
    mo_cuda_emit_access(code, &access, rank, indices, needs_64_bits(shape));
    mo_cuda_source_append(code, "]");
}

/* Plain shapes: a thread per word. */

static void emit_plain(const mo_cuda_copy_group *group, int threads,
                       mo_cuda_source *code)
{
    const mo_cuda_copy_shape *shape = group->shape;
    const char *type = needs_64_bits(shape) ? "unsigned long long" : "unsigned";

    if (shape->fills) {
        unsigned words[MO_CUDA_COPY_MAX_WIDTH / sizeof(unsigned)];

        memcpy(words, shape->filler, sizeof words);
        if (shape->width < 8)
            mo_cuda_source_printf(code, "const %s filler = (%s) %uu;\n",
                                  word_type(shape), word_type(shape), words[0]);
        else if (shape->width == 8)
            mo_cuda_source_printf(code, "const uint2 filler = { %uu, %uu };\n",
                                  words[0], words[1]);
        else
            mo_cuda_source_printf(
                code, "const uint4 filler = { %uu, %uu, %uu, %uu };\n",
                words[0], words[1], words[2], words[3]);
    }
    mo_cuda_source_printf(
        code,
        "for (%s t = (%s) part * %du + threadIdx.x; t < %lldu; t += "
        "%lldu) {\n",
        type, type, threads, (long long) count_words(shape),
        (long long) group->blocks * threads);
    mo_cuda_emit_indices(code, "t", shape->extent, (int) shape->rank);
    emit_element(shape, code, "out", shape->out_stride);
    mo_cuda_source_append(code, " = ");
    if (shape->fills)
        mo_cuda_source_append(code, "filler");
    else
        emit_element(shape, code, "in", shape->in_stride);
    mo_cuda_source_append(code, ";\n}\n");
}

/* Transposed shapes: tiles in shared memory, read along one side, written
 * along the other. */

static void emit_row_loop(const mo_cuda_copy_shape *shape, mo_cuda_source *code,
                          const char *a, const char *b)
{
    int last = (int) shape->rank - 1, transposed = (int) shape->transposed;
    const char *type = needs_64_bits(shape) ? "long long" : "int";

    mo_cuda_source_printf(
        code,
        "#pragma unroll\nfor (int j = 0; j < 32; j += 8) {\n"
        "const %s a = (%s) i%d * 32 + %s, b = (%s) i%d * 32 + %s;\n"
        "if (a < %lld && b < %lld)\n",
        type, type, transposed, a, type, last, b,
        (long long) shape->extent[transposed], (long long) shape->extent[last]);
}

/* The tile has one extra column, so that neither direction has bank
 * conflicts. */
static void emit_transposed(const mo_cuda_copy_group *group,
                            mo_cuda_source *code)
{
    const mo_cuda_copy_shape *shape = group->shape;
    int64_t squares[MO_MAX_RANK];
    int last = (int) shape->rank - 1, transposed = (int) shape->transposed;

    memcpy(squares, shape->extent, sizeof squares);
    squares[transposed] =
        mo_ceil_div(squares[transposed], MO_CUDA_COPY_TRANSPOSE_TILE);
    squares[last] = mo_ceil_div(squares[last], MO_CUDA_COPY_TRANSPOSE_TILE);
    mo_cuda_emit_indices(code, "part", squares, (int) shape->rank);
    mo_cuda_source_printf(
        code,
        "%s (*square)[%d] = (%s (*)[%d]) shared;\n"
        "const int x = threadIdx.x %% 32u, y = threadIdx.x / 32u;\n",
        word_type(shape), MO_CUDA_COPY_TRANSPOSE_TILE + 1, word_type(shape),
        MO_CUDA_COPY_TRANSPOSE_TILE + 1);
    emit_row_loop(shape, code, "x", "y + j");
    mo_cuda_source_append(code, "square[y + j][x] = ");
    emit_element(shape, code, "in", shape->in_stride);
    mo_cuda_source_append(code, ";\n}\nMO_SYNC();\n");
    emit_row_loop(shape, code, "y + j", "x");
    emit_element(shape, code, "out", shape->out_stride);
    mo_cuda_source_append(code, " = square[x][y + j];\n}\n");
}

void mo_cuda_emit_copy(const mo_cuda_copy_group *groups, int n, int threads,
                       mo_cuda_source *code)
{
    int64_t block = 0, width = 0;
    int box = 0;

    for (int i = 0; i < n; i++)
        box += groups[i].n_boxes;
    mo_cuda_source_printf(
        code,
        "struct pointers { const char *in; char *out; };\n"
        "struct boxes { struct pointers at[%d]; };\n"
        "MO_KERNEL_OF(copy, %d)(MO_ARGUMENT struct boxes boxes)\n{\n",
        box, threads);
    for (int i = 0; i < n; i++)
        if (is_transposed(groups[i].shape) && groups[i].shape->width > width)
            width = groups[i].shape->width;
    if (width > 0)
        mo_cuda_source_printf(code, "MO_SHARED unsigned char shared[%lld];\n",
                              (long long) width * MO_CUDA_COPY_TRANSPOSE_TILE *
                                  (MO_CUDA_COPY_TRANSPOSE_TILE + 1));
    mo_cuda_source_append(code, "MO_BEGIN();\n");
    box = 0;
    for (int i = 0; i < n; i++) {
        int64_t end = block + groups[i].n_boxes * groups[i].blocks;

        if (i < n - 1)
            mo_cuda_source_printf(code, "if (blockIdx.x < %lldu) {\n",
                                  (long long) end);
        else
            mo_cuda_source_append(code, "{\n");

        /* Computes which box of the group, and which part of it, a block
         * copies. */
        const mo_cuda_copy_group *group = &groups[i];
        const mo_cuda_copy_shape *shape = group->shape;

        mo_cuda_source_printf(
            code,
            "const unsigned part = (blockIdx.x - %lldu) %% %lldu;\n"
            "const unsigned box = (blockIdx.x - %lldu) / %lldu + %du;\n",
            (long long) block, (long long) group->blocks, (long long) block,
            (long long) group->blocks, box);
        if (!shape->fills)
            mo_cuda_source_printf(
                code, "const %s *in = (const %s *) boxes.at[box].in;\n",
                word_type(shape), word_type(shape));
        mo_cuda_source_printf(code, "%s *out = (%s *) boxes.at[box].out;\n",
                              word_type(shape), word_type(shape));
        if (is_transposed(shape))
            emit_transposed(group, code);
        else
            emit_plain(group, threads, code);
        mo_cuda_source_append(code, i < n - 1 ? "} else " : "}\n");
        block = end;
        box += groups[i].n_boxes;
    }
    mo_cuda_source_append(code, "}\n");
}
