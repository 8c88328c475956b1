/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax and log-softmax: softmax.cu. */
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/row_reduction.h"

#include "exec/backend/cuda/kernels/softmax.inc"

static mo_status emit_rows(mo_backend_unit *unit,
                           const mo_call_softmax *softmax, int width,
                           mo_cuda_single_kernel_spec *draft, mo_error *err)
{
    mo_cuda_row_reduction rows =
        mo_cuda_row_reduction_of(unit, softmax->outer, softmax->count, width);

    mo_cuda_emit_row_reduction(&draft->code, &rows);
    mo_cuda_source_append(&draft->code, row_source);
    return mo_cuda_row_reduction_grid(&rows, &draft->grid, err);
}

static mo_status emit_columns(const mo_call_softmax *softmax,
                              mo_cuda_single_kernel_spec *draft, mo_error *err)
{
    enum { MOST_COLUMNS = 32, MOST_THREADS = 256 };
    int columns = 1, deep = 1;
    int64_t tiles;

    while (columns < MOST_COLUMNS && columns < softmax->inner)
        columns *= 2;
    while (columns * deep < MOST_THREADS && (int64_t) 2 * deep < softmax->count)
        deep *= 2;
    tiles = (softmax->inner + columns - 1) / columns;
    mo_cuda_source_printf(
        &draft->code,
        "#define COUNT %lldLL\n#define INNER %lldLL\n"
        "#define COLUMNS %d\n#define DEEP %d\n#define TILES %lldu\n"
        "#define BLOCK (COLUMNS * DEEP)\n",
        (long long) softmax->count, (long long) softmax->inner, columns, deep,
        (long long) tiles);
    mo_cuda_source_append(&draft->code, column_source);
    return mo_cuda_grid_1d(softmax->count > 0 ? softmax->outer * tiles : 0, 1,
                           columns * deep, &draft->grid, err);
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    const mo_call_softmax *softmax = &call->u.softmax;
    bool by_rows = softmax->inner == 1;
    int width =
        by_rows ? mo_cuda_epilogue_vector_width(call, &out[0], softmax->count)
                : 1;
    mo_cuda_single_kernel_spec draft = { .name = "softmax" };
    mo_status status = mo_cuda_check_same_type(call, in, out, err);

    if (status != MO_OK)
        return status;
    mo_cuda_emit_types(&draft.code, out[0].elem, width,
                       mo_tensor_desc_elements(&out[0]));
    mo_cuda_emit_epilogue_prefetch(&draft.code, call, in, &out[0], width);
    mo_cuda_source_printf(&draft.code, "#define LOGARITHM %d\n", softmax->log);
    status = by_rows ? emit_rows(unit, softmax, width, &draft, err)
                     : emit_columns(softmax, &draft, err);
    if (status != MO_OK) {
        mo_cuda_source_clear(&draft.code);
        return status;
    }
    return mo_cuda_single_kernel_new(unit, call, 1, &draft, kernel, err);
}

const mo_cuda_kernel_class mo_cuda_softmax_kernel = {
    prepare, NULL, mo_cuda_single_kernel_enqueue, mo_cuda_single_kernel_free
};
