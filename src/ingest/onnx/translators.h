/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translators.h - the translators that operators.def names, by file.
 */
#ifndef MO_INGEST_ONNX_TRANSLATORS_H
#define MO_INGEST_ONNX_TRANSLATORS_H

#include "ingest/onnx/translate.h"

/* op_point.c: elementwise */
mo_onnx_translator mo_onnx_op_unary, mo_onnx_op_binary, mo_onnx_op_compare,
    mo_onnx_op_variadic, mo_onnx_op_div, mo_onnx_op_mod, mo_onnx_op_power,
    mo_onnx_op_prelu, mo_onnx_op_where, mo_onnx_op_cast, mo_onnx_op_clip,
    mo_onnx_op_leaky_relu, mo_onnx_op_elu, mo_onnx_op_celu, mo_onnx_op_selu,
    mo_onnx_op_hard_sigmoid, mo_onnx_op_gelu, mo_onnx_op_swish,
    mo_onnx_op_shrink, mo_onnx_op_thresholded_relu, mo_onnx_op_round,
    mo_onnx_op_is_nan, mo_onnx_op_is_inf, mo_onnx_op_dropout,
    mo_onnx_op_identity;

/* translate.c: records the row's argument as the reason to refuse */
mo_onnx_translator mo_onnx_op_refused;

/* op_native.c: recurrent, quantized and other operators of the same form */

/* Adds a layer of the row's argument with the inputs and outputs of the node,
 * and the attributes that are set; the outputs have type dtype. */
void mo_onnx_add_native(mo_onnx_op *op, const char *dtype);

mo_onnx_translator mo_onnx_op_as_is, mo_onnx_op_bit_shift, mo_onnx_op_quantize,
    mo_onnx_op_dequantize, mo_onnx_op_quantized_product,
    mo_onnx_op_dynamic_quantize;

/* op_view.c: shapes, views, creation */
mo_onnx_translator mo_onnx_op_constant, mo_onnx_op_constant_of_shape,
    mo_onnx_op_shape, mo_onnx_op_size, mo_onnx_op_reshape, mo_onnx_op_flatten,
    mo_onnx_op_squeeze, mo_onnx_op_unsqueeze, mo_onnx_op_range,
    mo_onnx_op_eye_like, mo_onnx_op_trilu, mo_onnx_op_one_hot,
    mo_onnx_op_hardmax;

/* op_move.c: moves and gathers elements */
mo_onnx_translator mo_onnx_op_transpose, mo_onnx_op_expand, mo_onnx_op_tile,
    mo_onnx_op_concat, mo_onnx_op_split, mo_onnx_op_slice, mo_onnx_op_pad,
    mo_onnx_op_gather, mo_onnx_op_gather_elements, mo_onnx_op_gather_nd,
    mo_onnx_op_scatter_elements, mo_onnx_op_scatter_nd, mo_onnx_op_depth_space,
    mo_onnx_op_top_k, mo_onnx_op_arg_extreme, mo_onnx_op_reverse_sequence;

/* op_window.c: convolutions, pools, resizing */
mo_onnx_translator mo_onnx_op_conv, mo_onnx_op_conv_transpose,
    mo_onnx_op_quantized_conv, mo_onnx_op_max_pool, mo_onnx_op_average_pool,
    mo_onnx_op_global_pool, mo_onnx_op_lp_pool;

/* op_resize.c */
mo_onnx_translator mo_onnx_op_resize;

/* op_region.c: regions of images */
mo_onnx_translator mo_onnx_op_roi_align, mo_onnx_op_deform_conv,
    mo_onnx_op_affine_grid, mo_onnx_op_max_unpool, mo_onnx_op_col2im,
    mo_onnx_op_center_crop_pad;

/* op_signal.c: Fourier transforms, windows */
mo_onnx_translator mo_onnx_op_dft, mo_onnx_op_stft, mo_onnx_op_window,
    mo_onnx_op_mel_weight_matrix;

/* op_known.c: results whose sizes are values */
mo_onnx_translator mo_onnx_op_non_zero, mo_onnx_op_compress, mo_onnx_op_unique;

/* op_nms.c */
mo_onnx_translator mo_onnx_op_nms;

/* op_loss.c */
mo_onnx_translator mo_onnx_op_nll_loss, mo_onnx_op_cross_entropy;

/* op_sequence.c: around attention */
mo_onnx_translator mo_onnx_op_rotary_embedding, mo_onnx_op_tensor_scatter,
    mo_onnx_op_swiglu, mo_onnx_op_causal_conv;

/* op_reduce.c: products, reductions, normalization */
mo_onnx_translator mo_onnx_op_matmul, mo_onnx_op_gemm, mo_onnx_op_det,
    mo_onnx_op_einsum, mo_onnx_op_reduce, mo_onnx_op_reduce_log_sum,
    mo_onnx_op_reduce_log_sum_exp, mo_onnx_op_reduce_sum_square,
    mo_onnx_op_cum_sum, mo_onnx_op_cum_prod, mo_onnx_op_softmax,
    mo_onnx_op_lp_normalization, mo_onnx_op_mean_variance,
    mo_onnx_op_batch_norm, mo_onnx_op_layer_norm, mo_onnx_op_rms_norm,
    mo_onnx_op_instance_norm, mo_onnx_op_group_norm, mo_onnx_op_lrn;

/* op_attention.c, op_linear_attention.c */
mo_onnx_translator mo_onnx_op_attention, mo_onnx_op_linear_attention;

/* op_ort.c, op_ort_attention.c: operators of ONNX Runtime */
mo_onnx_translator mo_onnx_op_skip_norm, mo_onnx_op_embed_norm,
    mo_onnx_op_ort_gelu, mo_onnx_op_quick_gelu, mo_onnx_op_fused_matmul,
    mo_onnx_op_fused_conv, mo_onnx_op_quantized_point,
    mo_onnx_op_quantized_pool, mo_onnx_op_quantized_concat,
    mo_onnx_op_quantized_lstm, mo_onnx_op_dynamic_matmul,
    mo_onnx_op_matmul_to_float, mo_onnx_op_matmul_bits, mo_onnx_op_multi_head,
    mo_onnx_op_projected_attention, mo_onnx_op_ort_rotary,
    mo_onnx_op_group_query;

#endif
