/* SPDX-License-Identifier: Apache-2.0 */
/* Grid sampling (grid_sample.cu). */
#include "exec/backend/check_call.h"
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/single_kernel.h"

enum { BLOCK = 128 };

#include "exec/backend/cuda/kernels/grid_sample.inc"

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    int64_t elements = mo_tensor_desc_elements(&out[0]);
    mo_cuda_single_kernel_spec draft = { .name = "grid_sample" };
    const mo_call_grid_sample *grid = &call->u.grid_sample;
    mo_status status = mo_backend_check_grid_sample(call, in, out, err);

    if (status == MO_OK)
        status = mo_cuda_grid_1d(elements, BLOCK, BLOCK, &draft.grid, err);
    if (status != MO_OK)
        return status;
    mo_cuda_emit_types(&draft.code, out[0].elem, 1, elements);
    mo_cuda_emit_epilogue(&draft.code, call, &out[0], 1);
    mo_cuda_source_printf(
        &draft.code,
        "#define MODE %d\n#define PADDING %d\n#define ALIGN %d\n"
        "#define SPATIAL %d\n#define CHANNELS %lldLL\n"
        "#define POINTS %lldLL\n#define ELEMENTS %lldLL\n#define BLOCK %d\n",
        (int) grid->mode, (int) grid->padding, grid->align_corners,
        grid->spatial, (long long) grid->channels, (long long) grid->points,
        (long long) elements, BLOCK);
    for (int d = 0; d < MO_CALL_MAX_SPATIAL; d++)
        mo_cuda_source_printf(&draft.code, "#define SIZE%d %lldLL\n", d,
                              d < grid->spatial ? (long long) grid->in[d]
                                                : 1LL);
    mo_cuda_source_append(&draft.code, kernel_source);
    return mo_cuda_single_kernel_new(unit, call, 2, &draft, kernel, err);
}

const mo_cuda_kernel_class mo_cuda_grid_sample_kernel = {
    prepare, NULL, mo_cuda_single_kernel_enqueue, mo_cuda_single_kernel_free
};
