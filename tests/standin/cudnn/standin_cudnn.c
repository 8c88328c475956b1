/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cuDNN that convolves on the CPU, in the memory of
 * tests/standin/standin_cuda.so: for tests of exec/backend/cuda/algo/cudnn. It
 * checks its arguments strictly. Some of its engines must be rejected by their
 * notes; those compute wrong results.
 */
#include "tests/standin/cudnn/standin_cudnn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct engine {
    int numerical, behaviour; /* a note of each; -1: none */
    int64_t workspace;
    bool refuses, rounds, lies;
} engine;

static const engine engines[] = {
    { CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC, -1, 0, false, false, true },
    { -1, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION, 0, false, false, true },
    { CUDNN_NUMERICAL_NOTE_TENSOR_CORE, -1, 0, false, true, false },
    { -1, -1, 8192, false, false, false },
    { -1, -1, INT64_C(1) << 40, false, false, true },
    { -1, -1, 0, true, false, true },
    { CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13, -1, 0, false, false, true },
    { -1, -1, 0, false, false, false },
};

enum { ENGINES = sizeof engines / sizeof *engines };

/* Engines exist for a convolution alone, or with a complete epilogue, not for
 * a residual without a bias or the reverse. */
static int engines_for(const program *p)
{
    int adds = 0;

    for (int i = 0; i < p->n; i++)
        adds += p->ops[i].kind == ADD;
    return p->n == 1 || adds == 2 ? ENGINES : 0;
}

static int alive; /* descriptors */

size_t cudnnGetVersion(void)
{
    return 91400;
}

const char *cudnnGetErrorString(cudnnStatus_t status)
{
    return status == CUDNN_STATUS_SUCCESS ? "success" : "failed";
}

void cudnnGetLastErrorString(char *message, size_t size)
{
    snprintf(message, size, "a stand-in says no more");
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle)
{
    *handle = malloc(1);
    return *handle ? CUDNN_STATUS_SUCCESS
                   : CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}

/* Reports descriptors that are still alive. */
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
    if (alive != 0) {
        fprintf(stderr, "cuDNN's stand-in: %d descriptors are left\n", alive);
        abort();
    }
    free(handle);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
    (void) stream;
    return handle ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t *to)
{
    descriptor *d = calloc(1, sizeof *d);

    *to = d;
    if (!d)
        return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
    d->type = type;
    alive++;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t what)
{
    descriptor *d = what;

    for (int i = 0; i < d->n; i++)
        free(d->attributes[i].values);
    free(d);
    alive--;
    return CUDNN_STATUS_SUCCESS;
}

static size_t size_of(cudnnBackendAttributeType_t type)
{
    switch (type) {
    case CUDNN_TYPE_BOOLEAN:
        return sizeof(bool);
    case CUDNN_TYPE_FLOAT:
        return sizeof(float);
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
        return 8;
    default:
        return sizeof(int); /* an enumerator */
    }
}

/* A descriptor must be finalised before another one refers to it. */
static bool are_finished(const void *values, int64_t count)
{
    descriptor *const *d = values;

    for (int64_t i = 0; i < count; i++)
        if (!d[i] || !d[i]->finished)
            return false;
    return true;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t to,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type,
                                       int64_t count, const void *values)
{
    descriptor *d = to;
    size_t bytes = (size_t) count * size_of(type);
    void *copy;

    if (!d || d->finished || count < 1 || !values || d->n == MOST_ATTRIBUTES)
        return CUDNN_STATUS_BAD_PARAM;
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR && !are_finished(values, count))
        return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
    copy = malloc(bytes);
    if (!copy)
        return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
    memcpy(copy, values, bytes);
    d->attributes[d->n++] = (attribute){ name, count, copy };
    return CUDNN_STATUS_SUCCESS;
}

const void *attribute_of(const descriptor *d, cudnnBackendAttributeName_t name,
                         int64_t count)
{
    for (int i = 0; i < d->n; i++)
        if (d->attributes[i].name == name && d->attributes[i].count >= count)
            return d->attributes[i].values;
    return NULL;
}

const descriptor *descriptor_of(const descriptor *d,
                                cudnnBackendAttributeName_t name)
{
    descriptor *const *other = attribute_of(d, name, 1);

    return other ? *other : NULL;
}

/* From a graph to a plan */

static cudnnStatus_t finish_guess(descriptor *d)
{
    const descriptor *graph =
        descriptor_of(d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);

    if (!graph || !attribute_of(d, CUDNN_ATTR_ENGINEHEUR_MODE, 1))
        return CUDNN_STATUS_BAD_PARAM;
    d->program = graph->program;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t finish_plan(descriptor *d)
{
    const descriptor *config =
        descriptor_of(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);

    if (!config || !attribute_of(d, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, 1))
        return CUDNN_STATUS_BAD_PARAM;
    d->program = config->program;
    d->engine = config->engine;
    return engines[d->engine].refuses ? CUDNN_STATUS_NOT_SUPPORTED
                                      : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t what)
{
    descriptor *d = what;
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

    if (d->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
        status = read_program(d, &d->program);
    if (d->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)
        status = finish_guess(d);
    if (d->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
        status = finish_plan(d);
    d->finished = status == CUDNN_STATUS_SUCCESS;
    return status;
}

static int64_t give_configs(const descriptor *guess, int64_t room,
                            descriptor **to)
{
    int64_t n = engines_for(&guess->program);

    n = n < room ? n : room;
    for (int64_t i = 0; i < n; i++) {
        to[i]->program = guess->program;
        to[i]->engine = (int) i;
        to[i]->finished = true;
    }
    return n;
}

static int64_t give_note(int note, int *to)
{
    if (note < 0)
        return 0;
    *to = note;
    return 1;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const what,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type,
                                       int64_t room, int64_t *count,
                                       void *values)
{
    const descriptor *d = what;

    (void) type;
    *count = 1;
    switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
        *count = give_configs(d, room, values);
        break;
    case CUDNN_ATTR_ENGINECFG_ENGINE:
        (*(descriptor **) values)->engine = d->engine;
        break;
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
        *count = give_note(engines[d->engine].numerical, values);
        break;
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
        *count = give_note(engines[d->engine].behaviour, values);
        break;
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
        *(int64_t *) values = engines[d->engine].workspace;
        break;
    default:
        return CUDNN_STATUS_NOT_SUPPORTED;
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
                                  cudnnBackendDescriptor_t what,
                                  cudnnBackendDescriptor_t with)
{
    const descriptor *plan = what, *pack = with;
    const engine *e = &engines[plan->engine];
    const int64_t *ids =
        attribute_of(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, 1);
    void *const *pointers =
        attribute_of(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, 1);
    void *const *workspace =
        attribute_of(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, 1);

    if (!handle || !plan->finished || !pack->finished || !ids || !pointers ||
        pack->attributes[0].count != pack->attributes[1].count)
        return CUDNN_STATUS_BAD_PARAM;
    if (e->workspace > 0 && (!workspace || !*workspace))
        return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    if (e->lies)
        return CUDNN_STATUS_SUCCESS;
    if (e->workspace > 0)
        memset(*workspace, 0x5a, (size_t) e->workspace);
    return run_program(&plan->program, ids, pointers, pack->attributes[0].count,
                       e->rounds);
}
