#include "exec/backend/cuda/algo/cudnn/descriptor.h"

#include <assert.h>
#include <stddef.h>

static bool failed(const mo_dnn_set *set)
{
    return set->status != CUDNN_STATUS_SUCCESS;
}

static void note(mo_dnn_set *set, const char *what, cudnnStatus_t status)
{
    set->status = status;
    set->what = what;
}

mo_dnn_desc mo_dnn_make(mo_dnn_set *set, cudnnBackendDescriptorType_t type)
{
    mo_dnn_desc desc = NULL;

    if (failed(set))
        return NULL;
    assert(set->n < MO_DNN_SET_SIZE);
    note(set, "cudnnBackendCreateDescriptor",
         set->api->cudnnBackendCreateDescriptor(type, &desc));
    if (failed(set))
        return NULL;
    set->made[set->n++] = desc;
    return desc;
}

void mo_dnn_put(mo_dnn_set *set, mo_dnn_desc desc,
                cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type, int64_t count,
                const void *values)
{
    if (!failed(set))
        note(set, "cudnnBackendSetAttribute",
             set->api->cudnnBackendSetAttribute(desc, name, type, count,
                                                values));
}

void mo_dnn_put_desc(mo_dnn_set *set, mo_dnn_desc desc,
                     cudnnBackendAttributeName_t name, mo_dnn_desc other)
{
    mo_dnn_put(set, desc, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other);
}

void mo_dnn_put_float(mo_dnn_set *set, mo_dnn_desc desc,
                      cudnnBackendAttributeName_t name, float value)
{
    mo_dnn_put(set, desc, name, CUDNN_TYPE_FLOAT, 1, &value);
}

void mo_dnn_finish(mo_dnn_set *set, mo_dnn_desc desc)
{
    if (!failed(set))
        note(set, "cudnnBackendFinalize", set->api->cudnnBackendFinalize(desc));
}

void mo_dnn_release(mo_dnn_set *set, mo_dnn_desc desc)
{
    int n = 0;

    for (int i = 0; i < set->n; i++)
        if (set->made[i] != desc)
            set->made[n++] = set->made[i];
    set->n = n;
}

void mo_dnn_set_clear(mo_dnn_set *set)
{
    while (set->n > 0)
        set->api->cudnnBackendDestroyDescriptor(set->made[--set->n]);
    note(set, NULL, CUDNN_STATUS_SUCCESS);
}

bool mo_dnn_is_refusal(cudnnStatus_t status)
{
    switch (CUDNN_STATUS_CATEGORY(status)) {
    case CUDNN_STATUS_BAD_PARAM:
    case CUDNN_STATUS_NOT_SUPPORTED:
        return true;
    default:
        return false;
    }
}
