/* SPDX-License-Identifier: Apache-2.0 */
/* Products with weights in a storage format, and their values: matvec.cu for
 * few rows, linear.cu for all. */
#include "base/ablation.h"
#include "base/minmax.h"
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/matvec.h"
#include "exec/backend/cuda/kernels/single_kernel.h"
#include "exec/tensor/block_format.h"

enum {
    BLOCK = 128,
    MOST_AT_ONCE = 8,
    PART = 16,
    MOST_NEIGHBOURS = 8, /* of a part of four bits */
    MOST_BLOCKS_Y = 65535
};

#include "exec/backend/cuda/kernels/linear.inc"

static mo_status check_real(const mo_call *call, const mo_tensor_desc *out,
                            mo_error *err)
{
    if (mo_elem_is_float(out[0].elem) && out[0].elem != MO_ELEM_F64)
        return MO_OK;
    return mo_fail(err, MO_E_SUPPORT, "a %s of %s cannot be run",
                   mo_call_kind_name(call->kind), mo_elem_name(out[0].elem));
}

/* Weights are words of two bytes where they are quantized: the scales of blocks
 * are no further aligned. */
static void emit_format(mo_cuda_source *code, mo_block_format format,
                        int64_t depth)
{
    int bits = mo_cuda_format_bits(format);
    mo_elem elem = bits > 0 ? MO_ELEM_U16 : mo_block_format_elem(format);

    mo_cuda_source_printf(code,
                          "#define BITS %d\ntypedef %s W;\n#define WEIGHT %s\n"
                          "#define DEPTH %lldLL\n#define BLOCK %d\n",
                          bits, mo_cuda_elem_type_name(elem),
                          mo_cuda_elem_to_float(elem), (long long) depth,
                          BLOCK);
    mo_cuda_source_append(code, common_source);
}

/* Words of a row: numbers, or pairs of bytes. */
static int64_t row_words(mo_block_format format, int64_t k)
{
    return mo_block_format_row_bytes(format, k) /
           (format == MO_BLOCK_F32 ? 4 : 2);
}

/* Requests the kernel for few rows, where it supports them; otherwise leaves
 * *kernel NULL. Weights are read before the kernel that would make them has
 * ended. */
static mo_status prepare_matvec(mo_backend_unit *unit, const mo_call *call,
                                const mo_backend_operand *in,
                                const mo_tensor_desc *out,
                                mo_backend_kernel **kernel, mo_error *err)
{
    const mo_call_linear *l = &call->u.linear;
    mo_cuda_single_kernel_spec draft = { 0 };
    mo_status status;

    if (!in[1].constant || mo_ablated(MO_ABLATION_cuda_matvec) ||
        !mo_cuda_matvec_supports(unit, l))
        return MO_OK;
    status = mo_cuda_emit_matvec(unit, call, out, l, &draft, err);
    if (status == MO_OK)
        status = mo_cuda_single_kernel_new(unit, call, 2, &draft, kernel, err);
    mo_cuda_source_clear(&draft.code);
    return status;
}

static mo_status prepare_linear(mo_backend_unit *unit, const mo_call *call,
                                const mo_backend_operand *in,
                                const mo_tensor_desc *out,
                                mo_backend_kernel **kernel, mo_error *err)
{
    const mo_call_linear *l = &call->u.linear;
    int64_t at_once = mo_max_i64(1, mo_min_i64(l->m, MOST_AT_ONCE));
    int64_t blocks_y = (l->m + at_once - 1) / at_once;
    mo_cuda_single_kernel_spec draft = { .name = "linear" };
    mo_status status = mo_cuda_check_same_type(call, in, out, err);

    if (status == MO_OK)
        status = check_real(call, out, err);
    if (status == MO_OK)
        status = prepare_matvec(unit, call, in, &out[0], kernel, err);
    if (status != MO_OK || *kernel)
        return status;
    if (blocks_y > MOST_BLOCKS_Y || l->k > INT32_MAX)
        status = mo_fail(err, MO_E_LIMIT, "%lld rows of %lld are too many",
                         (long long) l->m, (long long) l->k);
    if (status == MO_OK)
        status = mo_cuda_grid_1d(l->m > 0 ? l->n : 0, BLOCK / 32, BLOCK,
                                 &draft.grid, err);
    if (status != MO_OK)
        return status;
    draft.grid.blocks[1] = (unsigned) mo_max_i64(blocks_y, 1);
    mo_cuda_emit_types(&draft.code, out[0].elem, 1,
                       mo_tensor_desc_elements(&out[0]));
    mo_cuda_emit_epilogue(&draft.code, call, &out[0], 1);
    emit_format(&draft.code, l->format, l->k);
    mo_cuda_source_printf(&draft.code,
                          "#define ROWS %lldLL\n#define COLUMNS %lldLL\n"
                          "#define STRIDE %lldLL\n#define AT_ONCE %lld\n",
                          (long long) l->m, (long long) l->n,
                          (long long) row_words(l->format, l->k),
                          (long long) at_once);
    mo_cuda_source_append(&draft.code, product_source);
    return mo_cuda_single_kernel_new(unit, call, 2, &draft, kernel, err);
}

static mo_status prepare_dequantize(mo_backend_unit *unit, const mo_call *call,
                                    const mo_backend_operand *in,
                                    const mo_tensor_desc *out,
                                    mo_backend_kernel **kernel, mo_error *err)
{
    mo_block_format format = call->u.dequantize.format;
    int64_t n = mo_tensor_desc_elements(&out[0]);
    int width = mo_min_int(
        mo_cuda_epilogue_vector_width(call, &out[0], MOST_NEIGHBOURS),
        MOST_NEIGHBOURS);
    mo_cuda_single_kernel_spec draft = { .name = "dequantize" };
    mo_status status = check_real(call, out, err);

    (void) in;
    if (status == MO_OK && n > INT32_MAX)
        status = mo_fail(err, MO_E_LIMIT, "%lld numbers are too many",
                         (long long) n);
    if (status == MO_OK)
        status = mo_cuda_grid_1d(n / PART, BLOCK, BLOCK, &draft.grid, err);
    if (status != MO_OK)
        return status;
    mo_cuda_emit_types(&draft.code, out[0].elem, width, n);
    mo_cuda_emit_epilogue(&draft.code, call, &out[0], width);
    emit_format(&draft.code, format, n);
    mo_cuda_source_append(&draft.code, values_source);
    return mo_cuda_single_kernel_new(unit, call, 1, &draft, kernel, err);
}

const mo_cuda_kernel_class mo_cuda_linear_kernel = {
    prepare_linear, NULL, mo_cuda_single_kernel_enqueue,
    mo_cuda_single_kernel_free
};

const mo_cuda_kernel_class mo_cuda_dequantize_kernel = {
    prepare_dequantize, NULL, mo_cuda_single_kernel_enqueue,
    mo_cuda_single_kernel_free
};
