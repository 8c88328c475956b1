/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_nest.h - loop nest of a pointwise program, with collapsed dimensions.
 *
 * Dimensions of the result are sorted by their order in memory, the outermost
 * first; those of one element are dropped, and neighbours are merged where
 * every operand continues from the inner into the outer one. The result itself
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

/* Returns the loops of a program with a result of that shape. */
mo_point_loop_nest mo_point_loop_nest_collapse(const mo_point_program *point,
                                               const mo_shape *shape);

#endif
