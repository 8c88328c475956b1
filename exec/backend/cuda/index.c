#include "exec/backend/cuda/index.h"

#include <string.h>

mo_status mo_cuda_indices_check(const mo_call_operand *indices,
                                const int64_t *sizes, int n, mo_error *err)
{
    mo_dense dense = { .desc = indices->desc };
    int64_t count = mo_desc_elements(&indices->desc);

    if (!indices->constant)
        return MO_OK;
    memcpy(&dense.data, &indices->constant, sizeof dense.data);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = mo_dense_int(&dense, i), size = sizes[i % n];

        if (at < -size || at >= size)
            return mo_fail(err, MO_E_INPUT,
                           "index %lld (number %lld of its indices) is "
                           "outside of %lld elements",
                           (long long) at, (long long) i, (long long) size);
    }
    return MO_OK;
}

void mo_code_index(mo_code *code, mo_elem elem)
{
    mo_code_add(code,
                "MO_DEVICE long long mo_index(const %s *indices, long long i, "
                "long long size)\n"
                "{\n"
                "    long long at = (long long) indices[i];\n"
                "    at = at < 0 ? at + size : at;\n"
                "    return at >= 0 && at < size ? at : -1;\n"
                "}\n",
                mo_code_elem(elem));
}
