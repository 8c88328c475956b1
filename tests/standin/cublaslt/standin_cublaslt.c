/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cuBLASLt that multiplies on the CPU, in the memory of
 * tests/standin/standin_cuda.so: for tests of exec/backend/cuda/algo/cublaslt.
 * It follows the library's header strictly; every product has two algorithms,
 * the second of which needs a workspace.
 */
#include <cublasLt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/standin/typed_real.h"

enum { ALGORITHMS = 2, WORKSPACE = 4096, ALIGNMENT = 16 };

typedef struct layout {
    cudaDataType_t type;
    int64_t rows, columns, lead, step;
    int32_t batch;
} layout;

typedef struct desc {
    cublasComputeType_t compute;
    cudaDataType_t scale;
    int32_t transposed[2];
    uint32_t epilogue;
    int32_t sms; /* target of the heuristic; 0: all */
    const void *bias;
} desc;

typedef struct preference {
    uint64_t workspace;
    uint32_t alignment, reductions;
} preference;

static int alive;

/* Reports descriptors that are still alive. */
static void report_leaks(void)
{
    if (alive == 0)
        return;
    fprintf(stderr, "cuBLASLt's stand-in: %d descriptors are left\n", alive);
    abort();
}

size_t cublasLtGetVersion(void)
{
    return 130000;
}

const char *cublasLtGetStatusString(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_NOT_SUPPORTED ? "not supported" : "failed";
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    *handle = malloc(1);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    report_leaks();
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t make(void **to, const void *from, size_t size)
{
    *to = malloc(size);
    if (!*to)
        return CUBLAS_STATUS_ALLOC_FAILED;
    memcpy(*to, from, size);
    alive++;
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t destroy(void *what)
{
    free(what);
    alive--;
    return CUBLAS_STATUS_SUCCESS;
}

/* An attribute is set with its size. */
static cublasStatus_t set(void *to, size_t room, const void *value, size_t size)
{
    if (room != size)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, value, size);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *to,
                                        cublasComputeType_t compute,
                                        cudaDataType_t scale)
{
    desc d = { .compute = compute,
               .scale = scale,
               .epilogue = CUBLASLT_EPILOGUE_DEFAULT };
    void *made = NULL;
    cublasStatus_t status = make(&made, &d, sizeof d);

    *to = made;
    return status;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d)
{
    return destroy(d);
}

cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t to,
                               cublasLtMatmulDescAttributes_t what,
                               const void *value, size_t size)
{
    desc *d = (desc *) to;

    switch (what) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
        return set(&d->transposed[0], sizeof d->transposed[0], value, size);
    case CUBLASLT_MATMUL_DESC_TRANSB:
        return set(&d->transposed[1], sizeof d->transposed[1], value, size);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
        return set(&d->epilogue, sizeof d->epilogue, value, size);
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET:
        return set(&d->sms, sizeof d->sms, value, size);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
        return set(&d->bias, sizeof d->bias, value, size);
    default:
        return CUBLAS_STATUS_INVALID_VALUE;
    }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *to,
                                          cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t lead)
{
    layout l = { .type = type,
                 .rows = (int64_t) rows,
                 .columns = (int64_t) columns,
                 .lead = lead,
                 .batch = 1 };
    void *made = NULL;
    cublasStatus_t status = make(&made, &l, sizeof l);

    *to = made;
    return status;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l)
{
    return destroy(l);
}

cublasStatus_t
cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t to,
                                 cublasLtMatrixLayoutAttribute_t what,
                                 const void *value, size_t size)
{
    layout *l = (layout *) to;

    switch (what) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
        return set(&l->batch, sizeof l->batch, value, size);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
        return set(&l->step, sizeof l->step, value, size);
    default:
        return CUBLAS_STATUS_INVALID_VALUE;
    }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *to)
{
    preference p = { .alignment = 256,
                     .reductions = CUBLASLT_REDUCTION_SCHEME_MASK };
    void *made = NULL;
    cublasStatus_t status = make(&made, &p, sizeof p);

    *to = made;
    return status;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p)
{
    return destroy(p);
}

cublasStatus_t
cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t to,
                                     cublasLtMatmulPreferenceAttributes_t what,
                                     const void *value, size_t size)
{
    preference *p = (preference *) to;

    switch (what) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
        return set(&p->workspace, sizeof p->workspace, value, size);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
        return set(&p->reductions, sizeof p->reductions, value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
        return set(&p->alignment, sizeof p->alignment, value, size);
    default:
        return CUBLAS_STATUS_INVALID_VALUE;
    }
}

static real_type real_of(cudaDataType_t type)
{
    switch (type) {
    case CUDA_R_64F:
        return REAL_F64;
    case CUDA_R_16F:
        return REAL_F16;
    case CUDA_R_16BF:
        return REAL_BF16;
    default:
        return REAL_F32;
    }
}

static bool is_sound(const layout *l, const layout *like)
{
    return l->type == like->type && l->batch == like->batch && l->rows > 0 &&
           l->columns > 0 && l->lead >= l->rows && l->step >= 0;
}

static bool sizes_meet(const desc *d, const layout *a, const layout *b,
                       const layout *c)
{
    bool ta = d->transposed[0] == CUBLAS_OP_T;
    bool tb = d->transposed[1] == CUBLAS_OP_T;

    return (ta ? a->columns : a->rows) == c->rows &&
           (tb ? b->rows : b->columns) == c->columns &&
           (ta ? a->rows : a->columns) == (tb ? b->columns : b->rows);
}

static bool types_meet(const desc *d, const layout *c)
{
    if (c->type == CUDA_R_64F)
        return d->compute == CUBLAS_COMPUTE_64F && d->scale == CUDA_R_64F;
    return d->scale == CUDA_R_32F &&
           (d->compute == CUBLAS_COMPUTE_32F ||
            (d->compute == CUBLAS_COMPUTE_32F_FAST_TF32 &&
             c->type == CUDA_R_32F));
}

static bool has_bias(const desc *d)
{
    return d->epilogue & CUBLASLT_EPILOGUE_BIAS;
}

static bool is_aligned(const void *memory)
{
    return memory && (uintptr_t) memory % ALIGNMENT == 0;
}

/* f64 has no epilogues, as in the library. */
static cublasStatus_t judge(const desc *d, const layout *a, const layout *b,
                            const layout *c, const layout *out)
{
    if (!is_sound(a, out) || !is_sound(b, out) || !is_sound(c, out) ||
        !is_sound(out, out) || !sizes_meet(d, a, b, out) ||
        !types_meet(d, out) || (has_bias(d) && !is_aligned(d->bias)))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (out->type == CUDA_R_64F && d->epilogue != CUBLASLT_EPILOGUE_DEFAULT)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t d, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
    cublasLtMatrixLayout_t out, cublasLtMatmulPreference_t preferred, int room,
    cublasLtMatmulHeuristicResult_t found[], int *n)
{
    const preference *p = (const preference *) preferred;
    cublasStatus_t status =
        judge((const desc *) d, (const layout *) a, (const layout *) b,
              (const layout *) c, (const layout *) out);

    *n = 0;
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    if (!handle || p->alignment > ALIGNMENT ||
        p->reductions != CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    for (int i = 0; i < ALGORITHMS && i < room; i++) {
        memset(&found[i], 0, sizeof found[i]);
        found[i].algo.data[0] = (uint64_t) i;
        found[i].workspaceSize = i ? WORKSPACE : 0;
        found[i].state = found[i].workspaceSize <= p->workspace
                             ? CUBLAS_STATUS_SUCCESS
                             : CUBLAS_STATUS_NOT_SUPPORTED;
        *n = i + 1;
    }
    return CUBLAS_STATUS_SUCCESS;
}

static double element(const layout *l, const void *memory, int batch,
                      int64_t row, int64_t column)
{
    return real_load(real_of(l->type), memory,
                     batch * l->step + column * l->lead + row);
}

static double dot(const desc *d, const layout *a, const void *am,
                  const layout *b, const void *bm, int batch, int64_t row,
                  int64_t column)
{
    bool ta = d->transposed[0] == CUBLAS_OP_T;
    bool tb = d->transposed[1] == CUBLAS_OP_T;
    int64_t n = ta ? a->rows : a->columns;
    double sum = 0;

    for (int64_t k = 0; k < n; k++)
        sum += element(a, am, batch, ta ? k : row, ta ? row : k) *
               element(b, bm, batch, tb ? column : k, tb ? k : column);
    return sum;
}

static double finish(const desc *d, cudaDataType_t type, double x, int64_t row)
{
    if (has_bias(d))
        x += real_load(real_of(type), d->bias, row);
    switch (d->epilogue & ~(uint32_t) CUBLASLT_EPILOGUE_BIAS) {
    case CUBLASLT_EPILOGUE_RELU:
        return x > 0 ? x : 0;
    case CUBLASLT_EPILOGUE_GELU:
        return x / 2 *
               (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    default:
        return x;
    }
}

static double scale_at(const desc *d, const void *scale)
{
    return real_load(real_of(d->scale), scale, 0);
}

cublasStatus_t
cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t what,
               const void *alpha, const void *a, cublasLtMatrixLayout_t al,
               const void *b, cublasLtMatrixLayout_t bl, const void *beta,
               const void *c, cublasLtMatrixLayout_t cl, void *out,
               cublasLtMatrixLayout_t outl, const cublasLtMatmulAlgo_t *algo,
               void *workspace, size_t bytes, cudaStream_t stream)
{
    const desc *d = (const desc *) what;
    const layout *l = (const layout *) outl;
    cublasStatus_t status = judge(d, (const layout *) al, (const layout *) bl,
                                  (const layout *) cl, l);

    (void) stream;
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    if (!handle || !is_aligned(a) || !is_aligned(b) || !is_aligned(c) ||
        !is_aligned(out) ||
        (algo->data[0] == 1 && (!workspace || bytes < WORKSPACE)))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (workspace)
        memset(workspace, 0x5a, bytes);
    for (int i = 0; i < l->batch; i++)
        for (int64_t k = 0; k < l->rows * l->columns; k++) {
            int64_t row = k % l->rows, column = k / l->rows;
            int64_t at = i * l->step + column * l->lead + row;
            double x = scale_at(d, alpha) * dot(d, (const layout *) al, a,
                                                (const layout *) bl, b, i, row,
                                                column);

            if (scale_at(d, beta) != 0)
                x += scale_at(d, beta) *
                     element((const layout *) cl, c, i, row, column);
            real_store(real_of(l->type), out, at, finish(d, l->type, x, row));
        }
    return CUBLAS_STATUS_SUCCESS;
}
