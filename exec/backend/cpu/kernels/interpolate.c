/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/kernels/interpolate.h"

#include <assert.h>
#include <stdlib.h>

#include "exec/backend/check_call.h"

/* Wraps a kernel of one of the two algorithms. */
typedef struct interpolate_kernel {
    mo_cpu_kernel base;
    const mo_cpu_kernel_class *algo;
    mo_cpu_kernel *inner;
} interpolate_kernel;

static mo_status prepare_interpolate(mo_cpu_unit *unit, const mo_call *call,
                                     const mo_backend_operand *in,
                                     const mo_tensor_desc *out,
                                     mo_cpu_kernel **kernel, size_t *workspace,
                                     mo_error *err)
{
    const mo_call_interpolate *c = &call->u.interpolate;
    interpolate_kernel *made;
    mo_status status = mo_backend_check_interpolate(call, in, out, err);

    assert(!call->after);
    if (status != MO_OK)
        return status;
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->algo = c->mode == MO_CALL_INTERPOLATE_NEAREST ? &mo_cpu_interp_nearest
                                                        : &mo_cpu_interp_linear;
    status =
        made->algo->prepare(unit, call, in, out, &made->inner, workspace, err);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    *kernel = &made->base;
    return MO_OK;
}

static mo_status run_interpolate(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                                 const void *const *in, void *const *out,
                                 void *workspace, mo_error *err)
{
    const interpolate_kernel *k = (const interpolate_kernel *) kernel;

    return k->algo->run(unit, k->inner, in, out, workspace, err);
}

static void free_interpolate(mo_cpu_kernel *kernel)
{
    interpolate_kernel *k = (interpolate_kernel *) kernel;

    k->algo->free(k->inner);
    free(k);
}

const mo_cpu_kernel_class mo_cpu_interpolate = { prepare_interpolate,
                                                 run_interpolate,
                                                 free_interpolate };
