/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Epilogue of a call: a pointwise program over its accumulators, or a store
 * alone.
 */
#include <assert.h>
#include <string.h>

#include "exec/backend/cpu/pointwise/pointwise.h"
#include "exec/backend/cpu/pointwise/compiled_program.h"

mo_status mo_cpu_epilogue_init(const mo_call *call, const mo_tensor_desc *out,
                               mo_cpu_epilogue *epilogue, mo_error *err)
{
    epilogue->elem = out->elem;
    epilogue->first_extra = call->first_extra;
    if (!call->after)
        return MO_OK;
    assert(mo_elem_is_float(out->elem));
    return mo_cpu_point_program_compile(call->after, out, true,
                                        &epilogue->program, err);
}

void mo_cpu_epilogue_clear(mo_cpu_epilogue *epilogue)
{
    mo_cpu_point_program_free(epilogue->program);
    *epilogue = (mo_cpu_epilogue){ 0 };
}

size_t mo_cpu_epilogue_scratch_size(const mo_cpu_epilogue *epilogue)
{
    return epilogue->program
               ? mo_cpu_point_program_scratch_size(epilogue->program)
               : 0;
}

/* Stores sums as they are, or converted to half precision or i32. */
static void store_sums(mo_elem elem, void *to, int64_t count, const void *sums)
{
    bool wide = elem == MO_ELEM_F64;
    mo_cpu_store_fn *store = elem == MO_ELEM_I32
                                 ? mo_cpu_store_i32_of_f32
                                 : mo_cpu_store_fn_for(elem, wide);

    if (to == sums)
        return;
    if (mo_cpu_elem_is_register(elem, wide)) {
        memmove(to, sums, (size_t) count * mo_elem_size(elem));
        return;
    }
    for (int64_t at = 0; at < count; at += MO_CPU_POINT_BLOCK) {
        int64_t rest = count - at;
        int n = rest < MO_CPU_POINT_BLOCK ? (int) rest : MO_CPU_POINT_BLOCK;

        store((const float *) sums + at, to, at, n);
    }
}

void mo_cpu_epilogue_run_to(const mo_cpu_epilogue *epilogue,
                            const void *const *in, void *to, int64_t first,
                            int64_t count, const void *sums, void *scratch)
{
    const void *operands[MO_POINT_MAX_OPERANDS] = { NULL };

    if (!epilogue->program) {
        store_sums(epilogue->elem, to, count, sums);
        return;
    }
    for (int i = 1; i < epilogue->program->n_sources; i++)
        operands[i] = in[epilogue->first_extra + i - 1];
    mo_cpu_point_program_run_to(epilogue->program, sums, operands, to, first,
                                count, scratch);
}

void mo_cpu_epilogue_run(const mo_cpu_epilogue *epilogue, const void *const *in,
                         void *out, int64_t first, int64_t count,
                         const void *sums, void *scratch)
{
    char *to = (char *) out + (size_t) first * mo_elem_size(epilogue->elem);

    mo_cpu_epilogue_run_to(epilogue, in, to, first, count, sums, scratch);
}
