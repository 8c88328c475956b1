/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flops.h - flops formulas of the operators (column FLOPS of operators.def).
 *
 * Each returns the floating-point operations of one execution, a multiply-add
 * counting two, or a negative number when a shape or an attribute it needs is
 * not known. Elementary functions (exp, log, sqrt, sin, a power) count one,
 * like an addition.
 */
#ifndef MO_INGEST_WORK_FLOPS_H
#define MO_INGEST_WORK_FLOPS_H

#include "ingest/work.h"

/* The row's constant for every element of the first output, of the first
 * input, or of the largest of them all. */
double mo_flops_output(const mo_work_input *in);
double mo_flops_input(const mo_work_input *in);
double mo_flops_largest(const mo_work_input *in);

/* (a, b), with transpose_a and transpose_b; batches broadcast. */
double mo_flops_matmul(const mo_work_input *in);
/* (x, weights [out, in], bias?) */
double mo_flops_linear(const mo_work_input *in);
double mo_flops_linear_experts(const mo_work_input *in);
/* (a, b, c?), with transA. */
double mo_flops_gemm(const mo_work_input *in);
/* (bias, a, b) */
double mo_flops_addmm(const mo_work_input *in);
double mo_flops_einsum(const mo_work_input *in);

/* (data, filter [out, in / groups, kernel...], bias?) */
double mo_flops_convolution(const mo_work_input *in);
/* (data, scale, zero, filter [out, in / groups, kernel...], ..., bias?) */
double mo_flops_qlinear_conv(const mo_work_input *in);
/* (data, filter [groups, out / groups, in / groups, kernel...]) */
double mo_flops_group_convolution(const mo_work_input *in);
/* (data, filter [in, out / groups, kernel...]) */
double mo_flops_deconvolution(const mo_work_input *in);
/* (data, filter [groups, in / groups, out / groups, kernel...]) */
double mo_flops_group_deconvolution(const mo_work_input *in);
/* (data, offsets, filter, mask?) */
double mo_flops_deformable(const mo_work_input *in);

/* One per element of the window, for every output. */
double mo_flops_pool(const mo_work_input *in);
/* Twice the window for its squares, and the row's constant. */
double mo_flops_lrn(const mo_work_input *in);
/* By mode: nothing for the nearest, the taps of linear or cubic otherwise. */
double mo_flops_interpolate(const mo_work_input *in);

/* (q [..., L, E], k [..., S, E], v [..., S, V]): two products and a softmax. */
double mo_flops_attention(const mo_work_input *in);

/* Recurrent cells and sequences: a product for the input and one for the state
 * in every gate, and the row's constant per hidden unit. */
double mo_flops_onnx_rnn(const mo_work_input *in);  /* (x, W, R, ...) */
double mo_flops_cell(const mo_work_input *in);      /* (x, h, W, R, ...) */
double mo_flops_lstm_cell(const mo_work_input *in); /* (x, h, c, W, R, ...) */
double mo_flops_sequence(const mo_work_input *in);  /* (x, h, len, W, R...) */
double mo_flops_lstm_sequence(const mo_work_input *in);
/* (x, h, c, len, W, R...) */

#endif
