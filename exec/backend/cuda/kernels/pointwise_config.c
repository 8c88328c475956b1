/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/kernels/pointwise_config.h"

#include <string.h>

#include "base/minmax.h"
#include "exec/backend/cuda/jit/codegen.h"

static bool needs_64_bits(const mo_cuda_pointwise_config *p)
{
    bool wide = p->count > INT32_MAX;

    for (int i = 0; i < p->point->n_operands; i++) {
        mo_point_access access = { p->point->operands[i].access.offset, { 0 } };

        memcpy(access.stride, p->loops.stride[i], sizeof access.stride);
        wide = wide || mo_cuda_needs_64bit_offsets(&access, p->loops.extent,
                                                   p->loops.rank);
    }
    return wide;
}

/* Returns whether n neighbours of an operand can be loaded as a vector,
 * everywhere. */
static bool can_load_vector(const mo_cuda_pointwise_config *p, int operand,
                            int n)
{
    const int64_t *stride = p->loops.stride[operand];

    if (stride[p->last] == 0)
        return true;
    if (stride[p->last] != 1 ||
        p->point->operands[operand].access.offset % n != 0)
        return false;
    for (int d = 0; d < p->last; d++)
        if (stride[d] % n != 0)
            return false;
    return true;
}

static bool can_vectorize(const mo_cuda_pointwise_config *p, int n)
{
    if (p->loops.extent[p->last] % n != 0)
        return false;
    for (int i = 0; i < p->point->n_operands; i++)
        if (p->used[i] && !can_load_vector(p, i, n))
            return false;
    return true;
}

static size_t widest_element(const mo_cuda_pointwise_config *p)
{
    size_t widest = mo_elem_size(p->stored);

    for (int i = 0; i < p->point->n_operands; i++) {
        size_t bytes = mo_elem_size(p->point->operands[i].elem);

        if (p->used[i] && bytes > widest)
            widest = bytes;
    }
    return widest;
}

/* As many as load the widest element type by 16 bytes; fewer where alignment
 * does not allow it, or too few threads would be left to fill the device. */
static int choose_vector_width(const mo_cuda_pointwise_config *p, int sms)
{
    enum { ACCESS_BYTES = 16, MOST = 8, THREADS_PER_SM = 64 };
    int n = ACCESS_BYTES / (int) widest_element(p);

    if (n > MOST)
        n = MOST;
    while (n > 1 && (p->count / n < (int64_t) sms * THREADS_PER_SM ||
                     !can_vectorize(p, n)))
        n /= 2;
    return n;
}

/* Returns the dimension along which an operand is contiguous, if it is not
 * that of the result and tiles over both are worth while; else
 * MO_CUDA_NOT_TRANSPOSED. */
static int find_transposed_dim(const mo_cuda_pointwise_config *p, int operand)
{
    enum { LEAST_SIDE = 16 };
    const int64_t *stride = p->loops.stride[operand];
    int last = p->last;

    if (!p->used[operand] || stride[last] == 0 || stride[last] == 1 ||
        p->loops.extent[last] < LEAST_SIDE)
        return MO_CUDA_NOT_TRANSPOSED;
    for (int d = 0; d < last; d++)
        if (stride[d] == 1 && p->loops.extent[d] >= LEAST_SIDE)
            return d;
    return MO_CUDA_NOT_TRANSPOSED;
}

/* Marks operands contiguous along the same dimension as the first such one, as
 * many as fit into shared memory; the others are read directly. */
static void mark_transposed(mo_cuda_pointwise_config *p)
{
    enum { MOST = 4 };
    int n = 0;

    p->transposed = MO_CUDA_NOT_TRANSPOSED;
    for (int i = 0; i < p->point->n_operands && n < MOST; i++) {
        int d = find_transposed_dim(p, i);

        if (d == MO_CUDA_NOT_TRANSPOSED ||
            (p->transposed != MO_CUDA_NOT_TRANSPOSED && p->transposed != d))
            continue;
        p->transposed = d;
        p->is_transposed[i] = true;
        n++;
    }
}

static void set_tiles(mo_cuda_pointwise_config *p)
{
    p->vector = 1;
    p->threads = 256;
    p->blocks = 1;
    for (int d = 0; d < p->loops.rank; d++)
        p->blocks *=
            d == p->transposed || d == p->last
                ? mo_ceil_div(p->loops.extent[d], MO_CUDA_TRANSPOSE_TILE)
                : p->loops.extent[d];
}

/* Small blocks where there are few, so that every multiprocessor has some; no
 * more than twice what the device holds: each continues with further
 * elements. */
static void set_grid_stride(mo_cuda_pointwise_config *p, int sms)
{
    enum { THREADS_ON_SM = 2048, MANY = 1024, TURNS = 2 };
    int64_t n, most;

    p->vector = choose_vector_width(p, sms);
    n = p->count / p->vector;
    p->threads = n <= (int64_t) sms * MANY ? 128 : 256;
    p->blocks = mo_ceil_div(n, p->threads);
    most = (int64_t) sms * THREADS_ON_SM / p->threads * TURNS;
    if (p->blocks > most)
        p->blocks = most;
}

mo_cuda_pointwise_config
mo_cuda_pointwise_configure(const mo_point_program *point,
                            const mo_tensor_desc *out, int sms)
{
    mo_cuda_pointwise_config p = { .point = point,
                                   .stored = out->elem,
                                   .loops = mo_point_loop_nest_collapse(
                                       point, &out->shape) };

    p.last = p.loops.rank - 1;
    p.count = mo_shape_product(p.loops.extent, p.loops.rank);
    mo_point_mark_live(point, p.used);
    p.wide = needs_64_bits(&p);
    mark_transposed(&p);
    if (p.transposed != MO_CUDA_NOT_TRANSPOSED)
        set_tiles(&p);
    if (p.transposed == MO_CUDA_NOT_TRANSPOSED || p.blocks > INT32_MAX) {
        p.transposed = MO_CUDA_NOT_TRANSPOSED;
        set_grid_stride(&p, sms);
    }
    return p;
}
