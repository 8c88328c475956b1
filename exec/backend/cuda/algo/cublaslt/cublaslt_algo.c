/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/cublaslt/cublaslt_algo.h"

#include <stdio.h>
#include <stdlib.h>

#include "exec/backend/cuda/algo/epilogue_kernel.h"

typedef struct blas_way {
    mo_cuda_algo way;
    mo_cuda_cublaslt_problem plan;
    mo_cuda_cublaslt_desc job;
    cublasLtMatmulAlgo_t algo;
    CUdeviceptr weights;           /* stand for in[1]; 0: they do not */
    mo_cuda_epilogue_kernel *tail; /* NULL: nothing is left to do */
} blas_way;

/* Alpha and beta: as floats, and for doubles. */
typedef struct factor {
    float f32;
    double f64;
} factor;

static const void *factor_of(const factor *f, mo_elem elem)
{
    if (elem == MO_ELEM_F64)
        return &f->f64;
    return &f->f32;
}

static const void *operand(const blas_way *way, int i, const void *const *in)
{
    if (i == 1 && way->weights)
        return (const void *) (uintptr_t) way->weights;
    return in[i];
}

/* The descriptor holds the address.  It is this way's own, and a unit is used
 * by one thread. */
static mo_status point_to_bias(mo_backend_unit *unit, const blas_way *way,
                               const void *const *in, mo_error *err)
{
    const void *bias;

    if (way->plan.epilogue.bias < 0)
        return MO_OK;
    bias = in[way->plan.epilogue.bias];
    return mo_cuda_check_cublas(unit->api, "cublasLtMatmulDescSetAttribute",
                                unit->api->cublasLtMatmulDescSetAttribute(
                                    way->job.desc,
                                    CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias,
                                    sizeof bias),
                                err);
}

static mo_status multiply(mo_backend_unit *unit, const blas_way *way,
                          const void *const *in, void *const *out,
                          void *workspace, CUstream stream, mo_error *err)
{
    static const factor one = { 1, 1 }, zero = { 0, 0 };
    const mo_cuda_cublaslt_problem *plan = &way->plan;
    const mo_cuda_cublaslt_desc *job = &way->job;
    int residual = plan->epilogue.residual;
    const void *added = residual >= 0 ? in[residual] : out[0];
    cublasLtHandle_t handle;
    mo_status status = mo_cuda_cublaslt_handle(unit, &handle, err);

    if (status == MO_OK)
        status = point_to_bias(unit, way, in, err);
    if (status != MO_OK)
        return status;
    return mo_cuda_check_cublas(
        unit->api, "cublasLtMatmul",
        unit->api->cublasLtMatmul(
            handle, job->desc, factor_of(&one, plan->elem),
            operand(way, plan->gemm.left_in, in), job->left,
            operand(way, plan->gemm.right_in, in), job->right,
            factor_of(residual >= 0 ? &one : &zero, plan->elem), added,
            job->result, out[0], job->result, &way->algo, workspace,
            way->way.workspace, stream),
        err);
}

static mo_status enqueue(mo_backend_unit *unit, const mo_cuda_algo *base,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const blas_way *way = (const blas_way *) base;
    mo_status status;

    status = multiply(unit, way, in, out, workspace, stream, err);
    if (status == MO_OK && way->tail)
        status = mo_cuda_epilogue_kernel_enqueue(unit, way->tail, in, out,
                                                 stream, err);
    return status;
}

static void drop(mo_backend_unit *unit, mo_cuda_algo *base)
{
    blas_way *way = (blas_way *) base;

    mo_cuda_cublaslt_desc_clear(unit->api, &way->job);
    mo_cuda_epilogue_kernel_free(unit, way->tail);
    free(way);
}

static const mo_cuda_algo_class blas_kind = { enqueue, drop };

mo_status
mo_cuda_cublaslt_algo_new(mo_backend_unit *unit,
                          const mo_cuda_algo_problem *task,
                          const mo_cuda_cublaslt_problem *plan,
                          const cublasLtMatmulHeuristicResult_t *found,
                          const char *name, mo_cuda_algo **way, mo_error *err)
{
    blas_way *new = calloc(1, sizeof *new);
    mo_status status;

    if (!new)
        return mo_fail_memory(err);
    new->way.kind = &blas_kind;
    snprintf(new->way.name, sizeof new->way.name, "%s", name);
    new->way.workspace = found->workspaceSize;
    new->plan = *plan;
    new->algo = found->algo;
    new->weights = task->weights;
    if (task->weights)
        new->way.consumed = 1u << 1;
    status = mo_cuda_cublaslt_desc_create(unit, plan, &new->job, err);
    if (status == MO_OK && plan->tail)
        status = mo_cuda_epilogue_kernel_new(unit, task, &new->tail, err);
    if (status != MO_OK) {
        drop(unit, &new->way);
        return status;
    }
    *way = &new->way;
    return MO_OK;
}
