#include <assert.h>
#include <string.h>

#include "exec/backend/cpu/pointwise/pointwise.h"
#include "exec/backend/cpu/pointwise/compiled_program.h"

mo_status mo_finish_make(const mo_call *call, const mo_desc *out,
                         mo_finish *finish, mo_error *err)
{
    finish->elem = out->elem;
    finish->first_extra = call->first_extra;
    if (!call->after)
        return MO_OK;
    assert(mo_elem_is_real(out->elem));
    return mo_program_make(call->after, out, true, &finish->program, err);
}

void mo_finish_clear(mo_finish *finish)
{
    mo_program_free(finish->program);
    *finish = (mo_finish){ 0 };
}

size_t mo_finish_scratch(const mo_finish *finish)
{
    return finish->program ? mo_program_scratch(finish->program) : 0;
}

/* Sums as they are, or halves made of them. */
static void store(mo_elem elem, void *to, int64_t count, const void *sums)
{
    bool wide = elem == MO_F64;

    if (to == sums)
        return;
    if (mo_elem_is_register(elem, wide)) {
        memmove(to, sums, (size_t) count * mo_elem_bytes(elem));
        return;
    }
    for (int64_t at = 0; at < count; at += MO_PROGRAM_BLOCK) {
        int64_t rest = count - at;
        int n = rest < MO_PROGRAM_BLOCK ? (int) rest : MO_PROGRAM_BLOCK;

        mo_store_fn_of(elem, wide)((const float *) sums + at, to, at, n);
    }
}

void mo_finish_run_to(const mo_finish *finish, const void *const *in, void *to,
                      int64_t first, int64_t count, const void *sums,
                      void *scratch)
{
    const void *operands[MO_POINT_MAX_OPERANDS] = { NULL };

    if (!finish->program) {
        store(finish->elem, to, count, sums);
        return;
    }
    for (int i = 1; i < finish->program->n_sources; i++)
        operands[i] = in[finish->first_extra + i - 1];
    mo_program_run_to(finish->program, sums, operands, to, first, count,
                      scratch);
}

void mo_finish_run(const mo_finish *finish, const void *const *in, void *out,
                   int64_t first, int64_t count, const void *sums,
                   void *scratch)
{
    char *to = (char *) out + (size_t) first * mo_elem_bytes(finish->elem);

    mo_finish_run_to(finish, in, to, first, count, sums, scratch);
}
