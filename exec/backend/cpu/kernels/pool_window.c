/* SPDX-License-Identifier: Apache-2.0 */
/* Sliding windows of pooling: clipping to the input, divisors and taps. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "exec/backend/cpu/kernels/cpu_pool.h"

static bool is_divisible(const mo_call_window *s)
{
    for (int d = 0; d < 3; d++)
        if (s->out[d] == 0 || s->in[d] % s->out[d] != 0)
            return false;
    return true;
}

static bool is_trivial(const mo_call_window *s, int d)
{
    return s->in[d] == 1 && s->out[d] == 1 && s->kernel[d] == 1 &&
           s->pad_begin[d] == 0 && s->pad_end[d] == 0;
}

/* Whether the last dimension can be merged with the one before it. */
static bool is_covered(const mo_call_window *s)
{
    return s->out[2] == 1 && s->kernel[2] == s->in[2] && s->pad_begin[2] == 0 &&
           s->pad_end[2] == 0 &&
           (s->in[2] == 1 || (s->dilation[2] == 1 && s->dilation[1] == 1));
}

/* Whether the windows of planes, one below the other, are those of one plane:
 * every row is read by the windows of one row of results. */
static bool is_stackable(const mo_call_window *s)
{
    return is_trivial(s, 0) && s->pad_begin[1] == 0 && s->pad_end[1] == 0 &&
           s->in[1] == s->out[1] * s->stride[1] &&
           (s->kernel[1] - 1) * s->dilation[1] < s->stride[1];
}

void mo_cpu_pool_simplify(mo_call_pool *pool, bool rows)
{
    mo_call_window *s = &pool->sweep;
    /* Those that a row of elements multiplies come first. */
    int64_t *const fields[] = { s->in,      s->kernel, s->stride,  s->pad_begin,
                                s->pad_end, s->out,    s->dilation };
    enum { MULTIPLIED = 5, N_FIELDS = sizeof fields / sizeof *fields };

    if (pool->adaptive && is_divisible(s)) {
        pool->adaptive = false;
        for (int d = 0; d < 3; d++) {
            s->kernel[d] = s->stride[d] = s->in[d] / s->out[d];
            s->dilation[d] = 1;
            s->pad_begin[d] = s->pad_end[d] = 0;
        }
    }
    for (int merged = 0; merged < 2 && !pool->adaptive; merged++) {
        int64_t n = s->in[2];

        if (!is_covered(s))
            break;
        for (int f = 0; f < N_FIELDS; f++) {
            int64_t *field = fields[f];

            field[2] = field[1] * (f < MULTIPLIED ? n : 1);
            field[1] = field[0];
            field[0] = field != s->pad_begin && field != s->pad_end;
        }
    }
    if (rows && !pool->adaptive && is_trivial(s, 1))
        s->stride[1] = 1;
    if (rows && !pool->adaptive && is_stackable(s)) {
        s->in[1] *= pool->batch * pool->channels;
        s->out[1] *= pool->batch * pool->channels;
        pool->batch = pool->channels = 1;
    }
}

static mo_cpu_pool_range adaptive_range(const mo_call_window *s, int d,
                                        int64_t o)
{
    int64_t first = o * s->in[d] / s->out[d];
    int64_t count = mo_ceil_div((o + 1) * s->in[d], s->out[d]) - first;

    return (mo_cpu_pool_range){ first, count, count };
}

/* Clips the window to the input. A window never begins before the padding, but
 * it may end behind it. */
static mo_cpu_pool_range clip_window(const mo_call_pool *p, int d, int64_t o)
{
    const mo_call_window *s = &p->sweep;
    int64_t step = s->dilation[d];
    int64_t begin = o * s->stride[d] - s->pad_begin[d];
    int64_t skip = begin < 0 ? mo_ceil_div(-begin, step) : 0;
    int64_t end = begin < s->in[d] ? mo_ceil_div(s->in[d] - begin, step) : 0;
    int64_t left = s->in[d] + s->pad_end[d] - begin;
    mo_cpu_pool_range range = { .first = begin + skip * step,
                                .averaged = s->kernel[d] };

    range.count = mo_max_i64(mo_min_i64(end, s->kernel[d]) - skip, 0);
    if (p->count == MO_CALL_POOL_COUNT_DATA)
        range.averaged = range.count;
    else if (p->count == MO_CALL_POOL_COUNT_PADDED)
        range.averaged =
            mo_min_i64(left > 0 ? mo_ceil_div(left, step) : 0, s->kernel[d]);
    return range;
}

mo_status mo_cpu_pool_ranges_init(mo_cpu_pool_kernel *kernel, mo_error *err)
{
    const mo_call_pool *p = &kernel->call;
    const int64_t *out = p->sweep.out;
    mo_cpu_pool_range *next =
        malloc((size_t) (out[0] + out[1] + out[2] + 1) * sizeof *next);

    if (!next)
        return mo_fail_memory(err);
    for (int d = 0; d < 3; d++) {
        kernel->ranges[d] = next;
        kernel->step[d] = p->adaptive ? 1 : p->sweep.dilation[d];
        for (int64_t o = 0; o < out[d]; o++)
            *next++ = p->adaptive ? adaptive_range(&p->sweep, d, o)
                                  : clip_window(p, d, o);
    }
    return MO_OK;
}

mo_cpu_pool_window mo_cpu_pool_window_at(const mo_cpu_pool_kernel *kernel,
                                         int64_t place)
{
    mo_cpu_pool_window w;

    for (int d = 2; d >= 0; d--) {
        w.at[d] = place % kernel->call.sweep.out[d];
        w.span[d] = kernel->ranges[d][w.at[d]];
        place /= kernel->call.sweep.out[d];
    }
    return w;
}

void mo_cpu_pool_window_next(const mo_cpu_pool_kernel *kernel,
                             mo_cpu_pool_window *window)
{
    bool wraps = true;

    for (int d = 2; d >= 0 && wraps; d--) {
        wraps = ++window->at[d] == kernel->call.sweep.out[d];
        if (wraps)
            window->at[d] = 0;
        window->span[d] = kernel->ranges[d][window->at[d]];
    }
}

int64_t mo_cpu_pool_window_taps(const mo_cpu_pool_kernel *kernel,
                                const mo_cpu_pool_window *window,
                                int64_t between, mo_cpu_pool_taps *taps)
{
    int64_t first = 0, size = 1, averaged = 1;
    bool empty = false;

    for (int d = 2; d >= 0; d--) {
        const mo_cpu_pool_range *span = &window->span[d];

        first += span->first * size;
        averaged *= span->averaged;
        empty = empty || span->count == 0;
        taps->count[d] = span->count;
        taps->step[d] = kernel->step[d] * size * between;
        size *= kernel->call.sweep.in[d];
    }
    taps->stride = taps->lines = 1;
    taps->from_line = taps->to_line = 0;
    taps->factor = averaged > 0 ? 1 / (double) averaged : 0;
    taps->start = kernel->call.average ? 0
                  : !empty             ? -INFINITY
                  : kernel->wide       ? -DBL_MAX
                                       : -FLT_MAX;
    return first * between;
}
