/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/cudnn/tensor_desc.h"

enum {
    MOST_RANK = 2 + MO_CALL_MAX_SPATIAL,
    ALIGNMENT = 16 /* of tensors, at least */
};

/* Names dimensions as N, C, spatial, however they lie. */
typedef struct shape {
    int rank;
    int64_t dims[MOST_RANK], strides[MOST_RANK];
} shape;

int mo_cuda_cudnn_spatial_rank(const mo_call_conv *conv)
{
    return conv->sweep.spatial == 1 ? 2 : conv->sweep.spatial;
}

void mo_cuda_cudnn_spatial_pad(const mo_call_conv *conv, const int64_t *values,
                               int64_t absent, int64_t to[MO_CALL_MAX_SPATIAL])
{
    int added = mo_cuda_cudnn_spatial_rank(conv) - conv->sweep.spatial;

    to[0] = absent;
    for (int d = 0; d < conv->sweep.spatial; d++)
        to[added + d] = values[d];
}

static int64_t lay(shape *s, int d, int64_t run)
{
    s->strides[d] = run;
    return run * s->dims[d];
}

static shape shape_of(const mo_call_conv *conv, int64_t first, int64_t channels,
                      const int64_t *space)
{
    shape s = { .rank = 2 + mo_cuda_cudnn_spatial_rank(conv),
                .dims = { first, channels } };
    int64_t run = 1;

    mo_cuda_cudnn_spatial_pad(conv, space, 1, s.dims + 2);
    if (conv->channels_last)
        run = lay(&s, 1, run);
    for (int d = s.rank - 1; d >= 2; d--)
        run = lay(&s, d, run);
    if (!conv->channels_last)
        run = lay(&s, 1, run);
    lay(&s, 0, run);
    return s;
}

static shape weight_shape(const mo_call_conv *conv)
{
    int64_t from = conv->in_channels, to = conv->out_channels;

    if (conv->transposed)
        return shape_of(conv, from, to / conv->groups, conv->sweep.kernel);
    return shape_of(conv, to, from / conv->groups, conv->sweep.kernel);
}

static shape shape_named(const mo_call_conv *conv, int64_t id)
{
    static const int64_t ones[MO_CALL_MAX_SPATIAL] = { 1, 1, 1 };

    switch (id) {
    case MO_CUDA_CUDNN_UID_DATA:
        return shape_of(conv, conv->batch, conv->in_channels, conv->sweep.in);
    case MO_CUDA_CUDNN_UID_WEIGHTS:
        return weight_shape(conv);
    case MO_CUDA_CUDNN_UID_BIAS:
        return shape_of(conv, 1, conv->out_channels, ones);
    default:
        return shape_of(conv, conv->batch, conv->out_channels, conv->sweep.out);
    }
}

cudnnDataType_t mo_cuda_cudnn_data_type(mo_elem elem)
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

mo_cuda_cudnn_desc mo_cuda_cudnn_tensor_desc(mo_cuda_cudnn_desc_pool *set,
                                             const mo_call_conv *conv,
                                             int64_t id, cudnnDataType_t type)
{
    shape s = shape_named(conv, id);
    mo_cuda_cudnn_desc desc =
        mo_cuda_cudnn_desc_create(set, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    int64_t alignment = ALIGNMENT;
    bool is_virtual = id >= MO_CUDA_CUDNN_UID_VIRTUAL;

    mo_cuda_cudnn_set_attr(set, desc, CUDNN_ATTR_TENSOR_DATA_TYPE,
                           CUDNN_TYPE_DATA_TYPE, 1, &type);
    mo_cuda_cudnn_set_attr(set, desc, CUDNN_ATTR_TENSOR_DIMENSIONS,
                           CUDNN_TYPE_INT64, s.rank, s.dims);
    mo_cuda_cudnn_set_attr(set, desc, CUDNN_ATTR_TENSOR_STRIDES,
                           CUDNN_TYPE_INT64, s.rank, s.strides);
    mo_cuda_cudnn_set_attr(set, desc, CUDNN_ATTR_TENSOR_UNIQUE_ID,
                           CUDNN_TYPE_INT64, 1, &id);
    mo_cuda_cudnn_set_attr(set, desc, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
                           CUDNN_TYPE_INT64, 1, &alignment);
    mo_cuda_cudnn_set_attr(set, desc, CUDNN_ATTR_TENSOR_IS_VIRTUAL,
                           CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
    mo_cuda_cudnn_desc_finalize(set, desc);
    return desc;
}
