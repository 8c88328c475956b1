/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/kernels/copy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/backend/copy_box.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/kernels/kernel_class.h"

/*
 * Strided copies. Boxes that write disjoint elements are copied by one kernel,
 * unless there are too many of them; boxes that overlap, one after the other.
 */

/*
 * The elements written since the last cut, a point where a new launch begins.
 * Each element of the results has a mark: the epoch, or number of the cut, in
 * which it was last written. Boxes that are known to be disjoint need no
 * marks; where there are too many elements to mark, any two boxes count as
 * overlapping.
 */
typedef struct write_set {
    bool disjoint;
    int epoch;           /* counts from 1 */
    int *marks;          /* NULL: disjoint, or too many elements */
    int64_t *first_mark; /* index of the first mark, by result */
    bool any;            /* something was written since the last cut */
} write_set;

static mo_status new_write_set(const mo_call *call, const mo_tensor_desc *out,
                               write_set **written, mo_error *err)
{
    enum { MOST_MARKS = 1 << 24 };
    write_set *made = calloc(1, sizeof *made);
    int64_t count;

    if (!made)
        return mo_fail_memory(err);
    *written = made;
    made->epoch = 1;
    made->disjoint = mo_backend_copy_boxes_disjoint(call, out);
    if (made->disjoint)
        return MO_OK;
    made->first_mark = calloc((size_t) call->n_out, sizeof *made->first_mark);
    if (!made->first_mark)
        return mo_fail_memory(err);

    count = 0;

    for (int i = 0; i < call->n_out; i++) {
        made->first_mark[i] = count;
        count += mo_tensor_desc_elements(&out[i]);
    }
    if (count > MOST_MARKS)
        return MO_OK;
    made->marks = calloc((size_t) count, sizeof *made->marks);
    return made->marks ? MO_OK : mo_fail_memory(err);
}

/* Advances to the next element of a box; returns false after the last one. */
static bool next_element(const mo_call_copy_box *box,
                         int64_t index[MO_MAX_RANK], int64_t *at)
{
    for (int d = box->rank; d-- > 0;) {
        *at += box->out_stride[d];
        if (++index[d] < box->extent[d])
            return true;
        *at -= box->extent[d] * box->out_stride[d];
        index[d] = 0;
    }
    return false;
}

/* Marks a box; returns false if one of its elements was written in this
 * epoch. */
static bool mark_box(write_set *written, const mo_call_copy_box *box)
{
    int *marks = written->marks + written->first_mark[box->to];
    int64_t index[MO_MAX_RANK] = { 0 }, at = box->out_offset;
    bool free_so_far = true;

    do {
        free_so_far = free_so_far && marks[at] != written->epoch;
        marks[at] = written->epoch;
    } while (next_element(box, index, &at));
    return free_so_far;
}

static bool add_to_write_set(write_set *written, const mo_call_copy_box *box)
{
    bool met;

    if (written->disjoint)
        return true;
    met = written->marks ? !mark_box(written, box) : written->any;
    if (met) {
        written->epoch++;
        written->any = false;
        if (written->marks)
            mark_box(written, box);
    }
    written->any = true;
    return !met;
}

/* A launch and its boxes, which are contiguous, those of one shape together. */
typedef struct launch {
    mo_cuda_function *function;
    mo_cuda_grid grid;
    int first, n, n_shapes;
} launch;

typedef struct copy_kernel {
    mo_backend_kernel base;
    mo_cuda_copy_box *boxes;
    int n_boxes;
    launch *launches;
    size_t n_launches, room;
} copy_kernel;

/* Groups adjacent boxes of one shape; returns the number of groups. */
static int find_groups(const mo_cuda_copy_box *boxes, int n,
                       mo_cuda_copy_group groups[MO_CUDA_COPY_MAX_GROUPS])
{
    int n_groups = 0;

    for (int i = 0; i < n; i++) {
        if (i == 0 || memcmp(&boxes[i].shape, &boxes[i - 1].shape,
                             sizeof boxes[i].shape) != 0)
            groups[n_groups++] =
                (mo_cuda_copy_group){ .shape = &boxes[i].shape };
        groups[n_groups - 1].n_boxes++;
    }
    return n_groups;
}

/* A tile is copied by 8 rows of 32 threads. */
static int choose_threads(const mo_cuda_copy_group *groups, int n)
{
    for (int i = 0; i < n; i++)
        if (groups[i].shape->transposed != MO_CUDA_COPY_NOT_TRANSPOSED)
            return 256;
    return 128;
}

/* Twice as many blocks as the device holds are enough; each continues with
 * further elements. */
static mo_status set_grid(mo_backend_unit *unit, copy_kernel *copy,
                          launch *done, mo_error *err)
{
    enum { THREADS_ON_SM = 2048, TURNS = 2 };
    mo_cuda_copy_group groups[MO_CUDA_COPY_MAX_GROUPS];
    int n = find_groups(copy->boxes + done->first, done->n, groups);
    int threads = choose_threads(groups, n);
    int64_t most = (int64_t) unit->sms * THREADS_ON_SM / threads * TURNS;
    int64_t blocks = 0;

    most = most > done->n ? most / done->n : 1;
    for (int i = 0; i < n; i++) {
        groups[i].blocks =
            mo_cuda_copy_shape_blocks(groups[i].shape, threads, most);
        blocks += groups[i].blocks * groups[i].n_boxes;
    }
    if (blocks > INT32_MAX)
        return mo_fail(err, MO_E_LIMIT, "a copy is too large");
    done->grid = (mo_cuda_grid){ .blocks = { (unsigned) blocks, 1, 1 },
                                 .threads = { (unsigned) threads, 1, 1 } };

    mo_cuda_source code = { 0 };

    mo_cuda_emit_copy(groups, n, threads, &code);
    return mo_cuda_jit_request_source(unit, &code, "copy", &done->function,
                                      err);
}

/* Returns the index in the launch of the last box of that shape; -1: none. */
static int find_shape(const copy_kernel *copy, const launch *in,
                      const mo_cuda_copy_shape *shape)
{
    int at = in->n - 1;

    while (at >= 0 && memcmp(&copy->boxes[in->first + at].shape, shape,
                             sizeof *shape) != 0)
        at--;
    return at;
}

static bool has_room(const copy_kernel *copy, const launch *in,
                     const mo_cuda_copy_shape *shape)
{
    return in->n < MO_CUDA_COPY_MAX_BOXES &&
           (in->n_shapes < MO_CUDA_COPY_MAX_GROUPS ||
            find_shape(copy, in, shape) >= 0);
}

/* Inserts the box after the others of its shape. into is the last launch. */
static void insert_box(copy_kernel *copy, launch *into,
                       const mo_cuda_copy_box *box)
{
    int found = find_shape(copy, into, &box->shape);
    int at = found < 0 ? into->n : found + 1;
    mo_cuda_copy_box *place = copy->boxes + into->first + at;

    memmove(place + 1, place, (size_t) (into->n - at) * sizeof *place);
    *place = *box;
    into->n++;
    into->n_shapes += found < 0;
    copy->n_boxes++;
}

static mo_status add_box(copy_kernel *copy, write_set *written,
                         const mo_call_copy_box *box,
                         const mo_cuda_copy_box *made, mo_error *err)
{
    bool disjoint = add_to_write_set(written, box);
    mo_status status;

    if (copy->n_launches > 0 && disjoint &&
        has_room(copy, &copy->launches[copy->n_launches - 1], &made->shape)) {
        insert_box(copy, &copy->launches[copy->n_launches - 1], made);
        return MO_OK;
    }
    status = MO_ARRAY_GROW(copy->launches, copy->n_launches, copy->room, err);
    if (status != MO_OK)
        return status;
    copy->launches[copy->n_launches++] = (launch){ .first = copy->n_boxes };
    insert_box(copy, &copy->launches[copy->n_launches - 1], made);
    return MO_OK;
}

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
    if (status == MO_OK) {
        write_set *written = NULL;
        status = new_write_set(call, out, &written, err);

        for (int i = 0; status == MO_OK && i < call->u.copy.n_boxes; i++) {
            const mo_call_copy_box *box = &call->u.copy.boxes[i];
            mo_cuda_copy_box made;

            if (mo_backend_copy_box_elements(box) == 0)
                continue;
            made = mo_cuda_copy_box_of(&call->u.copy, box, out[box->to].elem);
            status = add_box(copy, written, box, &made, err);
        }
        for (size_t i = 0; status == MO_OK && i < copy->n_launches; i++)
            status = set_grid(unit, copy, &copy->launches[i], err);
        if (written) {
            free(written->first_mark);
            free(written->marks);
            free(written);
        }
    }
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
