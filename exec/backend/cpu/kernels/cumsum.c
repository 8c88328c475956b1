/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cumulative sum (prefix sum) along an axis.
 *
 * Adjacent lines are summed together, a block of COLUMNS of them by one
 * worker; reals are accumulated in double. A line along the last dimension is
 * read and written in blocks.
 */
#include <stdlib.h>

#include "base/minmax.h"
#include "exec/backend/cpu/unit/multiversion.h"
#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/pointwise/pointwise.h"
#include "exec/backend/cpu/pointwise/steps.h"

enum { COLUMNS = 256, BLOCK = 1024, GRAIN = 16 * BLOCK };

typedef struct cumsum_kernel {
    mo_cpu_kernel base;
    mo_call_cumsum cumsum;
    bool real;
    mo_elem elem;
    mo_cpu_load_fn *load;
    mo_cpu_store_fn *store;
    mo_cpu_epilogue epilogue;
    size_t share_bytes;
} cumsum_kernel;

typedef struct cumsum_run {
    const cumsum_kernel *kernel;
    const void *const *in;
    void *out, *workspace;
} cumsum_run;

/* Accumulators are doubles or int64_t, whatever the type: 8 bytes. */
typedef union number {
    double real;
    int64_t integer;
} number;

typedef struct cumsum_share {
    number loaded[BLOCK], sums[BLOCK];
    float narrow[BLOCK];
    char scratch[];
} cumsum_share;

/* Adds x to *sum; returns the prefix sum at x (exclusive or inclusive). */
static number add_element(const cumsum_kernel *kernel, number *sum, number x)
{
    number before = *sum;

    if (kernel->real)
        sum->real += x.real;
    else
        sum->integer =
            (int64_t) ((uint64_t) sum->integer + (uint64_t) x.integer);
    return kernel->cumsum.exclusive ? before : *sum;
}

/* The same for n adjacent lines. */
#define ADD_LINES(name, type)                                                  \
    MO_CPU_MULTIVERSION static void name(const type *x, type *sums, type *out, \
                                         bool exclusive, int n)                \
    {                                                                          \
        MO_CPU_IVDEP for (int j = 0; j < n; j++)                               \
        {                                                                      \
            type before = sums[j], after = before + x[j];                      \
                                                                               \
            out[j] = exclusive ? before : after;                               \
            sums[j] = after;                                                   \
        }                                                                      \
    }

ADD_LINES(add_reals, double)
ADD_LINES(add_integers, uint64_t)

MO_CPU_MULTIVERSION
static void narrow_sums(const double *restrict sums, float *restrict narrow,
                        int n)
{
    for (int i = 0; i < n; i++)
        narrow[i] = (float) sums[i];
}

/* Stores n results from element first on. */
static void store_results(const cumsum_run *run, int64_t first, int n,
                          const number *sums, cumsum_share *share)
{
    const cumsum_kernel *kernel = run->kernel;
    const void *results = sums;

    if (!kernel->real) {
        kernel->store(sums, run->out, first, n);
        return;
    }
    if (kernel->elem != MO_ELEM_F64) {
        narrow_sums(&sums->real, share->narrow, n);
        results = share->narrow;
    }
    mo_cpu_epilogue_run(&kernel->epilogue, run->in, run->out, first, n, results,
                        share->scratch);
}

/* One contiguous line; from its end when reversed. */
static void sum_line(const cumsum_run *run, int64_t first, cumsum_share *share)
{
    const cumsum_kernel *kernel = run->kernel;
    int64_t count = kernel->cumsum.count;
    bool reverse = kernel->cumsum.reverse;
    number sum = { 0 };

    if (!kernel->real)
        sum.integer = 0;
    for (int64_t done = 0; done < count;) {
        int64_t rest = count - done;
        int n = rest < BLOCK ? (int) rest : BLOCK;
        int64_t at = first + (reverse ? rest - n : done);

        kernel->load(run->in[0], at, 1, share->loaded, n);
        for (int i = 0; i < n; i++) {
            int k = reverse ? n - 1 - i : i;

            share->sums[k] = add_element(kernel, &sum, share->loaded[k]);
        }
        store_results(run, at, n, share->sums, share);
        done += n;
    }
}

static void sum_lines(void *context, int64_t begin, int64_t end, int worker)
{
    const cumsum_run *run = context;
    cumsum_share *share =
        mo_cpu_worker_scratch(run->workspace, run->kernel->share_bytes, worker);

    for (int64_t line = begin; line < end; line++)
        sum_line(run, line * run->kernel->cumsum.count, share);
}

/* Lines first, ..., first + width - 1. */
static void sum_columns(const cumsum_run *run, int64_t first, int width,
                        cumsum_share *share)
{
    const cumsum_kernel *kernel = run->kernel;
    const mo_call_cumsum *cumsum = &kernel->cumsum;
    number sums[COLUMNS];

    for (int j = 0; j < width; j++) {
        if (kernel->real)
            sums[j].real = 0;
        else
            sums[j].integer = 0;
    }
    for (int64_t i = 0; i < cumsum->count; i++) {
        int64_t row = cumsum->reverse ? cumsum->count - 1 - i : i;
        int64_t at = first + row * cumsum->inner;

        kernel->load(run->in[0], at, 1, share->loaded, width);
        if (kernel->real)
            add_reals(&share->loaded->real, &sums->real, &share->sums->real,
                      cumsum->exclusive, width);
        else
            add_integers((const uint64_t *) &share->loaded->integer,
                         (uint64_t *) &sums->integer,
                         (uint64_t *) &share->sums->integer, cumsum->exclusive,
                         width);
        store_results(run, at, width, share->sums, share);
    }
}

static int64_t blocks_of(const mo_call_cumsum *cumsum)
{
    return mo_ceil_div(cumsum->inner, COLUMNS);
}

static void sum_blocks(void *context, int64_t begin, int64_t end, int worker)
{
    const cumsum_run *run = context;
    const mo_call_cumsum *cumsum = &run->kernel->cumsum;
    cumsum_share *share =
        mo_cpu_worker_scratch(run->workspace, run->kernel->share_bytes, worker);

    for (int64_t block = begin; block < end; block++) {
        int64_t outer = block / blocks_of(cumsum);
        int64_t column = block % blocks_of(cumsum) * COLUMNS;
        int64_t rest = cumsum->inner - column;

        sum_columns(run, outer * cumsum->count * cumsum->inner + column,
                    rest < COLUMNS ? (int) rest : COLUMNS, share);
    }
}

static mo_status prepare_cumsum(mo_cpu_unit *unit, const mo_call *call,
                                const mo_backend_operand *in,
                                const mo_tensor_desc *out,
                                mo_cpu_kernel **kernel, size_t *workspace,
                                mo_error *err)
{
    mo_elem elem = in[0].desc.elem;
    cumsum_kernel *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    made->cumsum = call->u.cumsum;
    made->elem = elem;
    made->real = mo_elem_is_float(elem);
    made->load = mo_cpu_load_fn_for(elem, true); /* reals as doubles */
    made->store = mo_cpu_store_fn_for(elem, true);
    status = mo_cpu_epilogue_init(call, out, &made->epilogue, err);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    made->share_bytes =
        sizeof(cumsum_share) + mo_cpu_epilogue_scratch_size(&made->epilogue);
    *workspace = mo_cpu_workspace_size(unit, made->share_bytes);
    *kernel = &made->base;
    return MO_OK;
}

static mo_status run_cumsum(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                            const void *const *in, void *const *out,
                            void *workspace, mo_error *err)
{
    const cumsum_kernel *made = (const cumsum_kernel *) kernel;
    const mo_call_cumsum *cumsum = &made->cumsum;
    cumsum_run context = { made, in, out[0], workspace };
    int64_t lines;

    (void) err;
    if (cumsum->count == 0)
        return MO_OK;
    lines = cumsum->count < GRAIN ? GRAIN / cumsum->count : 1;
    if (cumsum->inner == 1)
        mo_cpu_thread_pool_parallel_for(unit->pool, cumsum->outer, lines,
                                        sum_lines, &context);
    else
        mo_cpu_thread_pool_parallel_for(
            unit->pool, cumsum->outer * blocks_of(cumsum),
            mo_ceil_div(lines, COLUMNS), sum_blocks, &context);
    return MO_OK;
}

static void free_cumsum(mo_cpu_kernel *kernel)
{
    mo_cpu_epilogue_clear(&((cumsum_kernel *) kernel)->epilogue);
    free(kernel);
}

const mo_cpu_kernel_class mo_cpu_cumsum = { prepare_cumsum, run_cumsum,
                                            free_cumsum };
