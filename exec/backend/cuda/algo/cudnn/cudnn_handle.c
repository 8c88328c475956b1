/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/cudnn/cudnn_handle.h"

#include <stdlib.h>

#include "exec/backend/cuda/algo/cudnn/cudnn_algo.h"
#include "exec/backend/cuda/algo/epilogue_kernel.h"
#include "exec/backend/cuda/algo/algo.h"

struct mo_cuda_cudnn {
    cudnnHandle_t handle; /* NULL: not started */
};

mo_status mo_cuda_cudnn_open(mo_backend_unit *unit, mo_cuda_cudnn **dnn,
                             mo_error *err)
{
    (void) unit;
    *dnn = calloc(1, sizeof **dnn);
    return *dnn ? MO_OK : mo_fail_memory(err);
}

void mo_cuda_cudnn_close(mo_backend_unit *unit, mo_cuda_cudnn *dnn)
{
    if (!dnn)
        return;
    if (dnn->handle)
        unit->api->cudnnDestroy(dnn->handle);
    free(dnn);
}

mo_status mo_cuda_cudnn_handle(mo_backend_unit *unit, cudnnHandle_t *handle,
                               mo_error *err)
{
    mo_cuda_cudnn *dnn = unit->cudnn;
    mo_status status = MO_OK;

    if (!dnn->handle)
        status = mo_cuda_check_cudnn(unit->api, "cudnnCreate",
                                     unit->api->cudnnCreate(&dnn->handle), err);
    *handle = dnn->handle;
    return status;
}

/* Hands all plans over; those behind a failure are dropped. */
static mo_status add_plans(mo_backend_unit *unit,
                           const mo_cuda_algo_problem *task,
                           const mo_cuda_cudnn_graph_variant *form,
                           mo_cuda_cudnn_plan *plans, int n,
                           mo_cuda_algo_list *ways, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < n; i++) {
        mo_cuda_algo *way;

        if (status != MO_OK) {
            mo_cuda_cudnn_plan_destroy(unit->api, &plans[i]);
            continue;
        }
        status = mo_cuda_cudnn_algo_new(unit, task, form, plans[i], &way, err);
        if (status == MO_OK)
            status = mo_cuda_algo_list_add(unit, ways, way, err);
    }
    return status;
}

/* None where the library refuses the graph. */
static mo_status add_ways(mo_backend_unit *unit,
                          const mo_cuda_algo_problem *task,
                          const mo_cuda_cudnn_graph_variant *form,
                          mo_cuda_algo_list *ways, mo_error *err)
{
    mo_cuda_cudnn_desc_pool set = { .api = unit->api };
    mo_cuda_cudnn_plan plans[MO_CUDA_CUDNN_MAX_PLANS];
    cudnnHandle_t handle;
    mo_cuda_cudnn_desc graph;
    int n = 0;
    mo_status status = mo_cuda_cudnn_handle(unit, &handle, err);

    if (status != MO_OK)
        return status;
    graph = mo_cuda_cudnn_conv_graph(&set, handle, task, form);
    if (set.status == CUDNN_STATUS_SUCCESS)
        n = mo_cuda_cudnn_find_plans(unit, handle, graph, task, plans);
    else if (!mo_cuda_cudnn_is_unsupported(set.status))
        status = mo_cuda_check_cudnn(unit->api, set.what, set.status, err);
    mo_cuda_cudnn_desc_pool_clear(&set);
    if (status != MO_OK)
        return status;
    return add_plans(unit, task, form, plans, n, ways, err);
}

/* act(convolution + residual + bias), the activations being few. */
static bool knows_epilogue(const mo_cuda_algo_problem *task,
                           const mo_cuda_epilogue *epilogue)
{
    mo_cuda_activation act = epilogue->act;

    return (act == MO_CUDA_ACT_NONE || act == MO_CUDA_ACT_RELU ||
            act == MO_CUDA_ACT_CLAMP) &&
           mo_cuda_epilogue_is_fusable(task, epilogue,
                                       task->call->u.conv.out_channels);
}

/* As one graph; or as one that adds nothing, if that is found instead. */
static mo_status add_fused(mo_backend_unit *unit,
                           const mo_cuda_algo_problem *task,
                           const mo_cuda_epilogue *epilogue,
                           mo_cuda_algo_list *ways, mo_error *err)
{
    mo_cuda_cudnn_graph_variant form = { .epilogue = *epilogue };
    int before = ways->n;
    mo_status status = add_ways(unit, task, &form, ways, err);

    if (status != MO_OK || ways->n > before || epilogue->residual >= 0 ||
        epilogue->bias < 0)
        return status;
    form.adds_nothing = true;
    return add_ways(unit, task, &form, ways, err);
}

mo_status mo_cuda_cudnn_algos(mo_backend_unit *unit,
                              const mo_cuda_algo_problem *task,
                              mo_cuda_algo_list *ways, mo_error *err)
{
    mo_cuda_cudnn_graph_variant alone = { .epilogue = { .bias = -1,
                                                        .residual = -1 },
                                          .tail = task->call->after != NULL };
    mo_cuda_epilogue epilogue;
    int before = ways->n;
    mo_status status;

    if (!mo_cuda_algo_kind_wanted(task, "cudnn") ||
        !mo_cuda_cudnn_supports(task) || !mo_cuda_has_cudnn())
        return MO_OK;
    if (task->call->after && !task->call->u.conv.transposed &&
        mo_cuda_epilogue_match(task->call, task->in, task->out, &epilogue) &&
        knows_epilogue(task, &epilogue)) {
        status = add_fused(unit, task, &epilogue, ways, err);
        if (status != MO_OK || ways->n > before)
            return status;
    }
    return add_ways(unit, task, &alone, ways, err);
}
