#include "exec/backend/cpu/gemm/cpu_matmul.h"

#include <stdlib.h>

#include "exec/backend/cpu/gemm/blas.h"

/* ---- the form */

static mo_matmul_side turned(mo_matmul_side side)
{
    int64_t row = side.row;

    side.row = side.column;
    side.column = row;
    return side;
}

/* The transpose of the result is b' a'. */
static void swap_sides(mo_matmul_form *form)
{
    mo_matmul_call *call = &form->call;
    mo_matmul_side a = call->a;
    int64_t m = call->m;

    call->a = turned(call->b);
    call->b = turned(a);
    call->c = turned(call->c);
    call->m = call->n;
    call->n = m;
    form->a = 1;
    form->b = 0;
}

static void keep_batch(mo_matmul_call *call, int from, int to)
{
    call->extent[to] = call->extent[from];
    call->a.batch[to] = call->a.batch[from];
    call->b.batch[to] = call->b.batch[from];
    call->c.batch[to] = call->c.batch[from];
}

static void drop_ones(mo_matmul_call *call)
{
    int n = 0;

    for (int d = 0; d < call->n_batch; d++)
        if (call->extent[d] != 1)
            keep_batch(call, d, n++);
    call->n_batch = n;
}

/* A batch that has the same b and goes on where the rows before it end. */
static bool is_more_rows(const mo_matmul_call *call, int d)
{
    return call->b.batch[d] == 0 && call->a.batch[d] == call->m * call->a.row &&
           call->c.batch[d] == call->m * call->c.row;
}

mo_matmul_form mo_matmul_form_of(const mo_matmul_call *call)
{
    mo_matmul_form form = { .call = *call, .batches = 1, .a = 0, .b = 1 };
    mo_matmul_call *f = &form.call;

    drop_ones(f);
    if (f->n == 1)
        f->c.column = 1;
    if (f->c.column != 1 && (f->c.row == 1 || f->m == 1))
        swap_sides(&form);
    if (f->n == 1)
        f->c.column = 1;
    while (f->n_batch > 0 && is_more_rows(f, f->n_batch - 1))
        f->m *= f->extent[--f->n_batch];
    for (int d = 0; d < f->n_batch; d++)
        form.batches *= f->extent[d];
    return form;
}

mo_matmul_place mo_matmul_place_of(const mo_matmul_call *call, int64_t batch)
{
    mo_matmul_place place = { 0 };

    for (int d = call->n_batch - 1; d >= 0; d--) {
        int64_t i = batch % call->extent[d];

        batch /= call->extent[d];
        place.a += i * call->a.batch[d];
        place.b += i * call->b.batch[d];
        place.c += i * call->c.batch[d];
    }
    return place;
}

/* ---- the kernel */

/* Plain tiles are what is left where a processor has no better ones: BLAS knows
 * more of those. */
static const mo_matmul_way *way_of(const mo_unit *unit,
                                   const mo_matmul_kernel *k)
{
    if (k->elem == MO_F32 && unit->tiles == &mo_tiles_plain &&
        mo_blas_takes(&k->form.call, k->elem))
        return &mo_matmul_plain;
    return mo_elem_is_real(k->elem) && k->elem != MO_F64 ? &mo_matmul_floats
                                                         : &mo_matmul_plain;
}

static void drop_matmul(mo_kernel *kernel)
{
    mo_matmul_kernel *k = (mo_matmul_kernel *) kernel;

    mo_finish_clear(&k->finish);
    mo_program_free(k->after);
    free(k->panels);
    free(k);
}

static mo_status make_end(const mo_call *call, const mo_desc *out,
                          mo_matmul_kernel *k, mo_error *err)
{
    if (mo_elem_is_real(out->elem))
        return mo_finish_make(call, out, &k->finish, err);
    if (call->after)
        return mo_program_new(call->after, out, &k->after, err);
    return MO_OK;
}

static mo_status prepare_matmul(mo_unit *unit, const mo_call *call,
                                const mo_call_operand *in, const mo_desc *out,
                                mo_kernel **kernel, size_t *workspace,
                                mo_error *err)
{
    mo_matmul_kernel *k;
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
    k->form = mo_matmul_form_of(&call->u.matmul);
    k->elem = out[0].elem;
    k->way = way_of(unit, k);
    k->first_extra = call->first_extra;
    k->n_operands = call->after ? call->after->n_operands : 0;
    k->elements = mo_desc_elements(&out[0]);
    status = make_end(call, &out[0], k, err);
    if (status == MO_OK)
        status = k->way->prepare(unit, in, k, &scratch, err);
    if (status != MO_OK) {
        drop_matmul(&k->base);
        return status;
    }
    *kernel = &k->base;
    *workspace = mo_cpu_shares(unit, scratch);
    return MO_OK;
}

static mo_status run_matmul(mo_unit *unit, const mo_kernel *kernel,
                            const void *const *in, void *const *out,
                            void *workspace, mo_error *err)
{
    const mo_matmul_kernel *k = (const mo_matmul_kernel *) kernel;

    (void) err;
    if (k->elements > 0)
        k->way->run(unit, k, in, out[0], workspace);
    return MO_OK;
}

const mo_cpu_maker mo_cpu_matmul = { prepare_matmul, run_matmul, drop_matmul };
