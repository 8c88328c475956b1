/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax and log-softmax. Along the last dimension, rows are contiguous: those
 * without conversion are read and written without a copy. Along any other
 * dimension, COLUMNS adjacent columns are loaded as rows, and the results are
 * transposed back.
 */
#include <math.h>
#include <stdlib.h>

#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/pointwise/pointwise.h"
#include "exec/backend/cpu/pointwise/steps.h"
#include "exec/backend/cpu/kernels/row_math.h"

enum { COLUMNS = 16, GRAIN = 4096 };

typedef struct softmax_kernel {
    mo_cpu_kernel base;
    mo_call_softmax softmax;
    mo_cpu_epilogue epilogue;
    const mo_cpu_row_math *math;
    mo_cpu_load_fn *load;
    bool direct;        /* rows need no conversion */
    size_t tile_bytes;  /* of each of the two tiles of a worker */
    size_t share_bytes; /* scratch of a worker: tiles, then the epilogue's */
} softmax_kernel;

typedef struct softmax_run {
    const softmax_kernel *kernel;
    const void *const *in;
    void *out, *workspace;
} softmax_run;

/* Softmax of a row of float, or double if wide; out may be the row. */
static void softmax_row(const softmax_kernel *kernel, const void *row,
                        void *out)
{
    const mo_cpu_row_math *math = kernel->math;
    int64_t n = kernel->softmax.count;
    double most = math->largest(row, n);

    math->exp(row, out, most, n);
    math->scale(out, out, 0, 1 / math->sum(out, n), n);
}

/* x - log(sum of exponentials); out holds the exponentials in between, so it
 * must not be the row. */
static void log_softmax_row(const softmax_kernel *kernel, const void *row,
                            void *out)
{
    const mo_cpu_row_math *math = kernel->math;
    int64_t n = kernel->softmax.count;
    double most = math->largest(row, n);

    math->exp(row, out, most, n);
    math->scale(row, out, most + log(math->sum(out, n)), 1, n);
}

static void softmax_or_log_row(const softmax_kernel *kernel, const void *row,
                               void *out)
{
    if (kernel->softmax.log)
        log_softmax_row(kernel, row, out);
    else
        softmax_row(kernel, row, out);
}

static void softmax_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const softmax_run *run = context;
    const softmax_kernel *kernel = run->kernel;
    int64_t count = kernel->softmax.count;
    size_t row_bytes = (size_t) count * kernel->math->bytes;
    char *tile =
        mo_cpu_worker_scratch(run->workspace, kernel->share_bytes, worker);
    char *scratch = tile + 2 * kernel->tile_bytes;

    for (int64_t r = begin; r < end; r++) {
        const void *row = (const char *) run->in[0] + (size_t) r * row_bytes;
        void *out = (char *) run->out + (size_t) r * row_bytes;

        if (!kernel->direct) {
            kernel->load(run->in[0], r * count, 1, tile, (int) count);
            row = tile;
            out = tile + kernel->tile_bytes;
        } else if (row == out) {
            out = tile;
        }
        softmax_or_log_row(kernel, row, out);
        mo_cpu_epilogue_run(&kernel->epilogue, run->in, run->out, r * count,
                            count, out, scratch);
    }
}

/* Transposes width rows of a tile to columns. */
static void transpose_tile(const softmax_kernel *kernel, const void *rows,
                           void *columns, int width)
{
    int64_t count = kernel->softmax.count;

    if (kernel->math->bytes == sizeof(float)) {
        for (int64_t c = 0; c < count; c++)
            for (int j = 0; j < width; j++)
                ((float *) columns)[c * width + j] =
                    ((const float *) rows)[j * count + c];
    } else {
        for (int64_t c = 0; c < count; c++)
            for (int j = 0; j < width; j++)
                ((double *) columns)[c * width + j] =
                    ((const double *) rows)[j * count + c];
    }
}

static void softmax_tile(const softmax_run *run, int64_t first, int width,
                         char *tile)
{
    const softmax_kernel *kernel = run->kernel;
    const mo_call_softmax *softmax = &kernel->softmax;
    size_t row_bytes = (size_t) softmax->count * kernel->math->bytes;
    char *columns = tile + kernel->tile_bytes;
    char *scratch = columns + kernel->tile_bytes;

    for (int j = 0; j < width; j++) {
        kernel->load(run->in[0], first + j, softmax->inner, columns,
                     (int) softmax->count);
        softmax_or_log_row(kernel, columns, tile + (size_t) j * row_bytes);
    }
    transpose_tile(kernel, tile, columns, width);
    for (int64_t c = 0; c < softmax->count; c++)
        mo_cpu_epilogue_run(
            &kernel->epilogue, run->in, run->out, first + c * softmax->inner,
            width, columns + (size_t) (c * width) * kernel->math->bytes,
            scratch);
}

static int64_t tiles_of(const mo_call_softmax *softmax)
{
    return (softmax->inner + COLUMNS - 1) / COLUMNS;
}

static void softmax_tiles(void *context, int64_t begin, int64_t end, int worker)
{
    const softmax_run *run = context;
    const mo_call_softmax *softmax = &run->kernel->softmax;
    char *tile =
        mo_cpu_worker_scratch(run->workspace, run->kernel->share_bytes, worker);

    for (int64_t t = begin; t < end; t++) {
        int64_t outer = t / tiles_of(softmax);
        int64_t column = t % tiles_of(softmax) * COLUMNS;
        int64_t rest = softmax->inner - column;
        int width = rest < COLUMNS ? (int) rest : COLUMNS;

        softmax_tile(run, outer * softmax->count * softmax->inner + column,
                     width, tile);
    }
}

static mo_status prepare_softmax(mo_cpu_unit *unit, const mo_call *call,
                                 const mo_backend_operand *in,
                                 const mo_tensor_desc *out,
                                 mo_cpu_kernel **kernel, size_t *workspace,
                                 mo_error *err)
{
    const mo_call_softmax *softmax = &call->u.softmax;
    mo_elem elem = in[0].desc.elem;
    bool wide = elem == MO_ELEM_F64;
    softmax_kernel *made;
    mo_status status;

    if (softmax->count > INT32_MAX / COLUMNS)
        return mo_fail(err, MO_E_LIMIT, "softmax over %lld elements",
                       (long long) softmax->count);
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->softmax = *softmax;
    made->math = mo_cpu_row_math_for(wide);
    made->load = mo_cpu_load_fn_for(elem, wide);
    made->direct = mo_cpu_elem_is_register(elem, wide);
    status = mo_cpu_epilogue_init(call, out, &made->epilogue, err);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    made->tile_bytes =
        mo_cpu_round_to_line((size_t) softmax->count * made->math->bytes *
                             (size_t) (softmax->inner > 1 ? COLUMNS : 1));
    made->share_bytes =
        2 * made->tile_bytes + mo_cpu_epilogue_scratch_size(&made->epilogue);
    *workspace = mo_cpu_workspace_size(unit, made->share_bytes);
    *kernel = &made->base;
    return MO_OK;
}

static mo_status run_softmax(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                             const void *const *in, void *const *out,
                             void *workspace, mo_error *err)
{
    const softmax_kernel *self = (const softmax_kernel *) kernel;
    const mo_call_softmax *softmax = &self->softmax;
    softmax_run context = { self, in, out[0], workspace };
    int64_t count = softmax->count > 0 ? softmax->count : 1;
    int64_t rows = count < GRAIN ? GRAIN / count : 1;

    (void) err;
    if (softmax->count == 0)
        return MO_OK;
    if (softmax->inner == 1)
        mo_cpu_thread_pool_parallel_for(unit->pool, softmax->outer, rows,
                                        softmax_rows, &context);
    else
        mo_cpu_thread_pool_parallel_for(
            unit->pool, softmax->outer * tiles_of(softmax),
            (rows + COLUMNS - 1) / COLUMNS, softmax_tiles, &context);
    return MO_OK;
}

static void free_softmax(mo_cpu_kernel *kernel)
{
    mo_cpu_epilogue_clear(&((softmax_kernel *) kernel)->epilogue);
    free(kernel);
}

const mo_cpu_kernel_class mo_cpu_softmax = { prepare_softmax, run_softmax,
                                             free_softmax };
