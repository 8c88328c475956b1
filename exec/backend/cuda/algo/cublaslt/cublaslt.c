/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products by cuBLASLt: heuristic search, algorithms. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ablation.h"
#include "base/error.h"
#include "exec/backend/cuda/algo/algo.h"
#include "exec/backend/cuda/algo/cublaslt/matmul_descs.h"
#include "exec/backend/cuda/algo/epilogue_kernel.h"
#include "exec/backend/cuda/algo/libraries.h"
#include "exec/backend/cuda/driver/sm_partition.h"

void mo_cuda_cublaslt_close(mo_backend_unit *unit)
{
    if (unit->cublaslt)
        unit->api->cublasLtDestroy(unit->cublaslt);
    unit->cublaslt = NULL;
}

static mo_status get_handle(mo_backend_unit *unit, cublasLtHandle_t *handle,
                            mo_error *err)
{
    mo_status status = MO_OK;

    if (!unit->cublaslt)
        status = mo_cuda_check_cublas(
            unit->api, "cublasLtCreate",
            unit->api->cublasLtCreate(&unit->cublaslt), err);
    *handle = unit->cublaslt;
    return status;
}

typedef struct cublaslt_algo {
    mo_cuda_algo algo;
    mo_cuda_matmul_problem matmul;
    mo_cuda_matmul_descs descs;
    cublasLtMatmulAlgo_t algorithm;
    CUdeviceptr weights; /* packed ones in place of in[1]; 0: none */
    mo_cuda_epilogue_kernel
        *epilogue_kernel; /* NULL: the library applies it, or there is none */
} cublaslt_algo;

/* alpha and beta, for f32 and f64. */
typedef struct scale_factor {
    float f32;
    double f64;
} scale_factor;

static const void *scale_address(const scale_factor *f, mo_elem elem)
{
    if (elem == MO_ELEM_F64)
        return &f->f64;
    return &f->f32;
}

static const void *operand_address(const cublaslt_algo *algo, int i,
                                   const void *const *in)
{
    if (i == 1 && algo->weights)
        return (const void *) (uintptr_t) algo->weights;
    return in[i];
}

static mo_status run_matmul(mo_backend_unit *unit, const cublaslt_algo *algo,
                            const void *const *in, void *const *out,
                            void *workspace, CUstream stream, mo_error *err)
{
    static const scale_factor one = { 1, 1 }, zero = { 0, 0 };
    const mo_cuda_matmul_problem *matmul = &algo->matmul;
    const mo_cuda_matmul_descs *descs = &algo->descs;
    int residual = matmul->epilogue.residual;
    const void *added = residual >= 0 ? in[residual] : out[0];
    cublasLtHandle_t handle;
    mo_status status = get_handle(unit, &handle, err);

    if (status == MO_OK) {
        /* The descriptor holds the address. It belongs to this algorithm, and a
         * unit is used by one thread. */
        if (algo->matmul.epilogue.bias >= 0) {
            const void *bias = in[algo->matmul.epilogue.bias];

            status = mo_cuda_check_cublas(
                unit->api, "cublasLtMatmulDescSetAttribute",
                unit->api->cublasLtMatmulDescSetAttribute(
                    algo->descs.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias,
                    sizeof bias),
                err);
        }
    }
    if (status != MO_OK)
        return status;
    return mo_cuda_check_cublas(
        unit->api, "cublasLtMatmul",
        unit->api->cublasLtMatmul(
            handle, descs->desc, scale_address(&one, matmul->elem),
            operand_address(algo, matmul->gemm.left_in, in), descs->left,
            operand_address(algo, matmul->gemm.right_in, in), descs->right,
            scale_address(residual >= 0 ? &one : &zero, matmul->elem), added,
            descs->result, out[0], descs->result, &algo->algorithm, workspace,
            algo->algo.workspace, stream),
        err);
}

static mo_status enqueue(mo_backend_unit *unit, const mo_cuda_algo *base,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const cublaslt_algo *algo = (const cublaslt_algo *) base;
    mo_status status;

    status = run_matmul(unit, algo, in, out, workspace, stream, err);
    if (status == MO_OK && algo->epilogue_kernel)
        status = mo_cuda_epilogue_kernel_enqueue(unit, algo->epilogue_kernel,
                                                 in, out, stream, err);
    return status;
}

static void drop(mo_backend_unit *unit, mo_cuda_algo *base)
{
    cublaslt_algo *algo = (cublaslt_algo *) base;

    mo_cuda_matmul_descs_clear(unit->api, &algo->descs);
    mo_cuda_epilogue_kernel_free(unit, algo->epilogue_kernel);
    free(algo);
}

static const mo_cuda_algo_class cublaslt_class = { enqueue, drop };

static mo_status new_algo(mo_backend_unit *unit,
                          const mo_cuda_algo_problem *problem,
                          const mo_cuda_matmul_problem *matmul,
                          const cublasLtMatmulHeuristicResult_t *found,
                          const char *name, mo_cuda_algo **algo, mo_error *err)
{
    cublaslt_algo *new = calloc(1, sizeof *new);
    mo_status status;

    if (!new)
        return mo_fail_memory(err);
    new->algo.kind = &cublaslt_class;
    snprintf(new->algo.name, sizeof new->algo.name, "%s", name);
    new->algo.workspace = found->workspaceSize;
    new->matmul = *matmul;
    new->algorithm = found->algo;
    new->weights = problem->weights;
    if (problem->weights)
        new->algo.consumed = 1u << 1;
    status = mo_cuda_matmul_descs_create(unit, matmul, &new->descs, err);
    if (status == MO_OK && matmul->needs_epilogue)
        status = mo_cuda_epilogue_kernel_new(unit, problem,
                                             &new->epilogue_kernel, err);
    if (status != MO_OK) {
        drop(unit, &new->algo);
        return status;
    }
    *algo = &new->algo;
    return MO_OK;
}

enum {
    MAX_ALGOS = 8,
    MAX_WORKSPACE = 32 << 20,
    ALIGNMENT = 16 /* of operands, at least */
};

static mo_status set_preference_attr(mo_backend_unit *unit,
                                     cublasLtMatmulPreference_t preference,
                                     cublasLtMatmulPreferenceAttributes_t what,
                                     const void *value, size_t size,
                                     mo_error *err)
{
    return mo_cuda_check_cublas(unit->api,
                                "cublasLtMatmulPreferenceSetAttribute",
                                unit->api->cublasLtMatmulPreferenceSetAttribute(
                                    preference, what, value, size),
                                err);
}

/* The heuristic reads only the alignment of the bias address, not the bias. */
static mo_status set_placeholder_bias(mo_backend_unit *unit,
                                      const mo_cuda_matmul_problem *matmul,
                                      const mo_cuda_matmul_descs *descs,
                                      mo_error *err)
{
    const void *bias = (const void *) (uintptr_t) ALIGNMENT;

    if (matmul->epilogue.bias < 0)
        return MO_OK;
    return mo_cuda_check_cublas(
        unit->api, "cublasLtMatmulDescSetAttribute",
        unit->api->cublasLtMatmulDescSetAttribute(
            descs->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias),
        err);
}

/* Sets *n to 0 where the library has no algorithm. */
static mo_status query_heuristic(mo_backend_unit *unit,
                                 const mo_cuda_matmul_problem *matmul,
                                 const mo_cuda_matmul_descs *descs,
                                 cublasLtMatmulPreference_t preference,
                                 cublasLtMatmulHeuristicResult_t *results,
                                 int *n, mo_error *err)
{
    cublasLtHandle_t handle;
    cublasStatus_t result;
    mo_status status = get_handle(unit, &handle, err);

    *n = 0;
    if (status == MO_OK) {
        static const cublasLtMatmulPreferenceAttributes_t aligned[] = {
            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
        };
        uint64_t workspace = MAX_WORKSPACE;
        uint32_t sums = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
        uint32_t alignment = ALIGNMENT;

        /* Partial sums are added in a fixed order and in the compute type: not
         * by atomics. */
        status = set_preference_attr(unit, preference,
                                     CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                     &workspace, sizeof workspace, err);
        if (status == MO_OK)
            status = set_preference_attr(
                unit, preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                &sums, sizeof sums, err);
        for (int i = 0; i < 4 && status == MO_OK; i++)
            status = set_preference_attr(unit, preference, aligned[i],
                                         &alignment, sizeof alignment, err);
    }
    if (status == MO_OK)
        status = set_placeholder_bias(unit, matmul, descs, err);
    if (status != MO_OK)
        return status;
    result = unit->api->cublasLtMatmulAlgoGetHeuristic(
        handle, descs->desc, descs->left, descs->right, descs->result,
        descs->result, preference, MAX_ALGOS, results, n);
    if (result == CUBLAS_STATUS_SUCCESS)
        return MO_OK;
    *n = 0;
    if (result == CUBLAS_STATUS_NOT_SUPPORTED ||
        result == CUBLAS_STATUS_INVALID_VALUE)
        return MO_OK;
    return mo_cuda_check_cublas(unit->api, "cublasLtMatmulAlgoGetHeuristic",
                                result, err);
}

static mo_status find_algorithms(mo_backend_unit *unit,
                                 const mo_cuda_matmul_problem *matmul,
                                 cublasLtMatmulHeuristicResult_t *results,
                                 int *n, mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    cublasLtMatmulPreference_t preference = NULL;
    mo_cuda_matmul_descs descs = { 0 };
    mo_status status = mo_cuda_matmul_descs_create(unit, matmul, &descs, err);

    *n = 0;
    if (status == MO_OK)
        status = mo_cuda_check_cublas(
            api, "cublasLtMatmulPreferenceCreate",
            api->cublasLtMatmulPreferenceCreate(&preference), err);
    if (status == MO_OK)
        status =
            query_heuristic(unit, matmul, &descs, preference, results, n, err);
    if (preference)
        api->cublasLtMatmulPreferenceDestroy(preference);
    mo_cuda_matmul_descs_clear(api, &descs);
    return status;
}

static mo_status add_algos(mo_backend_unit *unit,
                           const mo_cuda_algo_problem *problem,
                           const mo_cuda_matmul_problem *matmul,
                           mo_cuda_algo_list *algos, mo_error *err)
{
    cublasLtMatmulHeuristicResult_t results[MAX_ALGOS];
    int n;
    mo_status status = find_algorithms(unit, matmul, results, &n, err);

    for (int i = 0; i < n && status == MO_OK; i++) {
        mo_cuda_algo *algo = NULL;
        char name[MO_CUDA_ALGO_NAME_SIZE];

        snprintf(name, sizeof name, "cublaslt %d v%zu", i + 1,
                 unit->api->cublasLtGetVersion());
        if (results[i].state != CUBLAS_STATUS_SUCCESS ||
            !mo_cuda_algo_wanted(problem, name))
            continue;
        status = new_algo(unit, problem, matmul, &results[i], name, &algo, err);
        if (status == MO_OK)
            status = mo_cuda_algo_list_add(unit, algos, algo, err);
    }
    return status;
}

static bool supports_type(const mo_cuda_algo_problem *problem)
{
    mo_elem elem = problem->out[0].elem;

    return mo_elem_is_float(elem) && problem->in[0].desc.elem == elem &&
           problem->in[1].desc.elem == elem;
}

/* act(product + bias + residual) with few activations; a bias varies along the
 * rows of the result, which must be our columns. */
static bool supports_epilogue(const mo_cuda_algo_problem *problem,
                              const mo_cuda_gemm *gemm,
                              const mo_cuda_epilogue *epilogue)
{
    mo_cuda_activation act = epilogue->act;
    /* The library's gelu of f64 has errors of 1e-9. */
    bool supports_gelu = problem->out[0].elem != MO_ELEM_F64;

    return (act == MO_CUDA_ACT_NONE || act == MO_CUDA_ACT_RELU ||
            (act == MO_CUDA_ACT_GELU_TANH && supports_gelu)) &&
           (epilogue->bias < 0 || gemm->left_in == 1) &&
           mo_cuda_epilogue_is_fusable(problem, epilogue, gemm->result.rows);
}

static const mo_cuda_epilogue no_epilogue = { .bias = -1, .residual = -1 };

mo_status mo_cuda_cublaslt_algos(mo_backend_unit *unit,
                                 const mo_cuda_algo_problem *problem,
                                 mo_cuda_algo_list *algos, mo_error *err)
{
    mo_cuda_matmul_problem matmul = { .elem = problem->out[0].elem,
                                      .epilogue = no_epilogue };
    int before = algos->n;
    mo_status status;

    if (!mo_cuda_algo_kind_wanted(problem, "cublaslt") ||
        !supports_type(problem) ||
        !mo_cuda_gemm_from_call(problem->call, &matmul.gemm) ||
        !mo_cuda_has_cublaslt())
        return MO_OK;
    if (!(problem->call->after &&
          mo_ablated(MO_ABLATION_cuda_library_epilogue)) &&
        mo_cuda_epilogue_match(problem->call, problem->in, problem->out,
                               &matmul.epilogue) &&
        supports_epilogue(problem, &matmul.gemm, &matmul.epilogue)) {
        status = add_algos(unit, problem, &matmul, algos, err);
        if (status != MO_OK || algos->n > before || !problem->call->after)
            return status;
    }
    matmul.epilogue = no_epilogue;
    matmul.needs_epilogue = true;
    return add_algos(unit, problem, &matmul, algos, err);
}
