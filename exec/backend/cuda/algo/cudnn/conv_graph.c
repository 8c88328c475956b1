/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/cudnn/conv_graph.h"

#include <assert.h>

enum { MOST_OPS = 4 };

static void put_space(mo_cuda_cudnn_desc_pool *set, mo_cuda_cudnn_desc desc,
                      const mo_call_conv *conv,
                      cudnnBackendAttributeName_t name, const int64_t *values,
                      int64_t absent)
{
    int64_t spread_out[MO_CALL_MAX_SPATIAL];

    mo_cuda_cudnn_spatial_pad(conv, values, absent, spread_out);
    mo_cuda_cudnn_set_attr(set, desc, name, CUDNN_TYPE_INT64,
                           mo_cuda_cudnn_spatial_rank(conv), spread_out);
}

static mo_cuda_cudnn_desc sweep_desc(mo_cuda_cudnn_desc_pool *set,
                                     const mo_call_conv *conv)
{
    mo_cuda_cudnn_desc desc =
        mo_cuda_cudnn_desc_create(set, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    cudnnDataType_t sums = CUDNN_DATA_FLOAT;
    cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    int64_t spatial = mo_cuda_cudnn_spatial_rank(conv);
    const mo_call_window *sweep = &conv->sweep;

    mo_cuda_cudnn_set_attr(set, desc, CUDNN_ATTR_CONVOLUTION_COMP_TYPE,
                           CUDNN_TYPE_DATA_TYPE, 1, &sums);
    mo_cuda_cudnn_set_attr(set, desc, CUDNN_ATTR_CONVOLUTION_CONV_MODE,
                           CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    mo_cuda_cudnn_set_attr(set, desc, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS,
                           CUDNN_TYPE_INT64, 1, &spatial);
    put_space(set, desc, conv, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
              sweep->pad_begin, 0);
    put_space(set, desc, conv, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
              sweep->pad_end, 0);
    put_space(set, desc, conv, CUDNN_ATTR_CONVOLUTION_DILATIONS,
              sweep->dilation, 1);
    put_space(set, desc, conv, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
              sweep->stride, 1);
    mo_cuda_cudnn_desc_finalize(set, desc);
    return desc;
}

/* The operations so far, and how many are still to come. */
typedef struct chain {
    mo_cuda_cudnn_desc_pool *set;
    const mo_call_conv *conv;
    cudnnDataType_t type;
    mo_cuda_cudnn_desc ops[MOST_OPS];
    int n, left;
} chain;

/* What the next operation writes: the result, or what only the one after it
 * sees. */
static mo_cuda_cudnn_desc next_tensor(chain *c)
{
    if (c->left-- > 1)
        return mo_cuda_cudnn_tensor_desc(c->set, c->conv,
                                         MO_CUDA_CUDNN_UID_VIRTUAL + c->left,
                                         CUDNN_DATA_FLOAT);
    return mo_cuda_cudnn_tensor_desc(c->set, c->conv, MO_CUDA_CUDNN_UID_RESULT,
                                     c->type);
}

static void add_op(chain *c, mo_cuda_cudnn_desc op)
{
    assert(c->n < MOST_OPS);
    mo_cuda_cudnn_desc_finalize(c->set, op);
    c->ops[c->n++] = op;
}

static mo_cuda_cudnn_desc forward(chain *c, mo_cuda_cudnn_desc data,
                                  mo_cuda_cudnn_desc weights)
{
    mo_cuda_cudnn_desc_pool *set = c->set;
    mo_cuda_cudnn_desc sweep = sweep_desc(set, c->conv),
                       result = next_tensor(c);
    mo_cuda_cudnn_desc op = mo_cuda_cudnn_desc_create(
        set, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);

    mo_cuda_cudnn_set_attr_desc(
        set, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, sweep);
    mo_cuda_cudnn_set_attr_desc(
        set, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, data);
    mo_cuda_cudnn_set_attr_desc(
        set, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, weights);
    mo_cuda_cudnn_set_attr_desc(
        set, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, result);
    mo_cuda_cudnn_set_attr_float(
        set, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1);
    mo_cuda_cudnn_set_attr_float(
        set, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0);
    add_op(c, op);
    return result;
}

/* A transposed convolution is what training needs of a plain one: from the
 * gradient of its result to that of its data. */
static mo_cuda_cudnn_desc backward(chain *c, mo_cuda_cudnn_desc data,
                                   mo_cuda_cudnn_desc weights)
{
    mo_cuda_cudnn_desc_pool *set = c->set;
    mo_cuda_cudnn_desc sweep = sweep_desc(set, c->conv),
                       result = next_tensor(c);
    mo_cuda_cudnn_desc op = mo_cuda_cudnn_desc_create(
        set, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);

    mo_cuda_cudnn_set_attr_desc(
        set, op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, sweep);
    mo_cuda_cudnn_set_attr_desc(
        set, op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, data);
    mo_cuda_cudnn_set_attr_desc(
        set, op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, weights);
    mo_cuda_cudnn_set_attr_desc(
        set, op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, result);
    mo_cuda_cudnn_set_attr_float(
        set, op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, 1);
    mo_cuda_cudnn_set_attr_float(
        set, op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, 0);
    add_op(c, op);
    return result;
}

static mo_cuda_cudnn_desc point_desc(mo_cuda_cudnn_desc_pool *set,
                                     cudnnPointwiseMode_t mode)
{
    mo_cuda_cudnn_desc desc =
        mo_cuda_cudnn_desc_create(set, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    cudnnDataType_t math = CUDNN_DATA_FLOAT;

    mo_cuda_cudnn_set_attr(set, desc, CUDNN_ATTR_POINTWISE_MODE,
                           CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    mo_cuda_cudnn_set_attr(set, desc, CUDNN_ATTR_POINTWISE_MATH_PREC,
                           CUDNN_TYPE_DATA_TYPE, 1, &math);
    return desc;
}

static mo_cuda_cudnn_desc add_tensor(chain *c, mo_cuda_cudnn_desc to,
                                     int64_t id, float factor)
{
    mo_cuda_cudnn_desc_pool *set = c->set;
    mo_cuda_cudnn_desc point = point_desc(set, CUDNN_POINTWISE_ADD), result, op;
    mo_cuda_cudnn_desc added =
        mo_cuda_cudnn_tensor_desc(set, c->conv, id, c->type);

    mo_cuda_cudnn_desc_finalize(set, point);
    result = next_tensor(c);
    op = mo_cuda_cudnn_desc_create(
        set, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    mo_cuda_cudnn_set_attr_desc(
        set, op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, point);
    mo_cuda_cudnn_set_attr_desc(set, op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                                to);
    mo_cuda_cudnn_set_attr_desc(set, op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                                added);
    mo_cuda_cudnn_set_attr_desc(set, op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
                                result);
    mo_cuda_cudnn_set_attr_float(set, op, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1,
                                 1);
    mo_cuda_cudnn_set_attr_float(set, op, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2,
                                 factor);
    add_op(c, op);
    return result;
}

/* A clamp is a relu whose ends are elsewhere. */
static void activate(chain *c, mo_cuda_cudnn_desc of,
                     const mo_cuda_epilogue *epilogue)
{
    mo_cuda_cudnn_desc_pool *set = c->set;
    mo_cuda_cudnn_desc point = point_desc(set, CUDNN_POINTWISE_RELU_FWD), op;

    if (epilogue->act == MO_CUDA_ACT_CLAMP) {
        mo_cuda_cudnn_set_attr(set, point, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP,
                               CUDNN_TYPE_DOUBLE, 1, &epilogue->x);
        mo_cuda_cudnn_set_attr(set, point, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP,
                               CUDNN_TYPE_DOUBLE, 1, &epilogue->y);
    }
    mo_cuda_cudnn_desc_finalize(set, point);
    op = mo_cuda_cudnn_desc_create(
        set, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    mo_cuda_cudnn_set_attr_desc(
        set, op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, point);
    mo_cuda_cudnn_set_attr_desc(set, op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                                of);
    mo_cuda_cudnn_set_attr_desc(set, op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
                                next_tensor(c));
    add_op(c, op);
}

static void follow(chain *c, const mo_cuda_cudnn_graph_variant *form,
                   bool added, mo_cuda_cudnn_desc last)
{
    const mo_cuda_epilogue *epilogue = &form->epilogue;

    if (added)
        last = add_tensor(c, last, MO_CUDA_CUDNN_UID_RESIDUAL,
                          form->adds_nothing ? 0 : 1);
    if (epilogue->bias >= 0)
        last = add_tensor(c, last, MO_CUDA_CUDNN_UID_BIAS, 1);
    if (epilogue->act != MO_CUDA_ACT_NONE)
        activate(c, last, epilogue);
}

mo_cuda_cudnn_desc
mo_cuda_cudnn_conv_graph(mo_cuda_cudnn_desc_pool *set, cudnnHandle_t handle,
                         const mo_cuda_algo_problem *task,
                         const mo_cuda_cudnn_graph_variant *form)
{
    const mo_call_conv *conv = &task->call->u.conv;
    const mo_cuda_epilogue *epilogue = &form->epilogue;
    bool added = epilogue->residual >= 0 || form->adds_nothing;
    chain c = { .set = set,
                .conv = conv,
                .type = mo_cuda_cudnn_data_type(task->out[0].elem),
                .left = 1 + added + (epilogue->bias >= 0) +
                        (epilogue->act != MO_CUDA_ACT_NONE) };
    mo_cuda_cudnn_desc data =
        mo_cuda_cudnn_tensor_desc(set, conv, MO_CUDA_CUDNN_UID_DATA, c.type);
    mo_cuda_cudnn_desc weights =
        mo_cuda_cudnn_tensor_desc(set, conv, MO_CUDA_CUDNN_UID_WEIGHTS, c.type);
    mo_cuda_cudnn_desc graph;

    follow(&c, form, added,
           conv->transposed ? backward(&c, data, weights)
                            : forward(&c, data, weights));
    graph =
        mo_cuda_cudnn_desc_create(set, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    mo_cuda_cudnn_set_attr(set, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE,
                           CUDNN_TYPE_HANDLE, 1, &handle);
    mo_cuda_cudnn_set_attr(set, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS,
                           CUDNN_TYPE_BACKEND_DESCRIPTOR, c.n, c.ops);
    mo_cuda_cudnn_desc_finalize(set, graph);
    return graph;
}

/* The library pads, but does not cut. */
static bool only_pads(const mo_call_window *sweep)
{
    for (int d = 0; d < sweep->spatial; d++)
        if (sweep->pad_begin[d] < 0 || sweep->pad_end[d] < 0)
            return false;
    return true;
}

/* Weights lie as the data does: packed for channels last, where the packing is
 * not what a transposed one needs, and as they are otherwise. */
static bool lies_well(const mo_cuda_algo_problem *task)
{
    const mo_call_conv *conv = &task->call->u.conv;

    if (conv->channels_last)
        return task->weights != 0 && !conv->transposed;
    return true;
}

bool mo_cuda_cudnn_supports(const mo_cuda_algo_problem *task)
{
    mo_elem elem = task->out[0].elem;

    return task->call->kind == MO_CALL_CONV &&
           (elem == MO_ELEM_F32 || elem == MO_ELEM_F16 ||
            elem == MO_ELEM_BF16) &&
           task->in[0].desc.elem == elem && task->in[1].desc.elem == elem &&
           only_pads(&task->call->u.conv.sweep) && lies_well(task);
}
