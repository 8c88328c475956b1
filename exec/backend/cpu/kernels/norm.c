/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mean-variance normalization in three passes over each row: mean, variance,
 * result; a row that fits in a cache is read from memory once. Rows are
 * processed in blocks, which are converted unless they are floats or doubles.
 */
#include <math.h>
#include <stdlib.h>

#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/pointwise/pointwise.h"
#include "exec/backend/cpu/pointwise/steps.h"
#include "exec/backend/cpu/kernels/row_math.h"

enum { BLOCK = 1024, GRAIN = 16 * BLOCK };

typedef struct norm_kernel {
    mo_cpu_kernel base;
    mo_call_norm norm;
    mo_cpu_epilogue epilogue;
    const mo_cpu_row_math *math;
    mo_cpu_load_fn *load;
    bool direct;        /* rows need no conversion */
    size_t share_bytes; /* scratch of a worker: a block, then the epilogue's */
} norm_kernel;

typedef struct norm_run {
    const norm_kernel *kernel;
    const void *const *in;
    void *out, *workspace;
} norm_run;

static int64_t block_end(const norm_kernel *kernel, int64_t at)
{
    return at + BLOCK < kernel->norm.count ? at + BLOCK : kernel->norm.count;
}

/* Returns the elements from at on as a register array. */
static const void *block_of(const norm_kernel *kernel, const void *data,
                            int64_t at, int64_t n, void *block)
{
    if (kernel->direct)
        return (const char *) data + (size_t) at * kernel->math->bytes;
    kernel->load(data, at, 1, block, (int) n);
    return block;
}

static double mean_of(const norm_kernel *kernel, const void *data,
                      int64_t first, void *block)
{
    int64_t count = kernel->norm.count;
    double sum = 0;

    for (int64_t at = 0; at < count; at = block_end(kernel, at)) {
        int64_t n = block_end(kernel, at) - at;

        sum +=
            kernel->math->sum(block_of(kernel, data, first + at, n, block), n);
    }
    return sum / (double) count;
}

static double squares_of(const norm_kernel *kernel, const void *data,
                         int64_t first, double mean, void *block)
{
    int64_t count = kernel->norm.count;
    double sum = 0;

    for (int64_t at = 0; at < count; at = block_end(kernel, at)) {
        int64_t n = block_end(kernel, at) - at;

        sum += kernel->math->squares(
            block_of(kernel, data, first + at, n, block), mean, n);
    }
    return sum;
}

/* Returns the factor that a row is multiplied by. */
static double factor_of(const mo_call_norm *norm, double squares)
{
    double size = norm->sum ? squares : squares / (double) norm->count;

    if (norm->max_eps)
        return 1 / sqrt(size > norm->eps ? size : norm->eps);
    if (norm->eps_outside)
        return 1 / (sqrt(size) + norm->eps);
    return 1 / sqrt(size + norm->eps);
}

/* Computes the result in the output if types match, else in scratch. */
static void write_row(const norm_run *run, int64_t first, double mean,
                      double factor, char *block)
{
    const norm_kernel *kernel = run->kernel;
    int64_t count = kernel->norm.count;
    size_t bytes = kernel->math->bytes;
    char *scratch = block + BLOCK * bytes;

    for (int64_t at = 0; at < count; at = block_end(kernel, at)) {
        int64_t n = block_end(kernel, at) - at, element = first + at;
        char *to = kernel->direct ? (char *) run->out + (size_t) element * bytes
                                  : block;

        kernel->math->scale(block_of(kernel, run->in[0], element, n, block), to,
                            mean, factor, n);
        mo_cpu_epilogue_run(&kernel->epilogue, run->in, run->out, element, n,
                            to, scratch);
    }
}

static void normalize_rows(void *context, int64_t begin, int64_t end,
                           int worker)
{
    const norm_run *run = context;
    const norm_kernel *kernel = run->kernel;
    const mo_call_norm *norm = &kernel->norm;
    char *block =
        mo_cpu_worker_scratch(run->workspace, kernel->share_bytes, worker);

    for (int64_t row = begin; row < end; row++) {
        int64_t first = row * norm->count;
        double mean = 0, factor = 1;

        if (norm->center)
            mean = mean_of(kernel, run->in[0], first, block);
        if (norm->scale)
            factor = factor_of(
                norm, squares_of(kernel, run->in[0], first, mean, block));
        write_row(run, first, mean, factor, block);
    }
}

static mo_status prepare_norm(mo_cpu_unit *unit, const mo_call *call,
                              const mo_backend_operand *in,
                              const mo_tensor_desc *out, mo_cpu_kernel **kernel,
                              size_t *workspace, mo_error *err)
{
    mo_elem elem = in[0].desc.elem;
    bool wide = elem == MO_ELEM_F64;
    norm_kernel *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    made->norm = call->u.norm;
    made->math = mo_cpu_row_math_for(wide);
    made->load = mo_cpu_load_fn_for(elem, wide);
    made->direct = mo_cpu_elem_is_register(elem, wide);
    status = mo_cpu_epilogue_init(call, out, &made->epilogue, err);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    made->share_bytes = BLOCK * made->math->bytes +
                        mo_cpu_epilogue_scratch_size(&made->epilogue);
    *workspace = mo_cpu_workspace_size(unit, made->share_bytes);
    *kernel = &made->base;
    return MO_OK;
}

static mo_status run_norm(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                          const void *const *in, void *const *out,
                          void *workspace, mo_error *err)
{
    const norm_kernel *norm = (const norm_kernel *) kernel;
    norm_run context = { norm, in, out[0], workspace };
    int64_t rows = GRAIN / (norm->norm.count > 0 ? norm->norm.count : 1);

    (void) err;
    mo_cpu_thread_pool_parallel_for(unit->pool, norm->norm.groups,
                                    rows > 0 ? rows : 1, normalize_rows,
                                    &context);
    return MO_OK;
}

static void free_norm(mo_cpu_kernel *kernel)
{
    mo_cpu_epilogue_clear(&((norm_kernel *) kernel)->epilogue);
    free(kernel);
}

const mo_cpu_kernel_class mo_cpu_norm = { prepare_norm, run_norm, free_norm };
