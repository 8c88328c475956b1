/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interpreter of compiled pointwise programs, a block of elements at a time.
 */
#include "exec/backend/cpu/pointwise/compiled_program.h"

#include <string.h>

#include "base/minmax.h"

/* A range of elements being computed. */
typedef struct stretch {
    const mo_cpu_point_program *program;
    const void *const *operands;
    const char *sums;
    char *out; /* address of element first */
    char *scratch;
    int64_t first, count;
} stretch;

/* Returns the offset in an operand of the row of element at. */
static int64_t row_start(const mo_cpu_point_program *program,
                         const mo_cpu_point_source *source, int64_t at)
{
    int64_t row = at / program->row, start = source->offset;

    for (int d = program->rank - 1; row > 0 && d-- > 0;) {
        start += row % program->extent[d] * source->stride[d];
        row /= program->extent[d];
    }
    return start;
}

/* Loads elements from at on into a register, row by row. */
static void load_rows(const mo_cpu_point_program *program,
                      const mo_cpu_point_source *source, const void *operand,
                      int64_t at, char *reg, int n)
{
    int64_t stride = source->stride[program->rank - 1];

    while (n > 0) {
        int64_t column = at % program->row;
        int64_t start = row_start(program, source, at) + column * stride;
        int part = (int) mo_min_i64(n, program->row - column);

        source->load(operand, start, stride, reg, part);
        reg += (size_t) part * source->reg_bytes;
        at += part;
        n -= part;
    }
}

/* Repeats one period until a block that starts anywhere in it is covered. */
static void fill_pattern(const stretch *range,
                         const mo_cpu_point_source *source, const void *operand)
{
    char *reg = range->scratch + source->scratch_byte;
    size_t have = (size_t) source->period * source->reg_bytes;
    size_t need = have + (size_t) mo_min_i64(range->count, MO_CPU_POINT_BLOCK) *
                             source->reg_bytes;

    load_rows(range->program, source, operand, 0, reg, (int) source->period);
    while (have < need) {
        size_t part = have < need - have ? have : need - have;

        memcpy(reg + have, reg, part);
        have += part;
    }
}

static const void *element_at(const mo_cpu_point_source *source,
                              const void *operand, int64_t at)
{
    return (const char *) operand + (size_t) at * source->elem_bytes;
}

/* Returns the elements of an operand for a block, as a register. */
static const void *source_register(const stretch *range, int i, int64_t at,
                                   int n)
{
    const mo_cpu_point_program *program = range->program;
    const mo_cpu_point_source *source = &program->sources[i];
    const void *operand = range->operands[i];
    char *reg = range->scratch + source->scratch_byte;
    int64_t start = source->offset + at;

    switch (source->kind) {
    case MO_CPU_POINT_SOURCE_PERIODIC:
        return reg + (size_t) (at % source->period) * source->reg_bytes;
    case MO_CPU_POINT_SOURCE_ACCUMULATOR:
        operand = range->sums;
        start = at - range->first;
        break;
    case MO_CPU_POINT_SOURCE_STRIDED:
        if (!program->by_row || source->stride[program->rank - 1] != 1) {
            load_rows(program, source, operand, at, reg, n);
            return reg;
        }
        start = row_start(program, source, at) + at % program->row;
        break;
    case MO_CPU_POINT_SOURCE_CONTIGUOUS:
        break;
    }
    if (source->direct)
        return element_at(source, operand, start);
    source->load(operand, start, 1, reg, n);
    return reg;
}

static void run_block(const stretch *range, int64_t at, int n)
{
    const mo_cpu_point_program *program = range->program;
    const void *regs[MO_POINT_MAX_REGISTERS];
    char *out = range->out + (size_t) (at - range->first) * program->elem_bytes;

    for (int i = 0; i < program->n_sources; i++)
        if (program->sources[i].used)
            regs[i] = source_register(range, i, at, n);
    for (int i = 0; i < program->n_steps; i++) {
        const mo_cpu_point_step *step = &program->steps[i];
        char *to = i == program->n_steps - 1 && program->into_out
                       ? out
                       : range->scratch + step->scratch_byte;

        step->fn(&step->step, regs[step->step.a],
                 step->arity > 1 ? regs[step->step.b] : NULL,
                 step->arity > 2 ? regs[step->step.c] : NULL, to, n);
        regs[step->reg] = to;
    }
    if (!program->into_out)
        program->store(regs[program->result], out, 0, n);
}

void mo_cpu_point_program_run_to(const mo_cpu_point_program *program,
                                 const void *sums, const void *const *operands,
                                 void *to, int64_t first, int64_t count,
                                 void *scratch)
{
    stretch range = { program, operands, sums, to, scratch, first, count };
    int64_t end = first + count;

    if (count == 0)
        return;
    for (int i = 0; i < program->n_sources; i++)
        if (program->sources[i].used &&
            program->sources[i].kind == MO_CPU_POINT_SOURCE_PERIODIC)
            fill_pattern(&range, &program->sources[i], operands[i]);
    for (int64_t at = first; at < end;) {
        int64_t n = mo_min_i64(MO_CPU_POINT_BLOCK, end - at);

        if (program->by_row)
            n = mo_min_i64(n, program->row - at % program->row);
        run_block(&range, at, (int) n);
        at += n;
    }
}

void mo_cpu_point_program_run_accumulator(const mo_cpu_point_program *program,
                                          const void *sums,
                                          const void *const *operands,
                                          void *out, int64_t first,
                                          int64_t count, void *scratch)
{
    char *to = (char *) out + (size_t) first * program->elem_bytes;

    mo_cpu_point_program_run_to(program, sums, operands, to, first, count,
                                scratch);
}

void mo_cpu_point_program_run(const mo_cpu_point_program *program,
                              const void *const *operands, void *out,
                              int64_t first, int64_t count, void *scratch)
{
    mo_cpu_point_program_run_accumulator(program, NULL, operands, out, first,
                                         count, scratch);
}
