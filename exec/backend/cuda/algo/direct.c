/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/direct.h"

#include <stdio.h>
#include <stdlib.h>

static mo_status enqueue(mo_backend_unit *unit, const mo_cuda_algo *way,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const mo_cuda_direct_algo *direct = (const mo_cuda_direct_algo *) way;
    mo_cuda_epilogue_inputs extra =
        mo_cuda_epilogue_inputs_of(direct->call, in);
    const void *data = in[0];
    CUdeviceptr weights =
        direct->weights ? direct->weights : (CUdeviceptr) in[1];
    void *to = out[0];
    void *args[] = { &data, &weights, &to, &extra };

    (void) workspace;
    if (!direct->function)
        return MO_OK;
    return mo_cuda_launch(unit, direct->function, &direct->grid, stream, args,
                          err);
}

static void drop(mo_backend_unit *unit, mo_cuda_algo *way)
{
    mo_cuda_direct_algo *direct = (mo_cuda_direct_algo *) way;

    if (direct->owns)
        mo_cuda_free(unit, direct->weights);
    free(direct);
}

static const mo_cuda_algo_class direct_kind = { enqueue, drop };

static mo_status check_types(const mo_cuda_algo_problem *task, mo_error *err)
{
    mo_elem a = task->in[0].desc.elem, b = task->in[1].desc.elem;
    mo_elem c = task->out[0].elem;
    bool matmul = task->call->kind == MO_CALL_MATMUL;

    if (a == b && b == c && c != MO_ELEM_BOOL &&
        (matmul || mo_elem_is_float(c)))
        return MO_OK;
    return mo_fail(err, MO_E_SUPPORT, "a %s of %s and %s to %s cannot be run",
                   mo_call_kind_name(task->call->kind), mo_elem_name(a),
                   mo_elem_name(b), mo_elem_name(c));
}

static mo_status make_source(mo_backend_unit *unit,
                             const mo_cuda_algo_problem *task,
                             mo_cuda_source *code, mo_cuda_direct_algo *way,
                             mo_error *err)
{
    if (task->call->kind == MO_CALL_MATMUL)
        return mo_cuda_emit_direct_matmul(unit, task, code, way, err);
    if (mo_cuda_direct_depthwise_fits(task))
        return mo_cuda_emit_direct_depthwise(unit, task, code, way, err);
    return mo_cuda_emit_direct_conv(unit, task, code, way, err);
}

static mo_status make(mo_backend_unit *unit, const mo_cuda_algo_problem *task,
                      mo_cuda_direct_algo *way, mo_error *err)
{
    mo_cuda_source code = { 0 };
    mo_status status = check_types(task, err);

    if (status == MO_OK && mo_tensor_desc_elements(&task->out[0]) > 0) {
        status = make_source(unit, task, &code, way, err);
        if (status == MO_OK)
            status = mo_cuda_source_check(&code, err);
        if (status == MO_OK)
            status = mo_cuda_jit_request(unit, code.text, "direct",
                                         &way->function, err);
    }
    mo_cuda_source_clear(&code);
    return status;
}

mo_status mo_cuda_direct_algos(mo_backend_unit *unit,
                               const mo_cuda_algo_problem *task,
                               mo_cuda_algo_list *ways, mo_error *err)
{
    mo_cuda_direct_algo *way;
    mo_status status;

    if (!mo_cuda_algo_kind_wanted(task, "direct"))
        return MO_OK;
    way = calloc(1, sizeof *way);
    if (!way)
        return mo_fail_memory(err);
    way->base.kind = &direct_kind;
    way->call = task->call;
    snprintf(way->base.name, sizeof way->base.name, "direct");
    status = make(unit, task, way, err);
    if (status != MO_OK) {
        drop(unit, &way->base);
        return status;
    }
    return mo_cuda_algo_list_add(unit, ways, &way->base, err);
}
