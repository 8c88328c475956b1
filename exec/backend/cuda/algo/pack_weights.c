/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/pack_weights.h"

#include <string.h>

#include "base/ablation.h"
#include "base/array.h"
#include "base/parallel_for.h"
#include "exec/backend/cuda/driver/staging_buffer.h"
#include "exec/backend/cuda/algo/tensorcore.h"

/* A matrix of rows x count x inner elements, read with these strides and
 * written row by row, count inside of inner: [out][in][spatial] becomes
 * [out][spatial][in]. */
typedef struct pack_job {
    const void *from;
    unsigned char *to; /* destination of row first and those after it */
    int64_t first, end;
    mo_elem elem;
    int64_t rows, count, inner, row, step, inner_step;
    int64_t pitch; /* elements of a written row, padded with zeros */
    bool round;    /* to TF32 */
} pack_job;

enum { ROWS_AT_ONCE = 32 };

/* Rows are interleaved, so that a transposed matrix is read along its own
 * rows; a matrix in the right layout is copied. */
#define PACK(name, type)                                                       \
    static void name(const pack_job *p, int64_t first, int64_t end)            \
    {                                                                          \
        const type *from = p->from;                                            \
        type *to = (type *) (void *) p->to;                                    \
                                                                               \
        for (int64_t s = 0; s < p->inner; s++)                                 \
            for (int64_t i = 0; i < p->count; i++) {                           \
                const type *at = from + s * p->inner_step + i * p->step;       \
                type *into = to + s * p->count + i;                            \
                                                                               \
                for (int64_t r = first; r < end; r++)                          \
                    into[(r - p->first) * p->pitch] = at[r * p->row];          \
            }                                                                  \
    }
PACK(pack_words, uint32_t)
PACK(pack_halves, uint16_t)

static unsigned char *row_address(const pack_job *p, int64_t r)
{
    return p->to + (size_t) ((r - p->first) * p->pitch) * mo_elem_size(p->elem);
}

static void pack_rows(void *context, int job, int thread)
{
    const pack_job *p = context;
    int64_t first = p->first + (int64_t) job * ROWS_AT_ONCE;
    int64_t end = first + ROWS_AT_ONCE;
    size_t size = mo_elem_size(p->elem), all = (size_t) p->pitch * size;
    size_t used = (size_t) (p->count * p->inner) * size;

    (void) thread;
    end = end < p->end ? end : p->end;
    if (p->step == 1 && p->inner == 1) {
        const unsigned char *from = p->from;

        for (int64_t r = first; r < end; r++)
            memcpy(row_address(p, r), from + (size_t) (r * p->row) * size,
                   (size_t) p->count * size);
    } else if (mo_elem_size(p->elem) == sizeof(uint32_t))
        pack_words(p, first, end);
    else
        pack_halves(p, first, end);
    for (int64_t r = first; r < end && used < all; r++)
        memset(row_address(p, r) + used, 0, all - used);
    /* To nearest, ties to even; infinities and NaN stay. */
    if (p->round) {
        uint32_t *x = (uint32_t *) (void *) row_address(p, first);

        for (int64_t i = 0; i < (end - first) * p->pitch; i++) {
            uint32_t near = (x[i] + 0xfffu + (x[i] >> 13 & 1u)) & 0xffffe000u;

            x[i] = (x[i] & 0x7f800000u) == 0x7f800000u ? x[i] : near;
        }
    }
}

/* Bytes that pay for starting a thread. */
static int choose_threads(size_t bytes)
{
    enum { WORTH_A_THREAD = 1 << 20 };
    size_t worth = bytes / WORTH_A_THREAD + 1;
    size_t cores = (size_t) mo_parallel_for_cores();

    return (int) (worth < cores ? worth : cores);
}

/* Packs rows p->first to p->end into a staging buffer and enqueues the copy. */
static mo_status upload_rows(mo_backend_unit *unit, pack_job *p,
                             CUdeviceptr memory, size_t row_bytes,
                             mo_error *err)
{
    size_t bytes = (size_t) (p->end - p->first) * row_bytes;
    int64_t jobs = (p->end - p->first + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
    void *near;
    mo_status status = mo_cuda_staging_acquire(unit, bytes, &near, err);

    if (status != MO_OK)
        return status;
    p->to = near;
    mo_parallel_for(choose_threads(bytes), (int) jobs, pack_rows, p);
    return mo_cuda_staging_copy_async(
        unit, memory + (size_t) p->first * row_bytes, bytes, err);
}

static mo_status upload_all(mo_backend_unit *unit, pack_job *p,
                            CUdeviceptr *memory, mo_error *err)
{
    size_t row_bytes, bytes;
    int64_t at_once;
    mo_status status;

    if (!mo_size_mul((size_t) p->pitch, mo_elem_size(p->elem), &row_bytes) ||
        !mo_size_mul((size_t) p->rows, row_bytes, &bytes))
        return mo_fail_memory(err);
    status = mo_cuda_alloc(unit, bytes, memory, err);
    if (bytes == 0 || status != MO_OK)
        return status;
    at_once = (int64_t) (MO_CUDA_STAGING_BYTES / row_bytes);
    at_once = at_once > 0 ? at_once : 1;
    for (int64_t first = 0; first < p->rows && status == MO_OK;
         first += at_once) {
        p->first = first;
        p->end = at_once < p->rows - first ? first + at_once : p->rows;
        status = upload_rows(unit, p, *memory, row_bytes, err);
    }
    return status;
}

/* Rows begin at multiples of a vector. */
static int64_t padded_pitch(mo_elem elem, int64_t k)
{
    int64_t whole = 16 / (int64_t) mo_elem_size(elem);

    return (k + whole - 1) / whole * whole;
}

static bool conv_packing(const mo_backend_unit *unit,
                         const mo_cuda_algo_problem *problem, pack_job *p)
{
    const mo_call_conv *c = &problem->call->u.conv;

    if (!c->channels_last || c->groups < 1)
        return false;
    *p = (pack_job){
        .from = problem->in[1].constant,
        .elem = problem->in[1].desc.elem,
        .rows = c->transposed ? c->in_channels : c->out_channels,
        .count = (c->transposed ? c->out_channels : c->in_channels) / c->groups,
        .inner = 1,
        .inner_step = 1
    };
    for (int d = 0; d < c->sweep.spatial; d++)
        p->inner *= c->sweep.kernel[d];
    p->row = p->count * p->inner;
    p->step = p->inner;
    p->pitch = p->row;
    p->round = p->elem == MO_ELEM_F32 &&
               unit->options.precision == MO_BACKEND_PRECISION_TF32;
    return true;
}

/* All batch indices must share one b. */
static bool matmul_packing(const mo_backend_unit *unit,
                           const mo_cuda_algo_problem *problem, pack_job *p)
{
    const mo_call_matmul *m = &problem->call->u.matmul;
    mo_elem elem = problem->in[1].desc.elem;
    bool round = elem == MO_ELEM_F32 &&
                 unit->options.precision == MO_BACKEND_PRECISION_TF32;

    for (int d = 0; d < m->n_batch; d++)
        if (m->extent[d] != 1 && m->b.batch[d] != 0)
            return false;
    /* A matrix in that layout is read in place. */
    if (!round && m->b.row == 1 && m->b.column == padded_pitch(elem, m->k))
        return false;
    *p = (pack_job){ .from = problem->in[1].constant,
                     .elem = elem,
                     .rows = m->n,
                     .count = m->k,
                     .inner = 1,
                     .row = m->b.column,
                     .step = m->b.row,
                     .pitch = padded_pitch(elem, m->k),
                     .round = round };
    return true;
}

/* Our kernels read columns, all others weights; often they are the same. */
static mo_status pack_conv(mo_backend_unit *unit, mo_cuda_algo_problem *problem,
                           mo_error *err)
{
    bool columns = !problem->call->u.conv.transposed &&
                   mo_cuda_algo_kind_wanted(problem, "tensor");
    bool weights = !columns || !problem->only;
    mo_status status = MO_OK;
    int64_t pitch;
    pack_job p;

    if (!conv_packing(unit, problem, &p))
        return MO_OK;
    pitch = padded_pitch(p.elem, p.pitch);
    if (weights || pitch == p.pitch)
        status = upload_all(unit, &p, &problem->weights, err);
    if (status != MO_OK || !columns)
        return status;
    problem->pitch = pitch;
    if (pitch == p.pitch) {
        problem->columns = problem->weights;
        return MO_OK;
    }
    p.pitch = pitch;
    return upload_all(unit, &p, &problem->columns, err);
}

mo_status mo_cuda_pack_weights(mo_backend_unit *unit,
                               mo_cuda_algo_problem *problem, mo_error *err)
{
    pack_job p;

    if (!problem->in[1].constant || !(problem->in[1].desc.elem == MO_ELEM_F32 ||
                                      problem->in[1].desc.elem == MO_ELEM_F16 ||
                                      problem->in[1].desc.elem == MO_ELEM_BF16))
        return MO_OK;
    if (mo_ablated(problem->call->kind == MO_CALL_CONV
                       ? MO_ABLATION_cuda_pack_conv
                       : MO_ABLATION_cuda_pack_matmul))
        return MO_OK;
    if (problem->call->kind == MO_CALL_CONV)
        return pack_conv(unit, problem, err);
    if (!mo_cuda_algo_kind_wanted(problem, "tensor") ||
        !matmul_packing(unit, problem, &p))
        return MO_OK;
    problem->pitch = p.pitch;
    return upload_all(unit, &p, &problem->columns, err);
}

static void free_columns(mo_backend_unit *unit, mo_cuda_algo_problem *problem)
{
    if (problem->columns != problem->weights)
        mo_cuda_free(unit, problem->columns);
    problem->columns = 0;
}

void mo_cuda_packed_weights_free(mo_backend_unit *unit,
                                 mo_cuda_algo_problem *problem)
{
    free_columns(unit, problem);
    mo_cuda_free(unit, problem->weights);
    problem->weights = 0;
}

void mo_cuda_packed_weights_trim(mo_backend_unit *unit,
                                 mo_cuda_algo_problem *problem,
                                 const mo_cuda_algo *algo)
{
    if (!mo_cuda_is_tensorcore_algo(algo))
        free_columns(unit, problem);
    if ((algo->consumed & 2) == 0) {
        mo_cuda_packed_weights_free(unit, problem);
    } else if (mo_cuda_is_tensorcore_algo(algo) &&
               problem->columns != problem->weights) {
        mo_cuda_free(unit, problem->weights);
        problem->weights = 0;
    }
}
