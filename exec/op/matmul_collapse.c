/* SPDX-License-Identifier: Apache-2.0 */
/* Collapsing of the batch dimensions of a matrix product. */
#include "exec/op/call.h"

static void transpose_operand(mo_call_matmul_operand *side)
{
    int64_t row = side->row;

    side->row = side->column;
    side->column = row;
}

/* c = a b is c' = b' a'. */
static void swap_sides(mo_call_matmul *f)
{
    mo_call_matmul_operand a = f->a;
    int64_t m = f->m;

    f->m = f->n;
    f->n = m;
    f->a = f->b;
    f->b = a;
    transpose_operand(&f->a);
    transpose_operand(&f->b);
    transpose_operand(&f->c);
}

static void move_batch(mo_call_matmul *f, int to, int from)
{
    f->extent[to] = f->extent[from];
    f->a.batch[to] = f->a.batch[from];
    f->b.batch[to] = f->b.batch[from];
    f->c.batch[to] = f->c.batch[from];
}

static bool goes_on(const mo_call_matmul_operand *side, int outer, int inner,
                    int64_t extent)
{
    return side->batch[outer] == side->batch[inner] * extent;
}

/* Returns true when the outer dimension and the one behind it can be merged. */
static bool can_merge(const mo_call_matmul *f, int outer, int inner)
{
    int64_t extent = f->extent[inner];

    return goes_on(&f->a, outer, inner, extent) &&
           goes_on(&f->b, outer, inner, extent) &&
           goes_on(&f->c, outer, inner, extent);
}

static void merge_batches(mo_call_matmul *f)
{
    int n = 0;

    for (int d = 0; d < f->n_batch; d++) {
        int64_t before = n > 0 ? f->extent[n - 1] : 1;

        if (f->extent[d] == 1)
            continue;
        if (n > 0 && can_merge(f, n - 1, d)) {
            move_batch(f, n - 1, d);
            f->extent[n - 1] *= before;
        } else {
            move_batch(f, n++, d);
        }
    }
    f->n_batch = n;
}

/* Turns the last batches into rows where b does not change and the rows of a
 * and c continue. */
static bool merge_into_rows(mo_call_matmul *f)
{
    int d = f->n_batch - 1;

    if (d < 0 || f->b.batch[d] != 0)
        return false;
    if (f->m == 1) {
        f->a.row = f->a.batch[d];
        f->c.row = f->c.batch[d];
    } else if (f->a.batch[d] != f->m * f->a.row ||
               f->c.batch[d] != f->m * f->c.row) {
        return false;
    }
    f->m *= f->extent[d];
    f->n_batch = d;
    return true;
}

bool mo_call_matmul_collapse(mo_call_matmul *call)
{
    bool swapped = call->n > 1 && call->c.column != 1;

    if (swapped)
        swap_sides(call);
    merge_batches(call);
    while (merge_into_rows(call))
        continue;
    return swapped;
}
