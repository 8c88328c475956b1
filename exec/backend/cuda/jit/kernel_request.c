/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/jit/kernel_request.h"

#include <stdlib.h>

mo_status mo_cuda_jit_request_source(mo_backend_unit *unit,
                                     mo_cuda_source *code, const char *name,
                                     mo_cuda_function **function, mo_error *err)
{
    mo_status status = mo_cuda_source_check(code, err);

    if (status == MO_OK)
        status = mo_cuda_jit_request(unit, code->text, name, function, err);
    mo_cuda_source_clear(code);
    return status;
}

void mo_cuda_kernel_free(mo_backend_unit *unit, mo_backend_kernel *kernel)
{
    (void) unit;
    free(kernel);
}
