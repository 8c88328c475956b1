/* SPDX-License-Identifier: Apache-2.0 */
/* random_pointwise.c - random pointwise programs, accesses and shapes. */
#include "tests/exec/cpu/reference_pointwise.h"

#include "tests/support/suite.h"

mo_shape random_extents(mo_random *random, int64_t most)
{
    static const int64_t extents[] = { 1, 1, 2, 3, 5, 8, 49, 130, 700, 2100 };
    mo_shape shape = { .rank = mo_random_below(random, 6) };
    int64_t elements = 1;

    for (int d = 0; d < shape.rank; d++) {
        int64_t extent = extents[mo_random_below(random, COUNT(extents))];

        if (elements * extent > most)
            extent = 1;
        shape.dims[d] = extent;
        elements *= extent;
    }
    return shape;
}

static void shuffle_dims(mo_random *random, int *order, int n)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n; i-- > 1;) {
        int k = mo_random_below(random, i + 1), kept = order[i];

        order[i] = order[k];
        order[k] = kept;
    }
}

mo_point_access random_access(mo_random *random, const mo_shape *shape,
                              int64_t *elements)
{
    mo_point_access access = { .offset = mo_random_below(random, 3) };
    int order[MO_MAX_RANK];
    bool plain = mo_random_below(random, 2) == 0;
    int64_t stride = mo_random_below(random, 5) == 0 ? 2 : 1;

    shuffle_dims(random, order, shape->rank);
    *elements = access.offset + 1;
    for (int i = shape->rank; i-- > 0;) {
        int d = plain ? i : order[i];

        if (mo_random_below(random, 3) == 0)
            continue;
        access.stride[d] = stride;
        *elements += (shape->dims[d] - 1) * stride;
        stride *= shape->dims[d];
    }
    return access;
}

mo_point_access random_layout(mo_random *random, const mo_shape *shape)
{
    mo_point_access access = { 0 };
    int order[MO_MAX_RANK];
    int64_t stride = 1;

    if (mo_random_below(random, 2) == 0)
        return mo_point_access_dense(shape);
    shuffle_dims(random, order, shape->rank);
    for (int i = shape->rank; i-- > 0;) {
        access.stride[order[i]] = stride;
        stride *= shape->dims[order[i]];
    }
    return access;
}

/* Exact, or rounded once by every implementation. */
static const mo_point_op exact[] = {
    MO_POINT_ABS,          MO_POINT_NEGATE,        MO_POINT_FLOOR,
    MO_POINT_RELU,         MO_POINT_CLAMP,         MO_POINT_ROUND_TO,
    MO_POINT_ADD,          MO_POINT_SUBTRACT,      MO_POINT_MULTIPLY,
    MO_POINT_MAXIMUM,      MO_POINT_MINIMUM,       MO_POINT_EQUAL,
    MO_POINT_LESS,         MO_POINT_GREATER,       MO_POINT_TRUNCATE,
    MO_POINT_I_ABS,        MO_POINT_I_NEGATE,      MO_POINT_I_SIGN,
    MO_POINT_I_NOT,        MO_POINT_I_BITS_NOT,    MO_POINT_I_CLAMP,
    MO_POINT_I_RELU,       MO_POINT_I_ADD,         MO_POINT_I_SUBTRACT,
    MO_POINT_I_MULTIPLY,   MO_POINT_I_MAXIMUM,     MO_POINT_I_MINIMUM,
    MO_POINT_I_EQUAL,      MO_POINT_I_LESS_EQUAL,  MO_POINT_I_GREATER,
    MO_POINT_I_AND,        MO_POINT_I_OR,          MO_POINT_I_XOR,
    MO_POINT_I_SHIFT_LEFT, MO_POINT_I_SHIFT_RIGHT, MO_POINT_I_WRAP,
    MO_POINT_TO_REAL,      MO_POINT_SELECT,        MO_POINT_I_SELECT,
};

/* Returns a register of that kind, or -1 if there is none. */
static int random_register(mo_random *random, const mo_point_program *point,
                           bool real)
{
    int n = point->n_operands + point->n_steps;

    for (int tries = 0; tries < 20; tries++) {
        int reg = mo_random_below(random, n);

        if (mo_point_register_is_real(point, reg) == real)
            return reg;
    }
    return -1;
}

static void random_step(mo_random *random, mo_point_program *point)
{
    mo_point_step step = { .op = exact[mo_random_below(random, COUNT(exact))],
                           .x = -2,
                           .y = 5 };
    mo_point_signature kind = mo_point_op_signature(step.op);

    step.elem = kind.real && step.op != MO_POINT_TO_REAL
                    ? (mo_elem) mo_random_below(random, MO_ELEM_I64)
                    : (mo_elem) (MO_ELEM_I64 + mo_random_below(random, 9));
    step.a = random_register(random, point, kind.a_real);
    if (kind.arity > 1)
        step.b = random_register(random, point, kind.b_real);
    if (kind.arity > 2)
        step.c = random_register(random, point, kind.b_real);
    if (step.a >= 0 && step.b >= 0 && step.c >= 0)
        mo_point_push_step(point, step);
}

void random_steps(mo_random *random, mo_point_program *point, mo_elem elem)
{
    bool real = mo_elem_is_float(elem);
    int steps = mo_random_below(random, 12);

    for (int i = 0; i < steps; i++)
        random_step(random, point);
    point->result = point->n_operands + point->n_steps - 1;
    if (mo_random_below(random, 4) == 0)
        point->result = mo_random_below(random, point->result + 1);
    if (mo_point_register_is_real(point, point->result) != real)
        point->result = mo_point_push_step(
            point,
            (mo_point_step){ .op = real ? MO_POINT_TO_REAL : MO_POINT_TRUNCATE,
                             .a = point->result });
}
