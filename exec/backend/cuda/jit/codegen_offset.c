#include "exec/backend/cuda/jit/codegen_offset.h"

void mo_code_place(mo_code *code, const char *name, const int64_t *extent,
                   const int64_t *stride, int n)
{
    mo_code_add(code, "MO_DEVICE PLACE %s(PLACE at)\n{\n", name);
    if (n > 1)
        mo_code_indices(code, "at", extent, n);
    else
        mo_code_text(code, "const PLACE i0 = at;\n");
    mo_code_text(code, "return 0");
    for (int i = 0; i < n; i++)
        mo_code_add(code, " + (PLACE) i%d * (PLACE) %lldLL", i,
                    (long long) stride[i]);
    mo_code_text(code, ";\n}\n");
}
