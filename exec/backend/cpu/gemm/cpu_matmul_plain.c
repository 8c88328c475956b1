/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix product without packed panels: by BLAS or by plain loops.
 *
 * BLAS, if built with one, computes doubles, and floats on processors without
 * micro-kernels of their own; loops the rest. Integers wrap around. The result
 * is computed row by row, each as a sum of rows of b, so that the inner loop is
 * contiguous.
 */
#include "exec/backend/cpu/gemm/blas.h"
#include "base/minmax.h"
#include "exec/backend/cpu/gemm/cpu_matmul.h"

typedef struct plain_run {
    const mo_cpu_matmul_kernel *kernel;
    const void *const *in;
    void *out;
    void *workspace;
} plain_run;

/* Adds one row of the result. */
typedef void add_row(const mo_call_matmul *call, const void *a, const void *b,
                     void *c);

/* T: storage type; U: compute type, unsigned for integers so that overflow
 * wraps around. */
#define ADD_ROW(name, T, U)                                                    \
    static void name(const mo_call_matmul *call, const void *a, const void *b, \
                     void *c)                                                  \
    {                                                                          \
        const T *left = a, *right = b;                                         \
        T *sums = c;                                                           \
        int64_t b_column = call->b.column, c_column = call->c.column;          \
                                                                               \
        for (int64_t j = 0; j < call->n; j++)                                  \
            sums[j * c_column] = 0;                                            \
        for (int64_t i = 0; i < call->k; i++) {                                \
            U x = (U) left[i * call->a.column];                                \
            const T *row = right + i * call->b.row;                            \
                                                                               \
            for (int64_t j = 0; j < call->n; j++)                              \
                sums[j * c_column] =                                           \
                    (T) ((U) sums[j * c_column] + x * (U) row[j * b_column]);  \
        }                                                                      \
    }

ADD_ROW(add_f64, double, double)
ADD_ROW(add_i64, int64_t, uint64_t)
ADD_ROW(add_i32, int32_t, uint32_t)
ADD_ROW(add_i16, int16_t, uint32_t)
ADD_ROW(add_i8, int8_t, uint32_t)
ADD_ROW(add_u64, uint64_t, uint64_t)
ADD_ROW(add_u32, uint32_t, uint32_t)
ADD_ROW(add_u16, uint16_t, uint32_t)
ADD_ROW(add_u8, uint8_t, uint32_t)

static add_row *const add_rows[MO_ELEM_COUNT] = {
    [MO_ELEM_F64] = add_f64, [MO_ELEM_I64] = add_i64, [MO_ELEM_I32] = add_i32,
    [MO_ELEM_I16] = add_i16, [MO_ELEM_I8] = add_i8,   [MO_ELEM_U64] = add_u64,
    [MO_ELEM_U32] = add_u32, [MO_ELEM_U16] = add_u16, [MO_ELEM_U8] = add_u8,
};

/* Blocks depend on the size alone: a library may sum in another order at other
 * block boundaries. */
static mo_cpu_gemm_blocking blocks_of(const mo_call_matmul *call, bool blas)
{
    enum { BLAS_ROWS = 128, BLAS_COLUMNS = 512, WORK = 1 << 16 };
    double row_work = (double) (call->n + 1) * (double) (call->k + 1);
    int64_t rows = 1 + (int64_t) (WORK / row_work);
    mo_cpu_gemm_blocking b = { .rows = blas ? BLAS_ROWS : rows,
                               .columns = blas ? BLAS_COLUMNS : call->n + 1 };

    b.n_rows = mo_ceil_div(call->m, b.rows);
    b.n_columns = mo_ceil_div(call->n, b.columns);
    return b;
}

static mo_status prepare_plain(mo_cpu_unit *unit, const mo_backend_operand *in,
                               mo_cpu_matmul_kernel *k, size_t *scratch,
                               mo_error *err)
{
    size_t after = k->after ? mo_cpu_point_program_scratch_size(k->after) : 0;

    (void) unit, (void) in;
    k->blas = mo_cpu_blas_supports(&k->form.call, k->elem);
    if (!k->blas && !add_rows[k->elem])
        return mo_fail(err, MO_E_SUPPORT, "a product of %s cannot be run",
                       mo_elem_name(k->elem));
    k->blocks = blocks_of(&k->form.call, k->blas);
    k->scratch = mo_cpu_epilogue_scratch_size(&k->epilogue);
    k->scratch = after > k->scratch ? after : k->scratch;
    *scratch = k->scratch;
    return MO_OK;
}

/* One block: a smaller product and the offsets of its matrices. */
typedef struct block {
    mo_call_matmul call;
    const char *a, *b;
    char *c;
    int64_t first; /* first element of the result */
} block;

static block block_of(const plain_run *run, int64_t job)
{
    const mo_cpu_matmul_kernel *k = run->kernel;
    const mo_call_matmul *call = &k->form.call;
    int64_t row = job % k->blocks.n_rows * k->blocks.rows;
    int64_t column =
        job / k->blocks.n_rows % k->blocks.n_columns * k->blocks.columns;
    mo_cpu_matmul_offsets at = mo_cpu_matmul_batch_offsets(
        call, job / k->blocks.n_rows / k->blocks.n_columns);
    int64_t bytes = (int64_t) mo_elem_size(k->elem);
    block b = { .call = *call };

    b.call.m = mo_min_i64(k->blocks.rows, call->m - row);
    b.call.n = mo_min_i64(k->blocks.columns, call->n - column);
    b.first = at.c + row * call->c.row + column * call->c.column;
    b.a =
        (const char *) run->in[k->form.a] + (at.a + row * call->a.row) * bytes;
    b.b = (const char *) run->in[k->form.b] +
          (at.b + column * call->b.column) * bytes;
    b.c = (char *) run->out + b.first * bytes;
    return b;
}

static void multiply_block(const mo_cpu_matmul_kernel *k, const block *b)
{
    int64_t bytes = (int64_t) mo_elem_size(k->elem);

    if (k->blas) {
        mo_cpu_blas_gemm(&b->call, k->elem, b->a, b->b, b->c);
        return;
    }
    for (int64_t r = 0; r < b->call.m; r++)
        add_rows[k->elem](&b->call, b->a + r * b->call.a.row * bytes, b->b,
                          b->c + r * b->call.c.row * bytes);
}

/* Applies the epilogue to the sums, which are in the output, contiguous ones
 * at a time. */
static void epilogue_block(const plain_run *run, const block *b, void *scratch)
{
    const mo_cpu_matmul_kernel *k = run->kernel;
    const mo_call_matmul_operand *c = &b->call.c;
    int64_t bytes = (int64_t) mo_elem_size(k->elem);
    int64_t rows = b->call.m, columns = b->call.n, step = 1;

    if (mo_cpu_epilogue_is_identity(&k->epilogue))
        return;
    if (c->column == 1) {
        step = columns;
        if (c->row == columns) {
            step *= rows;
            rows = 1;
        }
        columns = 1;
    }
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < columns; j++) {
            int64_t first = b->first + r * c->row + j * c->column;

            mo_cpu_epilogue_run(&k->epilogue, run->in, run->out, first, step,
                                (char *) run->out + first * bytes, scratch);
        }
}

static void run_blocks(void *context, int64_t begin, int64_t end, int worker)
{
    const plain_run *run = context;
    const mo_cpu_matmul_kernel *k = run->kernel;
    void *scratch = mo_cpu_worker_scratch(run->workspace, k->scratch, worker);

    for (int64_t job = begin; job < end; job++) {
        block b = block_of(run, job);

        multiply_block(k, &b);
        if (mo_elem_is_float(k->elem))
            epilogue_block(run, &b, scratch);
    }
}

/* Integers get their epilogue when all sums are complete. */
static void run_epilogue(void *context, int64_t begin, int64_t end, int worker)
{
    const plain_run *run = context;
    const mo_cpu_matmul_kernel *k = run->kernel;
    const void *operands[MO_POINT_MAX_OPERANDS] = { run->out };

    for (int i = 1; i < k->n_operands; i++)
        operands[i] = run->in[k->first_extra + i - 1];
    mo_cpu_point_program_run(
        k->after, operands, run->out, begin, end - begin,
        mo_cpu_worker_scratch(run->workspace, k->scratch, worker));
}

static void run_plain(mo_cpu_unit *unit, const mo_cpu_matmul_kernel *k,
                      const void *const *in, void *out, void *workspace)
{
    enum { AFTER = 1 << 14 };
    plain_run run = { k, in, out, workspace };
    int64_t jobs = k->blocks.n_rows * k->blocks.n_columns * k->form.batches;

    mo_cpu_thread_pool_parallel_for(
        unit->pool, jobs,
        mo_cpu_gemm_blocking_grain(&k->blocks, k->form.call.k), run_blocks,
        &run);
    if (k->after)
        mo_cpu_thread_pool_parallel_for(unit->pool, k->elements, AFTER,
                                        run_epilogue, &run);
}

const mo_cpu_matmul_algo mo_cpu_matmul_algo_plain = { prepare_plain,
                                                      run_plain };
