/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_move.h - the lowerings of operators that move elements, by file.
 */
#ifndef MO_EXEC_OP_LOWER_MOVEMENT_OPS_H
#define MO_EXEC_OP_LOWER_MOVEMENT_OPS_H

#include "exec/op/call.h"

/* lower_join.c */
mo_lower_fn mo_lower_concat;
mo_lower_fn mo_lower_split; /* and VariadicSplit */

/* lower_turn.c */
mo_lower_fn mo_lower_transpose;
mo_lower_fn mo_lower_shuffle_channels;
mo_lower_fn mo_lower_reverse;
mo_lower_fn mo_lower_reverse_sequence;
mo_lower_fn mo_lower_roll;

/* lower_repeat.c */
mo_lower_fn mo_lower_broadcast;
mo_lower_fn mo_lower_tile;

/* lower_pad.c */
mo_lower_fn mo_lower_pad;

/* lower_space.c */
mo_lower_fn mo_lower_depth_to_space;
mo_lower_fn mo_lower_space_to_depth;
mo_lower_fn mo_lower_space_to_batch;
mo_lower_fn mo_lower_batch_to_space;

/* lower_create.c */
mo_lower_fn mo_lower_shape_of;
mo_lower_fn mo_lower_range;
mo_lower_fn mo_lower_eye;
mo_lower_fn mo_lower_one_hot;

/* lower_gather.c */
mo_lower_fn mo_lower_gather;
mo_lower_fn mo_lower_gather_elements;
mo_lower_fn mo_lower_gather_nd;

/* lower_scatter.c */
mo_lower_fn mo_lower_scatter_update;
mo_lower_fn mo_lower_scatter_elements;
mo_lower_fn mo_lower_scatter_nd;

#endif
