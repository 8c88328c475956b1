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

enum { MO_DNN_SET_SIZE = 32 };

typedef cudnnBackendDescriptor_t mo_dnn_desc;

typedef struct mo_dnn_set {
    const mo_cuda_api *api;
    mo_dnn_desc made[MO_DNN_SET_SIZE];
    int n;
    cudnnStatus_t status;
    const char *what; /* the call that failed */
} mo_dnn_set;

/* NULL once something has failed. */
mo_dnn_desc mo_dnn_make(mo_dnn_set *set, cudnnBackendDescriptorType_t type);
void mo_dnn_put(mo_dnn_set *set, mo_dnn_desc desc,
                cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type, int64_t count,
                const void *values);
void mo_dnn_put_desc(mo_dnn_set *set, mo_dnn_desc desc,
                     cudnnBackendAttributeName_t name, mo_dnn_desc other);
void mo_dnn_put_float(mo_dnn_set *set, mo_dnn_desc desc,
                      cudnnBackendAttributeName_t name, float value);
void mo_dnn_finish(mo_dnn_set *set, mo_dnn_desc desc);

/* Takes desc out of the set: it is the caller's now. */
void mo_dnn_release(mo_dnn_set *set, mo_dnn_desc desc);

void mo_dnn_set_clear(mo_dnn_set *set);

/* Is that an answer to what was asked, rather than a failure of the machine? */
bool mo_dnn_is_refusal(cudnnStatus_t status);

#endif

#endif
