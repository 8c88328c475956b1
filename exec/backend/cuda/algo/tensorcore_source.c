/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/algo/tensorcore.h"

#pragma GCC diagnostic ignored "-Woverlength-strings"

static const char text[] =
#include "exec/backend/cuda/algo/tensorcore_load.inc"
#include "exec/backend/cuda/algo/tensorcore_mma.inc"
#include "exec/backend/cuda/algo/tensorcore_epilogue.inc"
#include "exec/backend/cuda/algo/tensorcore_kernel.inc"
    ;

static void add_number(mo_cuda_source *code, const char *name, int value)
{
    mo_cuda_source_printf(code, "#define %s %d\n", name, value);
}

static void add_tile(mo_cuda_source *code, const mo_cuda_tensorcore_tile *tile)
{
    add_number(code, "TM", tile->m);
    add_number(code, "TN", tile->n);
    add_number(code, "WM", tile->warp_m);
    add_number(code, "WN", tile->warp_n);
    add_number(code, "GROUPS", tile->groups);
    add_number(code, "STAGES", tile->stages);
    add_number(code, "THREADS", mo_cuda_tensorcore_block_threads(tile));
    add_number(code, "BLOCKS", tile->blocks);
}

static void add_operands(mo_cuda_source *code,
                         const mo_cuda_tensorcore_problem *problem)
{
    add_number(code, "ROWS", MO_CUDA_TENSORCORE_K_MAJOR);
    add_number(code, "TURNED", MO_CUDA_TENSORCORE_MN_MAJOR);
    add_number(code, "WINDOWS", MO_CUDA_TENSORCORE_IM2COL);
    add_number(code, "KIND", (int) problem->kind);
    add_number(code, "A_FORM", (int) problem->a_form);
    add_number(code, "B_FORM", (int) problem->b_form);
    add_number(code, "A_COUNT", problem->a_count);
    add_number(code, "B_COUNT", problem->b_count);
    add_number(code, "B_CONSTANT", problem->b_constant);
    add_number(code, "B_ROUNDED", problem->b_packed);
    add_number(code, "PROGRAM", problem->program);
}

/* The function of one number that the standard end applies. */
static void add_act(mo_cuda_source *code,
                    const mo_cuda_tensorcore_problem *problem)
{
    const char *operands[1] = { NULL };
    char result[MO_CUDA_EXPR_SIZE] = "v";

    mo_cuda_source_append(code, "MO_DEVICE float act(float v)\n{\n");
    if (problem->has_act)
        mo_cuda_emit_point_steps(code, &problem->act, MO_ELEM_F32, operands,
                                 result);
    mo_cuda_source_printf(code, "return %s;\n}\n", result);
    mo_cuda_stored_expr(problem->elem, "v", result);
    mo_cuda_source_printf(code, "MO_DEVICE T stored(float v) { return %s; }\n",
                          result);
    mo_cuda_source_append(code, "struct mo_extra { const void *none; };\n");
}

void mo_cuda_emit_tensorcore(mo_cuda_source *code,
                             const mo_cuda_algo_problem *task,
                             const mo_cuda_tensorcore_problem *problem,
                             const mo_cuda_tensorcore_tile *tile)
{
    int width = problem->whole ? 4 : 1;
    int64_t elements =
        problem->program ? mo_tensor_desc_elements(task->out) : 0;

    mo_cuda_emit_types(code, problem->elem, width, elements);
    add_tile(code, tile);
    add_operands(code, problem);
    if (problem->program)
        mo_cuda_emit_epilogue(code, task->call, task->out, width);
    else
        add_act(code, problem);
    mo_cuda_source_append(code, text);
}
