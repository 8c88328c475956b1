/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sliding windows of pooling: clipping to the input, and one element in any
 * layout.
 */
#include <float.h>
#include <math.h>

#include "base/minmax.h"
#include "exec/backend/cpu/unit/multiversion.h"
#include "exec/backend/cpu/unit/load_f32.h"
#include "exec/backend/cpu/kernels/cpu_pool.h"

static mo_cpu_pool_range adaptive_span(const mo_call_window *s, int d,
                                       int64_t o)
{
    int64_t first = o * s->in[d] / s->out[d];

    return (mo_cpu_pool_range){
        first, mo_ceil_div((o + 1) * s->in[d], s->out[d]) - first, 1
    };
}

/* Clips the window to the input. */
static mo_cpu_pool_range clip_window(const mo_call_pool *p, int d, int64_t o)
{
    const mo_call_window *s = &p->sweep;
    int64_t step = s->dilation[d];
    int64_t begin = o * s->stride[d] - s->pad_begin[d];
    int64_t skip = begin < 0 ? mo_ceil_div(-begin, step) : 0;
    int64_t end = begin < s->in[d] ? mo_ceil_div(s->in[d] - begin, step) : 0;

    if (p->adaptive)
        return adaptive_span(s, d, o);
    end = end < s->kernel[d] ? end : s->kernel[d];
    return (mo_cpu_pool_range){ begin + skip * step,
                                end > skip ? end - skip : 0, step };
}

mo_cpu_pool_window mo_cpu_pool_window_at(const mo_cpu_pool_kernel *kernel,
                                         int64_t row)
{
    const mo_call_pool *p = &kernel->call;
    mo_cpu_pool_window w;

    for (int d = 2; d >= 0; d--) {
        w.at[d] = row % p->sweep.out[d];
        w.span[d] = clip_window(p, d, w.at[d]);
        row /= p->sweep.out[d];
    }
    w.image = row;
    return w;
}

void mo_cpu_pool_window_next(const mo_cpu_pool_kernel *kernel,
                             mo_cpu_pool_window *window)
{
    const mo_call_pool *p = &kernel->call;
    bool goes_on = true;

    for (int d = 2; d >= 0 && goes_on; d--) {
        goes_on = ++window->at[d] == p->sweep.out[d];
        if (goes_on)
            window->at[d] = 0;
        window->span[d] = clip_window(p, d, window->at[d]);
    }
    window->image += goes_on;
}

/* Returns the elements of a dimension that an average counts. A window never
 * begins before the padding, but it may end behind it. */
static int64_t count_averaged(const mo_call_pool *p,
                              const mo_cpu_pool_window *w, int d)
{
    const mo_call_window *s = &p->sweep;
    int64_t begin = w->at[d] * s->stride[d] - s->pad_begin[d];
    int64_t left = s->in[d] + s->pad_end[d] - begin, most;

    if (p->count == MO_CALL_POOL_COUNT_DATA)
        return w->span[d].count;
    if (p->count == MO_CALL_POOL_COUNT_KERNEL)
        return s->kernel[d];
    most = left > 0 ? mo_ceil_div(left, s->dilation[d]) : 0;
    return most < s->kernel[d] ? most : s->kernel[d];
}

float mo_cpu_pool_average_factor(const mo_cpu_pool_kernel *kernel,
                                 const mo_cpu_pool_window *window)
{
    double count = 1;

    for (int d = 0; d < 3; d++)
        count *= (double) count_averaged(&kernel->call, window, d);
    return count > 0 ? (float) (1 / count) : 0;
}

/* Offsets of the elements of a channel: in the image as stored, and as in a
 * contiguous NCHW tensor. */
static int64_t place_at(const mo_call_pool *p, const mo_cpu_pool_window *w,
                        const int64_t i[3])
{
    int64_t place = 0;

    for (int d = 0; d < 3; d++)
        place =
            place * p->sweep.in[d] + w->span[d].first + i[d] * w->span[d].step;
    return place;
}

static int64_t element_at(const mo_call_pool *p, int64_t image, int64_t channel,
                          int64_t place, bool channels_last)
{
    int64_t size = mo_call_window_volume(p->sweep.in);

    return channels_last ? (image * size + place) * p->channels + channel
                         : (image * p->channels + channel) * size + place;
}

typedef struct best {
    float value;
    int64_t place;
} best;

/* The maximum of an empty window, which lies entirely beyond the end, is
 * OpenVINO's lowest number. */
float mo_cpu_pool_initial_value(const mo_cpu_pool_kernel *kernel,
                                const mo_cpu_pool_window *window)
{
    const mo_cpu_pool_range *s = window->span;
    bool empty = s[0].count <= 0 || s[1].count <= 0 || s[2].count <= 0;

    if (kernel->call.average)
        return 0;
    return empty ? -FLT_MAX : -INFINITY;
}

/* A NaN is the maximum, as of Maximum; the last has the place. */
static void update_max(const mo_call_pool *p, float x, int64_t place, best *b)
{
    if (p->average) {
        b->value += x;
    } else if (x > b->value || b->place < 0 || isnan(x)) {
        b->value = x;
        b->place = place;
    }
}

float mo_cpu_pool_element(const mo_cpu_pool_kernel *kernel, const void *data,
                          const mo_cpu_pool_window *window, int64_t channel,
                          int64_t *at)
{
    const mo_call_pool *p = &kernel->call;
    const mo_cpu_pool_range *s = window->span;
    best b = { .value = mo_cpu_pool_initial_value(kernel, window),
               .place = -1 };
    int64_t i[3];

    for (i[0] = 0; i[0] < s[0].count; i[0]++)
        for (i[1] = 0; i[1] < s[1].count; i[1]++)
            for (i[2] = 0; i[2] < s[2].count; i[2]++) {
                int64_t place = place_at(p, window, i);
                float x;

                mo_cpu_load_f32(data, kernel->elem,
                                element_at(p, window->image, channel, place,
                                           p->channels_last),
                                1, 1, &x);
                update_max(p, x, place, &b);
            }
    *at =
        element_at(p, window->image, channel, b.place < 0 ? 0 : b.place, false);
    return p->average ? b.value * mo_cpu_pool_average_factor(kernel, window)
                      : b.value;
}

MO_CPU_MULTIVERSION static void add_row(const float *x, int64_t n, float *sums)
{
    MO_CPU_IVDEP
    for (int64_t i = 0; i < n; i++)
        sums[i] += x[i];
}

MO_CPU_MULTIVERSION static void raise_row(const float *x, int64_t n,
                                          float *sums)
{
    MO_CPU_IVDEP
    for (int64_t i = 0; i < n; i++)
        sums[i] = x[i] > sums[i] || isnan(x[i]) ? x[i] : sums[i];
}

MO_CPU_MULTIVERSION static void scale_row(float factor, int64_t n, float *sums)
{
    MO_CPU_IVDEP
    for (int64_t i = 0; i < n; i++)
        sums[i] *= factor;
}

void mo_cpu_pool_nhwc_f16(const mo_cpu_pool_kernel *kernel, const void *data,
                          const mo_cpu_pool_window *window, float *row,
                          float *to)
{
    const mo_call_pool *p = &kernel->call;
    const mo_cpu_pool_range *s = window->span;
    int64_t i[3], n = p->channels;
    float start = mo_cpu_pool_initial_value(kernel, window);

    for (int64_t c = 0; c < n; c++)
        to[c] = start;
    for (i[0] = 0; i[0] < s[0].count; i[0]++)
        for (i[1] = 0; i[1] < s[1].count; i[1]++)
            for (i[2] = 0; i[2] < s[2].count; i[2]++) {
                int64_t place = place_at(p, window, i);
                int64_t at = element_at(p, window->image, 0, place, true);

                mo_cpu_load_f32(data, kernel->elem, at, 1, n, row);
                (p->average ? add_row : raise_row)(row, n, to);
            }
    if (p->average)
        scale_row(mo_cpu_pool_average_factor(kernel, window), n, to);
}
