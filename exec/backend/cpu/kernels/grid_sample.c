/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grid sampling: interpolation at given points.
 *
 * The taps of a point along each dimension, up to four, have an index, beyond
 * the data that of what stands for it, and a weight.  Their products over all
 * dimensions are computed once for all channels.
 */
#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "exec/backend/check_call.h"
#include "exec/backend/cpu/pointwise/steps.h"
#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/unit/load_f32.h"

enum { MAX_TAPS = 4, MAX_SUM = MAX_TAPS * MAX_TAPS * MAX_TAPS };

typedef struct grid_kernel {
    mo_cpu_kernel base;
    mo_call_grid_sample grid;
    mo_elem elem;
    mo_cpu_store_fn *store;
} grid_kernel;

typedef struct grid_run {
    const grid_kernel *kernel;
    const void *data, *grid;
    void *out;
} grid_run;

/* Taps of one dimension, then of all: offsets within an image. */
typedef struct tap_sum {
    int n;
    int64_t at[MAX_SUM]; /* -1: 0 */
    float weight[MAX_SUM];
} tap_sum;

/* The index that stands for i of size; -1: none. */
static int64_t pad_index(const mo_call_grid_sample *g, int64_t i, int64_t size)
{
    int64_t period;

    if (i >= 0 && i < size)
        return i;
    if (g->padding == MO_CALL_GRID_ZEROS)
        return -1;
    if (g->padding == MO_CALL_GRID_BORDER)
        return i < 0 ? 0 : size - 1;
    if (g->align_corners) {
        if (size == 1)
            return 0;
        period = 2 * (size - 1);
        i = (i < 0 ? -i : i) % period;
        return i < size ? i : period - i;
    }
    period = 2 * size;
    i = (i < 0 ? -1 - i : i) % period;
    return i < size ? i : period - 1 - i;
}

/* Convolution kernel of Keys (1981) at distances t + 1, t, 1 - t, 2 - t. */
static void cubic_weights(float t, float w[MAX_TAPS])
{
    const float a = -0.75f;
    float u = 1 - t;

    w[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a;
    w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
    w[2] = ((a + 2) * u - (a + 3)) * u * u + 1;
    w[3] = ((a * (u + 1) - 5 * a) * (u + 1) + 8 * a) * (u + 1) - 4 * a;
}

/* Taps of coordinate x, from -1 to 1, along a dimension; returns how many. */
static int find_taps(const mo_call_grid_sample *g, float x, int64_t size,
                     int64_t at[MAX_TAPS], float weight[MAX_TAPS])
{
    const float far = 0x1p30f;
    float place = g->align_corners ? (x + 1) / 2 * (float) (size - 1)
                                   : ((x + 1) * (float) size - 1) / 2;
    int64_t first;
    int n;

    /* NaN is beyond the data. */
    place = place > -far ? place : -far;
    place = place < far ? place : far;
    if (g->mode == MO_CALL_GRID_NEAREST) {
        at[0] = pad_index(g, (int64_t) nearbyintf(place), size);
        weight[0] = 1;
        return 1;
    }
    first = (int64_t) floorf(place);
    if (g->mode == MO_CALL_GRID_LINEAR) {
        weight[1] = place - (float) first;
        weight[0] = 1 - weight[1];
        n = 2;
    } else {
        cubic_weights(place - (float) first, weight);
        first--;
        n = 4;
    }
    for (int i = 0; i < n; i++)
        at[i] = pad_index(g, first + i, size);
    return n;
}

/* Multiplies the taps of a dimension of that size to the sum. */
static void add_dimension(const mo_call_grid_sample *g, float x, int64_t size,
                          tap_sum *sum)
{
    int64_t at[MAX_TAPS];
    float weight[MAX_TAPS];
    int n = find_taps(g, x, size, at, weight);

    for (int i = sum->n; i-- > 0;)
        for (int k = n; k-- > 0;) {
            int to = i * n + k;

            sum->weight[to] = sum->weight[i] * weight[k];
            sum->at[to] =
                sum->at[i] < 0 || at[k] < 0 ? -1 : sum->at[i] * size + at[k];
        }
    sum->n *= n;
}

/* Leaves out the taps beyond the data. */
static void drop_absent(tap_sum *taps)
{
    int n = 0;

    for (int i = 0; i < taps->n; i++)
        if (taps->at[i] >= 0) {
            taps->at[n] = taps->at[i];
            taps->weight[n++] = taps->weight[i];
        }
    taps->n = n;
}

/* The point of n channels; image and out are those of the first. */
static void sum_floats(const tap_sum *taps, int64_t n, const float *image,
                       int64_t volume, float *out, int64_t points)
{
    for (int64_t c = 0; c < n; c++, image += volume, out += points) {
        float sum = 0;

        for (int i = 0; i < taps->n; i++)
            sum += taps->weight[i] * image[taps->at[i]];
        *out = sum;
    }
}

static float sum_taps(const grid_run *run, int64_t image, const tap_sum *taps)
{
    float sum = 0;

    for (int i = 0; i < taps->n; i++) {
        float x;

        mo_cpu_load_f32(run->data, run->kernel->elem, image + taps->at[i], 1, 1,
                        &x);
        sum += taps->weight[i] * x;
    }
    return sum;
}

static void sample_points(void *context, int64_t begin, int64_t end, int worker)
{
    const grid_run *run = context;
    const mo_call_grid_sample *g = &run->kernel->grid;
    int64_t volume = 1;

    (void) worker;
    for (int d = 0; d < g->spatial; d++)
        volume *= g->in[d];
    for (int64_t point = begin; point < end; point++) {
        int64_t batch = point / g->points, at = point % g->points;
        float x[MO_CALL_MAX_SPATIAL];
        tap_sum taps = { .n = 1, .at = { 0 }, .weight = { 1 } };

        mo_cpu_load_f32(run->grid, run->kernel->elem, point * g->spatial, 1,
                        g->spatial, x);
        for (int d = 0; d < g->spatial; d++)
            add_dimension(g, x[g->spatial - 1 - d], g->in[d], &taps);
        drop_absent(&taps);
        if (run->kernel->elem == MO_ELEM_F32) {
            int64_t image = batch * g->channels;

            sum_floats(&taps, g->channels,
                       (const float *) run->data + image * volume, volume,
                       (float *) run->out + image * g->points + at, g->points);
            continue;
        }
        for (int64_t c = 0; c < g->channels; c++) {
            int64_t image = batch * g->channels + c;
            float sum = sum_taps(run, image * volume, &taps);

            run->kernel->store(&sum, run->out, image * g->points + at, 1);
        }
    }
}

static mo_status prepare_grid(mo_cpu_unit *unit, const mo_call *call,
                              const mo_backend_operand *in,
                              const mo_tensor_desc *out, mo_cpu_kernel **kernel,
                              size_t *workspace, mo_error *err)
{
    grid_kernel *made;
    mo_status status = mo_backend_check_grid_sample(call, in, out, err);

    (void) unit, (void) workspace;
    if (status != MO_OK)
        return status;
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->grid = call->u.grid_sample;
    made->elem = out[0].elem;
    made->store = mo_cpu_store_fn_for(made->elem, false);
    *kernel = &made->base;
    return MO_OK;
}

static mo_status run_grid(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                          const void *const *in, void *const *out,
                          void *workspace, mo_error *err)
{
    enum { GRAIN = 4096 };
    const grid_kernel *made = (const grid_kernel *) kernel;
    grid_run run = { made, in[0], in[1], out[0] };
    int64_t channels = made->grid.channels;

    (void) workspace, (void) err;
    mo_cpu_thread_pool_parallel_for(
        unit->pool, made->grid.batch * made->grid.points,
        mo_max_i64(GRAIN / (channels + 1), 1), sample_points, &run);
    return MO_OK;
}

const mo_cpu_kernel_class mo_cpu_grid_sample = { prepare_grid, run_grid, NULL };
