/* SPDX-License-Identifier: Apache-2.0 */
/* Parser of an operation graph of the stand-in cuDNN. */
#include "tests/standin/cudnn/standin_cudnn.h"

#include <float.h>
#include <string.h>

enum { ALIGNMENT = 16 };

static bool read_type(const descriptor *d, real_type *type)
{
    const cudnnDataType_t *t = attribute_of(d, CUDNN_ATTR_TENSOR_DATA_TYPE, 1);

    if (!t || (*t != CUDNN_DATA_FLOAT && *t != CUDNN_DATA_HALF &&
               *t != CUDNN_DATA_BFLOAT16))
        return false;
    *type = *t == CUDNN_DATA_FLOAT  ? REAL_F32
            : *t == CUDNN_DATA_HALF ? REAL_F16
                                    : REAL_BF16;
    return true;
}

/* Images have two or three spatial dimensions. */
static bool read_tensor(const descriptor *d, tensor *t)
{
    const int64_t *id, *alignment, *dims, *strides;
    const bool *is_virtual;
    int rank = 4;

    if (!d || d->type != CUDNN_BACKEND_TENSOR_DESCRIPTOR ||
        !read_type(d, &t->type))
        return false;
    if (attribute_of(d, CUDNN_ATTR_TENSOR_DIMENSIONS, 5))
        rank = 5;
    id = attribute_of(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, 1);
    alignment = attribute_of(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1);
    dims = attribute_of(d, CUDNN_ATTR_TENSOR_DIMENSIONS, rank);
    strides = attribute_of(d, CUDNN_ATTR_TENSOR_STRIDES, rank);
    is_virtual = attribute_of(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, 1);
    if (!id || !alignment || *alignment != ALIGNMENT || !dims || !strides)
        return false;
    t->id = *id;
    t->is_virtual = is_virtual && *is_virtual;
    t->rank = rank;
    memcpy(t->dims, dims, (size_t) rank * sizeof *dims);
    memcpy(t->strides, strides, (size_t) rank * sizeof *strides);
    return true;
}

static bool read_tensor_named(const descriptor *d,
                              cudnnBackendAttributeName_t name, tensor *t)
{
    return read_tensor(descriptor_of(d, name), t);
}

/* Checks the sizes of the larger and the smaller image against the window. */
static bool sizes_meet(const operation *op, const int64_t *after,
                       const tensor *large, const tensor *small)
{
    for (int d = 2; d < large->rank; d++) {
        int64_t span = (op->with.dims[d] - 1) * op->dilation[d - 2] + 1;
        int64_t room = large->dims[d] + op->before[d - 2] + after[d - 2] - span;

        if (room < 0 || room / op->stride[d - 2] + 1 != small->dims[d])
            return false;
    }
    return large->dims[0] == small->dims[0] &&
           small->dims[1] == op->with.dims[0] &&
           large->dims[1] % op->with.dims[1] == 0;
}

static bool read_sweep(const descriptor *sweep, operation *op)
{
    int n = op->from.rank - 2;
    const int64_t *spatial, *before, *after, *stride, *dilation;
    const cudnnConvolutionMode_t *mode;

    if (!sweep)
        return false;
    spatial = attribute_of(sweep, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 1);
    before = attribute_of(sweep, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, n);
    after = attribute_of(sweep, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, n);
    stride = attribute_of(sweep, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, n);
    dilation = attribute_of(sweep, CUDNN_ATTR_CONVOLUTION_DILATIONS, n);
    mode = attribute_of(sweep, CUDNN_ATTR_CONVOLUTION_CONV_MODE, 1);
    if (!spatial || *spatial != n || !before || !after || !stride ||
        !dilation || !mode || *mode != CUDNN_CROSS_CORRELATION)
        return false;
    memcpy(op->before, before, (size_t) n * sizeof *before);
    memcpy(op->stride, stride, (size_t) n * sizeof *stride);
    memcpy(op->dilation, dilation, (size_t) n * sizeof *dilation);
    return op->kind == FORWARD ? sizes_meet(op, after, &op->from, &op->to)
                               : sizes_meet(op, after, &op->to, &op->from);
}

static bool read_forward(const descriptor *d, operation *op)
{
    op->kind = FORWARD;
    return read_tensor_named(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                             &op->from) &&
           read_tensor_named(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                             &op->with) &&
           read_tensor_named(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                             &op->to) &&
           read_sweep(
               descriptor_of(
                   d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC),
               op);
}

static bool read_backward(const descriptor *d, operation *op)
{
    op->kind = BACKWARD;
    return read_tensor_named(d, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                             &op->from) &&
           read_tensor_named(d, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                             &op->with) &&
           read_tensor_named(d, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                             &op->to) &&
           read_sweep(
               descriptor_of(
                   d, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC),
               op);
}

static bool read_add(const descriptor *d, operation *op)
{
    const float *factor =
        attribute_of(d, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1);

    op->kind = ADD;
    op->factor = factor ? *factor : 1;
    return read_tensor_named(d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                             &op->with);
}

static void read_relu(const descriptor *point, operation *op)
{
    const double *lower =
        attribute_of(point, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 1);
    const double *upper =
        attribute_of(point, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, 1);

    op->kind = RELU;
    op->lower = lower ? *lower : 0;
    op->upper = upper ? *upper : DBL_MAX;
}

static bool read_point(const descriptor *d, operation *op)
{
    const descriptor *point =
        descriptor_of(d, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    const cudnnPointwiseMode_t *mode;

    if (!point ||
        !read_tensor_named(d, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                           &op->from) ||
        !read_tensor_named(d, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, &op->to))
        return false;
    mode = attribute_of(point, CUDNN_ATTR_POINTWISE_MODE, 1);
    if (mode && *mode == CUDNN_POINTWISE_ADD)
        return read_add(d, op);
    if (!mode || *mode != CUDNN_POINTWISE_RELU_FWD)
        return false;
    read_relu(point, op);
    return true;
}

static bool read_operation(const descriptor *d, operation *op)
{
    switch (d->type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
        return read_forward(d, op);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
        return read_backward(d, op);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
        return read_point(d, op);
    default:
        return false;
    }
}

/* Each operation reads the virtual output of the previous one. */
static bool is_chain(const program *p)
{
    for (int i = 0; i < p->n; i++) {
        bool last = i == p->n - 1;

        if ((p->ops[i].kind <= BACKWARD) != (i == 0) ||
            p->ops[i].to.is_virtual == last ||
            (i > 0 && p->ops[i].from.id != p->ops[i - 1].to.id))
            return false;
    }
    return p->n > 0;
}

cudnnStatus_t read_program(const descriptor *graph, program *p)
{
    const attribute *ops = NULL;

    for (int i = 0; i < graph->n; i++)
        if (graph->attributes[i].name == CUDNN_ATTR_OPERATIONGRAPH_OPS)
            ops = &graph->attributes[i];
    if (!ops || ops->count > MOST_OPS ||
        !attribute_of(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, 1))
        return CUDNN_STATUS_BAD_PARAM;
    for (p->n = 0; p->n < ops->count; p->n++)
        if (!read_operation(((descriptor *const *) ops->values)[p->n],
                            &p->ops[p->n]))
            return CUDNN_STATUS_BAD_PARAM;
    return is_chain(p) ? CUDNN_STATUS_SUCCESS
                       : CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN;
}
