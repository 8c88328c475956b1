/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "exec/backend/copy_box.h"
#include "exec/backend/cuda/kernels/copy.h"

/*
 * A mark for each element of the results: the cut it was last written after.
 * Where boxes are known to be apart there is nothing to look after; where there
 * are too many elements to mark, any two boxes are taken to meet.
 */
struct mo_cuda_write_set {
    bool apart;
    int cut;             /* counts from 1 */
    int *marks;          /* or NULL */
    int64_t *first_mark; /* by result */
    bool any;            /* something was written since the last cut */
};

static int64_t count_marks(const mo_call *call, const mo_tensor_desc *out,
                           int64_t *first)
{
    int64_t count = 0;

    for (int i = 0; i < call->n_out; i++) {
        first[i] = count;
        count += mo_tensor_desc_elements(&out[i]);
    }
    return count;
}

mo_status mo_cuda_write_set_new(const mo_call *call, const mo_tensor_desc *out,
                                mo_cuda_write_set **written, mo_error *err)
{
    enum { MOST_MARKS = 1 << 24 };
    mo_cuda_write_set *made = calloc(1, sizeof *made);
    int64_t count;

    if (!made)
        return mo_fail_memory(err);
    *written = made;
    made->cut = 1;
    made->apart = mo_backend_copy_boxes_disjoint(call, out);
    if (made->apart)
        return MO_OK;
    made->first_mark = calloc((size_t) call->n_out, sizeof *made->first_mark);
    if (!made->first_mark)
        return mo_fail_memory(err);
    count = count_marks(call, out, made->first_mark);
    if (count > MOST_MARKS)
        return MO_OK;
    made->marks = calloc((size_t) count, sizeof *made->marks);
    return made->marks ? MO_OK : mo_fail_memory(err);
}

void mo_cuda_write_set_free(mo_cuda_write_set *written)
{
    if (!written)
        return;
    free(written->first_mark);
    free(written->marks);
    free(written);
}

static void forget(mo_cuda_write_set *written)
{
    written->cut++;
    written->any = false;
}

/* On to the next element of a box; false behind the last one. */
static bool step(const mo_call_copy_box *box, int64_t index[MO_MAX_RANK],
                 int64_t *at)
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

/* Marks a box; false when a mark of this cut is there already. */
static bool mark(mo_cuda_write_set *written, const mo_call_copy_box *box)
{
    int *marks = written->marks + written->first_mark[box->to];
    int64_t index[MO_MAX_RANK] = { 0 }, at = box->out_offset;
    bool free_so_far = true;

    do {
        free_so_far = free_so_far && marks[at] != written->cut;
        marks[at] = written->cut;
    } while (step(box, index, &at));
    return free_so_far;
}

bool mo_cuda_write_set_add(mo_cuda_write_set *written,
                           const mo_call_copy_box *box)
{
    bool met;

    if (written->apart)
        return true;
    met = written->marks ? !mark(written, box) : written->any;
    if (met) {
        forget(written);
        if (written->marks)
            mark(written, box);
    }
    written->any = true;
    return !met;
}
