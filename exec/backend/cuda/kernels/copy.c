/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies: boxes that do not write the same elements are moved by one kernel,
 * unless there are too many of them; those that do, by one after the other.
 */
#include "exec/backend/cuda/kernels/kernel_class.h"
#include "exec/backend/cuda/kernels/copy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/backend/copy_box.h"
#include "exec/backend/cuda/jit/codegen.h"

/* A launch and its boxes, which stand one behind the other, those of a form
 * together. */
typedef struct launch {
    mo_cuda_function *function;
    mo_cuda_grid grid;
    int first, n, n_forms;
} launch;

typedef struct copy_kernel {
    mo_backend_kernel base;
    mo_cuda_copy_box *boxes;
    int n_boxes;
    launch *launches;
    size_t n_launches, room;
} copy_kernel;

/* ---- one launch */

static mo_status ask(mo_backend_unit *unit, const mo_cuda_copy_group *portions,
                     int n, int threads, mo_cuda_function **function,
                     mo_error *err)
{
    mo_cuda_source code = { 0 };

    mo_cuda_emit_copy(portions, n, threads, &code);
    return mo_cuda_jit_request_source(unit, &code, "copy", function, err);
}

/* Boxes of one form stand together; returns how many forms there are. */
static int find_portions(const mo_cuda_copy_box *boxes, int n,
                         mo_cuda_copy_group portions[MO_CUDA_COPY_MAX_GROUPS])
{
    int n_portions = 0;

    for (int i = 0; i < n; i++) {
        if (i == 0 || memcmp(&boxes[i].form, &boxes[i - 1].form,
                             sizeof boxes[i].form) != 0)
            portions[n_portions++] =
                (mo_cuda_copy_group){ .form = &boxes[i].form };
        portions[n_portions - 1].n_boxes++;
    }
    return n_portions;
}

/* Squares want rows of 32 and eight of these. */
static int threads_for(const mo_cuda_copy_group *portions, int n)
{
    for (int i = 0; i < n; i++)
        if (portions[i].form->turned != MO_CUDA_COPY_NOT_TRANSPOSED)
            return 256;
    return 128;
}

/* As many blocks as the device holds twice over are enough; the rest is done by
 * going on. */
static mo_status finish_launch(mo_backend_unit *unit, copy_kernel *copy,
                               launch *done, mo_error *err)
{
    enum { THREADS_ON_SM = 2048, TURNS = 2 };
    mo_cuda_copy_group portions[MO_CUDA_COPY_MAX_GROUPS];
    int n = find_portions(copy->boxes + done->first, done->n, portions);
    int threads = threads_for(portions, n);
    int64_t most = (int64_t) unit->sms * THREADS_ON_SM / threads * TURNS;
    int64_t blocks = 0;

    most = most > done->n ? most / done->n : 1;
    for (int i = 0; i < n; i++) {
        portions[i].blocks =
            mo_cuda_copy_shape_blocks(portions[i].form, threads, most);
        blocks += portions[i].blocks * portions[i].n_boxes;
    }
    if (blocks > INT32_MAX)
        return mo_fail(err, MO_E_LIMIT, "a copy is too large");
    done->grid = (mo_cuda_grid){ .blocks = { (unsigned) blocks, 1, 1 },
                                 .threads = { (unsigned) threads, 1, 1 } };
    return ask(unit, portions, n, threads, &done->function, err);
}

/* ---- boxes to launches */

/* Where in the launch the last box of that form is; -1: nowhere. */
static int find_form(const copy_kernel *copy, const launch *in,
                     const mo_cuda_copy_shape *form)
{
    int at = in->n - 1;

    while (at >= 0 &&
           memcmp(&copy->boxes[in->first + at].form, form, sizeof *form) != 0)
        at--;
    return at;
}

static bool has_room(const copy_kernel *copy, const launch *in,
                     const mo_cuda_copy_shape *form)
{
    return in->n < MO_CUDA_COPY_MAX_BOXES &&
           (in->n_forms < MO_CUDA_COPY_MAX_GROUPS ||
            find_form(copy, in, form) >= 0);
}

/* Behind the others of its form.  The launch is the last one so far. */
static void insert(copy_kernel *copy, launch *into, const mo_cuda_copy_box *box)
{
    int found = find_form(copy, into, &box->form);
    int at = found < 0 ? into->n : found + 1;
    mo_cuda_copy_box *place = copy->boxes + into->first + at;

    memmove(place + 1, place, (size_t) (into->n - at) * sizeof *place);
    *place = *box;
    into->n++;
    into->n_forms += found < 0;
    copy->n_boxes++;
}

static mo_status add_box(copy_kernel *copy, mo_cuda_write_set *written,
                         const mo_call_copy_box *box,
                         const mo_cuda_copy_box *made, mo_error *err)
{
    bool apart = mo_cuda_write_set_add(written, box);
    mo_status status;

    if (copy->n_launches > 0 && apart &&
        has_room(copy, &copy->launches[copy->n_launches - 1], &made->form)) {
        insert(copy, &copy->launches[copy->n_launches - 1], made);
        return MO_OK;
    }
    status = MO_ARRAY_GROW(copy->launches, copy->n_launches, copy->room, err);
    if (status != MO_OK)
        return status;
    copy->launches[copy->n_launches++] = (launch){ .first = copy->n_boxes };
    insert(copy, &copy->launches[copy->n_launches - 1], made);
    return MO_OK;
}

static mo_status make_launches(mo_backend_unit *unit, copy_kernel *copy,
                               const mo_call *call, const mo_tensor_desc *out,
                               mo_error *err)
{
    mo_cuda_write_set *written = NULL;
    mo_status status = mo_cuda_write_set_new(call, out, &written, err);

    for (int i = 0; status == MO_OK && i < call->u.copy.n_boxes; i++) {
        const mo_call_copy_box *box = &call->u.copy.boxes[i];
        mo_cuda_copy_box made;

        if (mo_backend_copy_box_elements(box) == 0)
            continue;
        made = mo_cuda_copy_box_of(&call->u.copy, box, out[box->to].elem);
        status = add_box(copy, written, box, &made, err);
    }
    for (size_t i = 0; status == MO_OK && i < copy->n_launches; i++)
        status = finish_launch(unit, copy, &copy->launches[i], err);
    mo_cuda_write_set_free(written);
    return status;
}

/* ---- kernel */

static void drop(mo_backend_unit *unit, mo_backend_kernel *kernel)
{
    copy_kernel *copy = (copy_kernel *) kernel;

    (void) unit;
    free(copy->launches);
    free(copy->boxes);
    free(copy);
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    copy_kernel *copy = calloc(1, sizeof *copy);
    mo_status status;

    assert(!call->after);
    if (!copy)
        return mo_fail_memory(err);
    copy->boxes =
        calloc((size_t) call->u.copy.n_boxes + 1, sizeof *copy->boxes);
    status = copy->boxes ? mo_backend_copy_check(call, in, out, err)
                         : mo_fail_memory(err);
    if (status == MO_OK)
        status = make_launches(unit, copy, call, out, err);
    if (status != MO_OK) {
        drop(unit, &copy->base);
        return status;
    }
    *kernel = &copy->base;
    return MO_OK;
}

static mo_status enqueue(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const copy_kernel *copy = (const copy_kernel *) kernel;
    mo_status status = MO_OK;

    (void) workspace;
    for (size_t i = 0; status == MO_OK && i < copy->n_launches; i++) {
        const launch *next = &copy->launches[i];
        mo_cuda_copy_pointers pointers[MO_CUDA_COPY_MAX_BOXES] = { { NULL,
                                                                     NULL } };
        void *args[] = { pointers };

        for (int k = 0; k < next->n; k++) {
            const mo_cuda_copy_box *box = &copy->boxes[next->first + k];

            if (box->from >= 0)
                pointers[k].in = (const char *) in[box->from] + box->in_offset;
            pointers[k].out = (char *) out[box->to] + box->out_offset;
        }
        status = mo_cuda_launch(unit, next->function, &next->grid, stream, args,
                                err);
    }
    return status;
}

const mo_cuda_kernel_class mo_cuda_copy_kernel = { prepare, NULL, enqueue,
                                                   drop };
