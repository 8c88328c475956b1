/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folding of the batch dimensions of a matrix product into its rows and
 * columns.
 *
 * A batch dimension along which b does not change only adds rows: the T
 * products of [T, 1, K] and a weight [K, N] are one product of [T, K] and
 * [K, N]. All rows of a, and all rows of c, must then have one stride, so the
 * dimension and the rows must be contiguous, in either order. A matrix with a
 * single row can have any stride. The same holds with a and b exchanged, for
 * columns.
 */
#include "exec/op/call.h"

static void transpose_operand(mo_call_matmul_operand *operand)
{
    int64_t row = operand->row;

    operand->row = operand->column;
    operand->column = row;
}

/* c = a b is c' = b' a'. */
static void swap_operands(mo_call_matmul *f)
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

/* Returns whether one stride steps through both batch dimensions; extent is
 * that of inner. */
static bool is_contiguous(const mo_call_matmul_operand *operand, int outer,
                          int inner, int64_t extent)
{
    return operand->batch[outer] == operand->batch[inner] * extent;
}

/* Returns true when the outer dimension and the one behind it can be merged. */
static bool can_merge(const mo_call_matmul *f, int outer, int inner)
{
    int64_t extent = f->extent[inner];

    return is_contiguous(&f->a, outer, inner, extent) &&
           is_contiguous(&f->b, outer, inner, extent) &&
           is_contiguous(&f->c, outer, inner, extent);
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

/* Returns true when a and c stay row-major or column-major matrices if their
 * rows are those along batch dimension d. */
static bool has_matrix_layout(const mo_call_matmul *f, int d)
{
    return (f->k <= 1 || f->a.column == 1 || f->a.batch[d] == 1) &&
           (f->n <= 1 || f->c.column == 1 || f->c.batch[d] == 1);
}

/* Turns batch dimension d into rows, if possible. */
static bool fold_batch(mo_call_matmul *f, int d)
{
    int64_t a = f->a.batch[d], c = f->c.batch[d], extent = f->extent[d];

    if (f->b.batch[d] != 0 || a == 0)
        return false;
    if (f->m == 1 ? has_matrix_layout(f, d)
                  : f->a.row == extent * a && f->c.row == extent * c) {
        f->a.row = a;
        f->c.row = c;
    } else if (a != f->m * f->a.row || c != f->m * f->c.row) {
        return false;
    }
    f->m *= extent;
    for (int i = d + 1; i < f->n_batch; i++)
        move_batch(f, i - 1, i);
    f->n_batch--;
    return true;
}

/* Exchanges the rows with the longest batch dimension that exceeds them, so
 * that products are fewer and larger; returns whether there is one. */
static bool lengthen_rows(mo_call_matmul *f)
{
    for (int d = f->n_batch - 1; d >= 0; d--)
        if (f->b.batch[d] == 0 && f->a.batch[d] != 0 && f->a.row != 0 &&
            f->extent[d] > f->m && has_matrix_layout(f, d)) {
            mo_call_matmul was = *f;

            f->m = was.extent[d];
            f->a.row = was.a.batch[d];
            f->c.row = was.c.batch[d];
            f->extent[d] = was.m;
            f->a.batch[d] = was.a.row;
            f->c.batch[d] = was.c.row;
            return true;
        }
    return false;
}

static void fold_rows(mo_call_matmul *f)
{
    do {
        for (int d = f->n_batch - 1; d >= 0; d--)
            if (fold_batch(f, d))
                d = f->n_batch;
    } while (lengthen_rows(f));
}

void mo_call_matmul_fold(mo_call_matmul *call)
{
    int64_t m, n;
    int n_batch;

    do {
        m = call->m;
        n = call->n;
        n_batch = call->n_batch;
        merge_batches(call);
        fold_rows(call);
        swap_operands(call);
        fold_rows(call);
        swap_operands(call);
    } while (call->m != m || call->n != n || call->n_batch != n_batch);
}

bool mo_call_matmul_collapse(mo_call_matmul *call)
{
    bool swapped;

    mo_call_matmul_fold(call);
    if (call->n == 1)
        call->c.column = 1;
    swapped = call->c.column != 1 && (call->c.row == 1 || call->m == 1);
    if (swapped)
        swap_operands(call);
    if (call->n == 1)
        call->c.column = 1;
    return swapped;
}
