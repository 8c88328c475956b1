/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/gemm/cpu_matmul.h"

#include <stdlib.h>

#include "base/ablation.h"
#include "exec/backend/cpu/gemm/blas.h"

mo_cpu_matmul_canonical mo_cpu_matmul_canonicalize(const mo_call_matmul *call)
{
    mo_cpu_matmul_canonical form = { .call = *call, .batches = 1 };
    bool swapped = mo_call_matmul_collapse(&form.call);

    form.a = swapped ? 1 : 0;
    form.b = swapped ? 0 : 1;
    for (int d = 0; d < form.call.n_batch; d++)
        form.batches *= form.call.extent[d];
    return form;
}

mo_cpu_matmul_offsets mo_cpu_matmul_batch_offsets(const mo_call_matmul *call,
                                                  int64_t batch)
{
    mo_cpu_matmul_offsets place = { 0 };

    for (int d = call->n_batch - 1; d >= 0; d--) {
        int64_t i = batch % call->extent[d];

        batch /= call->extent[d];
        place.a += i * call->a.batch[d];
        place.b += i * call->b.batch[d];
        place.c += i * call->c.batch[d];
    }
    return place;
}

/* Returns BLAS for f32 on processors that have only the generic
 * micro-kernels, unless b is constant and a has few rows: BLAS would pack b in
 * every call, which takes longer than the product. Otherwise returns packed
 * micro-kernels for f32, f16 and bf16, and BLAS or loops for other types. */
static const mo_cpu_matmul_algo *select_algo(const mo_cpu_unit *unit,
                                             const mo_backend_operand *in,
                                             const mo_cpu_matmul_kernel *k)
{
    enum { FEW_ROWS = 16 };
    bool packed_once = in[k->form.b].constant && k->form.call.m <= FEW_ROWS &&
                       !mo_ablated(MO_ABLATION_packed_few_rows);
    bool generic = unit->micro_kernels == &mo_cpu_micro_kernels_generic &&
                   !mo_ablated(MO_ABLATION_blas);

    if (k->elem == MO_ELEM_F32 && !packed_once &&
        (generic || mo_ablated(MO_ABLATION_packed_gemm)) &&
        mo_cpu_blas_supports(&k->form.call, k->elem))
        return &mo_cpu_matmul_algo_plain;
    return mo_elem_is_float(k->elem) && k->elem != MO_ELEM_F64
               ? &mo_cpu_matmul_algo_packed
               : &mo_cpu_matmul_algo_plain;
}

static void free_matmul(mo_cpu_kernel *kernel)
{
    mo_cpu_matmul_kernel *k = (mo_cpu_matmul_kernel *) kernel;

    mo_cpu_epilogue_clear(&k->epilogue);
    mo_cpu_point_program_free(k->after);
    if (k->shared)
        mo_cpu_gemm_panels_release(k->shared);
    else
        free(k->panels);
    free(k);
}

static mo_status make_end(const mo_call *call, const mo_tensor_desc *out,
                          mo_cpu_matmul_kernel *k, mo_error *err)
{
    if (mo_elem_is_float(out->elem))
        return mo_cpu_epilogue_init(call, out, &k->epilogue, err);
    if (call->after)
        return mo_cpu_point_program_new(call->after, out, &k->after, err);
    return MO_OK;
}

static mo_status prepare_matmul(mo_cpu_unit *unit, const mo_call *call,
                                const mo_backend_operand *in,
                                const mo_tensor_desc *out,
                                mo_cpu_kernel **kernel, size_t *workspace,
                                mo_error *err)
{
    mo_cpu_matmul_kernel *k;
    size_t scratch = 0;
    mo_status status;

    if (in[0].desc.elem != in[1].desc.elem || in[0].desc.elem != out[0].elem)
        return mo_fail(
            err, MO_E_SUPPORT, "a product of %s and %s to %s cannot be run",
            mo_elem_name(in[0].desc.elem), mo_elem_name(in[1].desc.elem),
            mo_elem_name(out[0].elem));
    k = calloc(1, sizeof *k);
    if (!k)
        return mo_fail_memory(err);
    k->form = mo_cpu_matmul_canonicalize(&call->u.matmul);
    k->elem = out[0].elem;
    k->algo = select_algo(unit, in, k);
    k->first_extra = call->first_extra;
    k->n_operands = call->after ? call->after->n_operands : 0;
    k->elements = mo_tensor_desc_elements(&out[0]);
    status = make_end(call, &out[0], k, err);
    if (status == MO_OK)
        status = k->algo->prepare(unit, in, k, &scratch, err);
    if (status != MO_OK) {
        free_matmul(&k->base);
        return status;
    }
    *kernel = &k->base;
    *workspace = mo_cpu_workspace_size(unit, scratch);
    return MO_OK;
}

static mo_status run_matmul(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                            const void *const *in, void *const *out,
                            void *workspace, mo_error *err)
{
    const mo_cpu_matmul_kernel *k = (const mo_cpu_matmul_kernel *) kernel;

    (void) err;
    if (k->elements > 0)
        k->algo->run(unit, k, in, out[0], workspace);
    return MO_OK;
}

const mo_cpu_kernel_class mo_cpu_matmul = { prepare_matmul, run_matmul,
                                            free_matmul };
