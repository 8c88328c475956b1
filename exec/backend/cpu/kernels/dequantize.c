/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of quantized blocks to f32, f16 or bf16. */
#include <stdlib.h>

#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/tensor/convert.h"

typedef struct dequantize_kernel {
    mo_cpu_kernel base;
    mo_call_dequantize blocks;
    mo_elem elem; /* of the result */
} dequantize_kernel;

typedef struct dequantize_run {
    const dequantize_kernel *kernel;
    const char *in;
    char *out;
} dequantize_run;

static void convert_blocks(void *context, int64_t begin, int64_t end,
                           int worker)
{
    const dequantize_run *run = context;
    mo_block_format format = run->kernel->blocks.format;
    int64_t elements = mo_block_format_elements(format);
    size_t bytes = mo_block_format_bytes(format);
    mo_elem elem = run->kernel->elem;

    (void) worker;
    for (int64_t b = begin; b < end; b++) {
        const char *from = run->in + (size_t) b * bytes;
        void *to = run->out + (size_t) (b * elements) * mo_elem_size(elem);
        float values[MO_BLOCK_ELEMENTS];

        if (elem == MO_ELEM_F32) {
            mo_block_format_to_f32(format, from, elements, to);
            continue;
        }
        mo_block_format_to_f32(format, from, elements, values);
        mo_tensor_narrow_f32(elem, values, to, elements);
    }
}

static mo_status prepare_dequantize(mo_cpu_unit *unit, const mo_call *call,
                                    const mo_backend_operand *in,
                                    const mo_tensor_desc *out,
                                    mo_cpu_kernel **kernel, size_t *workspace,
                                    mo_error *err)
{
    const mo_call_dequantize *blocks = &call->u.dequantize;
    dequantize_kernel *made;

    (void) unit, (void) workspace;
    if (mo_block_format_row_bytes(blocks->format, blocks->elements) !=
            (int64_t) mo_tensor_desc_bytes(&in[0].desc) ||
        mo_tensor_desc_elements(&out[0]) != blocks->elements ||
        !mo_elem_is_float(out[0].elem) || out[0].elem == MO_ELEM_F64)
        return mo_fail(err, MO_E_INPUT, "blocks do not fit their tensors");
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->blocks = *blocks;
    made->elem = out[0].elem;
    *kernel = &made->base;
    return MO_OK;
}

static mo_status run_dequantize(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                                const void *const *in, void *const *out,
                                void *workspace, mo_error *err)
{
    enum { GRAIN = 1 << 9 };
    const dequantize_kernel *k = (const dequantize_kernel *) kernel;
    dequantize_run run = { k, in[0], out[0] };

    (void) workspace, (void) err;
    mo_cpu_thread_pool_parallel_for(
        unit->pool,
        k->blocks.elements / mo_block_format_elements(k->blocks.format), GRAIN,
        convert_blocks, &run);
    return MO_OK;
}

const mo_cpu_kernel_class mo_cpu_dequantize = { prepare_dequantize,
                                                run_dequantize, NULL };
