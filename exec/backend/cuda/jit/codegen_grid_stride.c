#include "exec/backend/cuda/jit/codegen_grid_stride.h"

void mo_code_flat(mo_code *code, int64_t count)
{
    const char *type = count > INT32_MAX ? "unsigned long long" : "unsigned";

    mo_code_add(code,
                "for (%s t = (%s) blockIdx.x * %du + threadIdx.x; t < %lldu; "
                "t += (%s) gridDim.x * %du) {\n",
                type, type, MO_FLAT_THREADS, (long long) count, type,
                MO_FLAT_THREADS);
}

mo_cuda_grid mo_cuda_flat_grid(const mo_unit *unit, int64_t count)
{
    enum { THREADS_ON_SM = 2048, TURNS = 2 };
    int64_t most =
        (int64_t) unit->sms * (THREADS_ON_SM / MO_FLAT_THREADS) * TURNS;
    int64_t blocks = (count + MO_FLAT_THREADS - 1) / MO_FLAT_THREADS;

    if (blocks > most)
        blocks = most;
    return (mo_cuda_grid){ .blocks = { (unsigned) blocks, 1, 1 },
                           .threads = { MO_FLAT_THREADS, 1, 1 } };
}
