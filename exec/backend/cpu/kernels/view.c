/* SPDX-License-Identifier: Apache-2.0 */
/* View (reshape): no work where the output aliases the input, else a copy. */
#include <stdlib.h>
#include <string.h>

#include "exec/backend/cpu/unit/cpu_unit.h"

/* A plan lets a view alias its input; with two distinct buffers the kernel
 * copies. */
typedef struct view_kernel {
    mo_cpu_kernel base;
    size_t bytes;
} view_kernel;

static mo_status prepare_view(mo_cpu_unit *unit, const mo_call *call,
                              const mo_backend_operand *in,
                              const mo_tensor_desc *out, mo_cpu_kernel **kernel,
                              size_t *workspace, mo_error *err)
{
    view_kernel *view = calloc(1, sizeof *view);

    (void) unit, (void) call, (void) in, (void) workspace;
    if (!view)
        return mo_fail_memory(err);
    view->bytes = (size_t) mo_tensor_desc_bytes(&out[0]);
    *kernel = &view->base;
    return MO_OK;
}

static mo_status run_view(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                          const void *const *in, void *const *out,
                          void *workspace, mo_error *err)
{
    const view_kernel *view = (const view_kernel *) kernel;

    (void) unit, (void) workspace, (void) err;
    if (in[0] != out[0] && view->bytes > 0)
        memcpy(out[0], in[0], view->bytes);
    return MO_OK;
}

const mo_cpu_kernel_class mo_cpu_view = { prepare_view, run_view, NULL };
