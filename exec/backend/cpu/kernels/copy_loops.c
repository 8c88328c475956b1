/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inner loops of copies. An element is a number of bytes, aligned or not; each
 * loop is instantiated for the widths of registers.
 */
#include <string.h>

#include "exec/backend/cpu/kernels/strided_copy.h"
#include "exec/backend/cpu/unit/multiversion.h"

/* Any width. */
static void move_rows(const mo_cpu_copy_plane *p, const char *in, char *out)
{
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t j = 0; j < p->columns; j++)
            memcpy(out + i * p->out_row + j * p->out_column,
                   in + i * p->in_row + j * p->in_column, p->width);
}

MO_CPU_INLINE void move_elements(const mo_cpu_copy_plane *p, const char *in,
                                 char *out, size_t width)
{
    int64_t in_column = p->in_column, out_column = p->out_column;

    for (int64_t i = 0; i < p->rows; i++) {
        const char *from = in + i * p->in_row;
        char *to = out + i * p->out_row;

        for (int64_t j = 0; j < p->columns; j++)
            memcpy(to + j * out_column, from + j * in_column, width);
    }
}

/* Broadcasts one element over each row. */
MO_CPU_INLINE void repeat_element(const mo_cpu_copy_plane *p, const char *in,
                                  char *out, size_t width)
{
    for (int64_t i = 0; i < p->rows; i++) {
        char element[16], *to = out + i * p->out_row;

        memcpy(element, in + i * p->in_row, width);
        for (int64_t j = 0; j < p->columns; j++)
            memcpy(to + j * (int64_t) width, element, width);
    }
}

#define LOOPS(width)                                                           \
    static void move_##width(const mo_cpu_copy_plane *p, const char *in,       \
                             char *out)                                        \
    {                                                                          \
        move_elements(p, in, out, width);                                      \
    }                                                                          \
    static void repeat_##width(const mo_cpu_copy_plane *p, const char *in,     \
                               char *out)                                      \
    {                                                                          \
        repeat_element(p, in, out, width);                                     \
    }

LOOPS(1)
LOOPS(2)
LOOPS(4)
LOOPS(8)
LOOPS(16)

typedef struct loops {
    size_t width;
    mo_cpu_copy_fn *move, *repeat;
} loops;

static const loops by_width[] = {
    { 1, move_1, repeat_1 },    { 2, move_2, repeat_2 },
    { 4, move_4, repeat_4 },    { 8, move_8, repeat_8 },
    { 16, move_16, repeat_16 },
};

static const loops *find_loops(size_t width)
{
    for (size_t i = 0; i < sizeof by_width / sizeof *by_width; i++)
        if (by_width[i].width == width)
            return &by_width[i];
    return NULL;
}

bool mo_cpu_copy_plane_is_transposed(const mo_cpu_copy_plane *plane)
{
    int64_t width = (int64_t) plane->width;

    return mo_cpu_transpose_fn_for(plane->width) &&
           plane->out_column == width && plane->in_row == width &&
           plane->rows > 1 && plane->columns > 1;
}

mo_cpu_copy_fn *mo_cpu_copy_fn_for(const mo_cpu_copy_plane *plane)
{
    const loops *found = find_loops(plane->width);

    if (mo_cpu_copy_plane_is_transposed(plane))
        return mo_cpu_transpose_fn_for(plane->width);
    if (!found)
        return move_rows;
    if (plane->in_column == 0 && plane->out_column == (int64_t) plane->width)
        return found->repeat;
    return found->move;
}
