/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/gemm/packed_gemm.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/array.h"
#include "exec/backend/cpu/unit/aligned_memory.h"

/* Returns the width of a panel with that many columns left. */
static int panel_width(const mo_cpu_micro_kernels *micro_kernels, int64_t left)
{
    return left <= micro_kernels->narrow ? micro_kernels->narrow
                                         : micro_kernels->width;
}

int64_t mo_cpu_gemm_panel_columns(const mo_cpu_micro_kernels *micro_kernels,
                                  int64_t columns)
{
    int64_t whole = columns / micro_kernels->width * micro_kernels->width;

    return whole == columns
               ? whole
               : whole + panel_width(micro_kernels, columns - whole);
}

void mo_cpu_gemm_pack_panels(const mo_cpu_micro_kernels *micro_kernels,
                             const mo_cpu_matrix_view *from, int64_t rows,
                             int64_t columns, int64_t row, int64_t depth,
                             float *panels)
{
    for (int64_t j = 0; j < columns; j += micro_kernels->width) {
        int width = panel_width(micro_kernels, columns - j);
        int64_t used = mo_min_i64(width, columns - j);
        float *panel = panels + j * depth + row * width;
        mo_cpu_matrix_view part = *from;

        part.at += j * from->column;
        mo_cpu_load_f32_matrix(&part, rows, used, panel, width);
        for (int64_t i = 0; used < width && i < rows; i++)
            memset(panel + i * width + used, 0,
                   (size_t) (width - used) * sizeof *panel);
    }
}

mo_status mo_cpu_gemm_panels_new(mo_cpu_unit *unit, int64_t matrices,
                                 int64_t floats, float **panels, mo_error *err)
{
    size_t bytes;

    if (!mo_size_mul((size_t) matrices, (size_t) floats, &bytes) ||
        !mo_size_mul(bytes, sizeof **panels, &bytes))
        return mo_fail_memory(err);
    unit->packed_bytes += (int64_t) bytes;
    *panels =
        mo_cpu_alloc_aligned(unit->sizes_only ? MO_CPU_CACHE_LINE : bytes);
    return *panels ? MO_OK : mo_fail_memory(err);
}

struct mo_cpu_shared_panels {
    float *panels;
    size_t bytes;
    const void *constant;
    int n_users;
    struct mo_cpu_shared_panels *next, **from; /* from: what points here */
};

/* Panels that are not filled are equal if their constants are. */
static bool are_equal(const mo_cpu_unit *unit,
                      const mo_cpu_shared_panels *shared, const void *constant,
                      const float *panels, size_t bytes)
{
    if (shared->bytes != bytes)
        return false;
    return unit->sizes_only ? shared->constant == constant
                            : memcmp(shared->panels, panels, bytes) == 0;
}

mo_cpu_shared_panels *mo_cpu_gemm_panels_share(mo_cpu_unit *unit,
                                               const void *constant,
                                               size_t bytes, float **panels)
{
    mo_cpu_shared_panels *made;

    for (mo_cpu_shared_panels *s = unit->panels; s; s = s->next)
        if (are_equal(unit, s, constant, *panels, bytes)) {
            free(*panels);
            unit->packed_bytes -= (int64_t) bytes;
            *panels = s->panels;
            s->n_users++;
            return s;
        }
    made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    *made = (mo_cpu_shared_panels){ .panels = *panels,
                                    .bytes = bytes,
                                    .constant = constant,
                                    .n_users = 1,
                                    .next = unit->panels,
                                    .from = &unit->panels };
    if (made->next)
        made->next->from = &made->next;
    unit->panels = made;
    return made;
}

void mo_cpu_gemm_panels_release(mo_cpu_shared_panels *shared)
{
    if (--shared->n_users > 0)
        return;
    *shared->from = shared->next;
    if (shared->next)
        shared->next->from = shared->from;
    free(shared->panels);
    free(shared);
}

/* Columns whose panels, for part of the depth, stay in the L2 cache while all
 * rows pass. */
typedef struct chunk {
    const mo_cpu_gemm *product;
    int64_t begin, end; /* columns */
    int64_t skip, depth;
    bool fresh; /* its panels are too many to be in the L2 cache yet */
} chunk;

enum { DEEPEST = 1024, CHUNK_FLOATS = 1 << 17, FRESH_FLOATS = 1 << 16 };

/* Rows of a tile, copied to where they have different sets of the L1 cache. */
typedef struct row_copies {
    const float *at[MO_CPU_MICRO_KERNEL_MAX_ROWS];
    float copy[MO_CPU_MICRO_KERNEL_MAX_ROWS]
              [DEEPEST + MO_CPU_CACHE_LINE / sizeof(float)];
} row_copies;

/* Whether most of n rows share sets of the L1 cache, 4096 bytes of addresses
 * in most processors: they evict each other before a line is used up. */
static bool rows_collide(const float *const *rows, int n)
{
    enum { PERIOD = 4096 };

    for (int r = 1; r < n; r++)
        if (((uintptr_t) rows[r] - (uintptr_t) rows[r - 1]) % PERIOD != 0)
            return false;
    return n > 4;
}

/* Rows row, ... of the chunk, one tile high: they stay in the L1 cache while
 * panels pass. */
static void run_rows(const chunk *c, int64_t row, int height,
                     row_copies *copies)
{
    const mo_cpu_gemm *p = c->product;
    const float *const *rows = p->rows + row;
    int64_t skip = p->skip + c->skip;
    const mo_cpu_micro_kernels *micro_kernels = p->micro_kernels;
    int64_t several =
        (int64_t) micro_kernels->panels[height] * micro_kernels->width;
    int64_t step = micro_kernels->width;
    /* The epilogue applies with the last part of the depth. */
    bool last_part = c->skip + c->depth == p->depth;

    if (p->taps == 1 && c->end - c->begin > step && c->depth <= DEEPEST &&
        rows_collide(rows, micro_kernels->rows[height])) {
        for (int r = 0; r < micro_kernels->rows[height]; r++)
            copies->at[r] = memcpy(copies->copy[r], rows[r] + skip,
                                   (size_t) c->depth * sizeof **rows);
        rows = copies->at;
        skip = 0;
    }
    for (int64_t j = c->begin; j < c->end; j += step) {
        bool together = several > 0 && j + several <= c->end;
        int width = panel_width(micro_kernels, p->columns - j);
        int64_t used = mo_min_i64(width, p->columns - j);
        mo_cpu_micro_kernel_args job = {
            .rows = rows,
            .step = p->step,
            .skip = skip,
            .taps = p->taps,
            .depth = c->depth,
            .panel = p->panels + j * p->taps * p->depth + c->skip * width,
            .panel_step = p->taps * p->depth * micro_kernels->width,
            .fresh = c->fresh && row == 0,
            .c = p->c + row * p->pitch + j,
            .pitch = p->pitch,
            .last = (int) (used % micro_kernels->narrow),
            .add = c->skip > 0,
            .end = last_part ? p->end : NULL,
            .end_row = p->end_row + row,
            .end_column = p->end_column + j,
        };

        mo_cpu_micro_kernel_fn *run = width == micro_kernels->width
                                          ? micro_kernels->wide_run[height]
                                          : micro_kernels->narrow_run[height];

        step = together ? several : micro_kernels->width;
        if (together)
            micro_kernels->panels_run[height](&job);
        else
            run(&job);
    }
}

static void run_depth(const mo_cpu_gemm *p, int64_t skip, int64_t depth)
{
    int64_t width = p->micro_kernels->width;
    int64_t columns = CHUNK_FLOATS / (p->taps * depth + 1) / width * width;
    row_copies copies;

    columns = columns < width ? width : columns;
    for (int64_t j = 0; j < p->columns; j += columns) {
        chunk c = { .product = p,
                    .begin = j,
                    .end = mo_min_i64(j + columns, p->columns),
                    .skip = skip,
                    .depth = depth,
                    .fresh = p->taps * p->depth * p->columns > FRESH_FLOATS };
        int64_t row = 0;

        for (int h = 0; h < MO_CPU_MICRO_KERNEL_HEIGHTS; h++)
            for (; row + p->micro_kernels->rows[h] <= p->n_rows;
                 row += p->micro_kernels->rows[h])
                run_rows(&c, row, h, &copies);
    }
}

void mo_cpu_gemm_run(const mo_cpu_gemm *product)
{
    const mo_cpu_gemm *p = product;

    if (p->taps != 1 || p->depth <= DEEPEST) {
        run_depth(p, 0, p->depth);
        return;
    }
    for (int64_t k = 0; k < p->depth; k += DEEPEST)
        run_depth(p, k, mo_min_i64(DEEPEST, p->depth - k));
}

/* About half of the extent, a multiple of unit. */
static int64_t halve_extent(int64_t extent, int64_t unit)
{
    return mo_ceil_div(mo_ceil_div(extent, 2), unit) * unit;
}

/* Multiplications that justify another thread. */
enum { LEAST_WORK = 1 << 17 };

/* Halves the longer side, or the one that can be halved; returns false if
 * neither can. */
static bool split_blocks(mo_cpu_gemm_blocking *b, int64_t unit, int64_t width)
{
    bool by_rows = b->rows > unit, by_columns = b->columns > width;

    if (by_rows && (b->rows >= b->columns || !by_columns))
        b->rows = halve_extent(b->rows, unit);
    else if (by_columns)
        b->columns = halve_extent(b->columns, width);
    return by_rows || by_columns;
}

mo_cpu_gemm_blocking
mo_cpu_gemm_blocking_choose(const mo_cpu_micro_kernels *micro_kernels,
                            int64_t rows, int64_t columns, int64_t depth,
                            int64_t products, bool reread, int threads)
{
    enum { CACHED = 1 << 19, CACHED_RESULTS = 1 << 15, JOBS_EACH = 4 };
    int64_t unit = micro_kernels->rows[0], few = 4 * unit;
    int64_t most = CACHED / (mo_min_i64(depth, DEEPEST) + 1) / unit * unit;
    mo_cpu_gemm_blocking b = { .columns = columns };

    if (reread)
        most = mo_min_i64(most, mo_max_i64(few, CACHED_RESULTS / (columns + 1) /
                                                    unit * unit));
    b.rows = mo_min_i64(mo_max_i64(most, unit), rows);
    if (rows == 0 || columns == 0)
        return b;
    while (threads > 1 &&
           (double) b.rows * (double) b.columns * (double) depth > LEAST_WORK &&
           mo_ceil_div(rows, b.rows) * mo_ceil_div(columns, b.columns) *
                   products <
               (int64_t) threads * JOBS_EACH)
        if (!split_blocks(&b, unit, micro_kernels->width))
            break;
    b.n_rows = mo_ceil_div(rows, b.rows);
    b.n_columns = mo_ceil_div(columns, b.columns);
    return b;
}

int64_t mo_cpu_gemm_blocking_grain(const mo_cpu_gemm_blocking *blocks,
                                   int64_t depth)
{
    double each =
        (double) blocks->rows * (double) blocks->columns * (double) (depth + 1);

    return each > LEAST_WORK ? 1 : 1 + (int64_t) (LEAST_WORK / (each + 1));
}
