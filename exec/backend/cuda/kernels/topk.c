/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/kernels/topk.h"

#include <stdlib.h>

#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/single_kernel.h"

/* ---- common */

#include "exec/backend/cuda/kernels/topk.inc"

void mo_cuda_emit_topk(mo_cuda_source *code, const mo_call_topk *topk,
                       const mo_tensor_desc *out, int64_t elements, int chunk)
{
    mo_elem elem = out[0].elem;

    mo_cuda_emit_types(code, elem, 1, elements);
    mo_cuda_source_printf(
        code,
        "typedef %s INDEX;\n#define REAL %d\n#define SIGNED %d\n"
        "#define LARGEST %d\n#define BY_INDEX %d\n"
        "#define LINES %lldLL\n#define COUNT %lldLL\n"
        "#define INNER %lldLL\n#define K %lldLL\n"
        "#define CHUNK %d\n#define BLOCK %d\n",
        mo_cuda_elem_type_name(out[1].elem), mo_elem_is_float(elem),
        elem != MO_ELEM_U64, topk->largest, topk->sort == MO_CALL_TOPK_BY_INDEX,
        (long long) (topk->outer * topk->inner), (long long) topk->count,
        (long long) topk->inner, (long long) topk->k, chunk,
        chunk / 2 < MO_CUDA_TOPK_THREADS ? chunk / 2 : MO_CUDA_TOPK_THREADS);
    mo_cuda_source_append(code, common_source);
}

/* ---- one block */

static mo_status prepare_small(mo_backend_unit *unit, const mo_call *call,
                               const mo_backend_operand *in,
                               const mo_tensor_desc *out,
                               mo_backend_kernel **kernel, mo_error *err)
{
    enum { LEAST_CHUNK = 64 };
    const mo_call_topk *topk = &call->u.topk;
    mo_cuda_single_kernel_spec draft = { .name = "topk" };
    int chunk = LEAST_CHUNK;
    mo_status status;

    while (chunk < topk->count)
        chunk *= 2;
    status = mo_cuda_grid_1d(
        topk->k > 0 ? topk->outer * topk->inner : 0, 1,
        chunk / 2 < MO_CUDA_TOPK_THREADS ? chunk / 2 : MO_CUDA_TOPK_THREADS,
        &draft.grid, err);
    if (status != MO_OK)
        return status;
    mo_cuda_emit_topk(&draft.code, topk, out,
                      mo_tensor_desc_elements(&in[0].desc), chunk);
    mo_cuda_source_append(&draft.code, kernel_source);
    return mo_cuda_single_kernel_new(unit, call, 1, &draft, kernel, err);
}

/* ---- the two */

/* A kernel of one of the two ways; the outer one belongs to the backend. */
typedef struct topk_kernel {
    mo_backend_kernel base;
    bool small;
    mo_backend_kernel *inner;
} topk_kernel;

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    topk_kernel *made;
    mo_status status = mo_cuda_check_same_type(call, in, out, err);

    if (status != MO_OK)
        return status;
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->small = call->u.topk.count <= MO_CUDA_TOPK_CHUNK;
    status =
        (made->small ? prepare_small : mo_cuda_topk_multipass_kernel.prepare)(
            unit, call, in, out, &made->inner, err);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    made->base.workspace = made->inner->workspace;
    *kernel = &made->base;
    return MO_OK;
}

static mo_status enqueue(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const topk_kernel *made = (const topk_kernel *) kernel;

    return (made->small ? mo_cuda_single_kernel_enqueue
                        : mo_cuda_topk_multipass_kernel.enqueue)(
        unit, made->inner, in, out, workspace, stream, err);
}

static void drop(mo_backend_unit *unit, mo_backend_kernel *kernel)
{
    topk_kernel *made = (topk_kernel *) kernel;

    (made->small ? mo_cuda_single_kernel_free
                 : mo_cuda_topk_multipass_kernel.drop)(unit, made->inner);
    free(made);
}

const mo_cuda_kernel_class mo_cuda_topk_kernel = { prepare, NULL, enqueue,
                                                   drop };
