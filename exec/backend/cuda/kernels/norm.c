#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/row_reduction.h"

/* Mean first, then the squares of what is off it, so that large means cost no
 * digits. */
static const char kernel_source[] =
    "MO_KERNEL_OF(norm_rows, BLOCK)"
    "(const T *in, T *out, struct mo_extra p)\n"
    "{\n"
    "    ROW_BEGIN\n"
    "    R mean = 0, factor = 1, sum = 0, squares = 0;\n"
    "    MO_NEXT();\n"
    "    ROW_EXPECT\n"
    "    MO_BEGIN();\n"
    "    ROW_LOAD\n"
    "    if (CENTER) {\n"
    "        ROW_EACH(sum += y[i])\n"
    "        mean = row_sum(sum, 0) / (R) COUNT;\n"
    "    }\n"
    "    if (SCALE) {\n"
    "        ROW_EACH(squares += (y[i] - mean) * (y[i] - mean))\n"
    "        factor = factor_of(row_sum(squares, 1));\n"
    "    }\n"
    "    ROW_STORE(y[i] = (y[i] - mean) * factor)\n"
    "}\n";

/* What a row is multiplied by. */
static void add_factor(mo_code *code, const mo_norm_call *norm, bool wide)
{
    mo_code_add(code,
                "#define CENTER %d\n#define SCALE %d\n"
                "MO_DEVICE R factor_of(R squares)\n{\n"
                "const R size = squares%s, eps = ",
                norm->center, norm->scale, norm->sum ? "" : " / (R) COUNT");
    mo_code_real(code, norm->eps, wide);
    mo_code_text(code, ";\nreturn 1 / ");
    if (norm->max_eps)
        mo_code_text(code, "MATH(sqrt)(size > eps ? size : eps)");
    else if (norm->eps_outside)
        mo_code_text(code, "(MATH(sqrt)(size) + eps)");
    else
        mo_code_text(code, "MATH(sqrt)(size + eps)");
    mo_code_text(code, ";\n}\n");
}

static mo_status prepare(mo_unit *unit, const mo_call *call,
                         const mo_call_operand *in, const mo_desc *out,
                         mo_kernel **kernel, mo_error *err)
{
    const mo_norm_call *norm = &call->u.norm;
    int width = mo_cuda_finish_width(call, &out[0], norm->count);
    mo_cuda_rows rows = mo_cuda_rows_of(unit, norm->groups, norm->count, width);
    mo_cuda_draft draft = { .name = "norm_rows" };
    mo_status status = mo_cuda_same_type(call, in, out, err);

    if (status == MO_OK)
        status = mo_cuda_rows_grid(&rows, &draft.grid, err);
    if (status != MO_OK)
        return status;
    mo_code_types(&draft.code, out[0].elem, width, mo_desc_elements(&out[0]));
    mo_code_finish_early(&draft.code, call, in, &out[0], width);
    mo_code_rows(&draft.code, &rows);
    add_factor(&draft.code, norm, out[0].elem == MO_F64);
    mo_code_text(&draft.code, kernel_source);
    return mo_cuda_single_new(unit, call, 1, &draft, kernel, err);
}

const mo_cuda_maker mo_cuda_norm = { prepare, NULL, mo_cuda_single_enqueue,
                                     mo_cuda_single_drop };
