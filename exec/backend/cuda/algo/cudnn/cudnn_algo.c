/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/cudnn/cudnn_algo.h"

#include <stdio.h>
#include <stdlib.h>

#include "exec/backend/cuda/algo/epilogue_kernel.h"

typedef struct dnn_way {
    mo_cuda_algo way;
    mo_cuda_cudnn_graph_variant form;
    mo_cuda_cudnn_plan plan;
    CUdeviceptr weights;           /* stand for in[1]; 0: they do not */
    mo_cuda_epilogue_kernel *tail; /* NULL: nothing is left to do */
} dnn_way;

enum { MOST_TENSORS = MO_CUDA_CUDNN_UID_VIRTUAL - 1 };

/* Where the tensors of a graph are. */
typedef struct places {
    int64_t ids[MOST_TENSORS];
    void *pointers[MOST_TENSORS];
    int n;
} places;

static void add_place(places *p, int64_t id, const void *memory)
{
    p->ids[p->n] = id;
    p->pointers[p->n++] = (void *) (uintptr_t) memory;
}

static places places_of(const dnn_way *way, const void *const *in,
                        void *const *out)
{
    const mo_cuda_epilogue *epilogue = &way->form.epilogue;
    const void *weights = (const void *) (uintptr_t) way->weights;
    places p = { .n = 0 };

    add_place(&p, MO_CUDA_CUDNN_UID_DATA, in[0]);
    add_place(&p, MO_CUDA_CUDNN_UID_WEIGHTS, way->weights ? weights : in[1]);
    add_place(&p, MO_CUDA_CUDNN_UID_RESULT, out[0]);
    if (epilogue->bias >= 0)
        add_place(&p, MO_CUDA_CUDNN_UID_BIAS, in[epilogue->bias]);
    if (epilogue->residual >= 0)
        add_place(&p, MO_CUDA_CUDNN_UID_RESIDUAL, in[epilogue->residual]);
    else if (way->form.adds_nothing)
        add_place(&p, MO_CUDA_CUDNN_UID_RESIDUAL, out[0]);
    return p;
}

static void execute(mo_cuda_cudnn_desc_pool *set, cudnnHandle_t handle,
                    mo_cuda_cudnn_desc plan, const places *p, void *workspace)
{
    mo_cuda_cudnn_desc pack =
        mo_cuda_cudnn_desc_create(set, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);

    mo_cuda_cudnn_set_attr(set, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
                           CUDNN_TYPE_INT64, p->n, p->ids);
    mo_cuda_cudnn_set_attr(set, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                           CUDNN_TYPE_VOID_PTR, p->n, p->pointers);
    mo_cuda_cudnn_set_attr(set, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
                           CUDNN_TYPE_VOID_PTR, 1, &workspace);
    mo_cuda_cudnn_desc_finalize(set, pack);
    if (set->status != CUDNN_STATUS_SUCCESS)
        return;
    set->what = "cudnnBackendExecute";
    set->status = set->api->cudnnBackendExecute(handle, plan, pack);
}

static mo_status convolve(mo_backend_unit *unit, const dnn_way *way,
                          const void *const *in, void *const *out,
                          void *workspace, CUstream stream, mo_error *err)
{
    mo_cuda_cudnn_desc_pool set = { .api = unit->api };
    places p = places_of(way, in, out);
    cudnnHandle_t handle;
    mo_status status = mo_cuda_cudnn_handle(unit, &handle, err);

    if (status == MO_OK)
        status =
            mo_cuda_check_cudnn(unit->api, "cudnnSetStream",
                                unit->api->cudnnSetStream(handle, stream), err);
    if (status != MO_OK)
        return status;
    execute(&set, handle, way->plan.plan, &p, workspace);
    status = mo_cuda_check_cudnn(unit->api, set.what, set.status, err);
    mo_cuda_cudnn_desc_pool_clear(&set);
    return status;
}

static mo_status enqueue(mo_backend_unit *unit, const mo_cuda_algo *base,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const dnn_way *way = (const dnn_way *) base;
    mo_status status;

    status = convolve(unit, way, in, out, workspace, stream, err);
    if (status == MO_OK && way->tail)
        status = mo_cuda_epilogue_kernel_enqueue(unit, way->tail, in, out,
                                                 stream, err);
    return status;
}

static void drop(mo_backend_unit *unit, mo_cuda_algo *base)
{
    dnn_way *way = (dnn_way *) base;

    mo_cuda_cudnn_plan_destroy(unit->api, &way->plan);
    mo_cuda_epilogue_kernel_free(unit, way->tail);
    free(way);
}

static const mo_cuda_algo_class dnn_kind = { enqueue, drop };

mo_status mo_cuda_cudnn_algo_new(mo_backend_unit *unit,
                                 const mo_cuda_algo_problem *task,
                                 const mo_cuda_cudnn_graph_variant *form,
                                 mo_cuda_cudnn_plan plan, mo_cuda_algo **way,
                                 mo_error *err)
{
    dnn_way *new = calloc(1, sizeof *new);
    mo_status status = MO_OK;

    if (!new) {
        mo_cuda_cudnn_plan_destroy(unit->api, &plan);
        return mo_fail_memory(err);
    }
    new->way.kind = &dnn_kind;
    snprintf(new->way.name, sizeof new->way.name, "%s", plan.name);
    new->way.workspace = plan.workspace;
    new->form = *form;
    new->plan = plan;
    new->weights = task->weights;
    if (task->weights)
        new->way.consumed = 1u << 1;
    if (form->tail)
        status = mo_cuda_epilogue_kernel_new(unit, task, &new->tail, err);
    if (status != MO_OK) {
        drop(unit, &new->way);
        return status;
    }
    *way = &new->way;
    return MO_OK;
}
