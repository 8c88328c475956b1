/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/cublaslt/matmul_descs.h"

#include "exec/backend/cuda/driver/sm_partition.h"

static cudaDataType_t data_type(mo_elem elem)
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

static cublasComputeType_t compute_type(const mo_backend_unit *unit,
                                        mo_elem elem)
{
    if (elem == MO_ELEM_F64)
        return CUBLAS_COMPUTE_64F;
    if (elem == MO_ELEM_F32 &&
        unit->options.precision == MO_BACKEND_PRECISION_TF32)
        return CUBLAS_COMPUTE_32F_FAST_TF32;
    return CUBLAS_COMPUTE_32F;
}

static uint32_t epilogue_enum(const mo_cuda_epilogue *epilogue)
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

mo_status mo_cuda_matmul_desc_set(mo_backend_unit *unit,
                                  cublasLtMatmulDesc_t desc,
                                  cublasLtMatmulDescAttributes_t what,
                                  const void *value, size_t size, mo_error *err)
{
    return mo_cuda_check_cublas(
        unit->api, "cublasLtMatmulDescSetAttribute",
        unit->api->cublasLtMatmulDescSetAttribute(desc, what, value, size),
        err);
}

static mo_status create_desc(mo_backend_unit *unit,
                             const mo_cuda_matmul_problem *matmul,
                             cublasLtMatmulDesc_t *desc, mo_error *err)
{
    const mo_cuda_gemm *gemm = &matmul->gemm;
    int32_t left = gemm->left.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    int32_t right = gemm->right.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    uint32_t epilogue = epilogue_enum(&matmul->epilogue);
    int32_t sms = unit->sms;
    cudaDataType_t scale =
        matmul->elem == MO_ELEM_F64 ? CUDA_R_64F : CUDA_R_32F;
    mo_status status;

    status =
        mo_cuda_check_cublas(unit->api, "cublasLtMatmulDescCreate",
                             unit->api->cublasLtMatmulDescCreate(
                                 desc, compute_type(unit, matmul->elem), scale),
                             err);
    if (status == MO_OK)
        status = mo_cuda_matmul_desc_set(
            unit, *desc, CUBLASLT_MATMUL_DESC_TRANSA, &left, sizeof left, err);
    if (status == MO_OK)
        status =
            mo_cuda_matmul_desc_set(unit, *desc, CUBLASLT_MATMUL_DESC_TRANSB,
                                    &right, sizeof right, err);
    if (status == MO_OK)
        status =
            mo_cuda_matmul_desc_set(unit, *desc, CUBLASLT_MATMUL_DESC_EPILOGUE,
                                    &epilogue, sizeof epilogue, err);
    if (status == MO_OK && mo_cuda_unit_is_partitioned(unit))
        status = mo_cuda_matmul_desc_set(unit, *desc,
                                         CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET,
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

static mo_status create_layout(mo_backend_unit *unit,
                               const mo_cuda_matmul_problem *matmul,
                               const mo_cuda_gemm_matrix *matrix,
                               cublasLtMatrixLayout_t *layout, mo_error *err)
{
    int32_t batch = (int32_t) matmul->gemm.batch;
    mo_status status;

    status = mo_cuda_check_cublas(unit->api, "cublasLtMatrixLayoutCreate",
                                  unit->api->cublasLtMatrixLayoutCreate(
                                      layout, data_type(matmul->elem),
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

void mo_cuda_matmul_descs_clear(const mo_cuda_api *api,
                                mo_cuda_matmul_descs *descs)
{
    if (descs->desc)
        api->cublasLtMatmulDescDestroy(descs->desc);
    if (descs->left)
        api->cublasLtMatrixLayoutDestroy(descs->left);
    if (descs->right)
        api->cublasLtMatrixLayoutDestroy(descs->right);
    if (descs->result)
        api->cublasLtMatrixLayoutDestroy(descs->result);
    *descs = (mo_cuda_matmul_descs){ 0 };
}

mo_status mo_cuda_matmul_descs_create(mo_backend_unit *unit,
                                      const mo_cuda_matmul_problem *matmul,
                                      mo_cuda_matmul_descs *descs,
                                      mo_error *err)
{
    const mo_cuda_gemm *gemm = &matmul->gemm;
    mo_status status;

    *descs = (mo_cuda_matmul_descs){ 0 };
    status = create_desc(unit, matmul, &descs->desc, err);
    if (status == MO_OK)
        status = create_layout(unit, matmul, &gemm->left, &descs->left, err);
    if (status == MO_OK)
        status = create_layout(unit, matmul, &gemm->right, &descs->right, err);
    if (status == MO_OK)
        status =
            create_layout(unit, matmul, &gemm->result, &descs->result, err);
    if (status != MO_OK)
        mo_cuda_matmul_descs_clear(unit->api, descs);
    return status;
}
