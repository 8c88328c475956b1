/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/jit/codegen_grid_stride.h"

void mo_cuda_emit_grid_stride_loop(mo_cuda_source *code, int64_t count)
{
    const char *type = count > INT32_MAX ? "unsigned long long" : "unsigned";

    mo_cuda_source_printf(
        code,
        "for (%s t = (%s) blockIdx.x * %du + threadIdx.x; t < %lldu; "
        "t += (%s) gridDim.x * %du) {\n",
        type, type, MO_CUDA_GRID_STRIDE_THREADS, (long long) count, type,
        MO_CUDA_GRID_STRIDE_THREADS);
}

mo_cuda_grid mo_cuda_grid_stride_grid(const mo_backend_unit *unit,
                                      int64_t count)
{
    enum { THREADS_ON_SM = 2048, TURNS = 2 };
    int64_t most = (int64_t) unit->sms *
                   (THREADS_ON_SM / MO_CUDA_GRID_STRIDE_THREADS) * TURNS;
    int64_t blocks =
        (count + MO_CUDA_GRID_STRIDE_THREADS - 1) / MO_CUDA_GRID_STRIDE_THREADS;

    if (blocks > most)
        blocks = most;
    return (mo_cuda_grid){ .blocks = { (unsigned) blocks, 1, 1 },
                           .threads = { MO_CUDA_GRID_STRIDE_THREADS, 1, 1 } };
}
