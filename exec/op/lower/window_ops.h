/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_window.h - what looks through windows, lowered: attributes that
 * convolutions and pools share, and the operators by file.
 */
#ifndef MO_EXEC_OP_LOWER_WINDOW_OPS_H
#define MO_EXEC_OP_LOWER_WINDOW_OPS_H

#include "exec/op/call.h"

/* in and out from the shapes of input 0 and output 0, kernel from the caller;
 * the rest from attributes, padding as auto_pad wants it. */
mo_status mo_lower_window_read(const mo_op_site *site, const int64_t *kernel,
                               mo_call_window *sweep, mo_error *err);

/* Fails unless the data has batch, channels and 1 to 3 spatial dimensions, and
 * the result as many. */
mo_status mo_lower_window_check(const mo_op_site *site, int *spatial,
                                mo_error *err);

mo_lower_fn mo_lower_conv, mo_lower_group_conv;
mo_lower_fn mo_lower_conv_transpose, mo_lower_group_conv_transpose;
mo_lower_fn mo_lower_max_pool, mo_lower_avg_pool;
mo_lower_fn mo_lower_adaptive_max_pool, mo_lower_adaptive_avg_pool;
mo_lower_fn mo_lower_global_max_pool, mo_lower_global_avg_pool;

#endif
