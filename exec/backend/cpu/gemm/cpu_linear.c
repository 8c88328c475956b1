/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with weights in a storage format (block_format.h), which are read as
 * they are; three ways, by the number of rows of data:
 *
 *     dots     few: each row of weights is multiplied with all rows of data
 *              while it is in cache
 *     tiles    more, of quantized weights, with kernels for them: some rows of
 *              weights are unpacked to bytes, and multiplied with tiles of data
 *     panels   more, otherwise: some rows of weights are converted to floats,
 *              and multiplied by the micro-kernels of other products
 *
 * Data are quantized or converted first. Jobs are ranges of rows of weights;
 * those of tiles also of data.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "exec/backend/cpu/gemm/block_kernels.h"
#include "exec/backend/cpu/gemm/packed_gemm.h"
#include "exec/backend/cpu/pointwise/pointwise.h"
#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/unit/load_f32.h"

enum {
    FEW_FOR_TILES = 4, /* rows of data that are multiplied by dots */
    FEW_FOR_PANELS = 16,
    WEIGHTS = 64,    /* rows of weights whose results are stored at once */
    DATA = 256,      /* rows of data of a job of tiles */
    JOB = 1 << 17,   /* bytes of weights of a job of dots */
    PANEL = 1 << 17, /* floats of a panel */
    DEPTH = 256,     /* elements of a row that are converted at once */
    TILE = MO_CPU_BLOCK_TILE
};

typedef enum way { WAY_DOTS, WAY_TILES, WAY_PANELS } way;

typedef struct linear_kernel {
    mo_cpu_kernel base;
    mo_call_linear linear;
    mo_cpu_epilogue epilogue;
    mo_elem elem; /* of the data */
    size_t row_bytes;
    way way;
    bool quantized, converted; /* data: to int8, or to floats */
    bool direct;               /* results are the sums */
    int64_t blocks;            /* of a row */
    int64_t data_rows;         /* whole tiles */
    int64_t chunk;             /* rows of weights of a job of panels */
    /* The workspace begins with a part of all workers, in bytes from its
     * beginning: */
    size_t x_at, q_at, scales_at, offsets_at, rows_at, shared;
    /* Then each worker's scratch: */
    size_t row_at, row_q_at, row_scales_at, row_offsets_at;
    size_t weights_at, weight_scales_at, weight_offsets_at;
    size_t values_at, panels_at, sums_at, epilogue_at, scratch;
} linear_kernel;

typedef struct linear_run {
    const linear_kernel *kernel;
    const mo_cpu_unit *unit;
    const void *const *in;
    void *out;
    char *workspace;
} linear_run;

static char *scratch_of(const linear_run *run, int worker)
{
    return mo_cpu_worker_scratch(run->workspace + run->kernel->shared,
                                 run->kernel->scratch, worker);
}

static const char *weights_at(const linear_run *run, int64_t row)
{
    return (const char *) run->in[1] + (size_t) row * run->kernel->row_bytes;
}

/* Returns row m of the data as floats; converted ones are in `to`. */
static const float *load_row(const linear_run *run, int64_t m, void *to)
{
    const linear_kernel *kernel = run->kernel;
    int64_t k = kernel->linear.k;

    if (!kernel->converted)
        return (const float *) run->in[0] + m * k;
    mo_cpu_load_f32(run->in[0], kernel->elem, m * k, 1, k, to);
    return to;
}

/* Quantizes or converts rows of data. */
static void load_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const linear_run *run = context;
    const linear_kernel *kernel = run->kernel;
    int64_t k = kernel->linear.k, blocks = kernel->blocks;
    char *shared = run->workspace;

    (void) worker;
    for (int64_t m = begin; m < end; m++) {
        size_t at = (size_t) (m * k), b = (size_t) (m * blocks);
        const float *x =
            load_row(run, m, (float *) (void *) (shared + kernel->x_at) + at);

        if (kernel->quantized)
            run->unit->block_kernels->quantize(
                kernel->linear.format, x, k,
                (int8_t *) shared + kernel->q_at + at,
                (float *) (void *) (shared + kernel->scales_at) + b,
                (int32_t *) (void *) (shared + kernel->offsets_at) +
                    b * MO_CPU_BLOCK_GROUPS);
        if (kernel->way == WAY_PANELS)
            ((const float **) (void *) (shared + kernel->rows_at))[m] = x;
    }
}

/* Quantizes rows of data and packs them to tiles. Rows beyond the last one are
 * not initialized, and not stored. */
static void pack_tiles(void *context, int64_t begin, int64_t end, int worker)
{
    const linear_run *run = context;
    const linear_kernel *kernel = run->kernel;
    const mo_cpu_block_kernels *kernels = run->unit->block_kernels;
    int64_t k = kernel->linear.k, blocks = kernel->blocks;
    char *scratch = scratch_of(run, worker), *shared = run->workspace;
    int8_t *q = (int8_t *) scratch + kernel->row_q_at;
    float *scales = (float *) (void *) (scratch + kernel->row_scales_at);

    for (int64_t m = begin; m < end; m++) {
        int64_t tile = m / TILE * TILE;

        kernels->quantize(
            kernel->linear.format, load_row(run, m, scratch + kernel->row_at),
            k, q, scales,
            (int32_t *) (void *) (scratch + kernel->row_offsets_at));
        mo_cpu_block_pack_row(
            q, scales, blocks, kernels->zero, (int) (m - tile),
            (uint8_t *) shared + kernel->q_at + tile * k,
            (float *) (void *) (shared + kernel->scales_at) + tile * blocks);
    }
}

/* Stores sums of rows m and weights n, ... of the result. */
static void store_sums(const linear_run *run, int64_t m, int64_t n,
                       int64_t count, const float *sums, char *scratch)
{
    const linear_kernel *kernel = run->kernel;

    mo_cpu_epilogue_run(&kernel->epilogue, run->in, run->out,
                        m * kernel->linear.n + n, count, sums,
                        scratch + kernel->epilogue_at);
}

/* Rows that are multiplied at once are apart: each of them is followed by the
 * one that is multiplied next, and processors prefetch several long streams
 * sooner than short ones. */
static void multiply_dots(void *context, int64_t begin, int64_t end, int worker)
{
    const linear_run *run = context;
    const linear_kernel *kernel = run->kernel;
    const mo_call_linear *l = &kernel->linear;
    const mo_cpu_block_kernels *kernels = run->unit->block_kernels;
    char *shared = run->workspace, *scratch = scratch_of(run, worker);
    const float *all = kernel->converted
                           ? (const float *) (void *) (shared + kernel->x_at)
                           : (const float *) run->in[0];
    float sums[FEW_FOR_PANELS][WEIGHTS];
    mo_cpu_block_data data[FEW_FOR_PANELS];

    for (int64_t m = 0; m < l->m; m++) {
        int64_t b = m * kernel->blocks;

        data[m] = (mo_cpu_block_data){
            .x = all + m * l->k,
            .q = (const int8_t *) shared + kernel->q_at + m * l->k,
            .scales = (const float *) (void *) (shared + kernel->scales_at) + b,
            .offsets =
                (const int32_t *) (void *) (shared + kernel->offsets_at) +
                b * MO_CPU_BLOCK_GROUPS,
        };
    }
    for (int64_t n = begin; n < end; n += WEIGHTS) {
        int64_t count = mo_min_i64(WEIGHTS, end - n);
        int64_t apart = count / MO_CPU_BLOCK_ROWS;

        for (int64_t m = 0; m < l->m; m++)
            for (int64_t r = apart * MO_CPU_BLOCK_ROWS; r < count; r++)
                kernels->one[l->format](weights_at(run, n + r),
                                        kernel->row_bytes, &data[m], l->k,
                                        &sums[m][r]);
        for (int64_t r = 0; r < apart; r++)
            for (int64_t m = 0; m < l->m; m++) {
                float some[MO_CPU_BLOCK_ROWS];

                kernels->several[l->format](weights_at(run, n + r),
                                            (size_t) apart * kernel->row_bytes,
                                            &data[m], l->k, some);
                for (int64_t i = 0; i < MO_CPU_BLOCK_ROWS; i++)
                    sums[m][r + i * apart] = some[i];
            }
        for (int64_t m = 0; m < l->m; m++)
            store_sums(run, m, n, count, sums[m], scratch);
    }
}

/* Rows data, ..., data + rows - 1 with at most WEIGHTS rows of weights. */
static void multiply_chunk(const linear_run *run, int64_t data, int64_t rows,
                           int64_t n, int64_t count, char *scratch)
{
    const linear_kernel *kernel = run->kernel;
    const mo_call_linear *l = &kernel->linear;
    const mo_cpu_block_kernels *kernels = run->unit->block_kernels;
    mo_cpu_block_weights weights = {
        .q = (int8_t *) scratch + kernel->weights_at,
        .scales = (float *) (void *) (scratch + kernel->weight_scales_at),
        .offsets = (int32_t *) (void *) (scratch + kernel->weight_offsets_at),
    };
    int64_t pitch = kernel->direct ? l->n : WEIGHTS;
    float *sums = kernel->direct
                      ? (float *) run->out + data * l->n + n
                      : (float *) (void *) (scratch + kernel->sums_at);

    for (int64_t r = 0; r < count; r += TILE) {
        int n_weights = (int) mo_min_i64(TILE, count - r);

        kernels->unpack(l->format, weights_at(run, n + r), kernel->row_bytes,
                        kernel->blocks, n_weights, &weights);
        for (int64_t m = 0; m < rows; m += TILE) {
            char *shared = run->workspace;
            mo_cpu_block_tile tile = {
                .q = (uint8_t *) shared + kernel->q_at + (data + m) * l->k,
                .scales = (float *) (void *) (shared + kernel->scales_at) +
                          (data + m) * kernel->blocks,
            };

            kernels->multiply(&weights, &tile, kernel->blocks,
                              (int) mo_min_i64(TILE, rows - m), n_weights,
                              sums + m * pitch + r, pitch);
        }
    }
    for (int64_t m = 0; !kernel->direct && m < rows; m++)
        store_sums(run, data + m, n, count, sums + m * WEIGHTS, scratch);
}

static void multiply_tiles(void *context, int64_t begin, int64_t end,
                           int worker)
{
    const linear_run *run = context;
    const mo_call_linear *l = &run->kernel->linear;
    const mo_cpu_block_kernels *kernels = run->unit->block_kernels;
    int64_t chunks = mo_ceil_div(l->n, WEIGHTS);

    if (kernels->begin_tiles)
        kernels->begin_tiles();
    for (int64_t job = begin; job < end; job++) {
        int64_t data = job / chunks * DATA, n = job % chunks * WEIGHTS;

        multiply_chunk(run, data, mo_min_i64(DATA, l->m - data), n,
                       mo_min_i64(WEIGHTS, l->n - n), scratch_of(run, worker));
    }
    if (kernels->end_tiles)
        kernels->end_tiles();
}

/* Converts rows of weights to panels. */
static void pack_panels(const linear_run *run, int64_t n, int64_t count,
                        char *scratch, float *panels)
{
    const linear_kernel *kernel = run->kernel;
    const mo_call_linear *l = &kernel->linear;
    float *values = (float *) (void *) (scratch + kernel->values_at);

    for (int64_t k = 0; k < l->k; k += DEPTH) {
        int64_t depth = mo_min_i64(DEPTH, l->k - k);
        mo_cpu_matrix_view view = { values, MO_ELEM_F32, 0, 1, depth };

        for (int64_t r = 0; r < count; r++)
            mo_block_format_to_f32(l->format,
                                   weights_at(run, n + r) +
                                       mo_block_format_row_bytes(l->format, k),
                                   depth, values + r * depth);
        mo_cpu_gemm_pack_panels(run->unit->micro_kernels, &view, depth, count,
                                k, l->k, panels);
    }
}

static void multiply_panels(void *context, int64_t begin, int64_t end,
                            int worker)
{
    const linear_run *run = context;
    const linear_kernel *kernel = run->kernel;
    const mo_call_linear *l = &kernel->linear;
    char *scratch = scratch_of(run, worker);
    float *panels = (float *) (void *) (scratch + kernel->panels_at);
    float *sums = (float *) (void *) (scratch + kernel->sums_at);

    for (int64_t job = begin; job < end; job++) {
        int64_t n = job * kernel->chunk;
        int64_t count = mo_min_i64(kernel->chunk, l->n - n);
        mo_cpu_gemm product = {
            .micro_kernels = run->unit->micro_kernels,
            .rows = (const float *const *) (void *) (run->workspace +
                                                     kernel->rows_at),
            .n_rows = l->m,
            .taps = 1,
            .depth = l->k,
            .panels = panels,
            .columns = count,
            .c = kernel->direct ? (float *) run->out + n : sums,
            .pitch = kernel->direct ? l->n : count,
        };

        pack_panels(run, n, count, scratch, panels);
        mo_cpu_gemm_run(&product);
        for (int64_t m = 0; !kernel->direct && m < l->m; m++)
            store_sums(run, m, n, count, sums + m * count, scratch);
    }
}

static void free_linear(mo_cpu_kernel *kernel)
{
    mo_cpu_epilogue_clear(&((linear_kernel *) kernel)->epilogue);
    free(kernel);
}

static mo_status check_linear(const mo_call_linear *l,
                              const mo_backend_operand *in,
                              const mo_tensor_desc *out, mo_error *err)
{
    mo_elem elem = in[0].desc.elem;
    int64_t row = mo_block_format_row_bytes(l->format, l->k), bytes, a, c;

    if (!mo_elem_is_float(elem) || elem == MO_ELEM_F64 || out[0].elem != elem)
        return mo_fail(err, MO_E_SUPPORT,
                       "a product of %s and weights in %s to %s cannot be run",
                       mo_elem_name(elem), mo_block_format_name(l->format),
                       mo_elem_name(out[0].elem));
    if (row < 0 || !mo_int64_mul(row, l->n, &bytes) ||
        !mo_int64_mul(l->m, l->k, &a) || !mo_int64_mul(l->m, l->n, &c) ||
        bytes != (int64_t) mo_tensor_desc_bytes(&in[1].desc) ||
        a != mo_tensor_desc_elements(&in[0].desc) ||
        c != mo_tensor_desc_elements(&out[0]))
        return mo_fail(err, MO_E_INPUT, "a product does not fit its tensors");
    return MO_OK;
}

static way choose_way(const mo_cpu_unit *unit, const mo_call_linear *l)
{
    bool tiles =
        unit->block_kernels->unpack && mo_cpu_block_is_quantized(l->format);

    if (tiles)
        return l->m < FEW_FOR_TILES ? WAY_DOTS : WAY_TILES;
    return l->m < FEW_FOR_PANELS ? WAY_DOTS : WAY_PANELS;
}

/* The data, for all workers. */
static void place_data(linear_kernel *k)
{
    size_t rows = (size_t) k->data_rows, depth = (size_t) k->linear.k;
    size_t blocks = (size_t) k->blocks, each = sizeof(float);
    bool tiles = k->way == WAY_TILES;

    k->x_at = mo_cpu_append_part(
        &k->shared, k->converted && !tiles ? rows * depth * each : 0);
    k->q_at = mo_cpu_append_part(&k->shared, k->quantized ? rows * depth : 0);
    k->scales_at =
        mo_cpu_append_part(&k->shared, k->quantized ? rows * blocks * each : 0);
    k->offsets_at = mo_cpu_append_part(
        &k->shared, k->quantized && !tiles ? rows * depth : 0);
    k->rows_at = mo_cpu_append_part(
        &k->shared, k->way == WAY_PANELS ? rows * sizeof(float *) : 0);
}

static void place_scratch(const mo_cpu_unit *unit, linear_kernel *k)
{
    size_t depth = (size_t) k->linear.k, blocks = (size_t) k->blocks;
    size_t each = sizeof(float), chunk = (size_t) k->chunk, *end = &k->scratch;

    if (k->way == WAY_TILES) {
        k->row_at = mo_cpu_append_part(end, k->converted ? depth * each : 0);
        k->row_q_at = mo_cpu_append_part(end, depth);
        k->row_scales_at = mo_cpu_append_part(end, blocks * each);
        k->row_offsets_at = mo_cpu_append_part(end, depth);
        k->weights_at = mo_cpu_append_part(end, TILE * depth);
        k->weight_scales_at = mo_cpu_append_part(end, TILE * blocks * each);
        k->weight_offsets_at = mo_cpu_append_part(end, TILE * blocks * each);
        k->sums_at =
            mo_cpu_append_part(end, k->direct ? 0 : DATA * WEIGHTS * each);
    }
    if (k->way == WAY_PANELS) {
        k->values_at = mo_cpu_append_part(end, chunk * DEPTH * each);
        k->panels_at = mo_cpu_append_part(
            end,
            (size_t) mo_cpu_gemm_panel_columns(unit->micro_kernels, k->chunk) *
                depth * each);
        k->sums_at = mo_cpu_append_part(
            end, k->direct ? 0 : (size_t) k->linear.m * chunk * each);
    }
    k->epilogue_at =
        mo_cpu_append_part(end, mo_cpu_epilogue_scratch_size(&k->epilogue));
}

static mo_status prepare_linear(mo_cpu_unit *unit, const mo_call *call,
                                const mo_backend_operand *in,
                                const mo_tensor_desc *out,
                                mo_cpu_kernel **kernel, size_t *workspace,
                                mo_error *err)
{
    const mo_call_linear *l = &call->u.linear;
    int64_t width = unit->micro_kernels->width;
    linear_kernel *made;
    mo_status status = check_linear(l, in, out, err);

    if (status != MO_OK)
        return status;
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->linear = *l;
    made->elem = in[0].desc.elem;
    made->row_bytes = (size_t) mo_block_format_row_bytes(l->format, l->k);
    status = mo_cpu_epilogue_init(call, &out[0], &made->epilogue, err);
    if (status != MO_OK) {
        free_linear(&made->base);
        return status;
    }
    made->way = choose_way(unit, l);
    made->quantized =
        mo_cpu_block_is_quantized(l->format) && made->way != WAY_PANELS;
    made->converted = made->elem != MO_ELEM_F32;
    made->direct = mo_cpu_epilogue_is_identity(&made->epilogue);
    made->blocks = l->k / MO_BLOCK_ELEMENTS;
    made->data_rows =
        made->way == WAY_TILES ? mo_ceil_div(l->m, TILE) * TILE : l->m;
    made->chunk = mo_max_i64(PANEL / (l->k + 1) / width * width, width);
    place_data(made);
    place_scratch(unit, made);
    *workspace = made->shared + mo_cpu_workspace_size(unit, made->scratch);
    *kernel = &made->base;
    return MO_OK;
}

static mo_status run_linear(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                            const void *const *in, void *const *out,
                            void *workspace, mo_error *err)
{
    const linear_kernel *k = (const linear_kernel *) kernel;
    const mo_call_linear *l = &k->linear;
    mo_cpu_thread_pool *pool = unit->pool;
    linear_run run = { k, unit, in, out[0], workspace };
    int64_t grain = JOB / (int64_t) (k->row_bytes + 1) / MO_CPU_BLOCK_ROWS *
                    MO_CPU_BLOCK_ROWS;

    (void) err;
    if (l->m == 0 || l->n == 0)
        return MO_OK;
    switch (k->way) {
    case WAY_DOTS:
        if (k->quantized || k->converted)
            mo_cpu_thread_pool_parallel_for(pool, l->m, 1, load_rows, &run);
        mo_cpu_thread_pool_parallel_for(pool, l->n,
                                        mo_max_i64(grain, MO_CPU_BLOCK_ROWS),
                                        multiply_dots, &run);
        break;
    case WAY_TILES:
        mo_cpu_thread_pool_parallel_for(pool, l->m, TILE, pack_tiles, &run);
        mo_cpu_thread_pool_parallel_for(
            pool, mo_ceil_div(l->m, DATA) * mo_ceil_div(l->n, WEIGHTS), 1,
            multiply_tiles, &run);
        break;
    case WAY_PANELS:
        mo_cpu_thread_pool_parallel_for(pool, l->m, TILE, load_rows, &run);
        mo_cpu_thread_pool_parallel_for(pool, mo_ceil_div(l->n, k->chunk), 1,
                                        multiply_panels, &run);
    }
    return MO_OK;
}

const mo_cpu_kernel_class mo_cpu_linear = { prepare_linear, run_linear,
                                            free_linear };
