/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - calls: the small instruction set that operators are lowered to and
 * backends implement.
 *
 * Lowering (lower.h) knows OpenVINO's semantics of an operator and its
 * attributes; backends implement these calls and know nothing of operators.
 * Parameters are plain numbers: axes counted from the front, padding resolved,
 * strides in elements.
 *
 * Operands are numbers of tensors: those of one operator at first (its inputs,
 * then its outputs, then temporaries, see mo_lower_result), later values of a
 * plan. Every tensor is stored row by row. A channels_last one has the order
 * N, spatial, C in memory, while its shape still reads N, C, spatial; the
 * strides of copies, points and reductions follow the memory.
 */
#ifndef MO_EXEC_OP_CALL_H
#define MO_EXEC_OP_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "exec/tensor/block_format.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/op/point_program.h"

typedef enum mo_call_kind {
    MO_CALL_VIEW,   /* the bytes of in[0] under another shape */
    MO_CALL_POINT,  /* elementwise; operands of the program are in[] */
    MO_CALL_COPY,   /* copies of boxes of elements */
    MO_CALL_MATMUL, /* in: a, b */
    MO_CALL_CONV,   /* in: data, weights */
    MO_CALL_POOL,   /* in: data; out: result, indices of the maxima */
    MO_CALL_REDUCE,
    MO_CALL_SOFTMAX,
    MO_CALL_NORM,
    MO_CALL_GATHER,  /* in: data, indices */
    MO_CALL_SCATTER, /* in: data, indices, updates */
    MO_CALL_TOPK,    /* out: values, indices */
    MO_CALL_CUMSUM,
    MO_CALL_INTERPOLATE,
    MO_CALL_ATTENTION,   /* in: q, k, v, perhaps a mask, perhaps sinks,
                            operands of score */
    MO_CALL_RANGE,       /* start, stop and step may be computed */
    MO_CALL_RNN,         /* in: input products, recurrence weights, ... */
    MO_CALL_GRID_SAMPLE, /* in: data, grid */
    MO_CALL_LINEAR,      /* in: data, weights in a storage format */
    MO_CALL_EXPERTS,     /* in: data, weights of all experts, indices */
    MO_CALL_DEQUANTIZE,  /* in: blocks */
    MO_CALL_KINDS
} mo_call_kind;

/* COPY: out[out_offset + i . out_stride] = in[in_offset + i . in_stride]
 * for all i within extent; or a number, everywhere. Boxes are done in order;
 * elements are copied bytewise. */
enum { MO_CALL_COPY_FILL = -1 };

typedef struct mo_call_copy_box {
    int from; /* index into the call's in, or MO_CALL_COPY_FILL */
    int to;   /* index into the call's out */
    double fill;
    int rank;
    int64_t extent[MO_MAX_RANK];
    int64_t in_offset, in_stride[MO_MAX_RANK]; /* may be 0 or negative */
    int64_t out_offset, out_stride[MO_MAX_RANK];
} mo_call_copy_box;

typedef struct mo_call_copy {
    mo_call_copy_box *boxes;
    int n_boxes;
    /* in[fill_in] holds the number for fills instead; -1: there is none. */
    int fill_in;
} mo_call_copy;

/* MATMUL: for every batch index, c[m][n] = sum over k of a[m][k] b[k][n].
 * Any strides; a backend that needs contiguous rows packs the others. */
enum { MO_CALL_MATMUL_MAX_BATCH = MO_MAX_RANK };

typedef struct mo_call_matmul_operand {
    int64_t row, column; /* strides of the two dimensions of the matrix */
    int64_t batch[MO_CALL_MATMUL_MAX_BATCH];
} mo_call_matmul_operand;

typedef struct mo_call_matmul {
    int64_t m, n, k;
    int n_batch;
    int64_t extent[MO_CALL_MATMUL_MAX_BATCH];
    mo_call_matmul_operand a, b, c;
} mo_call_matmul;

/* LINEAR: c[m][n] = sum over k of a[m][k] w[n][k], rows contiguous. Unlike
 * those of MATMUL the weights have a format of their own (block_format.h), and
 * are read as they are: no copy of them in another format is kept. a and c are
 * of the same type, f32, f16 or bf16. */
typedef struct mo_call_linear {
    mo_block_format format;
    int64_t m, n, k;
} mo_call_linear;

/* EXPERTS: c[i][n] = sum over k of a[i / share][k] w[index[i]][n][k]: LINEAR,
 * with the weights that an index chooses for each row of the result. Weights
 * that are not chosen are not read. */
typedef struct mo_call_experts {
    mo_block_format format;
    int64_t m, n, k, experts;
    int64_t share; /* rows of the result that read the same row of data */
} mo_call_experts;

/* DEQUANTIZE: so many elements, whole blocks, to f32, f16 or bf16. */
typedef struct mo_call_dequantize {
    mo_block_format format;
    int64_t elements;
} mo_call_dequantize;

/* Sliding windows of CONV and POOL. */
enum { MO_CALL_MAX_SPATIAL = 3 };

typedef struct mo_call_window {
    int spatial; /* 1 to 3 */
    int64_t in[MO_CALL_MAX_SPATIAL], out[MO_CALL_MAX_SPATIAL],
        kernel[MO_CALL_MAX_SPATIAL];
    int64_t stride[MO_CALL_MAX_SPATIAL], dilation[MO_CALL_MAX_SPATIAL];
    int64_t pad_begin[MO_CALL_MAX_SPATIAL], pad_end[MO_CALL_MAX_SPATIAL];
} mo_call_window;

/* CONV, also transposed (ConvolutionBackpropData, in before out in its weights:
 * [groups, out / groups, in / groups, spatial]).  A result of i32 is that of
 * integers, given as floats, whose sums floats hold exactly. */
typedef struct mo_call_conv {
    mo_call_window sweep;
    int64_t batch, in_channels, out_channels, groups;
    bool transposed;
    bool channels_last; /* data and result */
    /* Elements of the result between neighbours in space, where it is a part
     * of another tensor (exec/plan/passes/concat_inplace.c); 0:
     * out_channels. */
    int64_t pitch;
} mo_call_conv;

/* POOL. Windows may extend beyond the end (ceil rounding), as given by
 * out. The divisor of an average is the number of these elements of a
 * window: */
typedef enum mo_call_pool_count {
    MO_CALL_POOL_COUNT_KERNEL, /* all, even behind the padding: OpenVINO's ceil
                                */
    MO_CALL_POOL_COUNT_PADDED, /* data and padding: ceil_torch, PyTorch and ONNX
                                */
    MO_CALL_POOL_COUNT_DATA    /* data only: exclude-pad */
} mo_call_pool_count;

typedef struct mo_call_pool {
    mo_call_window sweep;
    int64_t batch, channels;
    bool average;
    mo_call_pool_count count;
    bool adaptive;  /* windows from in and out; kernel is not used, and the
                       divisor is the data */
    int index_axis; /* of the second output: indices count within the
                       dimensions from there on */
    bool channels_last;
} mo_call_pool;

/* REDUCE over the marked dimensions of the input. */
typedef enum mo_call_reduce_op {
    MO_CALL_REDUCE_SUM,
    MO_CALL_REDUCE_MEAN,
    MO_CALL_REDUCE_MAX,
    MO_CALL_REDUCE_MIN,
    MO_CALL_REDUCE_PROD,
    MO_CALL_REDUCE_L1,
    MO_CALL_REDUCE_L2,
    MO_CALL_REDUCE_AND,
    MO_CALL_REDUCE_OR
} mo_call_reduce_op;

typedef struct mo_call_reduce {
    mo_call_reduce_op op;
    int rank;
    int64_t extent[MO_MAX_RANK];
    int64_t in_stride[MO_MAX_RANK];
    int64_t out_stride[MO_MAX_RANK]; /* 0 where reduced */
    bool reduced[MO_MAX_RANK];
} mo_call_reduce;

/* SOFTMAX over the middle one of three dimensions. */
typedef struct mo_call_softmax {
    int64_t outer, count, inner;
    bool log;
} mo_call_softmax;

/* NORM: over each of groups rows of count elements, contiguous: minus
 * mean (unless rms), over sqrt(variance + eps) (eps outside of the root:
 * sqrt(variance) + eps).  Scale and shift are its epilogue. */
typedef struct mo_call_norm {
    int64_t groups, count;
    double eps;
    bool center; /* subtract the mean */
    bool scale;  /* divide by the deviation */
    bool eps_outside;
    bool max_eps; /* sqrt(max(sum of squares, eps)), not the mean's:
                     NormalizeL2 */
    bool sum;     /* of squares, not their mean: NormalizeL2 */
} mo_call_norm;

/* GATHER, with three meanings of an index. */
typedef enum mo_call_gather_kind {
    MO_CALL_GATHER_AXIS,     /* batch, outer, data axis, inner: Gather */
    MO_CALL_GATHER_ELEMENTS, /* an index for every element of the result */
    MO_CALL_GATHER_ND        /* an index tuple selects a slice: GatherND */
} mo_call_gather_kind;

typedef struct mo_call_gather {
    mo_call_gather_kind kind;
    /* AXIS: data[batch][outer][axis][inner], indices[batch][count], result
     * [batch][outer][count][inner].
     * ND: data[batch][dims...][inner], indices[batch][count][depth], result
     * [batch][count][inner].  ELEMENTS: shapes and axis below. */
    int64_t batch, outer, axis, inner, count;
    int depth;
    int64_t dims[MO_MAX_RANK]; /* ND: dimensions that are indexed */
    int at;                    /* ELEMENTS: the axis */
    mo_shape data, result;     /* ELEMENTS */
} mo_call_gather;

/* SCATTER: a copy of the data, changed at the indices, in order. */
typedef enum mo_call_scatter_op {
    MO_CALL_SCATTER_SET,
    MO_CALL_SCATTER_SUM,
    MO_CALL_SCATTER_PROD,
    MO_CALL_SCATTER_MIN,
    MO_CALL_SCATTER_MAX,
    MO_CALL_SCATTER_MEAN,
    MO_CALL_SCATTER_SUB
} mo_call_scatter_op;

typedef struct mo_call_scatter {
    mo_call_gather_kind kind; /* as for gathering: AXIS is ScatterUpdate */
    mo_call_scatter_op op;
    bool use_init; /* the data's own value takes part in the reduction */
    int64_t outer, axis, inner, count; /* AXIS: indices[count], updates
                                          [outer][count][inner] */
    int depth;
    int64_t dims[MO_MAX_RANK];
    int at;                 /* ELEMENTS */
    mo_shape data, updates; /* ELEMENTS */
} mo_call_scatter;

/* TOPK, CUMSUM: along the middle one of three dimensions. */
typedef enum mo_call_topk_sort {
    MO_CALL_TOPK_BY_VALUE,
    MO_CALL_TOPK_BY_INDEX,
    MO_CALL_TOPK_ANY
} mo_call_topk_sort;

typedef struct mo_call_topk {
    int64_t outer, count, inner, k;
    bool largest;
    /* ANY is done as BY_VALUE; equals: lower index first. */
    mo_call_topk_sort sort;
} mo_call_topk;

typedef struct mo_call_cumsum {
    int64_t outer, count, inner;
    bool exclusive, reverse;
} mo_call_cumsum;

/* INTERPOLATE over some dimensions of the input. */
typedef enum mo_call_interpolate_mode {
    MO_CALL_INTERPOLATE_NEAREST,
    MO_CALL_INTERPOLATE_LINEAR, /* with antialias or not */
    MO_CALL_INTERPOLATE_LINEAR_ONNX,
    MO_CALL_INTERPOLATE_CUBIC
} mo_call_interpolate_mode;

typedef enum mo_call_interpolate_coordinates {
    MO_CALL_COORDINATES_HALF_PIXEL,
    MO_CALL_COORDINATES_PYTORCH_HALF_PIXEL,
    MO_CALL_COORDINATES_ASYMMETRIC,
    MO_CALL_COORDINATES_TF_HALF_PIXEL_NN,
    MO_CALL_COORDINATES_ALIGN_CORNERS,
    MO_CALL_COORDINATES_HALF_PIXEL_SYMMETRIC, /* this and the next by onnx */
    MO_CALL_COORDINATES_TF_CROP
} mo_call_interpolate_coordinates;

typedef enum mo_call_interpolate_nearest {
    MO_CALL_NEAREST_PREFER_FLOOR,
    MO_CALL_NEAREST_PREFER_CEIL,
    MO_CALL_NEAREST_FLOOR,
    MO_CALL_NEAREST_CEIL,
    MO_CALL_NEAREST_SIMPLE
} mo_call_interpolate_nearest;

typedef struct mo_call_interpolate {
    mo_call_interpolate_mode mode;
    mo_call_interpolate_coordinates coordinates;
    mo_call_interpolate_nearest nearest;
    bool antialias;
    bool onnx;            /* coordinates and weights as ONNX defines them, by
                             the scale even where it keeps the size */
    bool exclude_outside; /* by onnx: no weight for elements outside */
    double cubic;         /* coefficient a */
    int rank;
    int64_t in[MO_MAX_RANK]; /* padded sizes: pads are a copy before */
    int64_t out[MO_MAX_RANK];
    double scale[MO_MAX_RANK];   /* out over in, by the op; 1 elsewhere */
    bool moves[MO_MAX_RANK];     /* the axes that are interpolated */
    double crop[2][MO_MAX_RANK]; /* of TF_CROP: start and end, from 0 to 1 */
} mo_call_interpolate;

/* ATTENTION: softmax(score(scale q k') + mask) v, for every batch index.  Keys
 * and values are of one type, which on CPUs may be another float than q's.
 * Rows of q, k, v and the result are contiguous; a row begins at offset +
 * batch index . strides + row * its stride, in elements. */
typedef struct mo_call_attention {
    int n_batch; /* dimensions before the last two, broadcast: strides below */
    int64_t extent[MO_CALL_MATMUL_MAX_BATCH];
    int64_t q_batch[MO_CALL_MATMUL_MAX_BATCH],
        k_batch[MO_CALL_MATMUL_MAX_BATCH];
    int64_t v_batch[MO_CALL_MATMUL_MAX_BATCH],
        mask_batch[MO_CALL_MATMUL_MAX_BATCH];
    int64_t out_batch[MO_CALL_MATMUL_MAX_BATCH];
    int64_t q_offset, k_offset, v_offset, mask_offset;
    int64_t q_row, k_row, v_row, out_row;
    int64_t queries, keys, width, v_width;
    int64_t mask_row, mask_column; /* strides; 0 repeats */
    double scale;
    bool causal, has_mask; /* a mask of booleans keeps what is true, any other
                              is added */
    /* A sink is a number for each query, with these strides: the score of one
     * more key, whose value is 0. Not together with score. */
    bool has_sinks;
    int64_t sink_batch[MO_CALL_MATMUL_MAX_BATCH], sink_row;
    bool zero_if_masked; /* the result of a query whose scores are all -inf is
                            0, not NaN */
    /* NULL, or a program on a score, a float: its operand 0. Operand i > 0 is
     * the call's in[3 + has_mask + i - 1]. Accesses are over [extent ...,
     * queries, keys]. */
    mo_point_program *score;
} mo_call_attention;

/* RANGE: start + i * step as one row. in: start, stop (which determined
 * the size) and step, a number each; or nothing, then the numbers are these. */
typedef struct mo_call_range {
    int64_t start, step;
} mo_call_range;

/* RNN: the recurrence of a layer of plain cells, GRU or LSTM (equations
 * of ONNX), in one or two directions.  in[0] has the products of all steps with
 * the input weights, which a MATMUL computes at once; in[1] the recurrence
 * weights, [directions][gates * hidden][hidden].  Other operands are numbers of
 * in and out, -1 where there is none.  Strides are in elements; rows of hidden
 * elements are contiguous. */
typedef enum mo_call_rnn_cell {
    MO_CALL_RNN_PLAIN,
    MO_CALL_RNN_GRU,
    MO_CALL_RNN_LSTM
} mo_call_rnn_cell;

typedef enum mo_call_rnn_function {
    MO_CALL_RNN_SIGMOID,
    MO_CALL_RNN_TANH,
    MO_CALL_RNN_RELU,
    MO_CALL_RNN_AFFINE,           /* alpha x + beta */
    MO_CALL_RNN_LEAKY_RELU,       /* alpha x below 0 */
    MO_CALL_RNN_THRESHOLDED_RELU, /* x above alpha, else 0 */
    MO_CALL_RNN_SCALED_TANH,      /* alpha tanh(beta x) */
    MO_CALL_RNN_HARD_SIGMOID,     /* alpha x + beta between 0 and 1 */
    MO_CALL_RNN_ELU,              /* alpha (e^x - 1) below 0 */
    MO_CALL_RNN_SOFTSIGN,
    MO_CALL_RNN_SOFTPLUS,
    MO_CALL_RNN_FUNCTIONS
} mo_call_rnn_function;

typedef struct mo_call_rnn_activation {
    mo_call_rnn_function function;
    float alpha, beta;
} mo_call_rnn_activation;

/* Gates by role. */
enum {
    MO_CALL_RNN_GATE_INPUT = 0, /* of an LSTM; the only one of a plain cell */
    MO_CALL_RNN_GATE_FORGET,
    MO_CALL_RNN_GATE_CELL,
    MO_CALL_RNN_GATE_OUTPUT,
    MO_CALL_RNN_GATE_UPDATE = 0, /* of a GRU, also their blocks in memory */
    MO_CALL_RNN_GATE_RESET,
    MO_CALL_RNN_GATE_HIDDEN,
    MO_CALL_RNN_MAX_GATES = 4
};

typedef struct mo_call_rnn {
    mo_call_rnn_cell cell;
    int n_gates;
    int directions;           /* 1 or 2; the second one runs backwards */
    bool reverse;             /* the only one does */
    bool linear_before_reset; /* GRU: resets what the product of the state has
                                 become, not the state */
    float clip;               /* bound on arguments of gates; 0: none */
    int64_t steps, batch, hidden;
    /* f, g and h of ONNX, by direction. */
    mo_call_rnn_activation activations[2][3];
    int block[MO_CALL_RNN_MAX_GATES]; /* of each gate in products and weights */
    /* in; lengths by row of the batch; peephole weights are
     * [directions][3][hidden]: input, output, forget. */
    int bias, state, cell_state, lengths, peephole;
    int all, last, last_cell; /* out */
    int64_t product_step, product_batch, product_direction;
    int64_t all_step, all_batch, all_direction;
    int64_t state_batch, state_direction; /* of in and out */
    int64_t bias_direction;
    /* Offsets of each gate's biases of both products; -1: none. */
    int64_t input_bias[MO_CALL_RNN_MAX_GATES],
        state_bias[MO_CALL_RNN_MAX_GATES];
} mo_call_rnn;

/* Returns the steps of a row: its length, within bounds. */
static inline int64_t mo_call_rnn_clamp_length(const mo_call_rnn *rnn,
                                               int64_t length)
{
    return length < 0 ? 0 : length > rnn->steps ? rnn->steps : length;
}

/* GRID_SAMPLE: data [batch][channels][in...] interpolated at grid
 * [batch][out...][spatial], whose numbers are from -1 to 1 along the last
 * spatial dimension, the one before it, ...; as ONNX and PyTorch do. */
typedef enum mo_call_grid_mode {
    MO_CALL_GRID_NEAREST, /* half to even */
    MO_CALL_GRID_LINEAR,
    MO_CALL_GRID_CUBIC /* coefficient -0.75 */
} mo_call_grid_mode;

/* What stands for elements beyond the data. */
typedef enum mo_call_grid_padding {
    MO_CALL_GRID_ZEROS,
    MO_CALL_GRID_BORDER,
    MO_CALL_GRID_REFLECTION
} mo_call_grid_padding;

typedef struct mo_call_grid_sample {
    mo_call_grid_mode mode;
    mo_call_grid_padding padding;
    bool align_corners; /* -1 and 1 are the centers of the corners, else their
                           outer edges */
    int spatial;
    int64_t batch, channels, points; /* of the result, in each image */
    int64_t in[MO_CALL_MAX_SPATIAL];
} mo_call_grid_sample;

enum { MO_CALL_MAX_OPERANDS = 4096 };

typedef struct mo_call {
    mo_call_kind kind;
    int n_in, n_out;
    int *in, *out;
    union {
        mo_point_program point;
        mo_call_copy copy;
        mo_call_matmul matmul;
        mo_call_conv conv;
        mo_call_pool pool;
        mo_call_reduce reduce;
        mo_call_softmax softmax;
        mo_call_norm norm;
        mo_call_gather gather;
        mo_call_scatter scatter;
        mo_call_topk topk;
        mo_call_cumsum cumsum;
        mo_call_interpolate interpolate;
        mo_call_attention attention;
        mo_call_range range;
        mo_call_rnn rnn;
        mo_call_grid_sample grid_sample;
        mo_call_linear linear;
        mo_call_experts experts;
        mo_call_dequantize dequantize;
    } u;
    /* NULL, or the epilogue: a program on out[0] before it is stored. Its
     * operand 0 is the call's result, of the type of out[0]; operand i > 0 is
     * in[first_extra + i - 1]. Accesses are over the shape of out[0]; that of
     * operand 0 and after->out are the layout of out[0]. */
    mo_point_program *after;
    int first_extra; /* in[first_extra ...] are read by the epilogue only */
} mo_call;

const char *mo_call_kind_name(mo_call_kind kind);

/* Returns the elements of the input in the dimensions from index_axis on: the
 * range of indices. */
int64_t mo_call_pool_index_size(const mo_call_pool *call);

/* Returns the window with leading dimensions of 1 up to three. */
mo_call_window mo_call_window_to_3d(const mo_call_window *sweep);

/* Returns whether the window is 1x1, with stride 1 and no padding. */
bool mo_call_window_is_pixel_wise(const mo_call_window *sweep);

/* Returns the number of elements: the product of in, out or kernel. */
static inline int64_t
mo_call_window_volume(const int64_t dims[MO_CALL_MAX_SPATIAL])
{
    return dims[0] * dims[1] * dims[2];
}

/* Folds batch dimensions of call, in place, as far as strides allow: into rows
 * where b does not change along them, into columns where a does not, else into
 * each other. Dimensions of extent 1 are dropped. The elements read and
 * written, and the terms of each sum, stay the same. */
void mo_call_matmul_fold(mo_call_matmul *call);

/* The same, with the columns of the result contiguous if possible: a result
 * stored column by column is computed as c' = b' a', for which true is
 * returned. */
bool mo_call_matmul_collapse(mo_call_matmul *call);

#endif
