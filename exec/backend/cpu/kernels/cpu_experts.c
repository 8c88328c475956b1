/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with the weights of chosen experts (mixture of experts, Shazeer et
 * al., 2017), in a storage format (block_format.h).
 *
 * Rows of the result are grouped by expert (counting sort). A job multiplies
 * some rows of the weights of an expert with all of its data while they are in
 * cache: as dot products, or, where experts have many rows, quantized weights
 * with tiles of data. Weights that no row has chosen are not read.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "exec/backend/cpu/gemm/block_kernels.h"
#include "exec/backend/cpu/kernels/index_bounds.h"
#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/unit/load_f32.h"
#include "exec/tensor/convert.h"

enum {
    JOB = 1 << 16,     /* bytes of weights of a job */
    FEW_FOR_TILES = 4, /* rows of an expert, on average */
    TILE = MO_CPU_BLOCK_TILE
};

typedef struct experts_kernel {
    mo_cpu_kernel base;
    mo_call_experts experts;
    mo_elem elem, index_elem;
    size_t row_bytes;
    bool quantized, converted; /* data: to int8, to floats */
    bool tiles;
    int64_t data_rows;
    int64_t blocks;        /* of a row */
    int64_t chunk, chunks; /* rows of weights of a job; jobs of an expert */
    /* Parts of the workspace: data as they are multiplied; rows of the result
     * by expert, their ends, and the experts that have any. */
    size_t x_at, q_at, scales_at, offsets_at, rows_at, ends_at, active_at;
    /* With tiles: the first one of each expert; of each tile its first row, as
     * a number in rows; then scratch of each worker: */
    size_t first_tile_at, first_row_at, shared;
    size_t row_x_at, row_q_at, row_scales_at, row_offsets_at;
    size_t weights_at, weight_scales_at, weight_offsets_at, scratch;
} experts_kernel;

typedef struct experts_run {
    const experts_kernel *kernel;
    const mo_cpu_block_kernels *block_kernels;
    const void *const *in;
    char *out;
    char *workspace;
} experts_run;

static int64_t *numbers_at(const experts_run *run, size_t at)
{
    return (int64_t *) (void *) (run->workspace + at);
}

/* Row n of the weights of an expert. */
static const char *weights_at(const experts_run *run, int64_t expert, int64_t n)
{
    const experts_kernel *kernel = run->kernel;

    return (const char *) run->in[1] +
           (size_t) (expert * kernel->experts.n + n) * kernel->row_bytes;
}

/* Stores elements n, ..., n + count - 1 of a row of the result. */
static void store_sums(const experts_run *run, int64_t row, int64_t n,
                       int64_t count, const float *sums)
{
    mo_elem elem = run->kernel->elem;
    size_t size = mo_elem_size(elem);
    char *to = run->out + (size_t) (row * run->kernel->experts.n + n) * size;

    if (elem == MO_ELEM_F32)
        memcpy(to, sums, (size_t) count * size);
    else
        mo_tensor_narrow_f32(elem, sums, to, count);
}

static mo_cpu_block_data data_of(const experts_run *run, int64_t row)
{
    const experts_kernel *kernel = run->kernel;
    int64_t k = kernel->experts.k, b = row * kernel->blocks;
    const char *w = run->workspace;

    return (mo_cpu_block_data){
        .x = (kernel->converted
                  ? (const float *) (const void *) (w + kernel->x_at)
                  : (const float *) run->in[0]) +
             row * k,
        .q = (const int8_t *) w + kernel->q_at + row * k,
        .scales = (const float *) (const void *) (w + kernel->scales_at) + b,
        .offsets = (const int32_t *) (const void *) (w + kernel->offsets_at) +
                   b * MO_CPU_BLOCK_GROUPS,
    };
}

/* Converts and quantizes rows of data, as far as the format needs it. */
static void load_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const experts_run *run = context;
    const experts_kernel *kernel = run->kernel;
    int64_t k = kernel->experts.k;
    char *w = run->workspace;

    (void) worker;
    for (int64_t row = begin; row < end; row++) {
        mo_cpu_block_data data = data_of(run, row);
        int64_t b = row * kernel->blocks;

        if (kernel->converted)
            mo_cpu_load_f32(run->in[0], kernel->elem, row * k, 1, k,
                            (float *) (void *) (w + kernel->x_at) + row * k);
        if (kernel->quantized)
            run->block_kernels->quantize(
                kernel->experts.format, data.x, k,
                (int8_t *) w + kernel->q_at + row * k,
                (float *) (void *) (w + kernel->scales_at) + b,
                (int32_t *) (void *) (w + kernel->offsets_at) +
                    b * MO_CPU_BLOCK_GROUPS);
    }
}

/* Groups the rows of the result by expert; returns the number of experts that
 * have any. */
static int64_t group_rows(const experts_run *run, mo_cpu_indices *indices)
{
    const mo_call_experts *e = &run->kernel->experts;
    int64_t *rows = numbers_at(run, run->kernel->rows_at);
    int64_t *ends = numbers_at(run, run->kernel->ends_at);
    int64_t *active = numbers_at(run, run->kernel->active_at);
    int64_t n_active = 0, n = 0;

    memset(ends, 0, (size_t) e->experts * sizeof *ends);
    for (int64_t i = 0; i < e->m; i++) {
        int64_t expert = mo_cpu_index_resolve(indices, i, e->experts);

        if (expert >= 0)
            ends[expert]++;
    }
    for (int64_t i = 0; i < e->experts; i++) {
        int64_t count = ends[i];

        if (count > 0)
            active[n_active++] = i;
        ends[i] = n; /* the begin, until rows are appended */
        n += count;
    }
    for (int64_t i = 0; i < e->m; i++) {
        int64_t expert = mo_cpu_index_resolve(indices, i, e->experts);

        if (expert >= 0)
            rows[ends[expert]++] = i;
    }
    return n_active;
}

static void multiply(void *context, int64_t begin, int64_t end, int worker)
{
    const experts_run *run = context;
    const experts_kernel *kernel = run->kernel;
    const mo_call_experts *e = &kernel->experts;
    const int64_t *rows = numbers_at(run, kernel->rows_at);
    const int64_t *ends = numbers_at(run, kernel->ends_at);

    (void) worker;
    for (int64_t job = begin; job < end; job++) {
        int64_t expert =
            numbers_at(run, kernel->active_at)[job / kernel->chunks];
        int64_t n = job % kernel->chunks * kernel->chunk, step;
        int64_t last = mo_min_i64(n + kernel->chunk, e->n);

        for (; n < last; n += step) {
            const char *weights = weights_at(run, expert, n);
            bool several = last - n >= MO_CPU_BLOCK_ROWS;
            mo_cpu_block_dot_fn *dot =
                (several ? run->block_kernels->several
                         : run->block_kernels->one)[e->format];

            step = several ? MO_CPU_BLOCK_ROWS : 1;
            for (int64_t i = expert > 0 ? ends[expert - 1] : 0;
                 i < ends[expert]; i++) {
                mo_cpu_block_data data = data_of(run, rows[i] / e->share);
                float sums[MO_CPU_BLOCK_ROWS];

                dot(weights, kernel->row_bytes, &data, e->k, sums);
                store_sums(run, rows[i], n, step, sums);
            }
        }
    }
}

/* Divides the rows of experts into tiles; returns their number. */
static int64_t divide_rows(const experts_run *run, int64_t n_active)
{
    const int64_t *ends = numbers_at(run, run->kernel->ends_at);
    int64_t *first_tile = numbers_at(run, run->kernel->first_tile_at);
    int64_t *first_row = numbers_at(run, run->kernel->first_row_at);
    int64_t n = 0;

    for (int64_t i = 0; i < n_active; i++) {
        int64_t expert = numbers_at(run, run->kernel->active_at)[i];

        first_tile[i] = n;
        for (int64_t row = expert > 0 ? ends[expert - 1] : 0;
             row < ends[expert]; row += TILE)
            first_row[n++] = row;
    }
    first_tile[n_active] = n;
    first_row[n] = n_active > 0 ? ends[run->kernel->experts.experts - 1] : 0;
    return n;
}

/* Returns the number of rows of a tile. Further ones up to TILE are neither
 * initialized nor stored. */
static int64_t count_rows(const experts_run *run, int64_t tile)
{
    const int64_t *first = numbers_at(run, run->kernel->first_row_at) + tile;

    return mo_min_i64(first[1] - first[0], TILE);
}

static mo_cpu_block_tile tile_of(const experts_run *run, int64_t tile)
{
    const experts_kernel *kernel = run->kernel;
    char *w = run->workspace;

    return (mo_cpu_block_tile){
        .q = (uint8_t *) w + kernel->q_at + tile * TILE * kernel->experts.k,
        .scales = (float *) (void *) (w + kernel->scales_at) +
                  tile * TILE * kernel->blocks,
    };
}

static char *scratch_of(const experts_run *run, int worker)
{
    return mo_cpu_worker_scratch(run->workspace + run->kernel->shared,
                                 run->kernel->scratch, worker);
}

static void pack_tiles(void *context, int64_t begin, int64_t end, int worker)
{
    const experts_run *run = context;
    const experts_kernel *kernel = run->kernel;
    const mo_call_experts *e = &kernel->experts;
    char *scratch = scratch_of(run, worker);
    float *converted = (float *) (void *) (scratch + kernel->row_x_at);
    int8_t *q = (int8_t *) scratch + kernel->row_q_at;
    float *scales = (float *) (void *) (scratch + kernel->row_scales_at);

    for (int64_t t = begin; t < end; t++) {
        const int64_t *rows = numbers_at(run, kernel->rows_at) +
                              numbers_at(run, kernel->first_row_at)[t];

        for (int64_t i = 0; i < count_rows(run, t); i++) {
            int64_t at = rows[i] / e->share * e->k;
            const float *x = (const float *) run->in[0] + at;

            if (kernel->converted) {
                mo_cpu_load_f32(run->in[0], kernel->elem, at, 1, e->k,
                                converted);
                x = converted;
            }
            run->block_kernels->quantize(
                e->format, x, e->k, q, scales,
                (int32_t *) (void *) (scratch + kernel->row_offsets_at));
            mo_cpu_block_pack_row(
                q, scales, kernel->blocks, run->block_kernels->zero, (int) i,
                (uint8_t *) run->workspace + kernel->q_at + t * TILE * e->k,
                (float *) (void *) (run->workspace + kernel->scales_at) +
                    t * TILE * kernel->blocks);
        }
    }
}

/* Rows n, ..., n + count - 1 of the weights of an active expert. */
static void multiply_tile_rows(const experts_run *run, int64_t active,
                               int64_t n, int count, char *scratch)
{
    const experts_kernel *kernel = run->kernel;
    const mo_call_experts *e = &kernel->experts;
    const int64_t *first_tile = numbers_at(run, kernel->first_tile_at);
    int64_t expert = numbers_at(run, kernel->active_at)[active];
    mo_cpu_block_weights weights = {
        .q = (int8_t *) scratch + kernel->weights_at,
        .scales = (float *) (void *) (scratch + kernel->weight_scales_at),
        .offsets = (int32_t *) (void *) (scratch + kernel->weight_offsets_at),
    };
    float sums[TILE * TILE];

    run->block_kernels->unpack(e->format, weights_at(run, expert, n),
                               kernel->row_bytes, kernel->blocks, count,
                               &weights);
    for (int64_t t = first_tile[active]; t < first_tile[active + 1]; t++) {
        const int64_t *rows = numbers_at(run, kernel->rows_at) +
                              numbers_at(run, kernel->first_row_at)[t];
        mo_cpu_block_tile tile = tile_of(run, t);
        int64_t n_rows = count_rows(run, t);

        run->block_kernels->multiply(&weights, &tile, kernel->blocks,
                                     (int) n_rows, count, sums, TILE);
        for (int64_t i = 0; i < n_rows; i++)
            store_sums(run, rows[i], n, count, sums + i * TILE);
    }
}

static void multiply_tiles(void *context, int64_t begin, int64_t end,
                           int worker)
{
    const experts_run *run = context;
    const experts_kernel *kernel = run->kernel;

    if (run->block_kernels->begin_tiles)
        run->block_kernels->begin_tiles();
    for (int64_t job = begin; job < end; job++) {
        int64_t n = job % kernel->chunks * kernel->chunk;
        int64_t last = mo_min_i64(n + kernel->chunk, kernel->experts.n);

        for (; n < last; n += TILE)
            multiply_tile_rows(run, job / kernel->chunks, n,
                               (int) mo_min_i64(TILE, last - n),
                               scratch_of(run, worker));
    }
    if (run->block_kernels->end_tiles)
        run->block_kernels->end_tiles();
}

static mo_status check_experts(const mo_call_experts *e,
                               const mo_backend_operand *in,
                               const mo_tensor_desc *out, mo_error *err)
{
    mo_elem elem = in[0].desc.elem;
    int64_t row = mo_block_format_row_bytes(e->format, e->k), bytes, a, c;

    if (!mo_elem_is_float(elem) || elem == MO_ELEM_F64 || out[0].elem != elem ||
        mo_elem_is_float(in[2].desc.elem) || in[2].desc.elem == MO_ELEM_BOOL)
        return mo_fail(err, MO_E_SUPPORT,
                       "a product of %s and experts in %s, chosen by %s, to %s "
                       "cannot be run",
                       mo_elem_name(elem), mo_block_format_name(e->format),
                       mo_elem_name(in[2].desc.elem),
                       mo_elem_name(out[0].elem));
    if (row < 0 || e->share < 1 || !mo_int64_mul(row, e->n, &bytes) ||
        !mo_int64_mul(bytes, e->experts, &bytes) ||
        !mo_int64_mul(e->m / e->share, e->k, &a) ||
        !mo_int64_mul(e->m, e->n, &c) ||
        bytes != (int64_t) mo_tensor_desc_bytes(&in[1].desc) ||
        a != mo_tensor_desc_elements(&in[0].desc) ||
        e->m != mo_tensor_desc_elements(&in[2].desc) ||
        c != mo_tensor_desc_elements(&out[0]))
        return mo_fail(err, MO_E_INPUT, "experts do not fit their tensors");
    return MO_OK;
}

static void place_data(experts_kernel *k)
{
    const mo_call_experts *e = &k->experts;
    size_t experts = (size_t) e->experts, number = sizeof(int64_t);
    size_t depth = (size_t) e->k, blocks = (size_t) k->blocks;
    size_t each = sizeof(float), *end = &k->shared;
    size_t n_tiles = (size_t) (e->m / TILE) + experts;
    size_t rows = k->tiles ? n_tiles * TILE : (size_t) k->data_rows;
    size_t dots = k->tiles ? 0 : rows;

    k->x_at = mo_cpu_append_part(end, k->converted ? dots * depth * each : 0);
    k->q_at = mo_cpu_append_part(end, k->quantized ? rows * depth : 0);
    k->scales_at =
        mo_cpu_append_part(end, k->quantized ? rows * blocks * each : 0);
    k->offsets_at = mo_cpu_append_part(end, k->quantized ? dots * depth : 0);
    k->rows_at = mo_cpu_append_part(end, (size_t) e->m * number);
    k->ends_at = mo_cpu_append_part(end, experts * number);
    k->active_at = mo_cpu_append_part(end, experts * number);
    if (!k->tiles)
        return;
    k->first_tile_at = mo_cpu_append_part(end, (experts + 1) * number);
    k->first_row_at = mo_cpu_append_part(end, (n_tiles + 1) * number);
    end = &k->scratch;
    k->row_x_at = mo_cpu_append_part(end, k->converted ? depth * each : 0);
    k->row_q_at = mo_cpu_append_part(end, depth);
    k->row_scales_at = mo_cpu_append_part(end, blocks * each);
    k->row_offsets_at = mo_cpu_append_part(end, depth);
    k->weights_at = mo_cpu_append_part(end, TILE * depth);
    k->weight_scales_at = mo_cpu_append_part(end, TILE * blocks * each);
    k->weight_offsets_at = mo_cpu_append_part(end, TILE * blocks * each);
}

static mo_status prepare_experts(mo_cpu_unit *unit, const mo_call *call,
                                 const mo_backend_operand *in,
                                 const mo_tensor_desc *out,
                                 mo_cpu_kernel **kernel, size_t *workspace,
                                 mo_error *err)
{
    const mo_call_experts *e = &call->u.experts;
    mo_status status = check_experts(e, in, out, err);
    experts_kernel *k;

    if (status != MO_OK)
        return status;
    k = calloc(1, sizeof *k);
    if (!k)
        return mo_fail_memory(err);
    k->experts = *e;
    k->elem = in[0].desc.elem;
    k->index_elem = in[2].desc.elem;
    k->row_bytes = (size_t) mo_block_format_row_bytes(e->format, e->k);
    k->quantized = mo_cpu_block_is_quantized(e->format);
    k->converted = k->elem != MO_ELEM_F32;
    k->data_rows = e->m / e->share;
    k->blocks = e->k / MO_BLOCK_ELEMENTS;
    k->tiles = k->quantized && unit->block_kernels->unpack &&
               e->m >= FEW_FOR_TILES * e->experts;
    k->chunk =
        mo_max_i64(JOB / (int64_t) (k->row_bytes + 1) / TILE * TILE, TILE);
    k->chunks = mo_ceil_div(e->n, k->chunk);
    place_data(k);
    *workspace = k->shared + mo_cpu_workspace_size(unit, k->scratch);
    *kernel = &k->base;
    return MO_OK;
}

static mo_status run_experts(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                             const void *const *in, void *const *out,
                             void *workspace, mo_error *err)
{
    const experts_kernel *k = (const experts_kernel *) kernel;
    experts_run run = { k, unit->block_kernels, in, out[0], workspace };
    mo_cpu_indices indices = { .data = in[2],
                               .elem = k->index_elem,
                               .first_wrong = -1 };
    int64_t n_active = group_rows(&run, &indices);

    if (k->tiles)
        mo_cpu_thread_pool_parallel_for(unit->pool, divide_rows(&run, n_active),
                                        1, pack_tiles, &run);
    else if (k->quantized || k->converted)
        mo_cpu_thread_pool_parallel_for(unit->pool, k->data_rows, 1, load_rows,
                                        &run);
    mo_cpu_thread_pool_parallel_for(unit->pool, n_active * k->chunks, 1,
                                    k->tiles ? multiply_tiles : multiply, &run);
    return mo_cpu_index_status(&indices, k->experts.experts, err);
}

const mo_cpu_kernel_class mo_cpu_experts = { prepare_experts, run_experts,
                                             NULL };
