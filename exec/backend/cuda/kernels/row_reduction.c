/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/kernels/row_reduction.h"

enum {
    WARP_SIZE = 32,
    BLOCK = 128,          /* threads of a block with several rows */
    MAX_THREADS = 1024,   /* of a block */
    FEW_PER_THREAD = 8,   /* elements per thread where rows are few */
    MANY_PER_THREAD = 16, /* elements per thread where rows are many */
    MAX_KEPT = 32         /* elements that a thread keeps in registers */
};

/* Few elements per thread as long as more threads occupy more of the device;
 * then as many as avoid a barrier between warps. */
mo_cuda_row_reduction mo_cuda_row_reduction_of(const mo_backend_unit *unit,
                                               int64_t rows, int64_t count,
                                               int width)
{
    mo_cuda_row_reduction r = { .rows = rows, .count = count, .width = width };
    int64_t vectors = count / width;
    bool many = rows > (int64_t) unit->sms * 32;
    int64_t wish = many ? MANY_PER_THREAD : FEW_PER_THREAD;

    r.threads = 1;
    while (r.threads < vectors && r.threads < WARP_SIZE)
        r.threads *= 2;
    while (r.threads < MAX_THREADS && r.threads * wish < count)
        r.threads *= 2;
    r.per = (vectors + r.threads - 1) / r.threads;
    r.kept = r.per * width <= MAX_KEPT;
    r.at_once = r.threads <= WARP_SIZE ? BLOCK / r.threads : 1;
    while (r.at_once > 1 && r.at_once * r.threads > WARP_SIZE &&
           rows / r.at_once < unit->sms)
        r.at_once /= 2;
    return r;
}

mo_status mo_cuda_row_reduction_grid(const mo_cuda_row_reduction *rows,
                                     mo_cuda_grid *grid, mo_error *err)
{
    return mo_cuda_grid_1d(rows->count > 0 ? rows->rows : 0, rows->at_once,
                           rows->at_once * rows->threads, grid, err);
}

#include "exec/backend/cuda/kernels/row_reduction.inc"

void mo_cuda_emit_row_reduction(mo_cuda_source *code,
                                const mo_cuda_row_reduction *rows)
{
    mo_cuda_source_printf(
        code,
        "#define ROWS %lldLL\n#define COUNT %lldLL\n"
        "#define THREADS %d\n#define PER %lld\n#define AT_ONCE %d\n"
        "#define BLOCK (AT_ONCE * THREADS)\n#define KEPT %d\n"
        "#define EARLY %d\n",
        (long long) rows->rows, (long long) rows->count, rows->threads,
        (long long) rows->per, rows->at_once, rows->kept,
        rows->per * rows->width <= FEW_PER_THREAD);
    mo_cuda_source_append(
        code, rows->kept ? "#define ROW_UNROLL _Pragma(\"unroll\")\n"
                         : "#define ROW_UNROLL _Pragma(\"unroll 4\")\n");
    mo_cuda_source_append(code, macros);
    mo_cuda_source_append(code, reductions);
}
