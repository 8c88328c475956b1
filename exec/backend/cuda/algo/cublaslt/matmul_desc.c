/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/cublaslt/cublaslt_algo.h"

#include <limits.h>

#include "exec/backend/cuda/driver/sm_partition.h"

static cudaDataType_t type_of(mo_elem elem)
{
    switch (elem) {
    case MO_ELEM_F16:
        return CUDA_R_16F;
    case MO_ELEM_BF16:
        return CUDA_R_16BF;
    case MO_ELEM_F64:
        return CUDA_R_64F;
    default:
        return CUDA_R_32F;
    }
}

static cublasComputeType_t compute_of(const mo_backend_unit *unit, mo_elem elem)
{
    if (elem == MO_ELEM_F64)
        return CUBLAS_COMPUTE_64F;
    if (elem == MO_ELEM_F32 &&
        unit->options.precision == MO_BACKEND_PRECISION_TF32)
        return CUBLAS_COMPUTE_32F_FAST_TF32;
    return CUBLAS_COMPUTE_32F;
}

static uint32_t epilogue_of(const mo_cuda_epilogue *epilogue)
{
    bool bias = epilogue->bias >= 0;

    switch (epilogue->act) {
    case MO_CUDA_ACT_RELU:
        return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case MO_CUDA_ACT_GELU_TANH:
        return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    default:
        return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    }
}

static mo_status set_desc(mo_backend_unit *unit, cublasLtMatmulDesc_t desc,
                          cublasLtMatmulDescAttributes_t what,
                          const void *value, size_t size, mo_error *err)
{
    return mo_cuda_check_cublas(
        unit->api, "cublasLtMatmulDescSetAttribute",
        unit->api->cublasLtMatmulDescSetAttribute(desc, what, value, size),
        err);
}

static mo_status make_desc(mo_backend_unit *unit,
                           const mo_cuda_cublaslt_problem *plan,
                           cublasLtMatmulDesc_t *desc, mo_error *err)
{
    const mo_cuda_gemm *gemm = &plan->gemm;
    int32_t left = gemm->left.turned ? CUBLAS_OP_T : CUBLAS_OP_N;
    int32_t right = gemm->right.turned ? CUBLAS_OP_T : CUBLAS_OP_N;
    uint32_t epilogue = epilogue_of(&plan->epilogue);
    int32_t sms = unit->sms;
    cudaDataType_t scale = plan->elem == MO_ELEM_F64 ? CUDA_R_64F : CUDA_R_32F;
    mo_status status;

    status =
        mo_cuda_check_cublas(unit->api, "cublasLtMatmulDescCreate",
                             unit->api->cublasLtMatmulDescCreate(
                                 desc, compute_of(unit, plan->elem), scale),
                             err);
    if (status == MO_OK)
        status = set_desc(unit, *desc, CUBLASLT_MATMUL_DESC_TRANSA, &left,
                          sizeof left, err);
    if (status == MO_OK)
        status = set_desc(unit, *desc, CUBLASLT_MATMUL_DESC_TRANSB, &right,
                          sizeof right, err);
    if (status == MO_OK)
        status = set_desc(unit, *desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                          sizeof epilogue, err);
    if (status == MO_OK && mo_cuda_unit_is_partitioned(unit))
        status = set_desc(unit, *desc, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET,
                          &sms, sizeof sms, err);
    return status;
}

static mo_status set_layout(mo_backend_unit *unit,
                            cublasLtMatrixLayout_t layout,
                            cublasLtMatrixLayoutAttribute_t what,
                            const void *value, size_t size, mo_error *err)
{
    return mo_cuda_check_cublas(
        unit->api, "cublasLtMatrixLayoutSetAttribute",
        unit->api->cublasLtMatrixLayoutSetAttribute(layout, what, value, size),
        err);
}

static mo_status make_layout(mo_backend_unit *unit,
                             const mo_cuda_cublaslt_problem *plan,
                             const mo_cuda_gemm_matrix *matrix,
                             cublasLtMatrixLayout_t *layout, mo_error *err)
{
    int32_t batch = (int32_t) plan->gemm.batch;
    mo_status status;

    status = mo_cuda_check_cublas(unit->api, "cublasLtMatrixLayoutCreate",
                                  unit->api->cublasLtMatrixLayoutCreate(
                                      layout, type_of(plan->elem),
                                      (uint64_t) matrix->rows,
                                      (uint64_t) matrix->columns, matrix->lead),
                                  err);
    if (status != MO_OK || batch == 1)
        return status;
    status = set_layout(unit, *layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                        &batch, sizeof batch, err);
    if (status == MO_OK)
        status = set_layout(unit, *layout,
                            CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                            &matrix->step, sizeof matrix->step, err);
    return status;
}

mo_status mo_cuda_cublaslt_desc_create(mo_backend_unit *unit,
                                       const mo_cuda_cublaslt_problem *plan,
                                       mo_cuda_cublaslt_desc *job,
                                       mo_error *err)
{
    const mo_cuda_gemm *gemm = &plan->gemm;
    mo_status status;

    *job = (mo_cuda_cublaslt_desc){ 0 };
    status = make_desc(unit, plan, &job->desc, err);
    if (status == MO_OK)
        status = make_layout(unit, plan, &gemm->left, &job->left, err);
    if (status == MO_OK)
        status = make_layout(unit, plan, &gemm->right, &job->right, err);
    if (status == MO_OK)
        status = make_layout(unit, plan, &gemm->result, &job->result, err);
    if (status != MO_OK)
        mo_cuda_cublaslt_desc_clear(unit->api, job);
    return status;
}

void mo_cuda_cublaslt_desc_clear(const mo_cuda_api *api,
                                 mo_cuda_cublaslt_desc *job)
{
    if (job->desc)
        api->cublasLtMatmulDescDestroy(job->desc);
    if (job->left)
        api->cublasLtMatrixLayoutDestroy(job->left);
    if (job->right)
        api->cublasLtMatrixLayoutDestroy(job->right);
    if (job->result)
        api->cublasLtMatrixLayoutDestroy(job->result);
    *job = (mo_cuda_cublaslt_desc){ 0 };
}
