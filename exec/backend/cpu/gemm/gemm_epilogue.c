/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/gemm/gemm_epilogue.h"

#include <math.h>

#include "exec/backend/cpu/pointwise/compiled_program.h"

/* Whether an operand repeats one row of floats. */
static bool is_bias(const mo_cpu_point_program *program,
                    const mo_cpu_point_source *source, int64_t columns)
{
    int last = program->rank - 1;

    if (!source->direct || source->reg_bytes != sizeof(float) ||
        source->offset != 0 || source->stride[last] != 1 ||
        program->extent[last] != columns)
        return false;
    for (int d = 0; d < last; d++)
        if (source->stride[d] != 0)
            return false;
    return true;
}

/* Matches a sum and a bias, in either order. */
static bool read_bias(const mo_cpu_epilogue *epilogue, int64_t columns,
                      const mo_point_step *step,
                      mo_cpu_gemm_epilogue *gemm_epilogue)
{
    const mo_cpu_point_program *program = epilogue->program;
    int operand = step->a == 0 ? step->b : step->a;

    if (step->op != MO_POINT_ADD || (step->a != 0 && step->b != 0) ||
        operand == 0 || operand >= program->n_sources ||
        !is_bias(program, &program->sources[operand], columns))
        return false;
    gemm_epilogue->bias = epilogue->first_extra + operand - 1;
    return true;
}

static bool read_bounds(const mo_point_step *step, int of,
                        mo_cpu_gemm_epilogue *gemm_epilogue)
{
    if (step->a != of ||
        (step->op != MO_POINT_RELU && step->op != MO_POINT_CLAMP))
        return false;
    gemm_epilogue->end.bounded = true;
    gemm_epilogue->end.least = 0;
    gemm_epilogue->end.most = INFINITY;
    if (step->op == MO_POINT_CLAMP) {
        gemm_epilogue->end.least = (float) step->x;
        gemm_epilogue->end.most = (float) step->y;
    }
    return true;
}

mo_cpu_gemm_epilogue mo_cpu_gemm_epilogue_match(const mo_cpu_epilogue *epilogue,
                                                int64_t columns)
{
    const mo_cpu_point_program *program = epilogue->program;
    mo_cpu_gemm_epilogue gemm_epilogue = { .bias = -1 };
    int sums = 0, i = 0;

    if (epilogue->elem != MO_ELEM_F32)
        return gemm_epilogue;
    if (program && i < program->n_steps &&
        read_bias(epilogue, columns, &program->steps[i].step, &gemm_epilogue))
        sums = program->steps[i++].reg;
    if (program && i < program->n_steps &&
        read_bounds(&program->steps[i].step, sums, &gemm_epilogue))
        sums = program->steps[i++].reg;
    gemm_epilogue.by_micro_kernels =
        !program || (i == program->n_steps && program->result == sums);
    return gemm_epilogue;
}

mo_cpu_micro_kernel_epilogue
mo_cpu_gemm_epilogue_bind(const mo_cpu_gemm_epilogue *gemm_epilogue,
                          const void *const *in)
{
    mo_cpu_micro_kernel_epilogue end = gemm_epilogue->end;

    if (gemm_epilogue->bias >= 0)
        end.bias = in[gemm_epilogue->bias];
    return end;
}
