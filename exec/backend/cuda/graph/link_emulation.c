/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/graph/link_emulation.h"

#include "exec/backend/cuda/jit/jit_cache.h"

/* Between the moment a kernel may begin and the first thing it does, and from
 * its last thing until others may begin: measured on an H200, a kernel that
 * waits for 10 us takes 11.6, one that waits for 400 us 401.6. */
enum { OVERHEAD_NS = 1600 };

static const char begin_source[] = "MO_KERNEL_OF(hold_begin, 32)(unsigned long "
                                   "long *begun)\n"
                                   "{\n"
                                   "    MO_BEGIN();\n"
                                   "    *begun = mo_globaltimer();\n"
                                   "}\n";

static const char end_source[] =
    "MO_KERNEL_OF(hold_end, 32)(const unsigned long long *begun,\n"
    "                           unsigned long long ns)\n"
    "{\n"
    "    unsigned long long until;\n"
    "    MO_BEGIN();\n"
    "    until = *begun + ns;\n"
    "    while (mo_globaltimer() < until)\n"
    "        mo_nap();\n"
    "}\n";

/* Words of 16 bytes, four of them on their way at once.  Who waits is one of
 * the first block: the others make room when they have copied. */
static const char copy_source[] =
    "MO_KERNEL_OF(hold_copy, 512)(unsigned char *to,\n"
    "                             const unsigned char *from,\n"
    "                             long long bytes, unsigned long long ns)\n"
    "{\n"
    "    const uint4 *in = (const uint4 *) from;\n"
    "    uint4 *out = (uint4 *) to, x[4];\n"
    "    const long long n = (long long) blockDim.x * gridDim.x;\n"
    "    const long long first = (long long) blockDim.x * blockIdx.x +\n"
    "                            threadIdx.x, words = bytes / 16;\n"
    "    unsigned long long until;\n"
    "    MO_BEGIN();\n"
    "    until = mo_globaltimer() + ns;\n"
    "    for (long long i = first; i < words; i += 4 * n) {\n"
    "        #pragma unroll\n"
    "        for (int k = 0; k < 4; k++)\n"
    "            if (i + k * n < words)\n"
    "                x[k] = in[i + k * n];\n"
    "        #pragma unroll\n"
    "        for (int k = 0; k < 4; k++)\n"
    "            if (i + k * n < words)\n"
    "                out[i + k * n] = x[k];\n"
    "    }\n"
    "    for (long long i = 16 * words + first; i < bytes; i += n)\n"
    "        to[i] = from[i];\n"
    "    while (first == 0 && mo_globaltimer() < until)\n"
    "        mo_nap();\n"
    "}\n";

/* A block of threads copies so much at once.  Many more blocks are not faster,
 * and many transfers may be on their way. */
enum { COPY_THREADS = 512, COPY_BYTES = COPY_THREADS * 64, COPY_BLOCKS = 16 };

static const mo_cuda_grid one_thread = { .blocks = { 1, 1, 1 },
                                         .threads = { 1, 1, 1 } };

mo_status mo_cuda_link_emulation_prepare(mo_backend_unit *unit, mo_error *err)
{
    mo_status status = MO_OK;

    if (unit->hold.at)
        return MO_OK;
    status = mo_cuda_jit_request(unit, begin_source, "hold_begin",
                                 &unit->hold.begin, err);
    if (status == MO_OK)
        status = mo_cuda_jit_request(unit, end_source, "hold_end",
                                     &unit->hold.end, err);
    if (status == MO_OK)
        status = mo_cuda_jit_request(unit, copy_source, "hold_copy",
                                     &unit->hold.copy, err);
    if (status == MO_OK)
        status = mo_cuda_jit_compile(unit, err);
    if (status == MO_OK)
        status = mo_cuda_alloc(unit, sizeof(unsigned long long), &unit->hold.at,
                               err);
    return status;
}

/* They begin when all before them is over, copies too. */
static mo_status launch(mo_backend_unit *unit, const mo_cuda_function *function,
                        const mo_cuda_grid *grid, CUstream stream, void **args,
                        mo_error *err)
{
    bool overlap = unit->overlap;
    mo_status status;

    unit->overlap = false;
    status = mo_cuda_launch(unit, function, grid, stream, args, err);
    unit->overlap = overlap;
    return status;
}

mo_status mo_cuda_link_emulation_begin(mo_backend_unit *unit, CUstream stream,
                                       mo_error *err)
{
    void *args[] = { &unit->hold.at };

    return launch(unit, unit->hold.begin, &one_thread, stream, args, err);
}

/* What is left to wait for, of ns. */
static unsigned long long rest_of(int64_t ns)
{
    int64_t rest = ns - OVERHEAD_NS - MO_CUDA_LINK_EMULATION_LAUNCH_NS;

    return rest > 0 ? (unsigned long long) rest : 0;
}

mo_status mo_cuda_link_emulation_end(mo_backend_unit *unit, int64_t ns,
                                     CUstream stream, mo_error *err)
{
    unsigned long long rest = rest_of(ns);
    void *args[] = { &unit->hold.at, &rest };

    return launch(unit, unit->hold.end, &one_thread, stream, args, err);
}

mo_status mo_cuda_link_emulation_copy(mo_backend_unit *unit, CUdeviceptr to,
                                      CUdeviceptr from, size_t bytes,
                                      int64_t ns, CUstream stream,
                                      mo_error *err)
{
    unsigned long long rest = rest_of(ns);
    size_t blocks = (bytes + COPY_BYTES - 1) / COPY_BYTES;
    mo_cuda_grid grid = { .blocks = { 1, 1, 1 },
                          .threads = { COPY_THREADS, 1, 1 } };
    long long n = (long long) bytes;
    void *args[] = { &to, &from, &n, &rest };

    if (blocks > 1)
        grid.blocks[0] =
            (unsigned) (blocks < COPY_BLOCKS ? blocks : COPY_BLOCKS);
    return launch(unit, unit->hold.copy, &grid, stream, args, err);
}

bool mo_cuda_link_emulation_applies(int64_t ns)
{
    return ns > OVERHEAD_NS + MO_CUDA_LINK_EMULATION_LAUNCH_NS;
}
