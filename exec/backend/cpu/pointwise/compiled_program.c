/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/pointwise/compiled_program.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "exec/op/loop_nest.h"

static void set_dims(mo_cpu_point_program *program,
                     const mo_point_program *point, const mo_shape *shape)
{
    mo_point_loop_nest loops = mo_point_loop_nest_collapse(point, shape);

    program->rank = loops.rank;
    memcpy(program->extent, loops.extent, sizeof program->extent);
    for (int i = 0; i < program->n_sources; i++)
        memcpy(program->sources[i].stride, loops.stride[i],
               sizeof program->sources[i].stride);
    program->row = program->extent[program->rank - 1];
}

/* Returns the period of an operand in elements; 0 if it has none, or a too
 * long one. */
static int64_t period_of(const mo_cpu_point_program *program,
                         const mo_cpu_point_source *source)
{
    int64_t period = 1;
    int d = 0;

    while (d < program->rank && source->stride[d] == 0)
        d++;
    for (; d < program->rank; d++) {
        if (program->extent[d] > MO_CPU_POINT_MAX_PERIOD)
            return 0;
        period *= program->extent[d];
        if (period > MO_CPU_POINT_MAX_PERIOD)
            return 0;
    }
    return period;
}

/* Returns the elements at the end of the result for which the operand's are
 * adjacent. */
static int64_t dense_size(const mo_cpu_point_program *program,
                          const mo_cpu_point_source *source)
{
    int64_t dense = 1;

    for (int d = program->rank; d-- > 0; dense *= program->extent[d])
        if (source->stride[d] != dense)
            break;
    return dense;
}

/* Whether a program has booleans and logical operations alone. */
static bool is_logic(const mo_point_program *point, const bool *used)
{
    bool all = point->n_steps > 0;

    for (int i = 0; i < point->n_operands; i++)
        all = all && (!used[i] || point->operands[i].elem == MO_ELEM_BOOL);
    for (int i = 0; i < point->n_steps; i++)
        all = all && mo_cpu_step_fn_logic(&point->steps[i]);
    return all && point->result >= point->n_operands;
}

static void set_source(mo_cpu_point_program *program,
                       const mo_point_operand *operand, bool wide,
                       mo_cpu_point_source *source)
{
    int64_t dense = dense_size(program, source), elements = 1;

    for (int d = 0; d < program->rank; d++)
        elements *= program->extent[d];
    source->elem_bytes = mo_elem_size(operand->elem);
    source->reg_bytes = mo_elem_is_float(operand->elem) && !wide
                            ? sizeof(float)
                            : sizeof(int64_t);
    source->load = mo_cpu_load_fn_for(operand->elem, wide);
    if (source->as_real) {
        source->reg_bytes = wide ? sizeof(double) : sizeof(float);
        source->load = mo_cpu_load_real_fn_for(operand->elem, wide);
    }
    if (program->logic) {
        source->reg_bytes = 1;
        source->load = mo_cpu_load_logic;
    }
    source->direct = mo_cpu_elem_is_register(operand->elem, wide) &&
                     !mo_ablated(MO_ABLATION_point_in_place);
    source->offset = operand->access.offset;
    source->period =
        mo_ablated(MO_ABLATION_point_periodic) ? 0 : period_of(program, source);
    source->dense = source->direct && source->period == dense;
    source->kind = dense == elements    ? MO_CPU_POINT_SOURCE_CONTIGUOUS
                   : source->period > 0 ? MO_CPU_POINT_SOURCE_PERIODIC
                                        : MO_CPU_POINT_SOURCE_STRIDED;
}

static void set_sources(mo_cpu_point_program *program,
                        const mo_point_program *point, bool sums, bool wide)
{
    bool rows = false;

    for (int i = 0; i < program->n_sources; i++) {
        mo_cpu_point_source *source = &program->sources[i];
        mo_point_operand operand = point->operands[i];
        bool computed = sums && i == 0;

        if (computed)
            operand.elem =
                operand.elem == MO_ELEM_F64 ? MO_ELEM_F64 : MO_ELEM_F32;
        set_source(program, &operand, wide, source);
        if (computed)
            source->kind = MO_CPU_POINT_SOURCE_ACCUMULATOR;
        rows = rows ||
               (source->used && source->kind == MO_CPU_POINT_SOURCE_STRIDED &&
                source->stride[program->rank - 1] == 1);
    }
    program->by_row = rows && !mo_ablated(MO_ABLATION_point_rows) &&
                      program->row >= MO_CPU_POINT_LONG_ROW;
}

/* Returns whether a program reads a register only to convert it to reals. */
static bool is_read_as_real(const mo_point_program *point, const bool *used,
                            int reg)
{
    bool any = false;

    for (int i = 0; i < point->n_steps; i++) {
        const mo_point_step *step = &point->steps[i];
        int arity = mo_point_op_signature(step->op).arity;

        if (!used[point->n_operands + i] || (step->a != reg && arity < 2) ||
            (step->a != reg && step->b != reg && (arity < 3 || step->c != reg)))
            continue;
        if (step->op != MO_POINT_TO_REAL)
            return false;
        any = true;
    }
    return any && point->result != reg;
}

/* Integers of up to 32 bits that are only converted are loaded as reals;
 * alias[register] is what the conversion would write to. */
static void mark_reals(mo_cpu_point_program *program,
                       const mo_point_program *point, const bool *used,
                       bool wide, int *alias)
{
    for (int i = 0; i < point->n_operands + point->n_steps; i++)
        alias[i] = i;
    for (int i = 0; i < point->n_operands; i++)
        program->sources[i].as_real =
            used[i] && mo_cpu_load_real_fn_for(point->operands[i].elem, wide) &&
            is_read_as_real(point, used, i);
    for (int i = 0; i < point->n_steps; i++)
        if (point->steps[i].op == MO_POINT_TO_REAL &&
            point->steps[i].a < point->n_operands &&
            program->sources[point->steps[i].a].as_real)
            alias[point->n_operands + i] = point->steps[i].a;
}

static void set_steps(mo_cpu_point_program *program,
                      const mo_point_program *point, bool wide)
{
    bool used[MO_POINT_MAX_REGISTERS] = { false };
    int alias[MO_POINT_MAX_REGISTERS];

    mo_point_mark_live(point, used);
    mark_reals(program, point, used, wide, alias);
    for (int i = 0; i < point->n_operands; i++)
        program->sources[i].used = used[i];
    program->logic = program->elem == MO_ELEM_BOOL && is_logic(point, used);
    for (int i = 0; i < point->n_steps; i++) {
        mo_cpu_point_step *step = &program->steps[program->n_steps];

        if (!used[point->n_operands + i] ||
            alias[point->n_operands + i] != point->n_operands + i)
            continue;
        step->fn = program->logic
                       ? mo_cpu_step_fn_logic(&point->steps[i])
                       : mo_cpu_step_fn_for(point->steps[i].op, wide);
        step->step = point->steps[i];
        step->arity = mo_point_op_signature(step->step.op).arity;
        step->step.a = alias[step->step.a];
        if (step->arity > 1)
            step->step.b = alias[step->step.b];
        if (step->arity > 2)
            step->step.c = alias[step->step.c];
        step->reg = point->n_operands + i;
        program->n_steps++;
    }
    program->result = alias[point->result];
}

/* Steps of scalars, and of results of such steps; not the last step. */
static void mark_uniform(mo_cpu_point_program *program)
{
    bool uniform[MO_POINT_MAX_REGISTERS] = { false };

    for (int i = 0; i < program->n_sources; i++)
        uniform[i] = program->sources[i].used &&
                     program->sources[i].kind == MO_CPU_POINT_SOURCE_PERIODIC &&
                     program->sources[i].period == 1;
    for (int i = 0; i + 1 < program->n_steps; i++) {
        mo_cpu_point_step *made = &program->steps[i];
        const mo_point_step *step = &made->step;

        made->uniform = uniform[step->a] &&
                        (made->arity < 2 || uniform[step->b]) &&
                        (made->arity < 3 || uniform[step->c]);
        uniform[made->reg] = made->uniform;
    }
}

/* Returns the last step that reads a register; n_steps for the result. */
static int last_use(const mo_cpu_point_program *program, int reg)
{
    if (reg == program->result)
        return program->n_steps;
    for (int i = program->n_steps; i-- > 0;) {
        const mo_cpu_point_step *made = &program->steps[i];
        const mo_point_step *step = &made->step;

        if (step->a == reg || (made->arity > 1 && step->b == reg) ||
            (made->arity > 2 && step->c == reg))
            return i;
    }
    return -1;
}

enum { SLOT = MO_CPU_POINT_BLOCK * sizeof(int64_t) };

/* Operands keep their register throughout. */
static size_t place_sources(mo_cpu_point_program *program)
{
    size_t byte = 0;

    for (int i = 0; i < program->n_sources; i++) {
        mo_cpu_point_source *source = &program->sources[i];

        source->scratch_byte = byte;
        if (source->used)
            byte +=
                source->kind == MO_CPU_POINT_SOURCE_PERIODIC ? 2 * SLOT : SLOT;
    }
    return byte;
}

/* Linear scan: a step's result takes the first register that is dead, and
 * never one that the step reads, since registers differ in width. Uniform ones
 * have registers of their own. */
static void place_steps(mo_cpu_point_program *program, size_t byte)
{
    int busy_until[MO_POINT_MAX_STEPS], n_slots = 0;

    for (int i = 0; i < program->n_steps; i++) {
        int slot = program->steps[i].uniform ? n_slots : 0;

        while (slot < n_slots && busy_until[slot] >= i)
            slot++;
        if (slot == n_slots)
            n_slots++;
        busy_until[slot] = program->steps[i].uniform
                               ? program->n_steps
                               : last_use(program, program->steps[i].reg);
        program->steps[i].scratch_byte = byte + (size_t) slot * SLOT;
    }
    program->scratch_bytes = byte + (size_t) n_slots * SLOT;
}

mo_status mo_cpu_point_program_compile(const mo_point_program *point,
                                       const mo_tensor_desc *out, bool sums,
                                       mo_cpu_point_program **program,
                                       mo_error *err)
{
    bool wide = mo_point_is_wide(point, out->elem);
    /* A network has thousands of programs, most of them of a step or two. */
    size_t n_steps = (size_t) point->n_steps;
    mo_cpu_point_program *made =
        calloc(1, sizeof *made + n_steps * sizeof *made->steps +
                      (size_t) point->n_operands * sizeof *made->sources);

    assert(mo_point_register_is_real(point, point->result) ==
           mo_elem_is_float(out->elem));
    if (!made)
        return mo_fail_memory(err);
    made->sources = (mo_cpu_point_source *) (void *) &made->steps[n_steps];
    made->n_sources = point->n_operands;
    made->elem = out->elem;
    made->elem_bytes = mo_elem_size(out->elem);
    made->store = mo_cpu_store_fn_for(out->elem, wide);
    set_dims(made, point, &out->shape);
    set_steps(made, point, wide);
    set_sources(made, point, sums, wide);
    made->into_out = made->n_steps > 0 &&
                     (made->logic || mo_cpu_elem_is_register(out->elem, wide));
    mark_uniform(made);
    place_steps(made, place_sources(made));
    *program = made;
    return MO_OK;
}

mo_status mo_cpu_point_program_new(const mo_point_program *point,
                                   const mo_tensor_desc *out,
                                   mo_cpu_point_program **program,
                                   mo_error *err)
{
    return mo_cpu_point_program_compile(point, out, false, program, err);
}

void mo_cpu_point_program_free(mo_cpu_point_program *program)
{
    free(program);
}

size_t mo_cpu_point_program_scratch_size(const mo_cpu_point_program *program)
{
    return program->scratch_bytes;
}

/*
 * Interpreter of compiled pointwise programs, a block of elements at a time.
 */

/* A row: its first element, and its indices in the dimensions around it. */
typedef struct row_place {
    int64_t begin, index[MO_MAX_RANK];
} row_place;

/* A range of elements being computed. */
typedef struct stretch {
    const mo_cpu_point_program *program;
    const void *const *operands;
    const char *sums;
    char *out; /* address of element first */
    char *scratch;
    int64_t first, count;
    row_place *row; /* the last one that was read */
    /* By operand: where the range begins in the only period that it reads,
     * which is read in place; else -1. */
    int64_t phase[MO_POINT_MAX_OPERANDS];
} stretch;

/* Division of 32 bits takes a third of the time of 64 bits. */
static int64_t divide(int64_t a, int64_t b, int64_t *rest)
{
    if (((uint64_t) a | (uint64_t) b) >> 32 == 0) {
        *rest = (uint32_t) a % (uint32_t) b;
        return (uint32_t) a / (uint32_t) b;
    }
    *rest = a % b;
    return a / b;
}

/* Moves to the row of an element; the next one is found without divisions. */
static void find_row(const mo_cpu_point_program *program, int64_t at,
                     row_place *place)
{
    int64_t ahead = at - place->begin, row, column;
    int d = program->rank - 1;

    if (ahead >= 0 && ahead < program->row)
        return;
    if (ahead == program->row) {
        place->begin = at;
        while (d-- > 0 && ++place->index[d] == program->extent[d])
            place->index[d] = 0;
        return;
    }
    row = divide(at, program->row, &column);
    place->begin = at - column;
    while (d-- > 0)
        row = divide(row, program->extent[d], &place->index[d]);
}

/* Returns the offset in an operand of the row of element at, which is in
 * *column. */
static int64_t row_start(const stretch *range,
                         const mo_cpu_point_source *source, int64_t at,
                         int64_t *column)
{
    int64_t start = source->offset;

    find_row(range->program, at, range->row);
    *column = at - range->row->begin;
    for (int d = 0; d < range->program->rank - 1; d++)
        start += range->row->index[d] * source->stride[d];
    return start;
}

/* Loads elements from at on into a register, row by row. */
static void load_rows(const stretch *range, const mo_cpu_point_source *source,
                      const void *operand, int64_t at, char *reg, int n)
{
    const mo_cpu_point_program *program = range->program;
    int64_t stride = source->stride[program->rank - 1];

    while (n > 0) {
        int64_t column, start = row_start(range, source, at, &column);
        int part = (int) mo_min_i64(n, program->row - column);

        start += column * stride;
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

    load_rows(range, source, operand, 0, reg, (int) source->period);
    while (have < need) {
        size_t part = have < need - have ? have : need - have;

        memcpy(reg + have, reg, part);
        have += part;
    }
}

/* Returns the elements of an operand for a block, as a register. */
static const void *source_register(const stretch *range, int i, int64_t at,
                                   int n)
{
    const mo_cpu_point_program *program = range->program;
    const mo_cpu_point_source *source = &program->sources[i];
    const void *operand = range->operands[i];
    char *reg = range->scratch + source->scratch_byte;
    int64_t start = source->offset + at, column;

    switch (source->kind) {
    case MO_CPU_POINT_SOURCE_PERIODIC:
        if (range->phase[i] >= 0) {
            start = source->offset + range->phase[i] + at - range->first;
            break;
        }
        return reg + (size_t) (at % source->period) * source->reg_bytes;
    case MO_CPU_POINT_SOURCE_ACCUMULATOR:
        operand = range->sums;
        start = at - range->first;
        break;
    case MO_CPU_POINT_SOURCE_STRIDED:
        if (!program->by_row || source->stride[program->rank - 1] != 1) {
            load_rows(range, source, operand, at, reg, n);
            return reg;
        }
        start = row_start(range, source, at, &column);
        start += column;
        break;
    case MO_CPU_POINT_SOURCE_CONTIGUOUS:
        break;
    }
    if (source->direct)
        return (const char *) operand + (size_t) start * source->elem_bytes;
    source->load(operand, start, 1, reg, n);
    return reg;
}

static void run_step(const stretch *range, int i, const void **regs, char *to,
                     int n)
{
    const mo_cpu_point_step *step = &range->program->steps[i];

    step->fn(&step->step, regs[step->step.a],
             step->arity > 1 ? regs[step->step.b] : NULL,
             step->arity > 2 ? regs[step->step.c] : NULL, to, n);
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

        if (!step->uniform)
            run_step(range, i, regs, to, n);
        else if (at == range->first)
            run_step(range, i, regs, to,
                     (int) mo_min_i64(MO_CPU_POINT_BLOCK, range->count));
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
    row_place row = { 0 };
    stretch range = { program, operands, sums, to,   scratch,
                      first,   count,    &row, { 0 } };
    int64_t end = first + count;

    if (count == 0)
        return;
    for (int i = 0; i < program->n_sources; i++) {
        const mo_cpu_point_source *source = &program->sources[i];

        if (!source->used || source->kind != MO_CPU_POINT_SOURCE_PERIODIC)
            continue;
        divide(first, source->period, &range.phase[i]);
        if (source->dense && range.phase[i] + count <= source->period)
            continue;
        range.phase[i] = -1;
        fill_pattern(&range, source, operands[i]);
    }
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
