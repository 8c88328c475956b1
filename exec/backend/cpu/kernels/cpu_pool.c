/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/kernels/cpu_pool.h"

#include <stdlib.h>

#include "exec/backend/check_call.h"

static void fill_kernel(const mo_call *call, const mo_backend_operand *in,
                        const mo_tensor_desc *out, mo_cpu_pool_kernel *k)
{
    k->call = call->u.pool;
    k->call.sweep = mo_call_window_to_3d(&call->u.pool.sweep);
    k->elem = in[0].desc.elem;
    k->places = mo_call_window_volume(k->call.sweep.out);
    k->has_indices = call->n_out > 1;
    k->index_elem = k->has_indices ? out[1].elem : MO_ELEM_I64;
    k->index_size = mo_call_pool_index_size(&call->u.pool);
}

static void divide_scratch(mo_cpu_pool_kernel *k)
{
    size_t row =
        mo_cpu_round_to_line((size_t) k->call.channels * sizeof(float));

    k->row_at = row;
    k->epilogue_at = 2 * row;
    k->scratch = 2 * row + mo_cpu_round_to_line(
                               mo_cpu_epilogue_scratch_size(&k->epilogue));
}

static void free_pool(mo_cpu_kernel *kernel)
{
    mo_cpu_pool_kernel *k = (mo_cpu_pool_kernel *) kernel;

    mo_cpu_epilogue_clear(&k->epilogue);
    free(k);
}

static mo_status prepare_pool(mo_cpu_unit *unit, const mo_call *call,
                              const mo_backend_operand *in,
                              const mo_tensor_desc *out, mo_cpu_kernel **kernel,
                              size_t *workspace, mo_error *err)
{
    mo_cpu_pool_kernel *k;
    mo_status status = mo_backend_check_pool(call, in, out, err);

    if (status != MO_OK)
        return status;
    k = calloc(1, sizeof *k);
    if (!k)
        return mo_fail_memory(err);
    fill_kernel(call, in, out, k);
    status = mo_cpu_epilogue_init(call, &out[0], &k->epilogue, err);
    if (status != MO_OK) {
        free_pool(&k->base);
        return status;
    }
    divide_scratch(k);
    *kernel = &k->base;
    *workspace = mo_cpu_workspace_size(unit, k->scratch);
    return MO_OK;
}

typedef struct pool_run {
    const mo_cpu_pool_kernel *kernel;
    const void *const *in;
    void *const *out;
    void *workspace;
} pool_run;

static void put_index(const pool_run *run, int64_t element, int64_t at)
{
    const mo_cpu_pool_kernel *k = run->kernel;
    int64_t index = at % k->index_size;

    if (k->index_elem == MO_ELEM_I32)
        ((int32_t *) run->out[1])[element] = (int32_t) index;
    else
        ((int64_t *) run->out[1])[element] = index;
}

/* Returns whether results are computed in the output buffer itself: no
 * conversion and no epilogue. */
static bool is_in_place(const mo_cpu_pool_kernel *k)
{
    return k->elem == MO_ELEM_F32 && mo_cpu_epilogue_is_identity(&k->epilogue);
}

/* Channels last: every output pixel, all channels at once. */
static void pool_pixels(void *context, int64_t begin, int64_t end, int worker)
{
    const pool_run *run = context;
    const mo_cpu_pool_kernel *k = run->kernel;
    char *scratch = mo_cpu_worker_scratch(run->workspace, k->scratch, worker);
    int64_t channels = k->call.channels;
    float *halves = (float *) (void *) (scratch + k->row_at);
    mo_cpu_pool_window w = mo_cpu_pool_window_at(k, begin);

    for (int64_t row = begin; row < end;
         row++, mo_cpu_pool_window_next(k, &w)) {
        float *sums = is_in_place(k) ? (float *) run->out[0] + row * channels
                                     : (float *) (void *) scratch;

        if (k->elem == MO_ELEM_F32)
            mo_cpu_pool_nhwc_f32(k, run->in[0], &w, sums);
        else
            mo_cpu_pool_nhwc_f16(k, run->in[0], &w, halves, sums);
        mo_cpu_epilogue_run(&k->epilogue, run->in, run->out[0], row * channels,
                            channels, sums, scratch + k->epilogue_at);
    }
}

enum { ELEMENTS_AT_ONCE = 1 << 9 };

static float find_element(const pool_run *run, int64_t element)
{
    const mo_cpu_pool_kernel *k = run->kernel;
    const mo_call_pool *p = &k->call;
    int64_t plane = element / k->places, place = element % k->places, at;
    int64_t row = plane / p->channels * k->places + place;
    int64_t channel = plane % p->channels;
    mo_cpu_pool_window w;
    float x;

    if (p->channels_last) {
        row = element / p->channels;
        channel = element % p->channels;
    }
    w = mo_cpu_pool_window_at(k, row);
    x = mo_cpu_pool_element(k, run->in[0], &w, channel, &at);
    if (k->has_indices)
        put_index(run, element, at);
    return x;
}

/* Any layout: element by element in the order of the output. */
static void pool_elements(void *context, int64_t begin, int64_t end, int worker)
{
    const pool_run *run = context;
    const mo_cpu_pool_kernel *k = run->kernel;
    char *scratch = mo_cpu_worker_scratch(run->workspace, k->scratch, worker);
    float found[ELEMENTS_AT_ONCE];

    for (int64_t first = begin; first < end; first += ELEMENTS_AT_ONCE) {
        int64_t n =
            end - first < ELEMENTS_AT_ONCE ? end - first : ELEMENTS_AT_ONCE;

        for (int64_t i = 0; i < n; i++)
            found[i] = find_element(run, first + i);
        mo_cpu_epilogue_run(&k->epilogue, run->in, run->out[0], first, n, found,
                            scratch + k->epilogue_at);
    }
}

static mo_status run_pool(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                          const void *const *in, void *const *out,
                          void *workspace, mo_error *err)
{
    enum { FLOATS_AT_ONCE = 1 << 13 };
    const mo_cpu_pool_kernel *k = (const mo_cpu_pool_kernel *) kernel;
    pool_run run = { k, in, out, workspace };
    int64_t rows = k->call.batch * k->places;

    (void) err;
    if (k->call.channels_last && !k->has_indices)
        mo_cpu_thread_pool_parallel_for(
            unit->pool, rows, 1 + FLOATS_AT_ONCE / (k->call.channels + 1),
            pool_pixels, &run);
    else
        mo_cpu_thread_pool_parallel_for(unit->pool, rows * k->call.channels,
                                        ELEMENTS_AT_ONCE, pool_elements, &run);
    return MO_OK;
}

const mo_cpu_kernel_class mo_cpu_pool = { prepare_pool, run_pool, free_pool };
