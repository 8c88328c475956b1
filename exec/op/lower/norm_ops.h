/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_norm.h - the lowerings of normalisations, by the files they are in;
 * lower_norm.c has the table.
 */
#ifndef MO_EXEC_OP_LOWER_NORM_OPS_H
#define MO_EXEC_OP_LOWER_NORM_OPS_H

#include "exec/op/call.h"

/* lower_norm.c: over the dimensions that input 1 or the operator names. */
mo_lower_fn mo_lower_mvn;
mo_lower_fn mo_lower_normalize_l2;

/* lower_scaled_norm.c: with a scale and a shift behind. */
mo_lower_fn mo_lower_layer_norm;
mo_lower_fn mo_lower_rms_norm;
mo_lower_fn mo_lower_group_norm;
mo_lower_fn mo_lower_instance_norm;
mo_lower_fn mo_lower_batch_norm;

/* lower_lrn.c */
mo_lower_fn mo_lower_lrn;

/* Adds a NORM of tensor in, row by row, to tensor out. */
mo_status mo_lower_add_norm(const mo_call_norm *norm, int in, int out,
                            int n_extra, mo_arena *arena,
                            mo_lower_result *lowered, mo_call **call,
                            mo_error *err);

#endif
