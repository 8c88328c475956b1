/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phases of a convolution: a transposed one is split by output position modulo
 * stride into ordinary ones.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "exec/backend/cpu/conv/cpu_conv.h"

enum { MOST_PHASES = 1 << 14 };

/* Returns the number of nonempty phases of a dimension. */
static int64_t count_phases(const mo_call_conv *c, int d)
{
    int64_t n =
        c->transposed ? mo_min_i64(c->sweep.stride[d], c->sweep.out[d]) : 1;

    return n < 1 ? 1 : n;
}

/* Whether kernel element k of dimension d takes part, and its input offset. In
 * a transposed convolution, input i contributes to i * stride + k * dilation -
 * pad. */
static bool find_read(const mo_call_conv *c, int d, int64_t first, int64_t k,
                      int64_t *at)
{
    int64_t from = first + c->sweep.pad_begin[d] - k * c->sweep.dilation[d];

    if (!c->transposed) {
        *at = k * c->sweep.dilation[d] - c->sweep.pad_begin[d];
        return true;
    }
    *at = from / c->sweep.stride[d];
    return from % c->sweep.stride[d] == 0;
}

static void begin_phase(const mo_call_conv *c, const int64_t first[3],
                        mo_cpu_conv_phase *phase)
{
    for (int d = 0; d < 3; d++) {
        int64_t step = c->transposed ? c->sweep.stride[d] : 1;
        int64_t left = c->sweep.out[d] - first[d];

        phase->out_first[d] = first[d];
        phase->out_step[d] = step;
        phase->in_step[d] = c->transposed ? 1 : c->sweep.stride[d];
        phase->n[d] = left > 0 ? mo_ceil_div(left, step) : 0;
    }
    phase->inside_end = phase->n[2];
}

/* Returns how many positions of a line have the tap before `end`. */
static int64_t count_before(const mo_cpu_conv_phase *phase,
                            const mo_cpu_conv_tap *tap, int64_t end)
{
    int64_t distance = end - tap->at[2];

    return distance <= 0 ? 0
                         : mo_min_i64(mo_ceil_div(distance, phase->in_step[2]),
                                      phase->n[2]);
}

/* Merged taps are always inside the last dimension, which is padded. */
static void put_tap(const mo_cpu_conv_kernel *kernel, const int64_t k[3],
                    mo_cpu_conv_phase *phase)
{
    const mo_call_conv *c = &kernel->call;
    const mo_cpu_conv_image *p = &kernel->image;
    mo_cpu_conv_tap tap = {
        .kernel = (k[0] * c->sweep.kernel[1] + k[1]) * c->sweep.kernel[2] + k[2]
    };

    for (int d = 0; d < 3; d++)
        if (!find_read(c, d, phase->out_first[d], k[d], &tap.at[d]))
            return;
    tap.offset = ((tap.at[0] * p->extent[1] + tap.at[1]) * p->extent[2] +
                  tap.at[2] + p->shift) *
                 p->channels;
    tap.first = p->merged ? 0 : count_before(phase, &tap, 0);
    tap.end = p->merged ? phase->n[2] : count_before(phase, &tap, p->in[2]);
    phase->inside_first = mo_max_i64(phase->inside_first, tap.first);
    phase->inside_end = mo_min_i64(phase->inside_end, tap.end);
    phase->taps[phase->n_taps++] = tap;
}

static void put_taps(const mo_cpu_conv_kernel *kernel, mo_cpu_conv_phase *phase)
{
    const mo_call_conv *c = &kernel->call;
    int64_t last = kernel->image.merged ? 1 : c->sweep.kernel[2];
    int64_t k[3];

    for (k[0] = 0; k[0] < c->sweep.kernel[0]; k[0]++)
        for (k[1] = 0; k[1] < c->sweep.kernel[1]; k[1]++)
            for (k[2] = 0; k[2] < last; k[2]++)
                put_tap(kernel, k, phase);
}

static mo_status make_phase(const mo_cpu_conv_kernel *kernel, int64_t number,
                            mo_cpu_conv_phase *phase, mo_error *err)
{
    const mo_call_conv *c = &kernel->call;
    int64_t first[3], most = mo_call_window_volume(c->sweep.kernel);

    for (int d = 2; d >= 0; d--) {
        first[d] = number % count_phases(c, d);
        number /= count_phases(c, d);
    }
    begin_phase(c, first, phase);
    phase->taps = calloc((size_t) most, sizeof *phase->taps);
    if (!phase->taps)
        return mo_fail_memory(err);
    put_taps(kernel, phase);
    return MO_OK;
}

mo_status mo_cpu_conv_phases_init(mo_cpu_conv_kernel *kernel, mo_error *err)
{
    const mo_call_conv *c = &kernel->call;
    int64_t n = 1;
    mo_status status = MO_OK;

    for (int d = 0; d < 3; d++)
        if (!mo_int64_mul(n, count_phases(c, d), &n) || n > MOST_PHASES)
            return mo_fail(err, MO_E_LIMIT,
                           "a transposed convolution with strides of more "
                           "than %d positions cannot be run",
                           MOST_PHASES);
    kernel->phases = calloc((size_t) n, sizeof *kernel->phases);
    if (!kernel->phases)
        return mo_fail_memory(err);
    kernel->n_phases = n;
    for (int64_t i = 0; status == MO_OK && i < n; i++)
        status = make_phase(kernel, i, &kernel->phases[i], err);
    return status;
}

void mo_cpu_conv_phases_free(mo_cpu_conv_kernel *kernel)
{
    for (int64_t i = 0; kernel->phases && i < kernel->n_phases; i++)
        free(kernel->phases[i].taps);
    free(kernel->phases);
}
