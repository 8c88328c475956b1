/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/kernels/kernel_class.h"
#include "exec/backend/cuda/kernels/pointwise_kernel.h"

#include <stdlib.h>
#include <string.h>

#include "exec/backend/cuda/jit/codegen.h"

/* ---- ways to go */

static int64_t count_of(const mo_point_loop_nest *loops)
{
    int64_t count = 1;

    for (int d = 0; d < loops->rank; d++)
        count *= loops->extent[d];
    return count;
}

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

/* May so many neighbours of an operand be read at once, everywhere? */
static bool can_read(const mo_cuda_pointwise_config *p, int operand, int n)
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

static bool can_do_at_once(const mo_cuda_pointwise_config *p, int n)
{
    if (p->loops.extent[p->last] % n != 0)
        return false;
    for (int i = 0; i < p->point->n_operands; i++)
        if (p->used[i] && !can_read(p, i, n))
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

/* So many that the widest element is read 16 bytes at a time; fewer where
 * accesses do not allow it, or too few threads would be left to fill the
 * device. */
static int vector_for(const mo_cuda_pointwise_config *p, int sms)
{
    enum { ACCESS_BYTES = 16, MOST = 8, THREADS_PER_SM = 64 };
    int n = ACCESS_BYTES / (int) widest_element(p);

    if (n > MOST)
        n = MOST;
    while (n > 1 && (p->count / n < (int64_t) sms * THREADS_PER_SM ||
                     !can_do_at_once(p, n)))
        n /= 2;
    return n;
}

/* The dimension along which an operand is contiguous, where that is not the
 * result's and squares of the two are worth while. */
static int turned_dim(const mo_cuda_pointwise_config *p, int operand)
{
    enum { LEAST_SIDE = 16 };
    const int64_t *stride = p->loops.stride[operand];
    int last = p->last;

    if (!p->used[operand] || stride[last] == 0 || stride[last] == 1 ||
        p->loops.extent[last] < LEAST_SIDE)
        return MO_CUDA_POINTWISE_NOT_TRANSPOSED;
    for (int d = 0; d < last; d++)
        if (stride[d] == 1 && p->loops.extent[d] >= LEAST_SIDE)
            return d;
    return MO_CUDA_POINTWISE_NOT_TRANSPOSED;
}

/* Marks those that are turned the way the first of them is; as many as shared
 * memory has room for, the others are read as they lie. */
static void find_turned(mo_cuda_pointwise_config *p)
{
    enum { MOST = 4 };
    int n = 0;

    p->turned = MO_CUDA_POINTWISE_NOT_TRANSPOSED;
    for (int i = 0; i < p->point->n_operands && n < MOST; i++) {
        int d = turned_dim(p, i);

        if (d == MO_CUDA_POINTWISE_NOT_TRANSPOSED ||
            (p->turned != MO_CUDA_POINTWISE_NOT_TRANSPOSED && p->turned != d))
            continue;
        p->turned = d;
        p->is_turned[i] = true;
        n++;
    }
}

static int64_t parts(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

static void set_squares(mo_cuda_pointwise_config *p)
{
    p->vector = 1;
    p->threads = 256;
    p->blocks = 1;
    for (int d = 0; d < p->loops.rank; d++)
        p->blocks *=
            d == p->turned || d == p->last
                ? parts(p->loops.extent[d], MO_CUDA_POINTWISE_TRANSPOSE_TILE)
                : p->loops.extent[d];
}

/* Small blocks where there are few, so that every multiprocessor has some; and
 * no more than are on the device twice over: the rest is done by going on. */
static void set_flat(mo_cuda_pointwise_config *p, int sms)
{
    enum { THREADS_ON_SM = 2048, MANY = 1024, TURNS = 2 };
    int64_t n, most;

    p->vector = vector_for(p, sms);
    n = p->count / p->vector;
    p->threads = n <= (int64_t) sms * MANY ? 128 : 256;
    p->blocks = parts(n, p->threads);
    most = (int64_t) sms * THREADS_ON_SM / p->threads * TURNS;
    if (p->blocks > most)
        p->blocks = most;
}

mo_cuda_pointwise_config
mo_cuda_pointwise_config_of(const mo_point_program *point,
                            const mo_tensor_desc *out, int sms)
{
    mo_cuda_pointwise_config p = { .point = point,
                                   .stored = out->elem,
                                   .loops = mo_point_loop_nest_collapse(
                                       point, &out->shape) };

    p.last = p.loops.rank - 1;
    p.count = count_of(&p.loops);
    mo_point_mark_live(point, p.used);
    p.wide = needs_64_bits(&p);
    find_turned(&p);
    if (p.turned != MO_CUDA_POINTWISE_NOT_TRANSPOSED)
        set_squares(&p);
    if (p.turned == MO_CUDA_POINTWISE_NOT_TRANSPOSED || p.blocks > INT32_MAX) {
        p.turned = MO_CUDA_POINTWISE_NOT_TRANSPOSED;
        set_flat(&p, sms);
    }
    return p;
}

/* ---- kernel */

typedef struct point_kernel {
    mo_backend_kernel base;
    mo_cuda_function *function; /* NULL: the result has no elements */
    mo_cuda_grid grid;
    int n_operands;
    bool used[MO_POINT_MAX_OPERANDS];
} point_kernel;

static mo_status ask(mo_backend_unit *unit, const mo_cuda_pointwise_config *p,
                     mo_cuda_function **function, mo_error *err)
{
    mo_cuda_source code = { 0 };

    mo_cuda_emit_pointwise(p, &code);
    return mo_cuda_jit_request_source(unit, &code, "point", function, err);
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    mo_cuda_pointwise_config p =
        mo_cuda_pointwise_config_of(&call->u.point, &out[0], unit->sms);
    point_kernel *made = calloc(1, sizeof *made);
    mo_status status = MO_OK;

    (void) in;
    if (!made)
        return mo_fail_memory(err);
    made->n_operands = call->u.point.n_operands;
    memcpy(made->used, p.used, sizeof made->used);
    made->grid = (mo_cuda_grid){ .blocks = { (unsigned) p.blocks, 1, 1 },
                                 .threads = { (unsigned) p.threads, 1, 1 } };
    if (p.blocks > 0)
        status = ask(unit, &p, &made->function, err);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    *kernel = &made->base;
    return MO_OK;
}

static mo_status enqueue(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const point_kernel *point = (const point_kernel *) kernel;
    const void *pointers[MO_POINT_MAX_OPERANDS + 1];
    void *args[MO_POINT_MAX_OPERANDS + 1];
    int n = 0;

    (void) workspace;
    if (!point->function)
        return MO_OK;
    for (int i = 0; i < point->n_operands; i++)
        if (point->used[i])
            pointers[n++] = in[i];
    pointers[n++] = out[0];
    for (int i = 0; i < n; i++)
        args[i] = &pointers[i];
    return mo_cuda_launch(unit, point->function, &point->grid, stream, args,
                          err);
}

const mo_cuda_kernel_class mo_cuda_pointwise_kernel = { prepare, NULL, enqueue,
                                                        mo_cuda_kernel_free };
