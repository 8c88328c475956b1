/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/measure/bench.h"

#include <stdlib.h>

#include "base/stop.h"
#include "base/minmax.h"
#include "exec/thread/affinity.h"

enum { N_PRODUCTS = 5, N_COPIES = 4, REPEATS = 5, MAX_IN = 2 };

static const int64_t product_sizes[N_PRODUCTS] = { 128, 512, 1024, 2048, 4096 };
static const int64_t copy_elements[N_COPIES] = { 1 << 16, 1 << 20, 1 << 24,
                                                 1 << 26 };

/* A single run of this duration is accurate enough; longer ones are not
 * tried. */
static const int64_t long_enough_ns = 20000000;
static const double patience_ns = 4e9;

/* A call with operands of one shape. */
typedef struct trial {
    mo_call call;
    mo_call_copy_box box;
    mo_tensor_desc desc;
    double work; /* operations, or bytes */
    mo_backend_kernel *kernel;
    size_t workspace_bytes;
    void *memory[MAX_IN + 1], *workspace;
} trial;

static int in_numbers[MAX_IN] = { 0, 1 }, out_numbers[] = { MAX_IN };

static void make_copy_call(int64_t n, trial *t)
{
    t->box = (mo_call_copy_box){
        .rank = 1, .extent = { n }, .in_stride = { 1 }, .out_stride = { 1 }
    };
    t->call = (mo_call){ .kind = MO_CALL_COPY,
                         .n_in = 1,
                         .n_out = 1,
                         .first_extra = 1,
                         .u.copy = { &t->box, 1, -1 } };
    t->desc = (mo_tensor_desc){ MO_ELEM_F32, { 1, { n } } };
    t->work = 2.0 * (double) n * sizeof(float);
}

/* GPU kernels need the settle phase once before they run. */
static mo_status prepare_kernel(const mo_backend *backend,
                                mo_backend_unit *unit, trial *t, mo_error *err)
{
    mo_backend_operand in[MAX_IN] = { { t->desc, NULL }, { t->desc, NULL } };
    mo_status status;

    t->call.in = in_numbers;
    t->call.out = out_numbers;
    status = backend->prepare(unit, &t->call, in, &t->desc, &t->kernel,
                              &t->workspace_bytes, err);
    if (status != MO_OK || !backend->finalize)
        return status;
    return backend->finalize(unit, &t->kernel, 1, &t->workspace_bytes, err);
}

/* One run; backends with separate memory time calls themselves. */
static mo_status measure_once(const mo_backend *backend, mo_backend_unit *unit,
                              const trial *t, int64_t *ns, mo_error *err)
{
    const void *in[MAX_IN] = { t->memory[0], t->memory[1] };
    void *out[] = { t->memory[t->call.n_in] };
    const mo_backend_program_call call = {
        .kernel = t->kernel, .in = in, .out = out, .workspace = t->workspace
    };
    mo_status status;
    int64_t begun;

    if (backend->time_calls)
        return backend->time_calls(unit, &call, 1, &begun, ns, err);
    begun = mo_stop_clock_ns();
    status = backend->run(unit, t->kernel, in, out, t->workspace, err);
    *ns = mo_stop_clock_ns() - begun;
    return status;
}

/* *wall_ns: all of them, by the host's clock. */
static mo_status measure_median(const mo_backend *backend,
                                mo_backend_unit *unit, trial *t,
                                int64_t *median_ns, int64_t *wall_ns,
                                mo_error *err)
{
    int64_t ns[REPEATS] = { 0 }, begun = mo_stop_clock_ns();
    mo_status status = MO_OK;
    size_t bytes = (size_t) mo_tensor_desc_bytes(&t->desc);

    for (int i = 0; i < t->call.n_in + 1 && status == MO_OK; i++)
        status = backend->alloc(unit, bytes, &t->memory[i], err);
    if (status == MO_OK && t->workspace_bytes > 0)
        status = backend->alloc(unit, t->workspace_bytes, &t->workspace, err);
    /* A warm-up. */
    if (status == MO_OK)
        status = measure_once(backend, unit, t, &ns[0], err);
    for (int i = 0; i < REPEATS && status == MO_OK; i++)
        status = measure_once(backend, unit, t, &ns[i], err);
    *wall_ns = mo_stop_clock_ns() - begun;
    for (int i = 0; i < MAX_IN + 1; i++)
        if (t->memory[i])
            backend->release(unit, t->memory[i]);
    if (t->workspace)
        backend->release(unit, t->workspace);
    qsort(ns, REPEATS, sizeof *ns, mo_compare_i64);
    *median_ns = ns[REPEATS / 2] > 0 ? ns[REPEATS / 2] : 1;
    return status;
}

/* Work per nanosecond in the last trial: smaller copies stay in a cache. */
static mo_status find_peak_rate(const mo_backend *backend,
                                const mo_backend_unit_options *options,
                                trial *trials, int n, double *rate,
                                mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < n && status == MO_OK; i++) {
        double next = i + 1 < n ? trials[i + 1].work / trials[i].work : 0;
        int64_t ns = 1, wall_ns = 0;

        /* Each trial has a unit of its own: kernels of a unit are prepared all
         * at once, and their number is not known in advance. */
        trial *t = &trials[i];
        mo_backend_unit *unit = NULL;
        status = backend->open(options, &unit, err);

        if (status == MO_OK) {
            status = prepare_kernel(backend, unit, t, err);
            if (status == MO_OK)
                status = measure_median(backend, unit, t, &ns, &wall_ns, err);
            if (t->kernel)
                backend->free_kernel(unit, t->kernel);
            backend->close(unit);
        }
        *rate = trials[i].work / (double) ns;
        if (ns > long_enough_ns || (double) wall_ns * next > patience_ns)
            break;
    }
    return status;
}

mo_status mo_measure_device(const mo_backend *backend,
                            const mo_backend_unit_options *options,
                            mo_measure_device_rates *reached, mo_error *err)
{
    trial products[N_PRODUCTS] = { { .work = 0 } };
    trial copies[N_COPIES] = { { .work = 0 } };
    mo_thread_mask mask;
    mo_status status;

    /* Threads that run a unit stay on its processors. */
    mo_thread_mask_save(&mask);

    for (int i = 0; i < N_PRODUCTS; i++) {
        int64_t n = product_sizes[i];
        trial *t = &products[i];
        const mo_call_matmul_operand side = { .row = n, .column = 1 };

        t->call = (mo_call){ .kind = MO_CALL_MATMUL,
                             .n_in = 2,
                             .n_out = 1,
                             .first_extra = 2,
                             .u.matmul = { n, n, n, .a = side, side, side } };
        t->desc = (mo_tensor_desc){ MO_ELEM_F32, { 2, { n, n } } };
        t->work = 2.0 * (double) n * (double) n * (double) n;
    }
    for (int i = 0; i < N_COPIES; i++)
        make_copy_call(copy_elements[i], &copies[i]);
    status = find_peak_rate(backend, options, products, N_PRODUCTS,
                            &reached->gflops, err);
    if (status == MO_OK)
        status = find_peak_rate(backend, options, copies, N_COPIES,
                                &reached->bandwidth_gbs, err);
    mo_thread_mask_restore(&mask);
    return status;
}
