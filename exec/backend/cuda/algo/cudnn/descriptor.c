/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/cudnn/descriptor.h"

#include <assert.h>
#include <stddef.h>

static bool failed(const mo_cuda_cudnn_desc_pool *set)
{
    return set->status != CUDNN_STATUS_SUCCESS;
}

static void note(mo_cuda_cudnn_desc_pool *set, const char *what,
                 cudnnStatus_t status)
{
    set->status = status;
    set->what = what;
}

mo_cuda_cudnn_desc mo_cuda_cudnn_desc_create(mo_cuda_cudnn_desc_pool *set,
                                             cudnnBackendDescriptorType_t type)
{
    mo_cuda_cudnn_desc desc = NULL;

    if (failed(set))
        return NULL;
    assert(set->n < MO_CUDA_CUDNN_DESC_POOL_SIZE);
    note(set, "cudnnBackendCreateDescriptor",
         set->api->cudnnBackendCreateDescriptor(type, &desc));
    if (failed(set))
        return NULL;
    set->made[set->n++] = desc;
    return desc;
}

void mo_cuda_cudnn_set_attr(mo_cuda_cudnn_desc_pool *set,
                            mo_cuda_cudnn_desc desc,
                            cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type, int64_t count,
                            const void *values)
{
    if (!failed(set))
        note(set, "cudnnBackendSetAttribute",
             set->api->cudnnBackendSetAttribute(desc, name, type, count,
                                                values));
}

void mo_cuda_cudnn_set_attr_desc(mo_cuda_cudnn_desc_pool *set,
                                 mo_cuda_cudnn_desc desc,
                                 cudnnBackendAttributeName_t name,
                                 mo_cuda_cudnn_desc other)
{
    mo_cuda_cudnn_set_attr(set, desc, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                           &other);
}

void mo_cuda_cudnn_set_attr_float(mo_cuda_cudnn_desc_pool *set,
                                  mo_cuda_cudnn_desc desc,
                                  cudnnBackendAttributeName_t name, float value)
{
    mo_cuda_cudnn_set_attr(set, desc, name, CUDNN_TYPE_FLOAT, 1, &value);
}

void mo_cuda_cudnn_desc_finalize(mo_cuda_cudnn_desc_pool *set,
                                 mo_cuda_cudnn_desc desc)
{
    if (!failed(set))
        note(set, "cudnnBackendFinalize", set->api->cudnnBackendFinalize(desc));
}

void mo_cuda_cudnn_desc_release(mo_cuda_cudnn_desc_pool *set,
                                mo_cuda_cudnn_desc desc)
{
    int n = 0;

    for (int i = 0; i < set->n; i++)
        if (set->made[i] != desc)
            set->made[n++] = set->made[i];
    set->n = n;
}

void mo_cuda_cudnn_desc_pool_clear(mo_cuda_cudnn_desc_pool *set)
{
    while (set->n > 0)
        set->api->cudnnBackendDestroyDescriptor(set->made[--set->n]);
    note(set, NULL, CUDNN_STATUS_SUCCESS);
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
