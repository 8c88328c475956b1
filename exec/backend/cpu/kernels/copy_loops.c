/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inner loops of copies. An element is a number of bytes, aligned or not; each
 * loop is instantiated for the widths of registers.
 */
#include <string.h>

#include "base/ablation.h"
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

#define LOOP(width)                                                            \
    static void move_##width(const mo_cpu_copy_plane *p, const char *in,       \
                             char *out)                                        \
    {                                                                          \
        move_elements(p, in, out, width);                                      \
    }

LOOP(1)
LOOP(2)
LOOP(4)
LOOP(8)
LOOP(16)

bool mo_cpu_copy_plane_is_transposed(const mo_cpu_copy_plane *plane)
{
    int64_t width = (int64_t) plane->width;

    return !mo_ablated(MO_ABLATION_copy_transpose) &&
           mo_cpu_transpose_fn_for(plane->width) &&
           plane->out_column == width && plane->in_row == width &&
           plane->rows > 1 && plane->columns > 1;
}

mo_cpu_copy_fn *mo_cpu_copy_fn_for(const mo_cpu_copy_plane *plane)
{
    if (mo_cpu_copy_plane_is_transposed(plane))
        return mo_cpu_transpose_fn_for(plane->width);
    switch (plane->width) {
    case 1:
        return move_1;
    case 2:
        return move_2;
    case 4:
        return move_4;
    case 8:
        return move_8;
    case 16:
        return move_16;
    default:
        return move_rows;
    }
}
