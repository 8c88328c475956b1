/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/kernels/kernel_class.h"

#include <stdio.h>
#include <stdlib.h>

mo_status mo_cuda_kernel_error(mo_call_kind kind, mo_status status,
                               mo_error *err)
{
    char text[MO_ERROR_TEXT_SIZE];

    if (status == MO_OK || !err)
        return status;
    snprintf(text, sizeof text, "%s", err->text);
    snprintf(err->text, sizeof err->text, "%s: %.*s", mo_call_kind_name(kind),
             (int) (sizeof text - 64), text);
    return status;
}

mo_status mo_cuda_kernel_enqueue(mo_backend_unit *unit,
                                 const mo_backend_kernel *kernel,
                                 const void *const *in, void *const *out,
                                 void *workspace, CUstream stream,
                                 mo_error *err)
{
    mo_status status =
        kernel->cls->enqueue(unit, kernel, in, out, workspace, stream, err);

    return mo_cuda_kernel_error(kernel->kind, status, err);
}

void mo_cuda_kernel_free(mo_backend_unit *unit, mo_backend_kernel *kernel)
{
    (void) unit;
    free(kernel);
}
