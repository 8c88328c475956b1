/* SPDX-License-Identifier: Apache-2.0 */
/* Matches epilogues that micro-kernels compute. */
#include <math.h>

#include "exec/backend/cpu/conv/cpu_conv.h"
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

/* Whether an operand is laid out as the result. */
static bool is_like_result(const mo_cpu_point_source *source)
{
    return source->direct && source->reg_bytes == sizeof(float) &&
           source->kind == MO_CPU_POINT_SOURCE_CONTIGUOUS;
}

/* Matches a step of an operand and the sums, which are in register `of`. */
static bool match_operand(const mo_cpu_epilogue *epilogue, int64_t columns,
                          const mo_point_step *step, int of,
                          mo_cpu_gemm_epilogue *made)
{
    const mo_cpu_point_program *program = epilogue->program;
    int n = made->end.n_steps, operand = step->a == of ? step->b : step->a;
    mo_cpu_end_step *end = &made->end.steps[n];
    const mo_cpu_point_source *source;

    if (step->op == MO_POINT_ADD)
        end->op = MO_CPU_END_ADD;
    else if (step->op == MO_POINT_MULTIPLY)
        end->op = MO_CPU_END_MULTIPLY;
    else if (step->op == MO_POINT_SUBTRACT && step->a == of)
        end->op = MO_CPU_END_SUBTRACT;
    else
        return false;
    if ((step->a != of && step->b != of) || operand == 0 ||
        operand >= program->n_sources)
        return false;
    source = &program->sources[operand];
    if (!is_bias(program, source, columns) && !is_like_result(source))
        return false;
    end->pitch = is_like_result(source) ? columns : 0;
    made->input[n] = epilogue->first_extra + operand - 1;
    made->offset[n] = source->offset;
    return true;
}

static bool match_bounds(const mo_point_step *step, int of,
                         mo_cpu_end_step *end)
{
    if (step->a != of ||
        (step->op != MO_POINT_RELU && step->op != MO_POINT_CLAMP))
        return false;
    *end = (mo_cpu_end_step){ .op = MO_CPU_END_CLAMP, .most = INFINITY };
    if (step->op == MO_POINT_CLAMP) {
        end->least = (float) step->x;
        end->most = (float) step->y;
    }
    return true;
}

mo_cpu_gemm_epilogue mo_cpu_gemm_epilogue_match(const mo_cpu_epilogue *epilogue,
                                                int64_t columns)
{
    const mo_cpu_point_program *program = epilogue->program;
    mo_cpu_gemm_epilogue made = { 0 };
    int sums = 0, n_steps = program ? program->n_steps : 0;

    if (epilogue->elem != MO_ELEM_F32 ||
        n_steps > MO_CPU_MICRO_KERNEL_MAX_STEPS)
        return made;
    for (int i = 0; i < n_steps; i++) {
        const mo_point_step *step = &program->steps[i].step;

        if (!match_bounds(step, sums, &made.end.steps[i]) &&
            !match_operand(epilogue, columns, step, sums, &made))
            return made;
        made.end.n_steps++;
        sums = program->steps[i].reg;
    }
    made.by_micro_kernels = !program || program->result == sums;
    return made;
}

mo_cpu_micro_kernel_epilogue
mo_cpu_gemm_epilogue_bind(const mo_cpu_gemm_epilogue *gemm_epilogue,
                          const void *const *in)
{
    mo_cpu_micro_kernel_epilogue end = gemm_epilogue->end;

    for (int i = 0; i < end.n_steps; i++) {
        const float *operand = NULL;

        if (end.steps[i].op != MO_CPU_END_CLAMP)
            operand = in[gemm_epilogue->input[i]];
        if (operand) /* an empty tensor is NULL */
            operand += gemm_epilogue->offset[i];
        end.steps[i].operand = operand;
    }
    return end;
}
