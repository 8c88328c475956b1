/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/kernels/cpu_pool.h"

#include <math.h>
#include <stdlib.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "exec/backend/check_call.h"
#include "exec/backend/cpu/unit/multiversion.h"

enum { ELEMENTS_AT_ONCE = 1 << 9 };

/* Converts the taps of all channels of a pixel, which are rows from then on. */
static void load_taps(const mo_cpu_pool_run *run, int64_t first,
                      mo_cpu_pool_taps *taps, char *rows)
{
    const mo_cpu_pool_kernel *k = run->kernel;
    int64_t channels = k->call.channels, n = 0, i[3];

    for (i[0] = 0; i[0] < taps->count[0]; i[0]++)
        for (i[1] = 0; i[1] < taps->count[1]; i[1]++)
            for (i[2] = 0; i[2] < taps->count[2]; i[2]++, n++)
                k->load(run->in[0],
                        first + i[0] * taps->step[0] + i[1] * taps->step[1] +
                            i[2] * taps->step[2],
                        1, rows + (size_t) (n * channels) * sizeof(float),
                        (int) channels);
    for (int d = 0; d < 3; d++) {
        taps->count[d] = d < 2 ? 1 : n;
        taps->step[d] = channels;
    }
}

/* Channels last: every output pixel, all channels at once. */
static void pool_pixels(void *context, int64_t begin, int64_t end, int worker)
{
    const mo_cpu_pool_run *run = context;
    const mo_cpu_pool_kernel *k = run->kernel;
    char *scratch = mo_cpu_worker_scratch(run->workspace, k->scratch, worker);
    int64_t channels = k->call.channels;
    int64_t image = mo_call_window_volume(k->call.sweep.in) * channels;
    size_t bytes = k->wide ? sizeof(double) : sizeof(float);
    mo_cpu_pool_window w = mo_cpu_pool_window_at(k, begin % k->places);
    /* Without conversion and epilogue, results are computed in the output. */
    bool in_place = k->direct && mo_cpu_epilogue_is_identity(&k->epilogue);

    for (int64_t row = begin; row < end;
         row++, mo_cpu_pool_window_next(k, &w)) {
        void *sums =
            in_place ? (char *) run->out[0] + (size_t) (row * channels) * bytes
                     : scratch + k->bands.result_at;
        mo_cpu_pool_taps taps;
        int64_t first = row / k->places * image +
                        mo_cpu_pool_window_taps(k, &w, channels, &taps);
        const char *from = (const char *) run->in[0] + (size_t) first * bytes;

        if (!k->direct) {
            load_taps(run, first, &taps, scratch);
            from = scratch;
        }
        k->fold(&taps, from, channels, sums);
        mo_cpu_epilogue_run(&k->epilogue, run->in, run->out[0], row * channels,
                            channels, sums, scratch + k->epilogue_at);
    }
}

/* One result; *place receives where the maximum is, of places that are
 * `between` elements apart. A NaN is the maximum, as of Maximum; the last has
 * the place. */
static double pool_element(const mo_cpu_pool_kernel *k, const void *data,
                           int64_t channel, int64_t between,
                           const mo_cpu_pool_taps *taps, int64_t first,
                           int64_t *place)
{
    bool average = k->call.average, f32 = k->elem == MO_ELEM_F32;
    double value = taps->start;
    int64_t i[3];

    *place = -1;
    for (i[0] = 0; i[0] < taps->count[0]; i[0]++)
        for (i[1] = 0; i[1] < taps->count[1]; i[1]++)
            for (i[2] = 0; i[2] < taps->count[2]; i[2]++) {
                int64_t at = first + i[0] * taps->step[0] +
                             i[1] * taps->step[1] + i[2] * taps->step[2];
                int64_t element = channel + at * between;
                union {
                    float narrow;
                    double wide;
                } x;
                double y;

                if (f32)
                    x.narrow = ((const float *) data)[element];
                else
                    k->load(data, element, 1, &x, 1);
                y = k->wide ? x.wide : (double) x.narrow;
                if (average) {
                    value += y;
                } else if (y > value || *place < 0 || isnan(y)) {
                    value = y;
                    *place = at;
                }
            }
    return average ? value * taps->factor : value;
}

/* Any layout: element by element in the order of the output. */
static void pool_elements(void *context, int64_t begin, int64_t end, int worker)
{
    const mo_cpu_pool_run *run = context;
    const mo_cpu_pool_kernel *k = run->kernel;
    const mo_call_pool *p = &k->call;
    char *scratch = mo_cpu_worker_scratch(run->workspace, k->scratch, worker);
    int64_t size = mo_call_window_volume(p->sweep.in);
    int64_t between = p->channels_last ? p->channels : 1;
    union {
        double wide[ELEMENTS_AT_ONCE];
        float narrow[ELEMENTS_AT_ONCE];
    } found;
    mo_cpu_pool_window w =
        mo_cpu_pool_window_at(k, begin / between % k->places);

    for (int64_t at = begin; at < end;) {
        int64_t n = mo_min_i64(end - at, ELEMENTS_AT_ONCE);

        for (int64_t i = 0; i < n; i++) {
            int64_t element = at + i, place;
            int64_t plane = p->channels_last
                                ? element / (k->places * between) * between +
                                      element % between
                                : element / k->places;
            int64_t channel =
                p->channels_last
                    ? (plane - plane % between) * size + plane % between
                    : plane * size;
            mo_cpu_pool_taps taps;
            int64_t first = mo_cpu_pool_window_taps(k, &w, 1, &taps);
            double x = pool_element(k, run->in[0], channel, between, &taps,
                                    first, &place);

            if (k->wide)
                found.wide[i] = x;
            else
                found.narrow[i] = (float) x;
            place = (plane * size + mo_max_i64(place, 0)) % k->index_size;
            if (k->has_indices && k->index_elem == MO_ELEM_I32)
                ((int32_t *) run->out[1])[element] = (int32_t) place;
            else if (k->has_indices)
                ((int64_t *) run->out[1])[element] = place;
            if ((element + 1) % between == 0)
                mo_cpu_pool_window_next(k, &w);
        }
        mo_cpu_epilogue_run(&k->epilogue, run->in, run->out[0], at, n, &found,
                            scratch + k->epilogue_at);
        at += n;
    }
}

static mo_status run_pool(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                          const void *const *in, void *const *out,
                          void *workspace, mo_error *err)
{
    enum { FLOATS_AT_ONCE = 1 << 13 };
    const mo_cpu_pool_kernel *k = (const mo_cpu_pool_kernel *) kernel;
    mo_cpu_pool_run run = { k, in, out, workspace };
    int64_t rows = k->call.batch * k->places;
    int64_t planes = k->call.batch * k->call.channels * k->call.sweep.out[0];

    (void) err;
    if (rows * k->call.channels == 0)
        return MO_OK;
    if (k->division == MO_CPU_POOL_BY_PIXEL)
        mo_cpu_thread_pool_parallel_for(
            unit->pool, rows, 1 + FLOATS_AT_ONCE / (k->call.channels + 1),
            pool_pixels, &run);
    else if (k->division == MO_CPU_POOL_BY_BAND)
        mo_cpu_thread_pool_parallel_for(
            unit->pool, planes * k->bands.n,
            1 + FLOATS_AT_ONCE / (k->bands.rows * k->bands.pitch),
            mo_cpu_pool_run_bands, &run);
    else
        mo_cpu_thread_pool_parallel_for(unit->pool, rows * k->call.channels,
                                        ELEMENTS_AT_ONCE, pool_elements, &run);
    return MO_OK;
}

static void free_pool(mo_cpu_kernel *kernel)
{
    mo_cpu_pool_kernel *k = (mo_cpu_pool_kernel *) kernel;

    mo_cpu_epilogue_clear(&k->epilogue);
    free(k->ranges[0]);
    free(k);
}

static void fill_kernel(const mo_call *call, const mo_backend_operand *in,
                        const mo_tensor_desc *out, mo_cpu_pool_kernel *k)
{
    bool has_indices = call->n_out > 1;

    k->call = call->u.pool;
    k->call.sweep = mo_call_window_to_3d(&call->u.pool.sweep);
    /* One channel is a plane, whose pixels are no ranges. */
    if (k->call.channels == 1)
        k->call.channels_last = false;
    mo_cpu_pool_simplify(&k->call, !has_indices && !k->call.channels_last);
    k->elem = in[0].desc.elem;
    k->wide = k->elem == MO_ELEM_F64;
    k->direct = mo_cpu_elem_is_register(k->elem, k->wide);
    k->load = mo_cpu_load_fn_for(k->elem, k->wide);
    k->fold = mo_cpu_pool_fold_fn_for(k->call.average, k->wide);
    k->places = mo_call_window_volume(k->call.sweep.out);
    k->has_indices = has_indices;
    k->index_elem = has_indices ? out[1].elem : MO_ELEM_I64;
    k->index_size = mo_call_pool_index_size(&call->u.pool);
    k->division = has_indices || mo_ablated(MO_ABLATION_pool_nhwc)
                      ? MO_CPU_POOL_BY_ELEMENT
                  : k->call.channels_last ? MO_CPU_POOL_BY_PIXEL
                  : k->call.adaptive      ? MO_CPU_POOL_BY_ELEMENT
                                          : MO_CPU_POOL_BY_BAND;
}

/* Scratch of pixels: loaded taps, then the results. */
static void divide_pixels(mo_cpu_pool_kernel *k)
{
    int64_t most = k->direct ? 0 : k->call.channels;

    for (int d = 0; d < 3; d++) {
        int64_t count = 0;

        for (int64_t o = 0; o < k->call.sweep.out[d]; o++)
            count = mo_max_i64(count, k->ranges[d][o].count);
        most *= count;
    }
    mo_cpu_append_part(&k->scratch, (size_t) most * sizeof(float));
    k->bands.result_at = mo_cpu_append_part(
        &k->scratch, (size_t) k->call.channels * sizeof(double));
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
    status = mo_cpu_pool_ranges_init(k, err);
    if (status == MO_OK)
        status = mo_cpu_epilogue_init(call, &out[0], &k->epilogue, err);
    if (status != MO_OK) {
        free_pool(&k->base);
        return status;
    }
    if (k->division == MO_CPU_POOL_BY_BAND && k->places > 0)
        mo_cpu_pool_bands_init(k);
    else if (k->division == MO_CPU_POOL_BY_PIXEL)
        divide_pixels(k);
    k->epilogue_at = mo_cpu_append_part(
        &k->scratch, mo_cpu_epilogue_scratch_size(&k->epilogue));
    *kernel = &k->base;
    *workspace = mo_cpu_workspace_size(unit, k->scratch);
    return MO_OK;
}

const mo_cpu_kernel_class mo_cpu_pool = { prepare_pool, run_pool, free_pool };
