/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/cudnn/conv_graph.h"

#include <assert.h>
#include <stddef.h>

static bool has_failed(const mo_cuda_cudnn_desc_pool *pool)
{
    return pool->status != CUDNN_STATUS_SUCCESS;
}

static void set_status(mo_cuda_cudnn_desc_pool *pool, const char *what,
                       cudnnStatus_t status)
{
    pool->status = status;
    pool->what = what;
}

mo_cuda_cudnn_desc mo_cuda_cudnn_desc_create(mo_cuda_cudnn_desc_pool *pool,
                                             cudnnBackendDescriptorType_t type)
{
    mo_cuda_cudnn_desc desc = NULL;

    if (has_failed(pool))
        return NULL;
    assert(pool->n < MO_CUDA_CUDNN_DESC_POOL_SIZE);
    set_status(pool, "cudnnBackendCreateDescriptor",
               pool->api->cudnnBackendCreateDescriptor(type, &desc));
    if (has_failed(pool))
        return NULL;
    pool->made[pool->n++] = desc;
    return desc;
}

void mo_cuda_cudnn_set_attr(mo_cuda_cudnn_desc_pool *pool,
                            mo_cuda_cudnn_desc desc,
                            cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type, int64_t count,
                            const void *values)
{
    if (!has_failed(pool))
        set_status(pool, "cudnnBackendSetAttribute",
                   pool->api->cudnnBackendSetAttribute(desc, name, type, count,
                                                       values));
}

void mo_cuda_cudnn_set_attr_desc(mo_cuda_cudnn_desc_pool *pool,
                                 mo_cuda_cudnn_desc desc,
                                 cudnnBackendAttributeName_t name,
                                 mo_cuda_cudnn_desc other)
{
    mo_cuda_cudnn_set_attr(pool, desc, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                           &other);
}

void mo_cuda_cudnn_set_attr_float(mo_cuda_cudnn_desc_pool *pool,
                                  mo_cuda_cudnn_desc desc,
                                  cudnnBackendAttributeName_t name, float value)
{
    mo_cuda_cudnn_set_attr(pool, desc, name, CUDNN_TYPE_FLOAT, 1, &value);
}

void mo_cuda_cudnn_desc_finalize(mo_cuda_cudnn_desc_pool *pool,
                                 mo_cuda_cudnn_desc desc)
{
    if (!has_failed(pool))
        set_status(pool, "cudnnBackendFinalize",
                   pool->api->cudnnBackendFinalize(desc));
}

void mo_cuda_cudnn_desc_release(mo_cuda_cudnn_desc_pool *pool,
                                mo_cuda_cudnn_desc desc)
{
    int n = 0;

    for (int i = 0; i < pool->n; i++)
        if (pool->made[i] != desc)
            pool->made[n++] = pool->made[i];
    pool->n = n;
}

void mo_cuda_cudnn_desc_pool_clear(mo_cuda_cudnn_desc_pool *pool)
{
    while (pool->n > 0)
        pool->api->cudnnBackendDestroyDescriptor(pool->made[--pool->n]);
    set_status(pool, NULL, CUDNN_STATUS_SUCCESS);
}

bool mo_cuda_cudnn_is_unsupported(cudnnStatus_t status)
{
    switch (CUDNN_STATUS_CATEGORY(status)) {
    case CUDNN_STATUS_BAD_PARAM:
    case CUDNN_STATUS_NOT_SUPPORTED:
        return true;
    default:
        return false;
    }
}

enum {
    MAX_RANK = 2 + MO_CALL_MAX_SPATIAL,
    ALIGNMENT = 16 /* of tensors, at least */
};

/* Dimensions are N, C, spatial, whatever the layout. */
typedef struct tensor_shape {
    int rank;
    int64_t dims[MAX_RANK], strides[MAX_RANK];
} tensor_shape;

static int spatial_rank(const mo_call_conv *conv)
{
    return conv->sweep.spatial == 1 ? 2 : conv->sweep.spatial;
}

static void pad_spatial(const mo_call_conv *conv, const int64_t *values,
                        int64_t absent, int64_t to[MO_CALL_MAX_SPATIAL])
{
    int added = spatial_rank(conv) - conv->sweep.spatial;

    to[0] = absent;
    for (int d = 0; d < conv->sweep.spatial; d++)
        to[added + d] = values[d];
}

static int64_t set_stride(tensor_shape *s, int d, int64_t run)
{
    s->strides[d] = run;
    return run * s->dims[d];
}

static tensor_shape make_tensor_shape(const mo_call_conv *conv, int64_t first,
                                      int64_t channels, const int64_t *space)
{
    tensor_shape s = { .rank = 2 + spatial_rank(conv),
                       .dims = { first, channels } };
    int64_t run = 1;

    pad_spatial(conv, space, 1, s.dims + 2);
    if (conv->channels_last)
        run = set_stride(&s, 1, run);
    for (int d = s.rank - 1; d >= 2; d--)
        run = set_stride(&s, d, run);
    if (!conv->channels_last)
        run = set_stride(&s, 1, run);
    set_stride(&s, 0, run);
    return s;
}

static tensor_shape weight_tensor_shape(const mo_call_conv *conv)
{
    int64_t from = conv->in_channels, to = conv->out_channels;

    if (conv->transposed)
        return make_tensor_shape(conv, from, to / conv->groups,
                                 conv->sweep.kernel);
    return make_tensor_shape(conv, to, from / conv->groups, conv->sweep.kernel);
}

static tensor_shape tensor_shape_by_uid(const mo_call_conv *conv, int64_t id)
{
    static const int64_t ones[MO_CALL_MAX_SPATIAL] = { 1, 1, 1 };

    switch (id) {
    case MO_CUDA_CUDNN_UID_DATA:
        return make_tensor_shape(conv, conv->batch, conv->in_channels,
                                 conv->sweep.in);
    case MO_CUDA_CUDNN_UID_WEIGHTS:
        return weight_tensor_shape(conv);
    case MO_CUDA_CUDNN_UID_BIAS:
        return make_tensor_shape(conv, 1, conv->out_channels, ones);
    default:
        return make_tensor_shape(conv, conv->batch, conv->out_channels,
                                 conv->sweep.out);
    }
}

static cudnnDataType_t data_type(mo_elem elem)
{
    switch (elem) {
    case MO_ELEM_F16:
        return CUDNN_DATA_HALF;
    case MO_ELEM_BF16:
        return CUDNN_DATA_BFLOAT16;
    default:
        return CUDNN_DATA_FLOAT;
    }
}

static mo_cuda_cudnn_desc create_tensor_desc(mo_cuda_cudnn_desc_pool *pool,
                                             const mo_call_conv *conv,
                                             int64_t id, cudnnDataType_t type)
{
    tensor_shape s = tensor_shape_by_uid(conv, id);
    mo_cuda_cudnn_desc desc =
        mo_cuda_cudnn_desc_create(pool, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    int64_t alignment = ALIGNMENT;
    bool is_virtual = id >= MO_CUDA_CUDNN_UID_VIRTUAL;

    mo_cuda_cudnn_set_attr(pool, desc, CUDNN_ATTR_TENSOR_DATA_TYPE,
                           CUDNN_TYPE_DATA_TYPE, 1, &type);
    mo_cuda_cudnn_set_attr(pool, desc, CUDNN_ATTR_TENSOR_DIMENSIONS,
                           CUDNN_TYPE_INT64, s.rank, s.dims);
    mo_cuda_cudnn_set_attr(pool, desc, CUDNN_ATTR_TENSOR_STRIDES,
                           CUDNN_TYPE_INT64, s.rank, s.strides);
    mo_cuda_cudnn_set_attr(pool, desc, CUDNN_ATTR_TENSOR_UNIQUE_ID,
                           CUDNN_TYPE_INT64, 1, &id);
    mo_cuda_cudnn_set_attr(pool, desc, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
                           CUDNN_TYPE_INT64, 1, &alignment);
    mo_cuda_cudnn_set_attr(pool, desc, CUDNN_ATTR_TENSOR_IS_VIRTUAL,
                           CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
    mo_cuda_cudnn_desc_finalize(pool, desc);
    return desc;
}

enum { MAX_OPS = 4 };

static void set_spatial_attr(mo_cuda_cudnn_desc_pool *pool,
                             mo_cuda_cudnn_desc desc, const mo_call_conv *conv,
                             cudnnBackendAttributeName_t name,
                             const int64_t *values, int64_t absent)
{
    int64_t padded[MO_CALL_MAX_SPATIAL];

    pad_spatial(conv, values, absent, padded);
    mo_cuda_cudnn_set_attr(pool, desc, name, CUDNN_TYPE_INT64,
                           spatial_rank(conv), padded);
}

static mo_cuda_cudnn_desc create_conv_desc(mo_cuda_cudnn_desc_pool *pool,
                                           const mo_call_conv *conv)
{
    mo_cuda_cudnn_desc desc =
        mo_cuda_cudnn_desc_create(pool, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    cudnnDataType_t sums = CUDNN_DATA_FLOAT;
    cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    int64_t spatial = spatial_rank(conv);
    const mo_call_window *sweep = &conv->sweep;

    mo_cuda_cudnn_set_attr(pool, desc, CUDNN_ATTR_CONVOLUTION_COMP_TYPE,
                           CUDNN_TYPE_DATA_TYPE, 1, &sums);
    mo_cuda_cudnn_set_attr(pool, desc, CUDNN_ATTR_CONVOLUTION_CONV_MODE,
                           CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    mo_cuda_cudnn_set_attr(pool, desc, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS,
                           CUDNN_TYPE_INT64, 1, &spatial);
    set_spatial_attr(pool, desc, conv, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
                     sweep->pad_begin, 0);
    set_spatial_attr(pool, desc, conv, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
                     sweep->pad_end, 0);
    set_spatial_attr(pool, desc, conv, CUDNN_ATTR_CONVOLUTION_DILATIONS,
                     sweep->dilation, 1);
    set_spatial_attr(pool, desc, conv, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                     sweep->stride, 1);
    mo_cuda_cudnn_desc_finalize(pool, desc);
    return desc;
}

/* The operations so far, and the number still to be added. */
typedef struct op_chain {
    mo_cuda_cudnn_desc_pool *pool;
    const mo_call_conv *conv;
    cudnnDataType_t type;
    mo_cuda_cudnn_desc ops[MAX_OPS];
    int n, left;
} op_chain;

/* The output of the next operation: the result, or a virtual tensor. */
static mo_cuda_cudnn_desc create_output_tensor(op_chain *c)
{
    if (c->left-- > 1)
        return create_tensor_desc(c->pool, c->conv,
                                  MO_CUDA_CUDNN_UID_VIRTUAL + c->left,
                                  CUDNN_DATA_FLOAT);
    return create_tensor_desc(c->pool, c->conv, MO_CUDA_CUDNN_UID_RESULT,
                              c->type);
}

static void finalize_op(op_chain *c, mo_cuda_cudnn_desc op)
{
    assert(c->n < MAX_OPS);
    mo_cuda_cudnn_desc_finalize(c->pool, op);
    c->ops[c->n++] = op;
}

/* The operation and its attributes. A transposed convolution is the data
 * gradient of a plain one. */
typedef struct conv_op {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t sweep, data, weights, result, alpha, beta;
} conv_op;

static const conv_op forward = {
    CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA
};
static const conv_op backward_data = {
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA
};

static mo_cuda_cudnn_desc add_conv(op_chain *c, mo_cuda_cudnn_desc data,
                                   mo_cuda_cudnn_desc weights)
{
    const conv_op *is = c->conv->transposed ? &backward_data : &forward;
    mo_cuda_cudnn_desc_pool *pool = c->pool;
    mo_cuda_cudnn_desc sweep = create_conv_desc(pool, c->conv),
                       result = create_output_tensor(c);
    mo_cuda_cudnn_desc op = mo_cuda_cudnn_desc_create(pool, is->type);

    mo_cuda_cudnn_set_attr_desc(pool, op, is->sweep, sweep);
    mo_cuda_cudnn_set_attr_desc(pool, op, is->data, data);
    mo_cuda_cudnn_set_attr_desc(pool, op, is->weights, weights);
    mo_cuda_cudnn_set_attr_desc(pool, op, is->result, result);
    mo_cuda_cudnn_set_attr_float(pool, op, is->alpha, 1);
    mo_cuda_cudnn_set_attr_float(pool, op, is->beta, 0);
    finalize_op(c, op);
    return result;
}

static mo_cuda_cudnn_desc create_pointwise_desc(mo_cuda_cudnn_desc_pool *pool,
                                                cudnnPointwiseMode_t mode)
{
    mo_cuda_cudnn_desc desc =
        mo_cuda_cudnn_desc_create(pool, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    cudnnDataType_t math = CUDNN_DATA_FLOAT;

    mo_cuda_cudnn_set_attr(pool, desc, CUDNN_ATTR_POINTWISE_MODE,
                           CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    mo_cuda_cudnn_set_attr(pool, desc, CUDNN_ATTR_POINTWISE_MATH_PREC,
                           CUDNN_TYPE_DATA_TYPE, 1, &math);
    return desc;
}

static mo_cuda_cudnn_desc add_tensor(op_chain *c, mo_cuda_cudnn_desc to,
                                     int64_t id, float factor)
{
    mo_cuda_cudnn_desc_pool *pool = c->pool;
    mo_cuda_cudnn_desc point = create_pointwise_desc(pool, CUDNN_POINTWISE_ADD),
                       result, op;
    mo_cuda_cudnn_desc added = create_tensor_desc(pool, c->conv, id, c->type);

    mo_cuda_cudnn_desc_finalize(pool, point);
    result = create_output_tensor(c);
    op = mo_cuda_cudnn_desc_create(
        pool, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    mo_cuda_cudnn_set_attr_desc(
        pool, op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, point);
    mo_cuda_cudnn_set_attr_desc(pool, op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                                to);
    mo_cuda_cudnn_set_attr_desc(pool, op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                                added);
    mo_cuda_cudnn_set_attr_desc(pool, op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
                                result);
    mo_cuda_cudnn_set_attr_float(pool, op,
                                 CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1);
    mo_cuda_cudnn_set_attr_float(pool, op,
                                 CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, factor);
    finalize_op(c, op);
    return result;
}

static void add_epilogue(op_chain *c,
                         const mo_cuda_cudnn_graph_variant *variant, bool added,
                         mo_cuda_cudnn_desc last)
{
    const mo_cuda_epilogue *epilogue = &variant->epilogue;

    if (added)
        last = add_tensor(c, last, MO_CUDA_CUDNN_UID_RESIDUAL,
                          variant->adds_nothing ? 0 : 1);
    if (epilogue->bias >= 0)
        last = add_tensor(c, last, MO_CUDA_CUDNN_UID_BIAS, 1);
    /* A clamp is a relu with other bounds. */
    if (epilogue->act != MO_CUDA_ACT_NONE) {
        mo_cuda_cudnn_desc_pool *pool = c->pool;
        mo_cuda_cudnn_desc point = create_pointwise_desc(
                               pool, CUDNN_POINTWISE_RELU_FWD),
                           op;

        if (epilogue->act == MO_CUDA_ACT_CLAMP) {
            mo_cuda_cudnn_set_attr(pool, point,
                                   CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP,
                                   CUDNN_TYPE_DOUBLE, 1, &epilogue->x);
            mo_cuda_cudnn_set_attr(pool, point,
                                   CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP,
                                   CUDNN_TYPE_DOUBLE, 1, &epilogue->y);
        }
        mo_cuda_cudnn_desc_finalize(pool, point);
        op = mo_cuda_cudnn_desc_create(
            pool, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
        mo_cuda_cudnn_set_attr_desc(
            pool, op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, point);
        mo_cuda_cudnn_set_attr_desc(pool, op,
                                    CUDNN_ATTR_OPERATION_POINTWISE_XDESC, last);
        mo_cuda_cudnn_set_attr_desc(pool, op,
                                    CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
                                    create_output_tensor(c));
        finalize_op(c, op);
    }
}

mo_cuda_cudnn_desc
mo_cuda_cudnn_conv_graph(mo_cuda_cudnn_desc_pool *pool, cudnnHandle_t handle,
                         const mo_cuda_algo_problem *problem,
                         const mo_cuda_cudnn_graph_variant *variant)
{
    const mo_call_conv *conv = &problem->call->u.conv;
    const mo_cuda_epilogue *epilogue = &variant->epilogue;
    bool added = epilogue->residual >= 0 || variant->adds_nothing;
    op_chain c = { .pool = pool,
                   .conv = conv,
                   .type = data_type(problem->out[0].elem),
                   .left = 1 + added + (epilogue->bias >= 0) +
                           (epilogue->act != MO_CUDA_ACT_NONE) };
    mo_cuda_cudnn_desc data =
        create_tensor_desc(pool, conv, MO_CUDA_CUDNN_UID_DATA, c.type);
    mo_cuda_cudnn_desc weights =
        create_tensor_desc(pool, conv, MO_CUDA_CUDNN_UID_WEIGHTS, c.type);
    mo_cuda_cudnn_desc graph;

    add_epilogue(&c, variant, added, add_conv(&c, data, weights));
    graph = mo_cuda_cudnn_desc_create(pool,
                                      CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    mo_cuda_cudnn_set_attr(pool, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE,
                           CUDNN_TYPE_HANDLE, 1, &handle);
    mo_cuda_cudnn_set_attr(pool, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS,
                           CUDNN_TYPE_BACKEND_DESCRIPTOR, c.n, c.ops);
    mo_cuda_cudnn_desc_finalize(pool, graph);
    return graph;
}

/* The library pads, but does not crop. */
static bool has_no_negative_pads(const mo_call_window *sweep)
{
    for (int d = 0; d < sweep->spatial; d++)
        if (sweep->pad_begin[d] < 0 || sweep->pad_end[d] < 0)
            return false;
    return true;
}

bool mo_cuda_cudnn_supports(const mo_cuda_algo_problem *problem)
{
    const mo_call_conv *conv = &problem->call->u.conv;
    mo_elem elem = problem->out[0].elem;

    /* Weights have the layout of the data: packed for channels last, and as
     * they are otherwise. */
    return problem->call->kind == MO_CALL_CONV &&
           (elem == MO_ELEM_F32 || elem == MO_ELEM_F16 ||
            elem == MO_ELEM_BF16) &&
           problem->in[0].desc.elem == elem &&
           problem->in[1].desc.elem == elem &&
           has_no_negative_pads(&conv->sweep) &&
           (!conv->channels_last || problem->weights);
}
