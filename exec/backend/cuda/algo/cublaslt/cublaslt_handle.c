/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/cublaslt/cublaslt_handle.h"

#include <stdio.h>
#include <stdlib.h>

#include "exec/backend/cuda/algo/cublaslt/cublaslt_algo.h"
#include "exec/backend/cuda/algo/epilogue_kernel.h"
#include "exec/backend/cuda/algo/algo.h"

struct mo_cuda_cublaslt {
    cublasLtHandle_t handle; /* NULL: not started */
};

mo_status mo_cuda_cublaslt_open(mo_backend_unit *unit, mo_cuda_cublaslt **blas,
                                mo_error *err)
{
    (void) unit;
    *blas = calloc(1, sizeof **blas);
    return *blas ? MO_OK : mo_fail_memory(err);
}

void mo_cuda_cublaslt_close(mo_backend_unit *unit, mo_cuda_cublaslt *blas)
{
    if (!blas)
        return;
    if (blas->handle)
        unit->api->cublasLtDestroy(blas->handle);
    free(blas);
}

mo_status mo_cuda_cublaslt_handle(mo_backend_unit *unit,
                                  cublasLtHandle_t *handle, mo_error *err)
{
    mo_cuda_cublaslt *blas = unit->cublaslt;
    mo_status status = MO_OK;

    if (!blas->handle)
        status =
            mo_cuda_check_cublas(unit->api, "cublasLtCreate",
                                 unit->api->cublasLtCreate(&blas->handle), err);
    *handle = blas->handle;
    return status;
}

enum {
    MOST_WAYS = 8,
    MOST_WORKSPACE = 32 << 20,
    ALIGNMENT = 16 /* of operands, at least */
};

static mo_status prefer(mo_backend_unit *unit,
                        cublasLtMatmulPreference_t preference,
                        cublasLtMatmulPreferenceAttributes_t what,
                        const void *value, size_t size, mo_error *err)
{
    return mo_cuda_check_cublas(unit->api,
                                "cublasLtMatmulPreferenceSetAttribute",
                                unit->api->cublasLtMatmulPreferenceSetAttribute(
                                    preference, what, value, size),
                                err);
}

/* Parts of a sum are added in a fixed order and in the type of sums: not in
 * place, where they come as they come. */
static mo_status set_preference(mo_backend_unit *unit,
                                cublasLtMatmulPreference_t preference,
                                mo_error *err)
{
    static const cublasLtMatmulPreferenceAttributes_t aligned[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
    };
    uint64_t workspace = MOST_WORKSPACE;
    uint32_t sums = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    uint32_t alignment = ALIGNMENT;
    mo_status status;

    status = prefer(unit, preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                    &workspace, sizeof workspace, err);
    if (status == MO_OK)
        status =
            prefer(unit, preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                   &sums, sizeof sums, err);
    for (int i = 0; i < 4 && status == MO_OK; i++)
        status = prefer(unit, preference, aligned[i], &alignment,
                        sizeof alignment, err);
    return status;
}

/* The library looks at the address of a bias to know how it is aligned, and
 * nowhere behind it. */
static mo_status pretend_bias(mo_backend_unit *unit,
                              const mo_cuda_cublaslt_problem *plan,
                              const mo_cuda_cublaslt_desc *job, mo_error *err)
{
    const void *bias = (const void *) (uintptr_t) ALIGNMENT;

    if (plan->epilogue.bias < 0)
        return MO_OK;
    return mo_cuda_check_cublas(
        unit->api, "cublasLtMatmulDescSetAttribute",
        unit->api->cublasLtMatmulDescSetAttribute(
            job->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias),
        err);
}

/* *n is 0 where the library knows no algorithm. */
static mo_status
ask(mo_backend_unit *unit, const mo_cuda_cublaslt_problem *plan,
    const mo_cuda_cublaslt_desc *job, cublasLtMatmulPreference_t preference,
    cublasLtMatmulHeuristicResult_t *found, int *n, mo_error *err)
{
    cublasLtHandle_t handle;
    cublasStatus_t answer;
    mo_status status = mo_cuda_cublaslt_handle(unit, &handle, err);

    *n = 0;
    if (status == MO_OK)
        status = set_preference(unit, preference, err);
    if (status == MO_OK)
        status = pretend_bias(unit, plan, job, err);
    if (status != MO_OK)
        return status;
    answer = unit->api->cublasLtMatmulAlgoGetHeuristic(
        handle, job->desc, job->left, job->right, job->result, job->result,
        preference, MOST_WAYS, found, n);
    if (answer == CUBLAS_STATUS_SUCCESS)
        return MO_OK;
    *n = 0;
    if (answer == CUBLAS_STATUS_NOT_SUPPORTED ||
        answer == CUBLAS_STATUS_INVALID_VALUE)
        return MO_OK;
    return mo_cuda_check_cublas(unit->api, "cublasLtMatmulAlgoGetHeuristic",
                                answer, err);
}

static mo_status find_algorithms(mo_backend_unit *unit,
                                 const mo_cuda_cublaslt_problem *plan,
                                 cublasLtMatmulHeuristicResult_t *found, int *n,
                                 mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    cublasLtMatmulPreference_t preference = NULL;
    mo_cuda_cublaslt_desc job = { 0 };
    mo_status status = mo_cuda_cublaslt_desc_create(unit, plan, &job, err);

    *n = 0;
    if (status == MO_OK)
        status = mo_cuda_check_cublas(
            api, "cublasLtMatmulPreferenceCreate",
            api->cublasLtMatmulPreferenceCreate(&preference), err);
    if (status == MO_OK)
        status = ask(unit, plan, &job, preference, found, n, err);
    if (preference)
        api->cublasLtMatmulPreferenceDestroy(preference);
    mo_cuda_cublaslt_desc_clear(api, &job);
    return status;
}

static mo_status add_ways(mo_backend_unit *unit,
                          const mo_cuda_algo_problem *task,
                          const mo_cuda_cublaslt_problem *plan,
                          mo_cuda_algo_list *ways, mo_error *err)
{
    cublasLtMatmulHeuristicResult_t found[MOST_WAYS];
    int n;
    mo_status status = find_algorithms(unit, plan, found, &n, err);

    for (int i = 0; i < n && status == MO_OK; i++) {
        mo_cuda_algo *way;
        char name[MO_CUDA_ALGO_NAME_SIZE];

        snprintf(name, sizeof name, "cublaslt %d v%zu", i + 1,
                 unit->api->cublasLtGetVersion());
        if (found[i].state != CUBLAS_STATUS_SUCCESS ||
            !mo_cuda_algo_wanted(task, name))
            continue;
        status = mo_cuda_cublaslt_algo_new(unit, task, plan, &found[i], name,
                                           &way, err);
        if (status == MO_OK)
            status = mo_cuda_algo_list_add(unit, ways, way, err);
    }
    return status;
}

static bool knows_type(const mo_cuda_algo_problem *task)
{
    mo_elem elem = task->out[0].elem;

    return mo_elem_is_float(elem) && task->in[0].desc.elem == elem &&
           task->in[1].desc.elem == elem;
}

/* act(product + bias + residual), the activations being few; a bias goes along
 * the rows of the result, which must be our columns. */
static bool knows_epilogue(const mo_cuda_algo_problem *task,
                           const mo_cuda_gemm *gemm,
                           const mo_cuda_epilogue *epilogue)
{
    mo_cuda_activation act = epilogue->act;
    /* Its gelu of doubles is no better than 1e-9. */
    bool knows_gelu = task->out[0].elem != MO_ELEM_F64;

    return (act == MO_CUDA_ACT_NONE || act == MO_CUDA_ACT_RELU ||
            (act == MO_CUDA_ACT_GELU_TANH && knows_gelu)) &&
           (epilogue->bias < 0 || gemm->left_in == 1) &&
           mo_cuda_epilogue_is_fusable(task, epilogue, gemm->result.rows);
}

static const mo_cuda_epilogue no_epilogue = { .bias = -1, .residual = -1 };

mo_status mo_cuda_cublaslt_algos(mo_backend_unit *unit,
                                 const mo_cuda_algo_problem *task,
                                 mo_cuda_algo_list *ways, mo_error *err)
{
    mo_cuda_cublaslt_problem plan = { .elem = task->out[0].elem,
                                      .epilogue = no_epilogue };
    int before = ways->n;
    mo_status status;

    if (!mo_cuda_algo_kind_wanted(task, "cublaslt") || !knows_type(task) ||
        !mo_cuda_gemm_from_call(task->call, &plan.gemm) ||
        !mo_cuda_has_cublaslt())
        return MO_OK;
    if (mo_cuda_epilogue_match(task->call, task->in, task->out,
                               &plan.epilogue) &&
        knows_epilogue(task, &plan.gemm, &plan.epilogue)) {
        status = add_ways(unit, task, &plan, ways, err);
        if (status != MO_OK || ways->n > before || !task->call->after)
            return status;
    }
    plan.epilogue = no_epilogue;
    plan.tail = true;
    return add_ways(unit, task, &plan, ways, err);
}
