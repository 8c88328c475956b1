/*
 * Ranges.  Integers are counted exactly; numbers are computed from the start,
 * not from their neighbours, so that errors do not add up.
 */
#include <assert.h>
#include <stdlib.h>

#include "exec/backend/check_call.h"
#include "exec/backend/cuda/jit/kernel_request.h"
#include "exec/backend/cuda/jit/codegen_grid_stride.h"

typedef struct range_kernel {
    mo_kernel base;
    mo_cuda_function *function; /* NULL: the result has no elements */
    mo_cuda_grid grid;
    bool told; /* start and step are operands */
} range_kernel;

/* A number of an operand as a double, or as an integer. */
static void add_operand(mo_code *code, const char *name, mo_elem elem,
                        bool real)
{
    const char *type = real ? "double" : "long long";

    mo_code_add(code, "const %s %s = ", type, name);
    if (elem == MO_F16)
        mo_code_add(code, "mo_f16_load(*%s_at);\n", name);
    else if (elem == MO_BF16)
        mo_code_add(code, "mo_bf16_load(*%s_at);\n", name);
    else
        mo_code_add(code, "*%s_at;\n", name);
}

static void add_source(mo_code *code, const mo_call *call,
                       const mo_call_operand *in, const mo_desc *out)
{
    bool told = call->n_in > 0, real = mo_elem_is_real(out->elem);
    char result[MO_CODE_RESULT_SIZE];

    mo_code_text(code, "MO_KERNEL(range)(");
    if (told)
        mo_code_add(code, "const %s *start_at, const %s *step_at, ",
                    mo_code_elem(in[0].desc.elem),
                    mo_code_elem(in[2].desc.elem));
    mo_code_add(code, "%s *out)\n{\nMO_BEGIN();\n", mo_code_elem(out->elem));
    if (told) {
        add_operand(code, "start", in[0].desc.elem, real);
        add_operand(code, "step", in[2].desc.elem, real);
    } else {
        mo_code_add(code, "const %s start = %lldLL, step = %lldLL;\n",
                    real ? "double" : "long long",
                    (long long) call->u.range.start,
                    (long long) call->u.range.step);
    }
    mo_code_flat(code, mo_desc_elements(out));
    mo_code_text(code, real ? "const double v = start + (double) t * step;\n"
                            : "const long long v = (long long) ((unsigned long "
                              "long) start + (unsigned long long) t * "
                              "(unsigned long long) step);\n");
    mo_code_stored(out->elem, "v", result);
    mo_code_add(code, "out[t] = %s;\n}\n}\n", result);
}

static mo_status ask(mo_unit *unit, const mo_call *call,
                     const mo_call_operand *in, const mo_desc *out,
                     mo_cuda_function **function, mo_error *err)
{
    mo_code code = { 0 };

    add_source(&code, call, in, out);
    return mo_cuda_ask_code(unit, &code, "range", function, err);
}

static mo_status prepare(mo_unit *unit, const mo_call *call,
                         const mo_call_operand *in, const mo_desc *out,
                         mo_kernel **kernel, mo_error *err)
{
    int64_t count = mo_desc_elements(&out[0]);
    mo_status status = mo_check_range(call, in, err);
    range_kernel *range;

    assert(!call->after);
    if (status != MO_OK)
        return status;
    range = calloc(1, sizeof *range);
    if (!range)
        return mo_fail_memory(err);
    range->told = call->n_in > 0;
    range->grid = mo_cuda_flat_grid(unit, count);
    if (count > 0)
        status = ask(unit, call, in, &out[0], &range->function, err);
    if (status != MO_OK) {
        free(range);
        return status;
    }
    *kernel = &range->base;
    return MO_OK;
}

static mo_status enqueue(mo_unit *unit, const mo_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const range_kernel *range = (const range_kernel *) kernel;
    const void *start = range->told ? in[0] : NULL;
    const void *step = range->told ? in[2] : NULL;
    void *result = out[0], *args[] = { &start, &step, &result };

    (void) workspace;
    if (!range->function)
        return MO_OK;
    return mo_cuda_launch(unit, range->function, &range->grid, stream,
                          range->told ? args : args + 2, err);
}

const mo_cuda_maker mo_cuda_range = { prepare, NULL, enqueue,
                                      mo_cuda_drop_whole };
