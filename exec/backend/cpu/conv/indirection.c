/* SPDX-License-Identifier: Apache-2.0 */
/* Indirection buffer and output positions. Positions are visited line by line,
 * since along a line only the offset of a tap changes. */
#include "base/minmax.h"
#include "exec/backend/cpu/conv/cpu_conv.h"

/* A position of a phase. */
typedef struct place {
    int64_t batch, at[3]; /* batch: number of its image */
} place;

static place place_of(const mo_cpu_conv_phase *phase, int64_t row)
{
    place p;

    for (int d = 2; d >= 0; d--) {
        p.at[d] = row % phase->n[d];
        row /= phase->n[d];
    }
    p.batch = row;
    return p;
}

/* Returns how many of the next n positions are on the same line. */
static int64_t line_left(const mo_cpu_conv_phase *phase, const place *p,
                         int64_t n)
{
    int64_t left = phase->n[2] - p->at[2];

    return left < n ? left : n;
}

static void next_line(const mo_cpu_conv_phase *phase, place *p)
{
    p->at[2] = 0;
    for (int d = 1; d >= 0; d--) {
        if (++p->at[d] < phase->n[d])
            return;
        p->at[d] = 0;
    }
    p->batch++;
}

typedef struct line {
    const mo_cpu_conv_kernel *kernel;
    const float *image;
    int64_t begin[3], step; /* of the first window, and between windows */
    int64_t base;           /* its offset, in elements of the image */
    int64_t n;
} line;

static line line_at(const mo_cpu_conv_kernel *kernel,
                    const mo_cpu_conv_phase *phase, const float *image,
                    const place *p, int64_t n)
{
    const mo_cpu_conv_image *layout = &kernel->image;
    line l = { kernel, image, { 0 }, phase->in_step[2], p->batch, n };

    for (int d = 0; d < 3; d++) {
        l.begin[d] = p->at[d] * phase->in_step[d];
        l.base = l.base * layout->extent[d] + l.begin[d];
    }
    l.base *= layout->channels;
    return l;
}

static bool is_line_inside(const line *l, const mo_cpu_conv_tap *tap)
{
    const int64_t *in = l->kernel->image.in;

    for (int d = 0; d < 2; d++)
        if (l->begin[d] + tap->at[d] < 0 || l->begin[d] + tap->at[d] >= in[d])
            return false;
    return true;
}

/* Returns how many windows of the line have their tap before `end`. */
static int64_t count_before(const line *l, const mo_cpu_conv_tap *tap,
                            int64_t end)
{
    int64_t distance = end - (l->begin[2] + tap->at[2]);
    int64_t count = distance <= 0 ? 0 : mo_ceil_div(distance, l->step);

    return count < l->n ? count : l->n;
}

/* Merged taps are always inside the last dimension, which is padded. */
static void point_tap(const line *l, const mo_cpu_conv_tap *tap,
                      const float **rows)
{
    const mo_cpu_conv_image *layout = &l->kernel->image;
    const float *zeros = l->kernel->zeros;
    int64_t first = 0, end = 0, i = 0;
    int64_t at = l->base + tap->offset, step = l->step * layout->channels;

    if (is_line_inside(l, tap)) {
        first = layout->merged ? 0 : count_before(l, tap, 0);
        end = layout->merged ? l->n : count_before(l, tap, layout->in[2]);
    }
    for (; i < first; i++)
        rows[i] = zeros;
    for (; i < end; i++)
        rows[i] = l->image + (at + i * step);
    for (; i < l->n; i++)
        rows[i] = zeros;
}

void mo_cpu_conv_indirection_fill(const mo_cpu_conv_kernel *kernel,
                                  const mo_cpu_conv_phase *phase,
                                  const float *image, int64_t first, int64_t n,
                                  const float **rows)
{
    place p = place_of(phase, first);

    for (int64_t i = 0; i < n; next_line(phase, &p)) {
        line l = line_at(kernel, phase, image, &p, line_left(phase, &p, n - i));

        for (int64_t t = 0; t < phase->n_taps; t++)
            point_tap(&l, &phase->taps[t], rows + t * n + i);
        i += l.n;
    }
}

void mo_cpu_conv_output_positions(const mo_cpu_conv_kernel *kernel,
                                  const mo_cpu_conv_phase *phase, int64_t first,
                                  int64_t n, int64_t *positions)
{
    const int64_t *out = kernel->call.sweep.out;
    place p = place_of(phase, first);

    for (int64_t i = 0; i < n; next_line(phase, &p)) {
        int64_t end = i + line_left(phase, &p, n - i), at = p.batch;

        for (int d = 0; d < 3; d++)
            at = at * out[d] + phase->out_first[d] +
                 p.at[d] * phase->out_step[d];
        for (; i < end; i++, at += phase->out_step[2])
            positions[i] = at;
    }
}
