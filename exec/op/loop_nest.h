/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops.h - the loops that a pointwise program is.
 *
 * Dimensions of the result are put into the order in which it lies in memory,
 * the outermost first; those of one element go, and neighbours become one where
 * every operand goes on from the inner into the outer one.  The result itself
 * is then dense: its elements in the order of the loops are those of memory.
 */
#ifndef MO_EXEC_OP_LOOP_NEST_H
#define MO_EXEC_OP_LOOP_NEST_H

#include <stdint.h>

#include "exec/op/point_program.h"

typedef struct mo_point_loop_nest {
    int rank; /* at least 1 */
    int64_t extent[MO_MAX_RANK];
    int64_t stride[MO_POINT_MAX_OPERANDS][MO_MAX_RANK]; /* by operand */
} mo_point_loop_nest;

/* Of a program whose result has that shape. */
mo_point_loop_nest mo_point_loop_nest_collapse(const mo_point_program *point,
                                               const mo_shape *shape);

#endif
