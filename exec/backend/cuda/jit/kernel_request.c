#include "exec/backend/cuda/jit/kernel_request.h"

#include <stdlib.h>

mo_status mo_cuda_ask_code(mo_unit *unit, mo_code *code, const char *name,
                           mo_cuda_function **function, mo_error *err)
{
    mo_status status = mo_code_ready(code, err);

    if (status == MO_OK)
        status = mo_cuda_ask(unit, code->text, name, function, err);
    mo_code_clear(code);
    return status;
}

void mo_cuda_drop_whole(mo_unit *unit, mo_kernel *kernel)
{
    (void) unit;
    free(kernel);
}
