/*
 * lower_window.h - what looks through windows, lowered: attributes that
 * convolutions and pools share, and the operators by file.
 */
#ifndef MO_EXEC_OP_LOWER_WINDOW_OPS_H
#define MO_EXEC_OP_LOWER_WINDOW_OPS_H

#include "exec/op/call.h"

/* in and out from the shapes of input 0 and output 0, kernel from the caller;
 * the rest from attributes, padding as auto_pad wants it. */
mo_status mo_sweep_read(const mo_site *site, const int64_t *kernel,
                        mo_sweep *sweep, mo_error *err);

/* Fails unless the data has batch, channels and 1 to 3 spatial dimensions, and
 * the result as many. */
mo_status mo_sweep_check(const mo_site *site, int *spatial, mo_error *err);

mo_lower mo_lower_convolution, mo_lower_group_convolution;
mo_lower mo_lower_deconvolution, mo_lower_group_deconvolution;
mo_lower mo_lower_max_pool, mo_lower_avg_pool;
mo_lower mo_lower_adaptive_max_pool, mo_lower_adaptive_avg_pool;
mo_lower mo_lower_global_max_pool, mo_lower_global_avg_pool;

#endif
