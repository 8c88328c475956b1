/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "exec/backend/cuda/kernels/copy.h"

enum { INDEX_SIZE = 24 };

static const char *type_of(const mo_cuda_copy_shape *form)
{
    return mo_cuda_bytes_type_name(form->width);
}

static bool is_turned(const mo_cuda_copy_shape *form)
{
    return form->turned != MO_CUDA_COPY_NOT_TRANSPOSED;
}

static int64_t count_of(const mo_cuda_copy_shape *form)
{
    int64_t count = 1;

    for (int64_t d = 0; d < form->rank; d++)
        count *= form->extent[d];
    return count;
}

static mo_point_access access_of(const int64_t *stride)
{
    mo_point_access access = { 0 };

    memcpy(access.stride, stride, sizeof access.stride);
    return access;
}

static bool is_wide(const mo_cuda_copy_shape *form)
{
    mo_point_access in = access_of(form->in_stride);
    mo_point_access out = access_of(form->out_stride);
    int rank = (int) form->rank;

    return mo_cuda_needs_64bit_offsets(&in, form->extent, rank) ||
           mo_cuda_needs_64bit_offsets(&out, form->extent, rank) ||
           count_of(form) > INT32_MAX;
}

/* "in[...]" or "out[...]"; a and b are the indices in a square. */
static void add_element(const mo_cuda_copy_shape *form, mo_cuda_source *code,
                        const char *name, const int64_t *stride)
{
    char names[MO_MAX_RANK][INDEX_SIZE];
    const char *indices[MO_MAX_RANK];
    mo_point_access access = access_of(stride);
    int rank = (int) form->rank;

    for (int d = 0; d < rank; d++) {
        if (is_turned(form) && (d == form->turned || d == rank - 1))
            snprintf(names[d], INDEX_SIZE, d == rank - 1 ? "b" : "a");
        else
            snprintf(names[d], INDEX_SIZE, "i%d", d);
        indices[d] = names[d];
    }
    mo_cuda_source_printf(code, "%s[", name);
    mo_cuda_emit_access(code, &access, rank, indices, is_wide(form));
    mo_cuda_source_append(code, "]");
}

/* ---- plain forms: a thread for each element */

static void add_filler(const mo_cuda_copy_shape *form, mo_cuda_source *code)
{
    unsigned words[MO_CUDA_COPY_MAX_WIDTH / sizeof(unsigned)];

    memcpy(words, form->filler, sizeof words);
    if (form->width < 8)
        mo_cuda_source_printf(code, "const %s filler = (%s) %uu;\n",
                              type_of(form), type_of(form), words[0]);
    else if (form->width == 8)
        mo_cuda_source_printf(code, "const uint2 filler = { %uu, %uu };\n",
                              words[0], words[1]);
    else
        mo_cuda_source_printf(code,
                              "const uint4 filler = { %uu, %uu, %uu, %uu };\n",
                              words[0], words[1], words[2], words[3]);
}

static void add_plain(const mo_cuda_copy_group *portion, int threads,
                      mo_cuda_source *code)
{
    const mo_cuda_copy_shape *form = portion->form;
    const char *type = is_wide(form) ? "unsigned long long" : "unsigned";

    if (form->fills)
        add_filler(form, code);
    mo_cuda_source_printf(
        code,
        "for (%s t = (%s) part * %du + threadIdx.x; t < %lldu; t += "
        "%lldu) {\n",
        type, type, threads, (long long) count_of(form),
        (long long) portion->blocks * threads);
    mo_cuda_emit_indices(code, "t", form->extent, (int) form->rank);
    add_element(form, code, "out", form->out_stride);
    mo_cuda_source_append(code, " = ");
    if (form->fills)
        mo_cuda_source_append(code, "filler");
    else
        add_element(form, code, "in", form->in_stride);
    mo_cuda_source_append(code, ";\n}\n");
}

/* ---- turned forms: squares, read along one side, written along the other */

static void begin_rows(const mo_cuda_copy_shape *form, mo_cuda_source *code,
                       const char *a, const char *b)
{
    int last = (int) form->rank - 1, turned = (int) form->turned;
    const char *type = is_wide(form) ? "long long" : "int";

    mo_cuda_source_printf(
        code,
        "#pragma unroll\nfor (int j = 0; j < 32; j += 8) {\n"
        "const %s a = (%s) i%d * 32 + %s, b = (%s) i%d * 32 + %s;\n"
        "if (a < %lld && b < %lld)\n",
        type, type, turned, a, type, last, b, (long long) form->extent[turned],
        (long long) form->extent[last]);
}

/* The square is one column too wide, so that neither way meets a bank of shared
 * memory twice. */
static void add_turned(const mo_cuda_copy_group *portion, mo_cuda_source *code)
{
    const mo_cuda_copy_shape *form = portion->form;
    int64_t squares[MO_MAX_RANK];
    int last = (int) form->rank - 1, turned = (int) form->turned;

    memcpy(squares, form->extent, sizeof squares);
    squares[turned] = (squares[turned] + MO_CUDA_COPY_TRANSPOSE_TILE - 1) /
                      MO_CUDA_COPY_TRANSPOSE_TILE;
    squares[last] = (squares[last] + MO_CUDA_COPY_TRANSPOSE_TILE - 1) /
                    MO_CUDA_COPY_TRANSPOSE_TILE;
    mo_cuda_emit_indices(code, "part", squares, (int) form->rank);
    mo_cuda_source_printf(
        code,
        "%s (*square)[%d] = (%s (*)[%d]) shared;\n"
        "const int x = threadIdx.x %% 32u, y = threadIdx.x / 32u;\n",
        type_of(form), MO_CUDA_COPY_TRANSPOSE_TILE + 1, type_of(form),
        MO_CUDA_COPY_TRANSPOSE_TILE + 1);
    begin_rows(form, code, "x", "y + j");
    mo_cuda_source_append(code, "square[y + j][x] = ");
    add_element(form, code, "in", form->in_stride);
    mo_cuda_source_append(code, ";\n}\nMO_SYNC();\n");
    begin_rows(form, code, "y + j", "x");
    add_element(form, code, "out", form->out_stride);
    mo_cuda_source_append(code, " = square[x][y + j];\n}\n");
}

/* ---- kernels */

static void add_shared(const mo_cuda_copy_group *portions, int n,
                       mo_cuda_source *code)
{
    int64_t width = 0;

    for (int i = 0; i < n; i++)
        if (is_turned(portions[i].form) && portions[i].form->width > width)
            width = portions[i].form->width;
    if (width > 0)
        mo_cuda_source_printf(code, "MO_SHARED unsigned char shared[%lld];\n",
                              (long long) width * MO_CUDA_COPY_TRANSPOSE_TILE *
                                  (MO_CUDA_COPY_TRANSPOSE_TILE + 1));
}

/* Which of the portion's boxes, and which part of it, a block does. */
static void add_portion(const mo_cuda_copy_group *portion, int64_t first_block,
                        int first_box, int threads, mo_cuda_source *code)
{
    const mo_cuda_copy_shape *form = portion->form;

    mo_cuda_source_printf(
        code,
        "const unsigned part = (blockIdx.x - %lldu) %% %lldu;\n"
        "const unsigned box = (blockIdx.x - %lldu) / %lldu + %du;\n",
        (long long) first_block, (long long) portion->blocks,
        (long long) first_block, (long long) portion->blocks, first_box);
    if (!form->fills)
        mo_cuda_source_printf(code,
                              "const %s *in = (const %s *) boxes.at[box].in;\n",
                              type_of(form), type_of(form));
    mo_cuda_source_printf(code, "%s *out = (%s *) boxes.at[box].out;\n",
                          type_of(form), type_of(form));
    if (is_turned(form))
        add_turned(portion, code);
    else
        add_plain(portion, threads, code);
}

void mo_cuda_emit_copy(const mo_cuda_copy_group *portions, int n, int threads,
                       mo_cuda_source *code)
{
    int64_t block = 0;
    int box = 0;

    for (int i = 0; i < n; i++)
        box += portions[i].n_boxes;
    mo_cuda_source_printf(
        code,
        "struct pointers { const char *in; char *out; };\n"
        "struct boxes { struct pointers at[%d]; };\n"
        "MO_KERNEL_OF(copy, %d)(MO_ARGUMENT struct boxes boxes)\n{\n",
        box, threads);
    add_shared(portions, n, code);
    mo_cuda_source_append(code, "MO_BEGIN();\n");
    box = 0;
    for (int i = 0; i < n; i++) {
        int64_t end = block + portions[i].n_boxes * portions[i].blocks;

        if (i < n - 1)
            mo_cuda_source_printf(code, "if (blockIdx.x < %lldu) {\n",
                                  (long long) end);
        else
            mo_cuda_source_append(code, "{\n");
        add_portion(&portions[i], block, box, threads, code);
        mo_cuda_source_append(code, i < n - 1 ? "} else " : "}\n");
        block = end;
        box += portions[i].n_boxes;
    }
    mo_cuda_source_append(code, "}\n");
}
