/* SPDX-License-Identifier: Apache-2.0 */
/* View (reshape): no work where the output aliases the input, else a copy. */
#include <stdlib.h>

#include "exec/backend/cuda/kernels/kernel_class.h"
#include "exec/backend/cuda/jit/codegen.h"

/* Plans place a view in the memory of its operand; where they do not, it is a
 * copy. */
typedef struct view_kernel {
    mo_backend_kernel base;
    size_t bytes;
} view_kernel;

static mo_status prepare_view(mo_backend_unit *unit, const mo_call *call,
                              const mo_backend_operand *in,
                              const mo_tensor_desc *out,
                              mo_backend_kernel **kernel, mo_error *err)
{
    view_kernel *view = calloc(1, sizeof *view);

    (void) unit, (void) call, (void) in;
    if (!view)
        return mo_fail_memory(err);
    view->bytes = (size_t) mo_tensor_desc_bytes(&out[0]);
    *kernel = &view->base;
    return MO_OK;
}

static mo_status enqueue_view(mo_backend_unit *unit,
                              const mo_backend_kernel *kernel,
                              const void *const *in, void *const *out,
                              void *workspace, CUstream stream, mo_error *err)
{
    const view_kernel *view = (const view_kernel *) kernel;
    const mo_cuda_api *api = unit->api;

    (void) workspace;
    if (in[0] == out[0] || view->bytes == 0)
        return MO_OK;
    return mo_cuda_check(api, "cuMemcpyDtoDAsync",
                         api->cuMemcpyDtoDAsync((CUdeviceptr) out[0],
                                                (CUdeviceptr) in[0],
                                                view->bytes, stream),
                         err);
}

const mo_cuda_kernel_class mo_cuda_view_kernel = { prepare_view, NULL,
                                                   enqueue_view,
                                                   mo_cuda_kernel_free };
