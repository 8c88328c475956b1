/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/kernels/single_kernel.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

enum { MOST_OWN = 4 };

typedef struct single {
    mo_backend_kernel base;
    const mo_call *call;
    mo_cuda_function *function;
    mo_cuda_grid grid;
    int n_in;
    CUdeviceptr table; /* 0: none */
} single;

mo_status mo_cuda_single_kernel_new(mo_backend_unit *unit, const mo_call *call,
                                    int n_in, mo_cuda_single_kernel_spec *draft,
                                    mo_backend_kernel **kernel, mo_error *err)
{
    single *made = calloc(1, sizeof *made);
    mo_status status =
        made ? mo_cuda_source_check(&draft->code, err) : mo_fail_memory(err);

    assert(n_in <= MOST_OWN && call->n_out <= MOST_OWN);
    if (status == MO_OK && draft->grid.blocks[0] > 0)
        status = mo_cuda_jit_request(unit, draft->code.text, draft->name,
                                     &made->function, err);
    mo_cuda_source_clear(&draft->code);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    made->call = call;
    made->grid = draft->grid;
    made->n_in = n_in;
    *kernel = &made->base;
    return MO_OK;
}

mo_status mo_cuda_single_kernel_set_table(mo_backend_unit *unit,
                                          mo_backend_kernel *kernel,
                                          const void *table, size_t bytes,
                                          mo_error *err)
{
    single *made = (single *) kernel;
    mo_status status = mo_cuda_alloc(unit, bytes, &made->table, err);

    if (status == MO_OK)
        status = mo_cuda_copy_to_device(unit, made->table, table, bytes, err);
    return status;
}

mo_status mo_cuda_single_kernel_enqueue(mo_backend_unit *unit,
                                        const mo_backend_kernel *kernel,
                                        const void *const *in, void *const *out,
                                        void *workspace, CUstream stream,
                                        mo_error *err)
{
    const single *made = (const single *) kernel;
    mo_cuda_epilogue_inputs extra = mo_cuda_epilogue_inputs_of(made->call, in);
    const void *own_in[MOST_OWN];
    void *own_out[MOST_OWN], *args[2 * MOST_OWN + 2];
    CUdeviceptr table = made->table;
    int n = 0;

    (void) workspace;
    if (!made->function)
        return MO_OK;
    for (int i = 0; i < made->n_in; i++) {
        own_in[i] = in[i];
        args[n++] = &own_in[i];
    }
    for (int i = 0; i < made->call->n_out; i++) {
        own_out[i] = out[i];
        args[n++] = &own_out[i];
    }
    if (table)
        args[n++] = &table;
    args[n++] = &extra;
    return mo_cuda_launch(unit, made->function, &made->grid, stream, args, err);
}

void mo_cuda_single_kernel_free(mo_backend_unit *unit,
                                mo_backend_kernel *kernel)
{
    mo_cuda_free(unit, ((single *) kernel)->table);
    free(kernel);
}

mo_status mo_cuda_grid_1d(int64_t items, int per_block, int threads,
                          mo_cuda_grid *grid, mo_error *err)
{
    int64_t blocks = items / per_block + (items % per_block != 0);

    if (blocks > INT_MAX)
        return mo_fail(err, MO_E_LIMIT,
                       "a tensor of %lld elements is too large for the GPU",
                       (long long) items);
    *grid = (mo_cuda_grid){ .blocks = { (unsigned) blocks, 1, 1 },
                            .threads = { (unsigned) threads, 1, 1 } };
    return MO_OK;
}

mo_status mo_cuda_check_same_type(const mo_call *call,
                                  const mo_backend_operand *in,
                                  const mo_tensor_desc *out, mo_error *err)
{
    if (in[0].desc.elem == out[0].elem)
        return MO_OK;
    return mo_fail(err, MO_E_SUPPORT, "a %s of %s to %s cannot be run",
                   mo_call_kind_name(call->kind), mo_elem_name(in[0].desc.elem),
                   mo_elem_name(out[0].elem));
}
