/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnn_desc.h - descriptors of cuDNN's graph API, many of which make up little.
 *
 * They belong to a set and go with it.  The first failure is kept; all that
 * follows does nothing, so that one look at the end is enough.  Empty in a
 * build without cuDNN's header.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_CUDNN_DESCRIPTOR_H
#define MO_EXEC_BACKEND_CUDA_ALGO_CUDNN_DESCRIPTOR_H

#ifdef HAVE_CUDNN

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cuda/driver/cuda_api.h"

enum { MO_CUDA_CUDNN_DESC_POOL_SIZE = 32 };

typedef cudnnBackendDescriptor_t mo_cuda_cudnn_desc;

typedef struct mo_cuda_cudnn_desc_pool {
    const mo_cuda_api *api;
    mo_cuda_cudnn_desc made[MO_CUDA_CUDNN_DESC_POOL_SIZE];
    int n;
    cudnnStatus_t status;
    const char *what; /* the call that failed */
} mo_cuda_cudnn_desc_pool;

/* NULL once something has failed. */
mo_cuda_cudnn_desc mo_cuda_cudnn_desc_create(mo_cuda_cudnn_desc_pool *set,
                                             cudnnBackendDescriptorType_t type);
void mo_cuda_cudnn_set_attr(mo_cuda_cudnn_desc_pool *set,
                            mo_cuda_cudnn_desc desc,
                            cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type, int64_t count,
                            const void *values);
void mo_cuda_cudnn_set_attr_desc(mo_cuda_cudnn_desc_pool *set,
                                 mo_cuda_cudnn_desc desc,
                                 cudnnBackendAttributeName_t name,
                                 mo_cuda_cudnn_desc other);
void mo_cuda_cudnn_set_attr_float(mo_cuda_cudnn_desc_pool *set,
                                  mo_cuda_cudnn_desc desc,
                                  cudnnBackendAttributeName_t name,
                                  float value);
void mo_cuda_cudnn_desc_finalize(mo_cuda_cudnn_desc_pool *set,
                                 mo_cuda_cudnn_desc desc);

/* Takes desc out of the set: it is the caller's now. */
void mo_cuda_cudnn_desc_release(mo_cuda_cudnn_desc_pool *set,
                                mo_cuda_cudnn_desc desc);

void mo_cuda_cudnn_desc_pool_clear(mo_cuda_cudnn_desc_pool *set);

/* Is that an answer to what was asked, rather than a failure of the machine? */
bool mo_cuda_cudnn_is_unsupported(cudnnStatus_t status);

#endif

#endif
