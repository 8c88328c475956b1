/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/point_program.h"

#include <string.h>

/* Arity, a is a real, b (and c) are reals, the result is a real. */
#define REAL_UNARY                                                             \
    {                                                                          \
        1, true, false, true                                                   \
    }
#define REAL_BINARY                                                            \
    {                                                                          \
        2, true, true, true                                                    \
    }
#define REAL_COMPARE                                                           \
    {                                                                          \
        2, true, true, false                                                   \
    }
#define REAL_CLASSIFY                                                          \
    {                                                                          \
        1, true, false, false                                                  \
    }
#define INT_UNARY                                                              \
    {                                                                          \
        1, false, false, false                                                 \
    }
#define INT_BINARY                                                             \
    {                                                                          \
        2, false, false, false                                                 \
    }
#define INT_TO_REAL                                                            \
    {                                                                          \
        1, false, false, true                                                  \
    }
#define SELECT                                                                 \
    {                                                                          \
        3, false, true, true                                                   \
    }
#define INT_SELECT                                                             \
    {                                                                          \
        3, false, false, false                                                 \
    }

mo_point_signature mo_point_op_signature(mo_point_op op)
{
    static const mo_point_signature signatures[] = {
#define POINT(name, signature) [MO_POINT_##name] = signature,
#include "exec/op/points.def"
    };

    return signatures[op];
}

mo_point_access mo_point_access_dense(const mo_shape *shape)
{
    return mo_point_access_broadcast(shape, shape);
}

mo_point_access mo_point_access_broadcast(const mo_shape *from,
                                          const mo_shape *to)
{
    mo_point_access access = { 0 };
    int64_t stride = 1;

    for (int d = from->rank; d-- > 0;) {
        if (from->dims[d] != 1)
            access.stride[to->rank - from->rank + d] = stride;
        stride *= from->dims[d];
    }
    return access;
}

/* Iterator over the dimensions of an access, from the last one on, that yields
 * a given number of elements at a time. */
typedef struct taking {
    const mo_point_access *access;
    const mo_shape *shape;
    int next;       /* the next dimension to take */
    int64_t left;   /* elements left of this one */
    int64_t stride; /* between them */
} taking;

static bool next_dim(taking *t)
{
    while (t->next >= 0 && t->shape->dims[t->next] == 1)
        t->next--;
    if (t->next < 0)
        return false;
    t->left = t->shape->dims[t->next];
    t->stride = t->access->stride[t->next--];
    return true;
}

/* Merges the dimension before, if it continues this one. */
static bool merge_dim(taking *t)
{
    int64_t left = t->left, stride = t->stride;

    if (!next_dim(t) || t->stride != stride * left)
        return false;
    t->left *= left;
    t->stride = stride;
    return true;
}

bool mo_point_access_reshape(const mo_point_access *access,
                             const mo_shape *from, const mo_shape *to,
                             mo_point_access *result)
{
    taking t = { access, from, from->rank - 1, 1, 0 };

    *result = (mo_point_access){ .offset = access->offset };
    for (int d = to->rank - 1; d >= 0; d--) {
        int64_t wanted = to->dims[d];

        if (wanted == 1)
            continue;
        if (wanted == 0 || (t.left == 1 && !next_dim(&t)))
            return false;
        while (t.left < wanted)
            if (!merge_dim(&t))
                return false;
        if (t.left % wanted != 0)
            return false;
        result->stride[d] = t.stride;
        t.left /= wanted;
        t.stride *= wanted;
    }
    return true;
}

bool mo_point_access_equal(const mo_point_access *a, const mo_point_access *b,
                           const mo_shape *shape)
{
    for (int d = 0; d < shape->rank; d++)
        if (a->stride[d] != b->stride[d] && shape->dims[d] > 1)
            return false;
    return a->offset == b->offset;
}

/* Constants are compared by their bits: a NaN is itself, and -0 is not 0. */
static bool is_same_step(const mo_point_step *a, const mo_point_step *b)
{
    return a->op == b->op && a->a == b->a && a->b == b->b && a->c == b->c &&
           memcmp(&a->x, &b->x, sizeof a->x) == 0 &&
           memcmp(&a->y, &b->y, sizeof a->y) == 0 && a->elem == b->elem;
}

bool mo_point_program_computes_same(const mo_point_program *a,
                                    const mo_point_program *b)
{
    bool same = a->n_operands == b->n_operands && a->n_steps == b->n_steps &&
                a->result == b->result;

    for (int i = 0; same && i < a->n_operands; i++)
        same = a->operands[i].elem == b->operands[i].elem;
    for (int i = 0; same && i < a->n_steps; i++)
        same = is_same_step(&a->steps[i], &b->steps[i]);
    return same;
}

bool mo_point_register_is_real(const mo_point_program *point, int reg)
{
    if (reg < point->n_operands)
        return mo_elem_is_float(point->operands[reg].elem);
    return mo_point_op_signature(point->steps[reg - point->n_operands].op).real;
}

bool mo_point_is_wide(const mo_point_program *point, mo_elem result)
{
    for (int i = 0; i < point->n_operands; i++)
        if (point->operands[i].elem == MO_ELEM_F64)
            return true;
    return result == MO_ELEM_F64;
}

void mo_point_mark_live(const mo_point_program *point,
                        bool used[MO_POINT_MAX_REGISTERS])
{
    used[point->result] = true;
    for (int i = point->n_steps; i-- > 0;) {
        const mo_point_step *step = &point->steps[i];
        int arity = mo_point_op_signature(step->op).arity;

        if (!used[point->n_operands + i])
            continue;
        used[step->a] = true;
        if (arity > 1)
            used[step->b] = true;
        if (arity > 2)
            used[step->c] = true;
    }
}

int mo_point_push_step(mo_point_program *point, mo_point_step step)
{
    if (point->n_steps == MO_POINT_MAX_STEPS)
        return -1;
    point->steps[point->n_steps] = step;
    return point->n_operands + point->n_steps++;
}

/* Renumbering of the registers of a program that becomes a part of another
 * one. */
typedef struct renaming {
    int operands;   /* how many it had */
    int first;      /* its operands begin here */
    int at, given;  /* but operand at is register given, and those behind it
                       move up; at is -1 where all stay */
    int first_step; /* its steps begin here */
} renaming;

static int rename_register(const renaming *names, int reg)
{
    if (reg >= names->operands)
        return names->first_step + reg - names->operands;
    if (reg == names->at)
        return names->given;
    return names->first + reg - (names->at >= 0 && reg > names->at);
}

static bool add_steps(const mo_point_program *from, const renaming *names,
                      mo_point_program *to)
{
    for (int i = 0; i < from->n_steps; i++) {
        mo_point_step step = from->steps[i];
        int arity = mo_point_op_signature(step.op).arity;

        step.a = rename_register(names, step.a);
        step.b = arity > 1 ? rename_register(names, step.b) : 0;
        step.c = arity > 2 ? rename_register(names, step.c) : 0;
        if (mo_point_push_step(to, step) < 0)
            return false;
    }
    return true;
}

static bool add_operands(const mo_point_program *from, int except,
                         mo_point_program *to)
{
    for (int i = 0; i < from->n_operands; i++) {
        if (i == except)
            continue;
        if (to->n_operands == MO_POINT_MAX_OPERANDS)
            return false;
        to->operands[to->n_operands++] = from->operands[i];
    }
    return true;
}

/* Returns true when a register always holds 0 or 1. */
static bool is_boolean(const mo_point_program *point, int reg)
{
    mo_point_op op;

    if (reg < point->n_operands)
        return point->operands[reg].elem == MO_ELEM_BOOL;
    op = point->steps[reg - point->n_operands].op;
    return op == MO_POINT_I_NOT ||
           (op >= MO_POINT_EQUAL && op <= MO_POINT_IS_FINITE) ||
           (op >= MO_POINT_I_EQUAL && op <= MO_POINT_I_GREATER_EQUAL);
}

/* Appends the rounding of register reg to its stored type; returns its
 * register, -1 when there is no room. Reals of a program that is not wide are
 * floats already. */
static int push_rounding(mo_point_program *point, int reg, mo_elem stored)
{
    bool real = mo_elem_is_float(stored);

    if (stored == MO_ELEM_F64 || stored == MO_ELEM_I64 ||
        stored == MO_ELEM_U64 ||
        (stored == MO_ELEM_BOOL && is_boolean(point, reg)) ||
        (stored == MO_ELEM_F32 && !mo_point_is_wide(point, stored)))
        return reg;
    return mo_point_push_step(
        point,
        (mo_point_step){ .op = real ? MO_POINT_ROUND_TO : MO_POINT_I_WRAP,
                         .a = reg,
                         .elem = stored });
}

bool mo_point_fuse(const mo_point_program *first, mo_elem stored,
                   const mo_point_program *second, int at,
                   mo_point_program *joined)
{
    renaming one = { first->n_operands, 0, -1, 0, 0 };
    renaming two = { second->n_operands, first->n_operands, at, 0, 0 };

    joined->n_operands = joined->n_steps = 0;
    if (!add_operands(first, -1, joined) || !add_operands(second, at, joined))
        return false;
    one.first_step = joined->n_operands;
    if (!add_steps(first, &one, joined))
        return false;
    two.given =
        push_rounding(joined, rename_register(&one, first->result), stored);
    two.first_step = joined->n_operands + joined->n_steps;
    if (two.given < 0 || !add_steps(second, &two, joined))
        return false;
    joined->result = rename_register(&two, second->result);
    joined->out = second->out;
    return true;
}

void mo_point_unify_operands(mo_point_program *point, int keep, int drop)
{
    mo_point_program old = *point;
    int *registers[3];

    point->n_operands--;
    for (int i = drop; i < point->n_operands; i++)
        point->operands[i] = old.operands[i + 1];
    for (int s = 0; s < point->n_steps; s++) {
        registers[0] = &point->steps[s].a;
        registers[1] = &point->steps[s].b;
        registers[2] = &point->steps[s].c;
        for (int k = 0; k < 3; k++)
            if (*registers[k] == drop)
                *registers[k] = keep;
            else if (*registers[k] > drop)
                --*registers[k];
    }
    if (point->result == drop)
        point->result = keep;
    else if (point->result > drop)
        point->result--;
}

mo_point_program mo_point_program_identity(mo_elem elem, const mo_shape *shape)
{
    mo_point_program point = { .n_operands = 1,
                               .out = mo_point_access_dense(shape) };

    point.operands[0].elem = elem;
    point.operands[0].access = point.out;
    return point;
}
