/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/jit/codegen_offset.h"

void mo_cuda_emit_offset_function(mo_cuda_source *code, const char *name,
                                  const int64_t *extent, const int64_t *stride,
                                  int n)
{
    mo_cuda_source_printf(code, "MO_DEVICE PLACE %s(PLACE at)\n{\n", name);
    if (n > 1)
        mo_cuda_emit_indices(code, "at", extent, n);
    else
        mo_cuda_source_append(code, "const PLACE i0 = at;\n");
    mo_cuda_source_append(code, "return 0");
    for (int i = 0; i < n; i++)
        mo_cuda_source_printf(code, " + (PLACE) i%d * (PLACE) %lldLL", i,
                              (long long) stride[i]);
    mo_cuda_source_append(code, ";\n}\n");
}
