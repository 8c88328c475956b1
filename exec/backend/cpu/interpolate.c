#include "exec/backend/cpu/interpolate.h"

#include <assert.h>
#include <stdlib.h>

/* A kernel of one of the two ways; the outer one belongs to the backend. */
typedef struct interpolate_kernel {
    mo_kernel base;
    const mo_cpu_maker *way;
    mo_kernel *inner;
} interpolate_kernel;

static bool fits(const mo_interpolate_call *call, const mo_call_operand *in,
                 const mo_desc *out)
{
    int64_t n_in = 1, n_out = 1;

    for (int d = 0; d < call->rank; d++) {
        n_in *= call->in[d];
        n_out *= call->out[d];
        if (call->out[d] > 0 && call->in[d] <= 0)
            return false;
    }
    return in[0].desc.elem == out[0].elem && call->rank > 0 &&
           n_in == mo_desc_elements(&in[0].desc) &&
           n_out == mo_desc_elements(&out[0]);
}

static mo_status prepare_interpolate(mo_unit *unit, const mo_call *call,
                                     const mo_call_operand *in,
                                     const mo_desc *out, mo_kernel **kernel,
                                     size_t *workspace, mo_error *err)
{
    const mo_interpolate_call *c = &call->u.interpolate;
    interpolate_kernel *made;
    mo_status status;

    assert(!call->after);
    if (!fits(c, in, out) ||
        (c->mode != MO_INTERPOLATE_NEAREST && !mo_elem_is_real(out[0].elem)))
        return mo_fail(err, MO_E_INPUT,
                       "an interpolation does not fit its tensors");
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->way =
        c->mode == MO_INTERPOLATE_NEAREST ? &mo_cpu_nearest : &mo_cpu_blend;
    status =
        made->way->prepare(unit, call, in, out, &made->inner, workspace, err);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    *kernel = &made->base;
    return MO_OK;
}

static mo_status run_interpolate(mo_unit *unit, const mo_kernel *kernel,
                                 const void *const *in, void *const *out,
                                 void *workspace, mo_error *err)
{
    const interpolate_kernel *k = (const interpolate_kernel *) kernel;

    return k->way->run(unit, k->inner, in, out, workspace, err);
}

static void drop_interpolate(mo_kernel *kernel)
{
    interpolate_kernel *k = (interpolate_kernel *) kernel;

    k->way->drop(k->inner);
    free(k);
}

const mo_cpu_maker mo_cpu_interpolate = { prepare_interpolate, run_interpolate,
                                          drop_interpolate };
