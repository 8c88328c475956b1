/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packed product of floats. Each block of the result is computed by one
 * worker: it takes pointers to the rows of a (or copies rows that are strided
 * or in half precision), packs its columns of b unless they are constant, and
 * applies the epilogue while the block is in cache.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "exec/backend/cpu/gemm/cpu_matmul.h"

static mo_cpu_matrix_view matrix_of(const void *data, mo_elem elem, int64_t at,
                                    const mo_call_matmul_operand *side)
{
    return (mo_cpu_matrix_view){ data, elem, at, side->row, side->column };
}

/* Returns the number of different matrices of b, and their strides by batch. */
static int64_t count_matrices(mo_cpu_matmul_kernel *k)
{
    const mo_call_matmul *call = &k->form.call;
    int64_t count = 1;

    for (int d = call->n_batch - 1; d >= 0; d--)
        if (call->b.batch[d] != 0) {
            k->panel_batch[d] = count;
            count *= call->extent[d];
        }
    return count;
}

static int64_t matrix_index(const mo_cpu_matmul_kernel *k, int64_t batch)
{
    const mo_call_matmul *call = &k->form.call;
    int64_t index = 0;

    for (int d = call->n_batch - 1; d >= 0; d--) {
        index += batch % call->extent[d] * k->panel_batch[d];
        batch /= call->extent[d];
    }
    return index;
}

static mo_status pack_constant(mo_cpu_unit *unit, const void *data,
                               mo_cpu_matmul_kernel *k, mo_error *err)
{
    const mo_call_matmul *call = &k->form.call;
    int64_t count = count_matrices(k);
    mo_status status;

    k->matrix_panels =
        mo_cpu_gemm_panel_columns(unit->micro_kernels, call->n) * call->k;
    status =
        mo_cpu_gemm_panels_new(unit, count, k->matrix_panels, &k->panels, err);
    if (status != MO_OK)
        return status;
    for (int64_t batch = 0; batch < k->form.batches && !unit->sizes_only;
         batch++) {
        int64_t at = mo_cpu_matmul_batch_offsets(call, batch).b;
        mo_cpu_matrix_view b = matrix_of(data, k->elem, at, &call->b);

        mo_cpu_gemm_pack_panels(
            unit->micro_kernels, &b, call->k, call->n, 0, call->k,
            k->panels + matrix_index(k, batch) * k->matrix_panels);
    }
    k->shared = mo_cpu_gemm_panels_share(
        unit, data, (size_t) (count * k->matrix_panels) * sizeof *k->panels,
        &k->panels);
    k->base.consumed |= (uint64_t) 1 << k->form.b;
    return MO_OK;
}

static void divide_scratch(const mo_cpu_unit *unit, mo_cpu_matmul_kernel *k)
{
    const mo_call_matmul *call = &k->form.call;
    size_t rows = (size_t) k->blocks.rows, depth = (size_t) call->k;
    size_t columns = (size_t) k->blocks.columns;
    size_t packed = (size_t) mo_cpu_gemm_panel_columns(unit->micro_kernels,
                                                       k->blocks.columns);
    size_t end = mo_cpu_round_to_line(rows * sizeof(float *));

    k->a_at =
        mo_cpu_append_part(&end, k->pack_a ? rows * depth * sizeof(float) : 0);
    k->b_at = mo_cpu_append_part(
        &end, k->panels ? 0 : packed * depth * sizeof(float));
    k->c_at = mo_cpu_append_part(
        &end, k->pack_c ? rows * columns * sizeof(float) : 0);
    k->epilogue_at =
        mo_cpu_append_part(&end, mo_cpu_epilogue_scratch_size(&k->epilogue));
    k->scratch = end;
}

static mo_status prepare_floats(mo_cpu_unit *unit, const mo_backend_operand *in,
                                mo_cpu_matmul_kernel *k, size_t *scratch,
                                mo_error *err)
{
    const mo_call_matmul *call = &k->form.call;
    const void *constant = in[k->form.b].constant;
    /* Each block packs panels that are not constant. */
    bool reread = constant && !mo_cpu_epilogue_is_identity(&k->epilogue);
    mo_status status = MO_OK;

    k->blocks =
        mo_cpu_gemm_blocking_choose(unit->micro_kernels, call->m, call->n,
                                    call->k, k->form.batches, reread,
                                    unit->threads);
    k->pack_a = k->elem != MO_ELEM_F32 || (call->a.column != 1 && call->k > 1);
    k->pack_c = k->elem != MO_ELEM_F32 || call->c.column != 1;
    if (constant && k->elements > 0 && !mo_ablated(MO_ABLATION_packed_weights))
        status = pack_constant(unit, constant, k, err);
    divide_scratch(unit, k);
    *scratch = k->scratch;
    return status;
}

typedef struct floats_run {
    const mo_cpu_matmul_kernel *kernel;
    const mo_cpu_micro_kernels *micro_kernels;
    const void *const *in;
    void *out;
    void *workspace;
} floats_run;

/* One block: its part of the matrices. */
typedef struct block {
    const floats_run *run;
    char *scratch;
    int64_t batch, row, rows, column, columns;
    mo_cpu_matmul_offsets at;
} block;

static block block_of(const floats_run *run, int64_t job, int worker)
{
    const mo_cpu_matmul_kernel *k = run->kernel;
    const mo_cpu_gemm_blocking *b = &k->blocks;
    int64_t row = job % b->n_rows;
    int64_t column = job / b->n_rows % b->n_columns;
    block made = { .run = run, .batch = job / b->n_rows / b->n_columns };

    made.scratch = mo_cpu_worker_scratch(run->workspace, k->scratch, worker);
    made.row = row * b->rows;
    made.rows = mo_min_i64(b->rows, k->form.call.m - made.row);
    made.column = column * b->columns;
    made.columns = mo_min_i64(b->columns, k->form.call.n - made.column);
    made.at = mo_cpu_matmul_batch_offsets(&k->form.call, made.batch);
    return made;
}

static const float **point_to_rows(const block *b)
{
    const mo_cpu_matmul_kernel *k = b->run->kernel;
    const mo_call_matmul *call = &k->form.call;
    const void *a = b->run->in[k->form.a];
    const float **rows = (const float **) (void *) b->scratch;
    float *packed = (float *) (void *) (b->scratch + k->a_at);
    int64_t at = b->at.a + b->row * call->a.row;
    mo_cpu_matrix_view from = matrix_of(a, k->elem, at, &call->a);

    if (k->pack_a)
        mo_cpu_load_f32_matrix(&from, b->rows, call->k, packed, call->k);
    for (int64_t r = 0; r < b->rows; r++)
        rows[r] = k->pack_a ? packed + r * call->k
                            : (const float *) a + at + r * call->a.row;
    return rows;
}

static const float *panels_of(const block *b)
{
    const mo_cpu_matmul_kernel *k = b->run->kernel;
    const mo_call_matmul *call = &k->form.call;
    float *packed = (float *) (void *) (b->scratch + k->b_at);
    mo_cpu_matrix_view from =
        matrix_of(b->run->in[k->form.b], k->elem,
                  b->at.b + b->column * call->b.column, &call->b);

    if (k->panels)
        return k->panels + matrix_index(k, b->batch) * k->matrix_panels +
               b->column * call->k;
    mo_cpu_gemm_pack_panels(b->run->micro_kernels, &from, call->k, b->columns,
                            0, call->k, packed);
    return packed;
}

static void epilogue_range(const block *b, int64_t first, int64_t count,
                           const float *sums)
{
    const floats_run *run = b->run;

    mo_cpu_epilogue_run(&run->kernel->epilogue, run->in, run->out, first, count,
                        sums, b->scratch + run->kernel->epilogue_at);
}

/* Applies the epilogue to contiguous elements of the result at a time. */
static void epilogue_block(const block *b, const float *c, int64_t pitch)
{
    const mo_call_matmul *call = &b->run->kernel->form.call;
    int64_t first = b->at.c + b->row * call->c.row + b->column * call->c.column;

    if (call->c.column == 1 && pitch == b->columns &&
        (call->c.row == b->columns || b->rows == 1)) {
        epilogue_range(b, first, b->rows * b->columns, c);
        return;
    }
    for (int64_t r = 0; r < b->rows; r++)
        if (call->c.column == 1)
            epilogue_range(b, first + r * call->c.row, b->columns,
                           c + r * pitch);
        else
            for (int64_t j = 0; j < b->columns; j++)
                epilogue_range(b, first + r * call->c.row + j * call->c.column,
                               1, c + r * pitch + j);
}

static void run_blocks(void *context, int64_t begin, int64_t end, int worker)
{
    const floats_run *run = context;
    const mo_cpu_matmul_kernel *k = run->kernel;
    const mo_call_matmul *call = &k->form.call;

    for (int64_t job = begin; job < end; job++) {
        block b = block_of(run, job, worker);
        mo_cpu_gemm product = { .micro_kernels = run->micro_kernels,
                                .rows = point_to_rows(&b),
                                .n_rows = b.rows,
                                .taps = 1,
                                .depth = call->k,
                                .panels = panels_of(&b),
                                .columns = b.columns };

        if (k->pack_c) {
            product.c = (float *) (void *) (b.scratch + k->c_at);
            product.pitch = b.columns;
        } else {
            product.c =
                (float *) run->out + b.at.c + b.row * call->c.row + b.column;
            product.pitch = call->c.row;
        }
        mo_cpu_gemm_run(&product);
        if (k->pack_c || !mo_cpu_epilogue_is_identity(&k->epilogue))
            epilogue_block(&b, product.c, product.pitch);
    }
}

static void run_floats(mo_cpu_unit *unit, const mo_cpu_matmul_kernel *k,
                       const void *const *in, void *out, void *workspace)
{
    floats_run run = { k, unit->micro_kernels, in, out, workspace };
    int64_t jobs = k->blocks.n_rows * k->blocks.n_columns * k->form.batches;

    mo_cpu_thread_pool_parallel_for(
        unit->pool, jobs,
        mo_cpu_gemm_blocking_grain(&k->blocks, k->form.call.k), run_blocks,
        &run);
}

const mo_cpu_matmul_algo mo_cpu_matmul_algo_packed = { prepare_floats,
                                                       run_floats };
