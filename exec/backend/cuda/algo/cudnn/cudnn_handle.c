#include "exec/backend/cuda/algo/cudnn/cudnn_handle.h"

#include <stdlib.h>

#include "exec/backend/cuda/algo/cudnn/cudnn_algo.h"
#include "exec/backend/cuda/algo/epilogue_kernel.h"
#include "exec/backend/cuda/algo/algo.h"

struct mo_cuda_dnn {
    cudnnHandle_t handle; /* NULL: not started */
};

mo_status mo_cuda_dnn_open(mo_unit *unit, mo_cuda_dnn **dnn, mo_error *err)
{
    (void) unit;
    *dnn = calloc(1, sizeof **dnn);
    return *dnn ? MO_OK : mo_fail_memory(err);
}

void mo_cuda_dnn_close(mo_unit *unit, mo_cuda_dnn *dnn)
{
    if (!dnn)
        return;
    if (dnn->handle)
        unit->api->cudnnDestroy(dnn->handle);
    free(dnn);
}

mo_status mo_cuda_dnn_handle(mo_unit *unit, cudnnHandle_t *handle,
                             mo_error *err)
{
    mo_cuda_dnn *dnn = unit->dnn;
    mo_status status = MO_OK;

    if (!dnn->handle)
        status = mo_cuda_check_cudnn(unit->api, "cudnnCreate",
                                     unit->api->cudnnCreate(&dnn->handle), err);
    *handle = dnn->handle;
    return status;
}

/* Hands all plans over; those behind a failure are dropped. */
static mo_status add_plans(mo_unit *unit, const mo_cuda_task *task,
                           const mo_dnn_form *form, mo_dnn_plan *plans, int n,
                           mo_cuda_ways *ways, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < n; i++) {
        mo_cuda_way *way;

        if (status != MO_OK) {
            mo_dnn_plan_drop(unit->api, &plans[i]);
            continue;
        }
        status = mo_dnn_way_new(unit, task, form, plans[i], &way, err);
        if (status == MO_OK)
            status = mo_cuda_ways_add(unit, ways, way, err);
    }
    return status;
}

/* None where the library refuses the graph. */
static mo_status add_ways(mo_unit *unit, const mo_cuda_task *task,
                          const mo_dnn_form *form, mo_cuda_ways *ways,
                          mo_error *err)
{
    mo_dnn_set set = { .api = unit->api };
    mo_dnn_plan plans[MO_DNN_MOST_PLANS];
    cudnnHandle_t handle;
    mo_dnn_desc graph;
    int n = 0;
    mo_status status = mo_cuda_dnn_handle(unit, &handle, err);

    if (status != MO_OK)
        return status;
    graph = mo_dnn_graph(&set, handle, task, form);
    if (set.status == CUDNN_STATUS_SUCCESS)
        n = mo_dnn_plans(unit, handle, graph, task, plans);
    else if (!mo_dnn_is_refusal(set.status))
        status = mo_cuda_check_cudnn(unit->api, set.what, set.status, err);
    mo_dnn_set_clear(&set);
    if (status != MO_OK)
        return status;
    return add_plans(unit, task, form, plans, n, ways, err);
}

/* act(convolution + residual + bias), the activations being few. */
static bool knows_epilogue(const mo_cuda_task *task,
                           const mo_cuda_epilogue *epilogue)
{
    mo_cuda_act act = epilogue->act;

    return (act == MO_CUDA_ACT_NONE || act == MO_CUDA_ACT_RELU ||
            act == MO_CUDA_ACT_CLAMP) &&
           mo_cuda_tail_is_spared(task, epilogue,
                                  task->call->u.conv.out_channels);
}

/* As one graph; or as one that adds nothing, if that is found instead. */
static mo_status add_fused(mo_unit *unit, const mo_cuda_task *task,
                           const mo_cuda_epilogue *epilogue, mo_cuda_ways *ways,
                           mo_error *err)
{
    mo_dnn_form form = { .epilogue = *epilogue };
    int before = ways->n;
    mo_status status = add_ways(unit, task, &form, ways, err);

    if (status != MO_OK || ways->n > before || epilogue->residual >= 0 ||
        epilogue->bias < 0)
        return status;
    form.adds_nothing = true;
    return add_ways(unit, task, &form, ways, err);
}

mo_status mo_cuda_dnn_ways(mo_unit *unit, const mo_cuda_task *task,
                           mo_cuda_ways *ways, mo_error *err)
{
    mo_dnn_form alone = { .epilogue = { .bias = -1, .residual = -1 },
                          .tail = task->call->after != NULL };
    mo_cuda_epilogue epilogue;
    int before = ways->n;
    mo_status status;

    if (!mo_cuda_wants_kind(task, "cudnn") || !mo_dnn_knows(task) ||
        !mo_cuda_has_cudnn())
        return MO_OK;
    if (task->call->after && !task->call->u.conv.transposed &&
        mo_cuda_epilogue_read(task->call, task->in, task->out, &epilogue) &&
        knows_epilogue(task, &epilogue)) {
        status = add_fused(unit, task, &epilogue, ways, err);
        if (status != MO_OK || ways->n > before)
            return status;
    }
    return add_ways(unit, task, &alone, ways, err);
}
