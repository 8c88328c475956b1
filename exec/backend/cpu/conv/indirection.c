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
    int64_t first;          /* position */
    int64_t begin[3], step; /* of the first window, and between windows */
    int64_t base;           /* its offset, in elements of the image */
    int64_t n;
} line;

static line line_at(const mo_cpu_conv_kernel *kernel,
                    const mo_cpu_conv_phase *phase, const float *image,
                    const place *p, int64_t n)
{
    const mo_cpu_conv_image *layout = &kernel->image;
    line l = { kernel,   image, p->at[2], { 0 }, phase->in_step[2],
               p->batch, n };

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

static int64_t within(int64_t x, int64_t most)
{
    return x < 0 ? 0 : mo_min_i64(x, most);
}

static void point_tap(const line *l, const mo_cpu_conv_tap *tap,
                      const float **rows)
{
    const float *zeros = l->kernel->zeros;
    int64_t first = 0, end = 0, i = 0;
    int64_t at = l->base + tap->offset;
    int64_t step = l->step * l->kernel->image.channels;

    if (is_line_inside(l, tap)) {
        first = within(tap->first - l->first, l->n);
        end = within(tap->end - l->first, l->n);
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

/* Cuts the line to positions that are computed at once; returns whether all
 * their windows are inside along it. */
static bool cut_line(const mo_cpu_conv_phase *phase, line *l)
{
    int64_t inside = phase->inside_end - l->first;

    /* What a few others cannot be computed with is left to them. */
    if (inside < l->n)
        inside = inside / MO_CPU_DEPTHWISE_POINTERS * MO_CPU_DEPTHWISE_POINTERS;
    if (l->first >= phase->inside_first && inside > 0) {
        l->n = mo_min_i64(l->n, inside);
        return true;
    }
    l->n = mo_min_i64(l->n, MO_CPU_DEPTHWISE_POINTERS);
    return false;
}

/* The same as point_tap for a few positions, without branches. */
static void point_few(const line *l, const mo_cpu_conv_tap *tap,
                      const float **in)
{
    const float *zeros = l->kernel->zeros;
    int64_t at = l->base + tap->offset;

    for (int64_t x = l->first; x < l->first + l->n; x++) {
        *in++ = x >= tap->first && x < tap->end ? l->image + at : zeros;
        at += l->step * l->kernel->image.channels;
    }
}

void mo_cpu_conv_depthwise_taps(const mo_cpu_conv_kernel *kernel,
                                const mo_cpu_conv_phase *phase,
                                const float *image, const float *weights,
                                int64_t row, int64_t n,
                                mo_cpu_depthwise_args *taps)
{
    place p = place_of(phase, row);
    line l = line_at(kernel, phase, image, &p, line_left(phase, &p, n));
    bool inside = cut_line(phase, &l);

    taps->positions = l.n;
    taps->pointers = inside ? 0 : MO_CPU_DEPTHWISE_POINTERS;
    taps->taps = 0;
    for (int64_t t = 0; t < phase->n_taps; t++) {
        const mo_cpu_conv_tap *tap = &phase->taps[t];

        if (!is_line_inside(&l, tap))
            continue;
        if (inside)
            taps->in[taps->taps] = image + (l.base + tap->offset);
        else
            point_few(&l, tap, taps->in + taps->taps * taps->pointers);
        taps->weights[taps->taps++] = weights + t * kernel->image.channels;
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
