/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/kernels/row_reduction.h"

enum {
    WARP = 32,
    BLOCK = 128,         /* threads of a block whose rows are short */
    MOST_THREADS = 1024, /* of a block */
    FEW = 8,             /* elements of a thread, where rows are few */
    SOME = 16,           /* where they are many */
    MOST = 32            /* that a thread can keep */
};

/* A row has few elements for each thread as long as that brings in more of the
 * device; then as many as a warp can do without waiting for others. */
mo_cuda_row_reduction mo_cuda_row_reduction_of(const mo_backend_unit *unit,
                                               int64_t rows, int64_t count,
                                               int width)
{
    mo_cuda_row_reduction r = { .rows = rows, .count = count, .width = width };
    int64_t vectors = count / width;
    bool many = rows > (int64_t) unit->sms * 32;
    int64_t wish = many ? SOME : FEW;

    r.threads = 1;
    while (r.threads < vectors && r.threads < WARP)
        r.threads *= 2;
    while (r.threads < MOST_THREADS && r.threads * wish < count)
        r.threads *= 2;
    r.per = (vectors + r.threads - 1) / r.threads;
    r.kept = r.per * width <= MOST;
    r.at_once = r.threads <= WARP ? BLOCK / r.threads : 1;
    while (r.at_once > 1 && r.at_once * r.threads > WARP &&
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

/* Rows that are none fill the last block up: they compute, but nobody sees it.
 * Where registers are left, they hold what the epilogue needs, too. */
static const char macros[] =
    "#define ROW_BEGIN \\\n"
    "    const int t = (int) threadIdx.x % THREADS; \\\n"
    "    const long long row = (long long) blockIdx.x * AT_ONCE + \\\n"
    "                          (int) threadIdx.x / THREADS; \\\n"
    "    const int live = row < ROWS; \\\n"
    "    const PLACE from = (PLACE) (live ? row : 0) * (PLACE) COUNT; \\\n"
    "    R x[KEPT ? PER * WIDTH : WIDTH]; \\\n"
    "    FINISH_READ r[EARLY ? PER : 1];\n"
    "MO_DEVICE void load_wide(const T *from, R *to)\n"
    "{\n"
    "    const WIDE w = read_wide(from);\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < WIDTH; i++)\n"
    "        to[i] = load(w.x[i]);\n"
    "}\n"
    "#define ROW_VECTORS(before, statement, after) \\\n"
    "    ROW_UNROLL \\\n"
    "    for (int j = 0; j < PER; j++) { \\\n"
    "        const PLACE at = ((PLACE) j * THREADS + t) * WIDTH; \\\n"
    "        R *y = KEPT ? x + j * WIDTH : x; \\\n"
    "        if (at < (PLACE) COUNT) { \\\n"
    "            before; \\\n"
    "            _Pragma(\"unroll\") \\\n"
    "            for (int i = 0; i < WIDTH; i++) { \\\n"
    "                statement; \\\n"
    "            } \\\n"
    "            after; \\\n"
    "        } \\\n"
    "    }\n"
    "#if EARLY\n"
    "#define ROW_EXPECT ROW_VECTORS(finish_expect(from + at, p, &r[j]), , )\n"
    "#define ROW_READ ROW_VECTORS(finish_read(from + at, p, &r[j]), , )\n"
    "#define ROW_FINISH finish_with(from + at, y, &r[j], p, out)\n"
    "#else\n"
    "#define ROW_EXPECT\n"
    "#define ROW_READ\n"
    "#define ROW_FINISH finish(from + at, y, p, out)\n"
    "#endif\n"
    "#if KEPT\n"
    "#define ROW_LOAD \\\n"
    "    ROW_VECTORS(load_wide(in + from + at, y), , ) \\\n"
    "    ROW_READ\n"
    "#define ROW_AGAIN\n"
    "#else\n"
    "#define ROW_LOAD\n"
    "#define ROW_AGAIN load_wide(in + from + at, y)\n"
    "#endif\n"
    "#define ROW_EACH(statement) ROW_VECTORS(ROW_AGAIN, statement, )\n"
    "#define ROW_STORE(statement) \\\n"
    "    if (live) { \\\n"
    "        ROW_VECTORS(ROW_AGAIN, statement, ROW_FINISH) \\\n"
    "    }\n";

/* Threads of a row within a warp only look at each other; a longer row is a
 * block, whose warps leave what they have found in cells. */
static const char reductions[] =
    "MO_DEVICE R row_add(R a, R b) { return a + b; }\n"
    "MO_DEVICE R row_larger(R a, R b) { return b > a ? b : a; }\n"
    "#define ROW_REDUCTION(name, both) \\\n"
    "    MO_DEVICE R name(R a, int n) \\\n"
    "    { \\\n"
    "        MO_SHARED R cells[3][(THREADS + 31) / 32]; \\\n"
    "        for (int m = (THREADS < 32 ? THREADS : 32) / 2; m; m /= 2) \\\n"
    "            a = both(a, SHUFFLE_XOR(a, m)); \\\n"
    "        if (THREADS <= 32) \\\n"
    "            return a; \\\n"
    "        if (MO_LANE == 0) \\\n"
    "            cells[n][MO_WARP] = a; \\\n"
    "        MO_SYNC(); \\\n"
    "        a = cells[n][0]; \\\n"
    "        for (int w = 1; w < THREADS / 32; w++) \\\n"
    "            a = both(a, cells[n][w]); \\\n"
    "        return a; \\\n"
    "    }\n"
    "ROW_REDUCTION(row_sum, row_add)\n"
    "ROW_REDUCTION(row_most, row_larger)\n";

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
        rows->per * rows->width <= FEW);
    mo_cuda_source_append(
        code, rows->kept ? "#define ROW_UNROLL _Pragma(\"unroll\")\n"
                         : "#define ROW_UNROLL _Pragma(\"unroll 4\")\n");
    mo_cuda_source_append(code, macros);
    mo_cuda_source_append(code, reductions);
}
