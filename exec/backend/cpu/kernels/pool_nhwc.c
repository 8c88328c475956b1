/* SPDX-License-Identifier: Apache-2.0 */
/* Float pooling, channels last: a block of channels of an output pixel stays
 * in registers while the window is traversed. */
#include <math.h>

#include "exec/backend/cpu/unit/multiversion.h"
#include "exec/backend/cpu/kernels/cpu_pool.h"

enum { AT_ONCE = 32 };

/* Input elements of a window: the first, and the strides to the next. */
typedef struct view {
    const float *first;
    int64_t count[3], step[3];
} view;

static view view_of(const mo_cpu_pool_kernel *kernel, const float *data,
                    const mo_cpu_pool_window *window)
{
    const mo_call_pool *p = &kernel->call;
    int64_t at = window->image, step = p->channels;
    view v;

    for (int d = 0; d < 3; d++)
        at = at * p->sweep.in[d] + window->span[d].first;
    v.first = data + at * p->channels;
    for (int d = 2; d >= 0; d--) {
        v.count[d] = window->span[d].count;
        v.step[d] = window->span[d].step * step;
        step *= p->sweep.in[d];
    }
    return v;
}

/* n channels; called with a constant n for the full blocks. */
MO_CPU_INLINE void pool_block(const view *v, bool average, int64_t channel,
                              int n, float start, float factor, float *to)
{
    float kept[AT_ONCE];

    for (int j = 0; j < n; j++)
        kept[j] = start;
    for (int64_t a = 0; a < v->count[0]; a++)
        for (int64_t b = 0; b < v->count[1]; b++)
            for (int64_t c = 0; c < v->count[2]; c++) {
                const float *x = v->first + a * v->step[0] + b * v->step[1] +
                                 c * v->step[2] + channel;

                MO_CPU_IVDEP
                for (int j = 0; j < n; j++)
                    kept[j] = average                         ? kept[j] + x[j]
                              : x[j] > kept[j] || isnan(x[j]) ? x[j]
                                                              : kept[j];
            }
    for (int j = 0; j < n; j++)
        to[j] = average ? kept[j] * factor : kept[j];
}

MO_CPU_INLINE void pool_channels(const view *v, bool average, int64_t channels,
                                 float start, float factor, float *to)
{
    int64_t c = 0;

    for (; c + AT_ONCE <= channels; c += AT_ONCE)
        pool_block(v, average, c, AT_ONCE, start, factor, to + c);
    if (c < channels)
        pool_block(v, average, c, (int) (channels - c), start, factor, to + c);
}

MO_CPU_MULTIVERSION static void pool_max(const view *v, int64_t channels,
                                         float start, float *to)
{
    pool_channels(v, false, channels, start, 1, to);
}

MO_CPU_MULTIVERSION static void pool_average(const view *v, int64_t channels,
                                             float factor, float *to)
{
    pool_channels(v, true, channels, 0, factor, to);
}

void mo_cpu_pool_nhwc_f32(const mo_cpu_pool_kernel *kernel, const float *data,
                          const mo_cpu_pool_window *window, float *to)
{
    const mo_call_pool *p = &kernel->call;
    view v = view_of(kernel, data, window);

    if (p->average)
        pool_average(&v, p->channels,
                     mo_cpu_pool_average_factor(kernel, window), to);
    else
        pool_max(&v, p->channels, mo_cpu_pool_initial_value(kernel, window),
                 to);
}
