/* SPDX-License-Identifier: Apache-2.0 */
/* Mean-variance normalization of rows: norm.cu. */
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/row_reduction.h"

#include "exec/backend/cuda/kernels/norm.inc"

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    const mo_call_norm *norm = &call->u.norm;
    int width = mo_cuda_epilogue_vector_width(call, &out[0], norm->count);
    mo_cuda_row_reduction rows =
        mo_cuda_row_reduction_of(unit, norm->groups, norm->count, width);
    mo_cuda_single_kernel_spec draft = { .name = "norm_rows" };
    mo_status status = mo_cuda_check_same_type(call, in, out, err);

    if (status == MO_OK)
        status = mo_cuda_row_reduction_grid(&rows, &draft.grid, err);
    if (status != MO_OK)
        return status;
    mo_cuda_emit_types(&draft.code, out[0].elem, width,
                       mo_tensor_desc_elements(&out[0]));
    mo_cuda_emit_epilogue_prefetch(&draft.code, call, in, &out[0], width);
    mo_cuda_emit_row_reduction(&draft.code, &rows);
    mo_cuda_source_printf(&draft.code,
                          "#define CENTER %d\n#define SCALE %d\n"
                          "MO_DEVICE R factor_of(R squares)\n{\n"
                          "const R size = squares%s, eps = ",
                          norm->center, norm->scale,
                          norm->sum ? "" : " / (R) COUNT");
    mo_cuda_emit_real(&draft.code, norm->eps, out[0].elem == MO_ELEM_F64);
    mo_cuda_source_append(&draft.code, ";\nreturn 1 / ");
    if (norm->max_eps)
        mo_cuda_source_append(&draft.code,
                              "MATH(sqrt)(size > eps ? size : eps)");
    else if (norm->eps_outside)
        mo_cuda_source_append(&draft.code, "(MATH(sqrt)(size) + eps)");
    else
        mo_cuda_source_append(&draft.code, "MATH(sqrt)(size + eps)");
    mo_cuda_source_append(&draft.code, ";\n}\n");
    mo_cuda_source_append(&draft.code, kernel_source);
    return mo_cuda_single_kernel_new(unit, call, 1, &draft, kernel, err);
}

const mo_cuda_kernel_class mo_cuda_norm_kernel = {
    prepare, NULL, mo_cuda_single_kernel_enqueue, mo_cuda_single_kernel_free
};
