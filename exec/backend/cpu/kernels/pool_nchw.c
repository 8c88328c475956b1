/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pooling of planes (NCHW) in two steps, since windows are separable. A band of
 * the input is padded and folded along depth and height, then along the width:
 *
 *                        . . . . .
 *     a b c        -->   . a b c .   -->  . k l m .  -->  x y z
 *     d e f              . d e f .
 *
 * Input that no window exceeds is read in place.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "exec/backend/cpu/kernels/cpu_pool.h"
#include "exec/backend/cpu/unit/multiversion.h"

enum { BAND_BYTES = 1 << 14, NARROW = 32, LONG = 16 };

static size_t element_bytes(const mo_cpu_pool_kernel *k)
{
    return k->wide ? sizeof(double) : sizeof(float);
}

static double neutral_of(const mo_cpu_pool_kernel *k)
{
    return k->call.average ? 0 : -INFINITY;
}

/* Returns the elements from the first to the last tap of n windows. */
static int64_t reach_of(const mo_call_window *s, int d, int64_t n)
{
    return (n - 1) * s->stride[d] + (s->kernel[d] - 1) * s->dilation[d] + 1;
}

void mo_cpu_pool_bands_init(mo_cpu_pool_kernel *k)
{
    const mo_call_window *s = &k->call.sweep;
    mo_cpu_pool_bands *b = &k->bands;
    size_t bytes = element_bytes(k);
    int64_t depth = mo_min_i64(s->kernel[0], s->in[0]);

    b->in_place = k->direct;
    for (int d = 1; d < 3; d++)
        b->in_place = b->in_place && s->pad_begin[d] == 0 &&
                      reach_of(s, d, s->out[d]) <= s->in[d];
    b->pitch = b->in_place
                   ? s->in[2]
                   : mo_ceil_div(reach_of(s, 2, s->out[2]), s->stride[2]) *
                         s->stride[2];
    b->flat = b->pitch % s->stride[2] == 0 && s->out[2] < NARROW &&
              s->kernel[2] < LONG;
    b->rows =
        mo_min_i64(1 + BAND_BYTES / (int64_t) bytes / (b->pitch * s->stride[1]),
                   s->out[1]);
    b->n = mo_ceil_div(s->out[1], b->rows);
    b->uniform = true;
    for (int d = 0; d < 3; d++)
        for (int64_t o = 0; o < s->out[d]; o++) {
            const mo_cpu_pool_range *range = &k->ranges[d][o];

            b->uniform =
                b->uniform && range->averaged == k->ranges[d]->averaged;
            b->some_empty = b->some_empty || range->count == 0;
        }
    b->height = reach_of(s, 1, b->rows);
    k->scratch = 0;
    mo_cpu_append_part(
        &k->scratch,
        b->in_place ? 0 : (size_t) (depth * b->height * b->pitch) * bytes);
    b->folded_at =
        mo_cpu_append_part(&k->scratch, (size_t) (b->rows * b->pitch) * bytes);
    b->lanes_at = mo_cpu_append_part(
        &k->scratch, b->flat ? (size_t) (b->rows * b->pitch) * bytes : 0);
    b->result_at =
        mo_cpu_append_part(&k->scratch, (size_t) (b->rows * s->out[2]) * bytes);
}

/* A band of output rows of one plane. */
typedef struct band {
    int64_t plane, depth, row, rows;
} band;

static void fill_neutral(const mo_cpu_pool_kernel *k, char *to, int64_t n)
{
    double value = neutral_of(k);

    for (int64_t i = 0; i < n && k->wide; i++)
        ((double *) (void *) to)[i] = value;
    for (int64_t i = 0; i < n && !k->wide; i++)
        ((float *) (void *) to)[i] = (float) value;
}

/* Copies rows, which lie from_row and to_row bytes apart. The last piece of a
 * row may overlap the one before it. */
static void copy_rows(const char *from, int64_t from_row, char *to,
                      int64_t to_row, int64_t rows, int64_t bytes)
{
    enum { PIECE = 16 };

    for (int64_t r = 0; r < rows; r++, from += from_row, to += to_row) {
        if (bytes >= PIECE)
            for (int64_t i = 0; i < bytes; i += PIECE) {
                i = mo_min_i64(i, bytes - PIECE);
                memcpy(to + i, from + i, PIECE);
            }
        else
            for (int64_t i = 0; i < bytes; i += (int64_t) sizeof(float))
                memcpy(to + i, from + i, sizeof(float));
    }
}

/* Copies the input rows of a band of one depth to between their padding, which
 * stays at the sides. from: their plane. */
static void pad_rows(const mo_cpu_pool_run *run, const band *at, int64_t from,
                     char *padded)
{
    const mo_cpu_pool_kernel *k = run->kernel;
    const mo_call_window *s = &k->call.sweep;
    const mo_cpu_pool_bands *b = &k->bands;
    size_t bytes = element_bytes(k);
    int64_t height = reach_of(s, 1, at->rows);
    int64_t top = at->row * s->stride[1] - s->pad_begin[1];
    int64_t begin = mo_min_i64(mo_max_i64(-top, 0), height);
    int64_t end = mo_max_i64(mo_min_i64(s->in[1] - top, height), begin);
    int64_t width = mo_min_i64(s->in[2], b->pitch - s->pad_begin[2]);
    char *to = padded + (size_t) (begin * b->pitch + s->pad_begin[2]) * bytes;

    fill_neutral(k, padded, begin * b->pitch);
    fill_neutral(k, padded + (size_t) (end * b->pitch) * bytes,
                 (height - end) * b->pitch);
    from += (top + begin) * s->in[2];
    if (width <= 0)
        return;
    if (k->direct)
        copy_rows((const char *) run->in[0] + (size_t) from * bytes,
                  s->in[2] * (int64_t) bytes, to, b->pitch * (int64_t) bytes,
                  end - begin, width * (int64_t) bytes);
    if (!k->direct && width == s->in[2] && width == b->pitch) {
        k->load(run->in[0], from, 1, to, (int) ((end - begin) * width));
        return;
    }
    for (int64_t r = begin; r < end && !k->direct; r++) {
        k->load(run->in[0], from, 1, to, (int) width);
        from += s->in[2];
        to += (size_t) b->pitch * bytes;
    }
}

#define DIVIDE(name, type)                                                     \
    MO_CPU_MULTIVERSION static void name(                                      \
        double outer, const mo_cpu_pool_range *ranges, int64_t n, type *sums)  \
    {                                                                          \
        MO_CPU_IVDEP for (int64_t i = 0; i < n; i++)                           \
        {                                                                      \
            double count = outer * (double) ranges[i].averaged;                \
                                                                               \
            sums[i] = count > 0 ? sums[i] / (type) count : 0;                  \
        }                                                                      \
    }

DIVIDE(divide_f32, float)
DIVIDE(divide_f64, double)

/* Divides a row of sums, or sets the maxima of nothing. */
static void finish_row(const mo_cpu_pool_kernel *k, const band *at, int64_t row,
                       void *to)
{
    const mo_cpu_pool_range *depth = &k->ranges[0][at->depth];
    const mo_cpu_pool_range *height = &k->ranges[1][at->row + row];
    const mo_cpu_pool_range *width = k->ranges[2];
    int64_t n = k->call.sweep.out[2];
    double outer = (double) depth->averaged * (double) height->averaged;

    if (k->call.average && k->wide)
        divide_f64(outer, width, n, to);
    else if (k->call.average)
        divide_f32(outer, width, n, to);
    for (int64_t o = 0; o < n && !k->call.average; o++) {
        if (depth->count != 0 && height->count != 0 && width[o].count != 0)
            continue;
        if (k->wide)
            ((double *) to)[o] = -DBL_MAX;
        else
            ((float *) to)[o] = -FLT_MAX;
    }
}

/* Folds the band at from along depth and height, unless that is one row. */
static const char *fold_rows(const mo_cpu_pool_kernel *k, const band *at,
                             const char *from, int64_t plane, char *folded,
                             int64_t *pitch)
{
    const mo_call_window *s = &k->call.sweep;
    const mo_cpu_pool_bands *b = &k->bands;
    int64_t depth = k->ranges[0][at->depth].count;
    bool flat = s->stride[1] == 1;
    mo_cpu_pool_taps taps = { .count = { depth, s->kernel[1], 1 },
                              .step = { plane, s->dilation[1] * b->pitch, 0 },
                              .stride = 1,
                              .lines = flat ? 1 : at->rows,
                              .from_line = s->stride[1] * b->pitch,
                              .to_line = b->pitch,
                              .start = neutral_of(k),
                              .factor = 1 };

    *pitch = b->pitch * s->stride[1];
    if (depth == 1 && s->kernel[1] == 1)
        return from;
    *pitch = b->pitch;
    k->fold(&taps, from, b->pitch * (flat ? at->rows : 1), folded);
    return folded;
}

/* Folds rows of taps along the width. Lanes of narrow rows run on from one row
 * into the next; those that begin in the padding are left out of the result. */
static void fold_columns(const mo_cpu_pool_kernel *k, mo_cpu_pool_taps *taps,
                         const char *from, char *lanes, char *to)
{
    int64_t n = k->call.sweep.out[2], rows = taps->lines;
    int64_t per_row = taps->from_line / taps->stride;
    int64_t bytes = (int64_t) element_bytes(k);

    if (!k->bands.flat || taps->from_line % taps->stride != 0 ||
        taps->from_line > k->bands.pitch) {
        k->fold(taps, from, n, to);
        return;
    }
    taps->lines = 1;
    k->fold(taps, from, (rows - 1) * per_row + n, per_row == n ? to : lanes);
    if (per_row != n)
        copy_rows(lanes, per_row * bytes, to, n * bytes, rows, n * bytes);
}

static void pool_band(const mo_cpu_pool_run *run, const band *at, char *scratch)
{
    const mo_cpu_pool_kernel *k = run->kernel;
    const mo_call_window *s = &k->call.sweep;
    const mo_cpu_pool_bands *b = &k->bands;
    const mo_cpu_pool_range *depth = &k->ranges[0][at->depth];
    size_t bytes = element_bytes(k);
    int64_t size = s->in[1] * s->in[2], step = k->step[0] * size;
    int64_t plane = (at->plane * s->in[0] + depth->first) * size;
    int64_t first =
        ((at->plane * s->out[0] + at->depth) * s->out[1] + at->row) * s->out[2];
    bool divided = k->call.average && !b->uniform;
    bool finished = divided || (!k->call.average && b->some_empty);
    char *to = k->direct && mo_cpu_epilogue_is_identity(&k->epilogue)
                   ? (char *) run->out[0] + (size_t) first * bytes
                   : scratch + b->result_at;
    const char *from = scratch;
    double count = 1;
    mo_cpu_pool_taps taps = { .count = { 1, 1, s->kernel[2] },
                              .step = { 0, 0, s->dilation[2] },
                              .stride = s->stride[2],
                              .lines = at->rows,
                              .to_line = s->out[2],
                              .start = neutral_of(k) };

    if (b->in_place) {
        from = (const char *) run->in[0] +
               (size_t) (plane + at->row * s->stride[1] * s->in[2]) * bytes;
    } else {
        for (int64_t d = 0; d < depth->count; d++)
            pad_rows(run, at, plane + d * step,
                     scratch + (size_t) (d * b->height * b->pitch) * bytes);
        step = b->height * b->pitch;
    }
    from =
        fold_rows(k, at, from, step, scratch + b->folded_at, &taps.from_line);
    for (int d = 0; d < 3 && k->call.average && !divided; d++)
        count *= (double) k->ranges[d]->averaged;
    taps.factor = count > 0 ? 1 / count : 0;
    fold_columns(k, &taps, from, scratch + b->lanes_at, to);
    for (int64_t r = 0; r < at->rows && finished; r++)
        finish_row(k, at, r, to + (size_t) (r * s->out[2]) * bytes);
    mo_cpu_epilogue_run(&k->epilogue, run->in, run->out[0], first,
                        at->rows * s->out[2], to, scratch + k->epilogue_at);
}

void mo_cpu_pool_run_bands(void *context, int64_t begin, int64_t end,
                           int worker)
{
    const mo_cpu_pool_run *run = context;
    const mo_cpu_pool_kernel *k = run->kernel;
    const mo_cpu_pool_bands *b = &k->bands;
    const int64_t *out = k->call.sweep.out;
    char *scratch = mo_cpu_worker_scratch(run->workspace, k->scratch, worker);

    if (!b->in_place)
        fill_neutral(k, scratch, (int64_t) (b->folded_at / element_bytes(k)));
    for (int64_t i = begin; i < end; i++) {
        int64_t row = i % b->n * b->rows;
        band at = { i / b->n / out[0], i / b->n % out[0], row,
                    mo_min_i64(b->rows, out[1] - row) };

        pool_band(run, &at, scratch);
    }
}
