/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prefix sums (cumsum.cu): a thread per line where lines are many or short, a
 * block per line for few long ones.
 */
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/single_kernel.h"

enum { BLOCK = 256, PER = 4, SHORT = 64 };

#include "exec/backend/cuda/kernels/cumsum.inc"

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    const mo_call_cumsum *cumsum = &call->u.cumsum;
    int64_t lines = cumsum->outer * cumsum->inner;
    bool alone = cumsum->count <= SHORT || lines > (int64_t) unit->sms * BLOCK;
    mo_cuda_single_kernel_spec draft = { .name = "cumsum" };
    mo_status status = mo_cuda_check_same_type(call, in, out, err);

    if (status == MO_OK)
        status = mo_cuda_grid_1d(cumsum->count > 0 ? lines : 0,
                                 alone ? BLOCK : 1, BLOCK, &draft.grid, err);
    if (status != MO_OK)
        return status;
    mo_cuda_emit_types(&draft.code, out[0].elem, 1,
                       mo_tensor_desc_elements(&out[0]));
    mo_cuda_emit_epilogue(&draft.code, call, &out[0], 1);
    mo_cuda_source_printf(
        &draft.code,
        "typedef %s A;\n#define ADD %s\n#define SHUFFLE_UP %s\n"
        "#define LINES %lldLL\n#define COUNT %lldLL\n"
        "#define INNER %lldLL\n#define EXCLUSIVE %d\n"
        "#define REVERSE %d\n#define BLOCK %d\n#define PER %d\n",
        mo_elem_is_float(out[0].elem) ? "double" : "long long",
        mo_elem_is_float(out[0].elem) ? "a + b" : "mo_add_l(a, b)",
        mo_elem_is_float(out[0].elem) ? "mo_shfl_up_d" : "mo_shfl_up_l",
        (long long) cumsum->outer * cumsum->inner, (long long) cumsum->count,
        (long long) cumsum->inner, cumsum->exclusive, cumsum->reverse, BLOCK,
        PER);
    mo_cuda_source_append(&draft.code, common_source);
    mo_cuda_source_append(&draft.code, alone ? thread_source : block_source);
    return mo_cuda_single_kernel_new(unit, call, 1, &draft, kernel, err);
}

const mo_cuda_kernel_class mo_cuda_cumsum_kernel = {
    prepare, NULL, mo_cuda_single_kernel_enqueue, mo_cuda_single_kernel_free
};
