/*
 * tile_body.h - tiles, written once for every width of vectors.
 *
 * For inclusion by the files of the processors, which say before
 *     TILE_VECTOR     bytes of a vector register
 *     TILE_TARGET     what the functions are compiled for
 * and then name the heights they want by TILE(rows).
 */
#include <string.h>

#include "exec/backend/cpu/tile.h"

typedef float tile_vector __attribute__((vector_size(TILE_VECTOR)));

enum { LANES = TILE_VECTOR / sizeof(float) };

static inline __attribute__((always_inline)) void load_vector(tile_vector *v,
                                                              const float *from)
{
    memcpy(v, from, sizeof *v);
}

/* Called with constants only: unrolled, the sums are registers. */
static inline __attribute__((always_inline)) void
run_tile(const mo_tile_job *job, const int rows, const int vectors)
{
    tile_vector sum[MO_TILE_MAX_ROWS][2];
    const float *panel = job->panel;
    const float *const *at = job->rows;

#pragma GCC unroll 16
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            if (job->add)
                load_vector(&sum[r][v], job->c + r * job->pitch + v * LANES);
            else
                sum[r][v] = (tile_vector){ 0 };
    for (int64_t t = 0; t < job->taps; t++, at += job->step) {
        const float *row[MO_TILE_MAX_ROWS];

#pragma GCC unroll 16
        for (int r = 0; r < rows; r++)
            row[r] = at[r] + job->skip;
        for (int64_t i = 0; i < job->depth; i++, panel += vectors * LANES) {
            tile_vector b[2];

#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++)
                load_vector(&b[v], panel + v * LANES);
#pragma GCC unroll 16
            for (int r = 0; r < rows; r++) {
                float a = row[r][i];

#pragma GCC unroll 2
                for (int v = 0; v < vectors; v++)
                    sum[r][v] += a * b[v];
            }
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            memcpy(job->c + r * job->pitch + v * LANES, &sum[r][v],
                   sizeof sum[r][v]);
}

#define TILE(rows)                                                             \
    TILE_TARGET static void run_wide_##rows(const mo_tile_job *job)            \
    {                                                                          \
        run_tile(job, rows, 2);                                                \
    }                                                                          \
    TILE_TARGET static void run_narrow_##rows(const mo_tile_job *job)          \
    {                                                                          \
        run_tile(job, rows, 1);                                                \
    }                                                                          \
    _Static_assert(rows <= MO_TILE_MAX_ROWS, "too high a tile")
