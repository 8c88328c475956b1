/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions over any set of axes. Dimensions are sorted by memory order and
 * adjacent ones are merged. Then the innermost one selects the loop:
 *
 *     reduced   rows are reduced, one result at a time
 *     kept      as many results as a block holds are accumulated side by side
 *
 * A job computes one block of results and is the only one that writes it.
 * Elements are register arrays as in pointwise/steps.h; the accumulator is a
 * double for reals and an int64_t for integers; extremes of floats are floats.
 */
#include <math.h>
#include <stdlib.h>

#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/unit/multiversion.h"
#include "exec/backend/cpu/pointwise/pointwise.h"
#include "exec/backend/cpu/pointwise/steps.h"

typedef union accumulator {
    double real;
    int64_t integer;
    uint64_t natural; /* of u64 */
} accumulator;

typedef struct reducer {
    accumulator empty; /* result of an empty reduction */
    /* Reduces a row into one accumulator. */
    void (*row)(const void *row, accumulator *gathered, int n);
    /* Elementwise: reduces row[i] into gathered[i]. */
    void (*each)(const void *row, accumulator *gathered, int n);
} reducer;

/* Fixed number of accumulators, independent of the vector length. */
enum { LANES = 16 };

/* Combines the lanes of two halves, half a constant. */
#define HALVE(half, both)                                                      \
    MO_CPU_FEW for (int l = 0; l < (half); l++)                                \
    {                                                                          \
        a = lane[l];                                                           \
        b = lane[l + (half)];                                                  \
        lane[l] = (both);                                                      \
    }

/*
 * part: the contribution of an element x; both: combines two accumulators a
 * and b. Rows are accumulated in LANES lanes that begin with the neutral
 * element nothing.
 */
#define FOLD(name, type, wide, member, nothing, part, both)                    \
    MO_CPU_MULTIVERSION static void name##_row(const void *row,                \
                                               accumulator *gathered, int n)   \
    {                                                                          \
        const type *in = row;                                                  \
        wide lane[LANES], a, b;                                                \
        int i = 0;                                                             \
                                                                               \
        for (int l = 0; l < LANES; l++)                                        \
            lane[l] = (nothing);                                               \
        for (; i + LANES <= n; i += LANES)                                     \
            MO_CPU_FEW for (int l = 0; l < LANES; l++)                         \
            {                                                                  \
                type x = in[i + l];                                            \
                a = lane[l];                                                   \
                b = (wide) (part);                                             \
                lane[l] = (both);                                              \
            }                                                                  \
        for (int l = 0; i < n; i++, l++) {                                     \
            type x = in[i];                                                    \
            a = lane[l];                                                       \
            b = (wide) (part);                                                 \
            lane[l] = (both);                                                  \
        }                                                                      \
        HALVE(8, both)                                                         \
        HALVE(4, both)                                                         \
        HALVE(2, both)                                                         \
        HALVE(1, both)                                                         \
        a = (wide) gathered->member;                                           \
        b = lane[0];                                                           \
        a = (both);                                                            \
        gathered->member = a;                                                  \
    }                                                                          \
    MO_CPU_MULTIVERSION static void name##_each(const void *row,               \
                                                accumulator *gathered, int n)  \
    {                                                                          \
        const type *in = row;                                                  \
                                                                               \
        MO_CPU_IVDEP for (int i = 0; i < n; i++)                               \
        {                                                                      \
            type x = in[i];                                                    \
            wide a = (wide) gathered[i].member, b = (wide) (part);             \
            gathered[i].member = (both);                                       \
        }                                                                      \
    }                                                                          \
    static const reducer name = { { .member = (nothing) },                     \
                                  name##_row,                                  \
                                  name##_each };

#define FOLD_REAL(name, nothing, part, both)                                   \
    FOLD(name##_f32, float, double, real, nothing, part, both)                 \
    FOLD(name##_f64, double, double, real, nothing, part, both)

#define FOLD_INT(name, nothing, part, both)                                    \
    FOLD(name##_int, int64_t, int64_t, integer, nothing, part, both)

/* Wraps around like unsigned integers. */
#define PLUS(a, b)  ((int64_t) ((uint64_t) (a) + (uint64_t) (b)))
#define TIMES(a, b) ((int64_t) ((uint64_t) (a) * (uint64_t) (b)))

FOLD_REAL(sum, 0, x, a + b)
FOLD_REAL(prod, 1, x, (a * b))
FOLD_REAL(l1, 0, fabs((double) x), a + b)
FOLD_REAL(l2, 0, (double) x *(double) x, a + b)
/* A NaN is the result, as in IEEE 754-2019 maximum and minimum. */
FOLD(most_f32, float, float, real, -INFINITY, x, ((b > a) | (b != b)) ? b : a)
FOLD(most_f64, double, double, real, -INFINITY, x, ((b > a) | (b != b)) ? b : a)
FOLD(least_f32, float, float, real, INFINITY, x, ((b < a) | (b != b)) ? b : a)
FOLD(least_f64, double, double, real, INFINITY, x, ((b < a) | (b != b)) ? b : a)
FOLD_REAL(all, 1, x != 0, (a != 0 && b != 0))
FOLD_REAL(any, 0, x != 0, (a != 0 || b != 0))

FOLD_INT(sum, 0, x, PLUS(a, b))
FOLD_INT(prod, 1, x, TIMES(a, b))
FOLD_INT(l1, 0, x < 0 ? PLUS(~x, 1) : x, PLUS(a, b))
FOLD_INT(l2, 0, TIMES(x, x), PLUS(a, b))
FOLD_INT(most, INT64_MIN, x, b > a ? b : a)
FOLD_INT(least, INT64_MAX, x, b < a ? b : a)
FOLD_INT(all, 1, x != 0, (a & b))
FOLD_INT(any, 0, x != 0, (a | b))

#define FOLD_NATURAL(name, nothing, part, both)                                \
    FOLD(name##_u64, uint64_t, uint64_t, natural, nothing, part, both)

FOLD_NATURAL(l1, 0, x, a + b)
FOLD_NATURAL(most, 0, x, b > a ? b : a)
FOLD_NATURAL(least, UINT64_MAX, x, b < a ? b : a)

/* By operator, then float, double, integer and u64. */
static const reducer *const reducers[][4] = {
    [MO_CALL_REDUCE_SUM] = { &sum_f32, &sum_f64, &sum_int, &sum_int },
    [MO_CALL_REDUCE_MEAN] = { &sum_f32, &sum_f64, &sum_int, &sum_int },
    [MO_CALL_REDUCE_MAX] = { &most_f32, &most_f64, &most_int, &most_u64 },
    [MO_CALL_REDUCE_MIN] = { &least_f32, &least_f64, &least_int, &least_u64 },
    [MO_CALL_REDUCE_PROD] = { &prod_f32, &prod_f64, &prod_int, &prod_int },
    [MO_CALL_REDUCE_L1] = { &l1_f32, &l1_f64, &l1_int, &l1_u64 },
    [MO_CALL_REDUCE_L2] = { &l2_f32, &l2_f64, &l2_int, &l2_int },
    [MO_CALL_REDUCE_AND] = { &all_f32, &all_f64, &all_int, &all_int },
    [MO_CALL_REDUCE_OR] = { &any_f32, &any_f64, &any_int, &any_int },
};

/* The result to store for an accumulator of count integers. */
static int64_t finish_int(mo_call_reduce_op op, accumulator gathered,
                          int64_t count, bool is_u64)
{
    int64_t sum = gathered.integer;

    if (op == MO_CALL_REDUCE_MEAN && count > 0)
        return is_u64 ? (int64_t) (gathered.natural / (uint64_t) count)
                      : sum / count;
    if (op == MO_CALL_REDUCE_L2 && is_u64)
        return (int64_t) sqrt((double) gathered.natural);
    if (op == MO_CALL_REDUCE_L2)
        return sum > 0 ? (int64_t) sqrt((double) sum) : 0;
    return sum;
}

enum { BLOCK = 1024, GRAIN = 16 * BLOCK };

typedef struct reduce_axis {
    int64_t extent, in, out;
    bool reduced;
} reduce_axis;

typedef struct reduce_kernel {
    mo_cpu_kernel base;
    mo_call_reduce_op op;
    int rank;
    reduce_axis axes[MO_MAX_RANK + 1]; /* outermost first, at least one */
    int64_t results, folded; /* their number, and the elements of each */
    int64_t width,
        blocks; /* results of a block along the innermost dimension, and the
                   number of such blocks; both 1 if it is reduced */
    bool real, wide, is_u64, direct;
    mo_cpu_load_fn *load;
    mo_cpu_store_fn *store;
    const reducer *fold;
    mo_cpu_epilogue epilogue;
    size_t share_bytes;
} reduce_kernel;

/* Scratch of one worker. */
typedef struct reduce_share {
    accumulator gathered[BLOCK];
    double loaded[BLOCK];
    union {
        double wide[BLOCK];
        float narrow[BLOCK];
        int64_t integer[BLOCK];
    } ended;
    char scratch[];
} reduce_share;

typedef struct reduce_run {
    const reduce_kernel *kernel;
    const void *const *in;
    void *out, *workspace;
} reduce_run;

static void merge_axes(reduce_kernel *kernel)
{
    int n = 0;

    for (int i = 1; i < kernel->rank; i++) {
        reduce_axis *last = &kernel->axes[n], next = kernel->axes[i];

        if (last->reduced == next.reduced &&
            last->in == next.in * next.extent &&
            (last->reduced || last->out == next.out * next.extent)) {
            next.extent *= last->extent;
            *last = next;
        } else {
            kernel->axes[++n] = next;
        }
    }
    kernel->rank = n + 1;
}

static void set_axes(const mo_call_reduce *reduce, reduce_kernel *kernel)
{
    kernel->results = kernel->folded = 1;
    for (int d = 0; d < reduce->rank; d++) {
        reduce_axis added = { reduce->extent[d], reduce->in_stride[d],
                              reduce->out_stride[d], reduce->reduced[d] };
        int at;

        *(added.reduced ? &kernel->folded : &kernel->results) *= added.extent;
        if (added.extent == 1)
            continue;
        for (at = kernel->rank++; at > 0 && kernel->axes[at - 1].in < added.in;
             at--)
            kernel->axes[at] = kernel->axes[at - 1];
        kernel->axes[at] = added;
    }
    if (kernel->rank == 0)
        kernel->axes[kernel->rank++] = (reduce_axis){ 1, 1, 1, false };
    merge_axes(kernel);
}

/* Results accumulated side by side are no more than make a job worthwhile, so
 * that few results of many elements are divided among workers, too. */
static void set_blocks(reduce_kernel *kernel)
{
    enum { LEAST = 256 };
    const reduce_axis *inner = &kernel->axes[kernel->rank - 1];
    int64_t most = kernel->folded > 0 ? GRAIN / kernel->folded : BLOCK;

    most = (most / LEAST + 1) * LEAST;
    most = most < BLOCK ? most : BLOCK;
    kernel->width = kernel->blocks = 1;
    if (inner->reduced)
        return;
    kernel->width = inner->extent < most ? inner->extent : most;
    if (kernel->width > 0)
        kernel->blocks = (inner->extent + kernel->width - 1) / kernel->width;
}

/* Returns n elements from at on, stride apart, as a register array. */
static const void *load_elements(const reduce_run *run, int64_t at,
                                 int64_t stride, int n, reduce_share *share)
{
    const reduce_kernel *kernel = run->kernel;

    if (kernel->direct && stride == 1)
        return (const char *) run->in[0] +
               (size_t) at * (kernel->real && !kernel->wide ? sizeof(float)
                                                            : sizeof(int64_t));
    kernel->load(run->in[0], at, stride, share->loaded, n);
    return share->loaded;
}

/* The innermost dimension, at one index of all others. */
static void reduce_inner(const reduce_run *run, int64_t at, int width,
                         accumulator *gathered, reduce_share *share)
{
    const reduce_kernel *kernel = run->kernel;
    const reduce_axis *inner = &kernel->axes[kernel->rank - 1];

    if (!inner->reduced) {
        kernel->fold->each(load_elements(run, at, inner->in, width, share),
                           gathered, width);
        return;
    }
    for (int64_t i = 0; i < inner->extent; i += BLOCK) {
        int64_t rest = inner->extent - i;
        int n = rest < BLOCK ? (int) rest : BLOCK;

        kernel->fold->row(
            load_elements(run, at + i * inner->in, inner->in, n, share),
            gathered, n);
    }
}

/* All indices of the reduced dimensions but the innermost one, counted like an
 * odometer. */
static void reduce_all(const reduce_run *run, int64_t at, int width,
                       accumulator *gathered, reduce_share *share)
{
    const reduce_kernel *kernel = run->kernel;
    int64_t index[MO_MAX_RANK + 1];
    int d;

    for (d = 0; d < kernel->rank; d++)
        index[d] = 0;
    do {
        reduce_inner(run, at, width, gathered, share);
        for (d = kernel->rank - 2; d >= 0; d--) {
            const reduce_axis *axis = &kernel->axes[d];

            if (!axis->reduced)
                continue;
            at += axis->in;
            if (++index[d] < axis->extent)
                break;
            at -= axis->in * axis->extent;
            index[d] = 0;
        }
    } while (d >= 0);
}

static void finish_block(const reduce_kernel *kernel, int width,
                         reduce_share *share)
{
    for (int i = 0; i < width; i++) {
        const accumulator *gathered = &share->gathered[i];
        double real;

        if (!kernel->real) {
            share->ended.integer[i] = finish_int(
                kernel->op, *gathered, kernel->folded, kernel->is_u64);
            continue;
        }
        real = kernel->op == MO_CALL_REDUCE_MEAN
                   ? gathered->real / (double) kernel->folded
               : kernel->op == MO_CALL_REDUCE_L2 ? sqrt(gathered->real)
                                                 : gathered->real;
        if (kernel->wide)
            share->ended.wide[i] = real;
        else
            share->ended.narrow[i] = (float) real;
    }
}

static void store_results(const reduce_run *run, int64_t first, int n,
                          const char *ended, reduce_share *share)
{
    if (run->kernel->real)
        mo_cpu_epilogue_run(&run->kernel->epilogue, run->in, run->out, first, n,
                            ended, share->scratch);
    else
        run->kernel->store(ended, run->out, first, n);
}

static void store_block(const reduce_run *run, int64_t first, int width,
                        reduce_share *share)
{
    const reduce_kernel *kernel = run->kernel;
    const reduce_axis *inner = &kernel->axes[kernel->rank - 1];
    const char *ended = (const char *) &share->ended;
    size_t bytes =
        kernel->real && !kernel->wide ? sizeof(float) : sizeof(int64_t);

    finish_block(kernel, width, share);
    if (width == 1 || inner->reduced || inner->out == 1) {
        store_results(run, first, width, ended, share);
        return;
    }
    for (int i = 0; i < width; i++)
        store_results(run, first + i * inner->out, 1,
                      ended + (size_t) i * bytes, share);
}

/* Divides n; returns the remainder. A division takes as long as a short row. */
static int64_t remainder_of(int64_t *n, int64_t divisor)
{
    int64_t all = *n;

    if (divisor == 1)
        return 0;
    *n = all < divisor ? 0 : all / divisor;
    return all < divisor ? all : all % divisor;
}

/* Offsets of the job in the input and in the result. */
static void locate_job(const reduce_kernel *kernel, int64_t job, int64_t *in,
                       int64_t *out, int *width)
{
    const reduce_axis *inner = &kernel->axes[kernel->rank - 1];
    int64_t column = remainder_of(&job, kernel->blocks) * kernel->width;
    int64_t rest = inner->reduced ? 1 : inner->extent - column;

    *width = (int) (rest < kernel->width ? rest : kernel->width);
    *in = column * inner->in;
    *out = column * inner->out;
    for (int d = kernel->rank - 1; d-- > 0;) {
        const reduce_axis *axis = &kernel->axes[d];
        int64_t index = axis->reduced ? 0 : remainder_of(&job, axis->extent);

        *in += index * axis->in;
        *out += index * axis->out;
    }
}

static void run_jobs(void *context, int64_t begin, int64_t end, int worker)
{
    const reduce_run *run = context;
    const reduce_kernel *kernel = run->kernel;
    reduce_share *share =
        mo_cpu_worker_scratch(run->workspace, kernel->share_bytes, worker);
    /* Single results that are adjacent are stored together. */
    bool alone = kernel->axes[kernel->rank - 1].reduced;
    int64_t first = 0;
    int waiting = 0;

    for (int64_t job = begin; job < end; job++) {
        int64_t in, out;
        int width;

        locate_job(kernel, job, &in, &out, &width);
        if (waiting > 0 &&
            (!alone || waiting == BLOCK || out != first + waiting)) {
            store_block(run, first, waiting, share);
            waiting = 0;
        }
        if (waiting == 0)
            first = out;
        for (int i = 0; i < width; i++)
            share->gathered[waiting + i] = kernel->fold->empty;
        if (kernel->folded > 0)
            reduce_all(run, in, width, share->gathered + waiting, share);
        waiting += width;
    }
    if (waiting > 0)
        store_block(run, first, waiting, share);
}

static mo_status prepare_reduce(mo_cpu_unit *unit, const mo_call *call,
                                const mo_backend_operand *in,
                                const mo_tensor_desc *out,
                                mo_cpu_kernel **kernel, size_t *workspace,
                                mo_error *err)
{
    mo_elem elem = in[0].desc.elem;
    reduce_kernel *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    made->op = call->u.reduce.op;
    made->real = mo_elem_is_float(elem);
    made->wide = elem == MO_ELEM_F64;
    made->is_u64 = elem == MO_ELEM_U64;
    made->direct = mo_cpu_elem_is_register(elem, made->wide);
    made->load = mo_cpu_load_fn_for(elem, made->wide);
    made->store = mo_cpu_store_fn_for(elem, made->wide);
    made->fold = reducers[made->op][made->is_u64  ? 3
                                    : !made->real ? 2
                                    : made->wide  ? 1
                                                  : 0];
    set_axes(&call->u.reduce, made);
    set_blocks(made);
    status = mo_cpu_epilogue_init(call, out, &made->epilogue, err);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    made->share_bytes =
        sizeof(reduce_share) + mo_cpu_epilogue_scratch_size(&made->epilogue);
    *workspace = mo_cpu_workspace_size(unit, made->share_bytes);
    *kernel = &made->base;
    return MO_OK;
}

static mo_status run_reduce(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                            const void *const *in, void *const *out,
                            void *workspace, mo_error *err)
{
    const reduce_kernel *reduce = (const reduce_kernel *) kernel;
    reduce_run context = { reduce, in, out[0], workspace };
    const reduce_axis *inner = &reduce->axes[reduce->rank - 1];
    int64_t lines = reduce->results, work;

    (void) err;
    if (reduce->results == 0)
        return MO_OK;
    if (!inner->reduced)
        lines /= inner->extent;
    work = reduce->width * (reduce->folded > 0 ? reduce->folded : 1);
    mo_cpu_thread_pool_parallel_for(unit->pool, lines * reduce->blocks,
                                    work < GRAIN ? GRAIN / work : 1, run_jobs,
                                    &context);
    return MO_OK;
}

static void free_reduce(mo_cpu_kernel *kernel)
{
    mo_cpu_epilogue_clear(&((reduce_kernel *) kernel)->epilogue);
    free(kernel);
}

const mo_cpu_kernel_class mo_cpu_reduce = { prepare_reduce, run_reduce,
                                            free_reduce };
