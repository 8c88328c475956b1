/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/graph/link_emulation.h"

#include "exec/backend/cuda/jit/jit_cache.h"

/* Launch latency of a waiting kernel, before its first and after its last
 * instruction: measured on an H200, a kernel that waits for 10 us takes 11.6,
 * one that waits for 400 us 401.6. */
enum { OVERHEAD_NS = 1600 };

#include "exec/backend/cuda/graph/link_emulation.inc"

/* Bytes that a block copies per iteration. Many more blocks are not faster,
 * and several transfers may run at once. */
enum { COPY_THREADS = 512, COPY_BYTES = COPY_THREADS * 64, COPY_BLOCKS = 16 };

static const mo_cuda_grid one_thread = { .blocks = { 1, 1, 1 },
                                         .threads = { 1, 1, 1 } };

mo_status mo_cuda_link_emulation_prepare(mo_backend_unit *unit, mo_error *err)
{
    mo_status status = MO_OK;

    if (unit->link_emulator.begun_at)
        return MO_OK;
    status = mo_cuda_jit_request(unit, begin_source, "hold_begin",
                                 &unit->link_emulator.begin, err);
    if (status == MO_OK)
        status = mo_cuda_jit_request(unit, end_source, "hold_end",
                                     &unit->link_emulator.end, err);
    if (status == MO_OK)
        status = mo_cuda_jit_request(unit, copy_source, "hold_copy",
                                     &unit->link_emulator.copy, err);
    if (status == MO_OK)
        status = mo_cuda_jit_compile(unit, err);
    if (status == MO_OK)
        status = mo_cuda_alloc(unit,
                               (size_t) mo_cuda_unit_slots(unit) *
                                   sizeof(unsigned long long),
                               &unit->link_emulator.begun_at, err);
    return status;
}

static CUdeviceptr begun_at(const mo_backend_unit *unit)
{
    return unit->link_emulator.begun_at +
           (size_t) unit->slot * sizeof(unsigned long long);
}

/* Launches that start after all previous work, copies included, is complete. */
static mo_status launch_without_pdl(mo_backend_unit *unit,
                                    const mo_cuda_function *function,
                                    const mo_cuda_grid *grid, CUstream stream,
                                    void **args, mo_error *err)
{
    bool overlap = unit->has_pdl;
    mo_status status;

    unit->has_pdl = false;
    status = mo_cuda_launch(unit, function, grid, stream, args, err);
    unit->has_pdl = overlap;
    return status;
}

mo_status mo_cuda_link_emulation_begin(mo_backend_unit *unit, CUstream stream,
                                       mo_error *err)
{
    CUdeviceptr begun = begun_at(unit);
    void *args[] = { &begun };

    return launch_without_pdl(unit, unit->link_emulator.begin, &one_thread,
                              stream, args, err);
}

/* Returns the part of ns that a kernel has to wait. */
static unsigned long long remaining_ns(int64_t ns)
{
    int64_t rest = ns - OVERHEAD_NS - MO_CUDA_LINK_EMULATION_LAUNCH_NS;

    return rest > 0 ? (unsigned long long) rest : 0;
}

mo_status mo_cuda_link_emulation_end(mo_backend_unit *unit, int64_t ns,
                                     CUstream stream, mo_error *err)
{
    unsigned long long rest = remaining_ns(ns);
    CUdeviceptr begun = begun_at(unit);
    void *args[] = { &begun, &rest };

    return launch_without_pdl(unit, unit->link_emulator.end, &one_thread,
                              stream, args, err);
}

mo_status mo_cuda_link_emulation_copy(mo_backend_unit *unit, CUdeviceptr to,
                                      CUdeviceptr from, size_t bytes,
                                      int64_t ns, CUstream stream,
                                      mo_error *err)
{
    unsigned long long rest = remaining_ns(ns);
    size_t blocks = (bytes + COPY_BYTES - 1) / COPY_BYTES;
    mo_cuda_grid grid = { .blocks = { 1, 1, 1 },
                          .threads = { COPY_THREADS, 1, 1 } };
    long long n = (long long) bytes;
    void *args[] = { &to, &from, &n, &rest };

    if (blocks > 1)
        grid.blocks[0] =
            (unsigned) (blocks < COPY_BLOCKS ? blocks : COPY_BLOCKS);
    return launch_without_pdl(unit, unit->link_emulator.copy, &grid, stream,
                              args, err);
}

bool mo_cuda_link_emulation_applies(int64_t ns)
{
    return ns > OVERHEAD_NS + MO_CUDA_LINK_EMULATION_LAUNCH_NS;
}
