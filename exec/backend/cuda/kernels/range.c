/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Range: start + i * step. Integers are exact; reals are computed from the
 * index, not from the previous element, so that errors do not accumulate.
 */
#include <assert.h>
#include <stdlib.h>

#include "exec/backend/cuda/kernels/kernel_class.h"
#include "exec/backend/check_call.h"
#include "exec/backend/cuda/jit/codegen.h"

typedef struct range_kernel {
    mo_backend_kernel base;
    mo_cuda_function *function; /* NULL: the result has no elements */
    mo_cuda_grid grid;
    bool has_operands; /* start and step are operands */
} range_kernel;

/* The value of an operand as a double, or as an integer. */
static void emit_operand(mo_cuda_source *code, const char *name, mo_elem elem,
                         bool real)
{
    const char *type = real ? "double" : "long long";

    mo_cuda_source_printf(code, "const %s %s = ", type, name);
    if (elem == MO_ELEM_F16)
        mo_cuda_source_printf(code, "mo_f16_load(*%s_at);\n", name);
    else if (elem == MO_ELEM_BF16)
        mo_cuda_source_printf(code, "mo_bf16_load(*%s_at);\n", name);
    else
        mo_cuda_source_printf(code, "*%s_at;\n", name);
}

static mo_status request_function(mo_backend_unit *unit, const mo_call *call,
                                  const mo_backend_operand *in,
                                  const mo_tensor_desc *out,
                                  mo_cuda_function **function, mo_error *err)
{
    mo_cuda_source code = { 0 };
    bool has_operands = call->n_in > 0, real = mo_elem_is_float(out->elem);
    char result[MO_CUDA_EXPR_SIZE];

    mo_cuda_source_append(&code, "MO_KERNEL(range)(");
    if (has_operands)
        mo_cuda_source_printf(&code, "const %s *start_at, const %s *step_at, ",
                              mo_cuda_elem_type_name(in[0].desc.elem),
                              mo_cuda_elem_type_name(in[2].desc.elem));
    mo_cuda_source_printf(&code, "%s *out)\n{\nMO_BEGIN();\n",
                          mo_cuda_elem_type_name(out->elem));
    if (has_operands) {
        emit_operand(&code, "start", in[0].desc.elem, real);
        emit_operand(&code, "step", in[2].desc.elem, real);
    } else {
        mo_cuda_source_printf(
            &code, "const %s start = %lldLL, step = %lldLL;\n",
            real ? "double" : "long long", (long long) call->u.range.start,
            (long long) call->u.range.step);
    }
    mo_cuda_emit_grid_stride_loop(&code, mo_tensor_desc_elements(out));
    mo_cuda_source_append(
        &code, real ? "const double v = start + (double) t * step;\n"
                    : "const long long v = (long long) ((unsigned long "
                      "long) start + (unsigned long long) t * "
                      "(unsigned long long) step);\n");
    mo_cuda_stored_expr(out->elem, "v", result);
    mo_cuda_source_printf(&code, "out[t] = %s;\n}\n}\n", result);
    return mo_cuda_jit_request_source(unit, &code, "range", function, err);
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    int64_t count = mo_tensor_desc_elements(&out[0]);
    mo_status status = mo_backend_check_range(call, in, err);
    range_kernel *range;

    assert(!call->after);
    if (status != MO_OK)
        return status;
    range = calloc(1, sizeof *range);
    if (!range)
        return mo_fail_memory(err);
    range->has_operands = call->n_in > 0;
    range->grid = mo_cuda_grid_stride_grid(unit, count);
    if (count > 0)
        status =
            request_function(unit, call, in, &out[0], &range->function, err);
    if (status != MO_OK) {
        free(range);
        return status;
    }
    *kernel = &range->base;
    return MO_OK;
}

static mo_status enqueue(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const range_kernel *range = (const range_kernel *) kernel;
    const void *start = range->has_operands ? in[0] : NULL;
    const void *step = range->has_operands ? in[2] : NULL;
    void *result = out[0], *args[] = { &start, &step, &result };

    (void) workspace;
    if (!range->function)
        return MO_OK;
    return mo_cuda_launch(unit, range->function, &range->grid, stream,
                          range->has_operands ? args : args + 2, err);
}

const mo_cuda_kernel_class mo_cuda_range_kernel = { prepare, NULL, enqueue,
                                                    mo_cuda_kernel_free };
