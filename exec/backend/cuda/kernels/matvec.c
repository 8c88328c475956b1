/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/kernels/matvec.h"

#include "base/minmax.h"
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/single_kernel.h"
#include "exec/tensor/block_format.h"

#pragma GCC diagnostic ignored "-Woverlength-strings"

#include "exec/backend/cuda/kernels/matvec.inc"

enum {
    MOST_ROWS = 8,
    /* Blocks quantize all data, which many warps share. */
    WARPS_BLOCKS = 8,
    WARPS_NUMBERS = 4,
    STAGES_BLOCKS = 4,
    STAGES_NUMBERS = 8,
    WARPS_OF_SM =
        16, /* of quantized rows, for their memory; else as many again */
    MOST_SPAN = 32
};

int mo_cuda_format_bits(mo_block_format format)
{
    return format == MO_BLOCK_Q8_0 ? 8 : format == MO_BLOCK_Q4_0 ? 4 : 0;
}

/* Bytes of shared memory for blocks: the rings of all warps, the quantized
 * data, and their scales. */
static int64_t shared_bytes(const mo_call_linear *l)
{
    int64_t bits = mo_cuda_format_bits(l->format), words = bits == 8 ? 17 : 9;
    int64_t data = l->m * (l->k / 64) * words * (bits == 4 ? 2 : 1);

    if (bits == 0)
        return 0;
    return 4 * (WARPS_BLOCKS * STAGES_BLOCKS * 32 * words +
                (data + 3) / 4 * 4) +
           8 * l->m * (l->k / 32);
}

bool mo_cuda_matvec_supports(const mo_backend_unit *unit,
                             const mo_call_linear *l)
{
    int multiple = mo_cuda_format_bits(l->format) > 0 ? 64 : 8;

    return l->m > 0 && l->m <= MOST_ROWS && l->n > 0 && l->n <= INT32_MAX / 2 &&
           l->k > 0 && l->k <= INT32_MAX / 2 && l->k % multiple == 0 &&
           shared_bytes(l) <= (int64_t) unit->max_shared_bytes;
}

/* As many warps share rows as are needed for enough of them, where each has
 * more than a batch of loads. */
static int choose_split(const mo_call_linear *l, int64_t warps)
{
    int split = 1;

    while (2 * split <= WARPS_NUMBERS && 2 * split * l->n <= warps &&
           l->k / (256 * split) > STAGES_NUMBERS)
        split *= 2;
    return split;
}

/* A warp has as many rows of weights as keep all multiprocessors busy once. */
mo_status mo_cuda_emit_matvec(const mo_backend_unit *unit, const mo_call *call,
                              const mo_tensor_desc *out,
                              const mo_call_linear *l,
                              mo_cuda_single_kernel_spec *draft, mo_error *err)
{
    mo_cuda_source *code = &draft->code;
    int bits = mo_cuda_format_bits(l->format);
    int warps = bits > 0 ? WARPS_BLOCKS : WARPS_NUMBERS;
    int64_t rows = (int64_t) unit->sms * WARPS_OF_SM * (bits > 0 ? 1 : 2);
    int64_t span = mo_min_i64((l->n + rows - 1) / rows, MOST_SPAN);
    int split = bits > 0 ? 1 : choose_split(l, rows);
    mo_elem elem = bits > 0 ? MO_ELEM_U32 : mo_block_format_elem(l->format);
    mo_status status = mo_cuda_grid_1d(l->n, (int) span * warps / split,
                                       32 * warps, &draft->grid, err);

    if (status != MO_OK)
        return status;
    draft->name = bits > 0 ? "matvec_blocks" : "matvec_numbers";
    draft->grid.shared = (unsigned) shared_bytes(l);
    mo_cuda_emit_types(code, out->elem, 16 / (int) mo_elem_size(out->elem),
                       mo_tensor_desc_elements(out));
    mo_cuda_emit_epilogue(code, call, out, 1);
    mo_cuda_source_printf(
        code,
        "#define BITS %d\ntypedef %s W;\n#define WEIGHT %s\n#define ROWS %d\n"
        "#define COLUMNS %d\n#define DEPTH %d\n#define SPAN %d\n"
        "#define STAGES %d\n#define COPY %d\n#define WARPS %d\n"
        "#define SPLIT %d\n",
        bits, mo_cuda_elem_type_name(elem), mo_cuda_elem_to_float(elem),
        (int) l->m, (int) l->n, (int) l->k, (int) span,
        bits > 0 ? STAGES_BLOCKS : STAGES_NUMBERS, l->k % 256 == 0 ? 16 : 4,
        warps, split);
    mo_cuda_source_append(code, bits > 0 ? blocks_source : numbers_source);
    return MO_OK;
}
