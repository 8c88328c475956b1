#include "exec/backend/cuda/gemm.h"

#include <limits.h>
#include <stddef.h>

/* A window of one element that stops everywhere and sees no padding. */
static bool is_pixel_wise(const mo_sweep *sweep)
{
    for (int d = 0; d < sweep->spatial; d++)
        if (sweep->kernel[d] != 1 || sweep->stride[d] != 1 ||
            sweep->pad_begin[d] != 0 || sweep->pad_end[d] != 0)
            return false;
    return true;
}

/* Pixels are rows of channels; weights are [out][in], packed or not. */
static bool conv_as_matmul(const mo_conv_call *conv, mo_matmul_call *matmul)
{
    int64_t pixels = conv->batch;

    if (!conv->channels_last || conv->transposed || conv->groups != 1 ||
        !is_pixel_wise(&conv->sweep))
        return false;
    for (int d = 0; d < conv->sweep.spatial; d++)
        pixels *= conv->sweep.out[d];
    *matmul = (mo_matmul_call){
        .m = pixels,
        .n = conv->out_channels,
        .k = conv->in_channels,
        .a = { .row = conv->in_channels, .column = 1 },
        .b = { .row = 1, .column = conv->in_channels },
        .c = { .row = conv->out_channels, .column = 1 },
    };
    return true;
}

static bool as_matmul(const mo_call *call, mo_matmul_call *matmul)
{
    if (call->kind == MO_CALL_CONV)
        return conv_as_matmul(&call->u.conv, matmul);
    *matmul = call->u.matmul;
    return call->kind == MO_CALL_MATMUL;
}

static void turn(mo_matmul_side *side)
{
    int64_t row = side->row;

    side->row = side->column;
    side->column = row;
}

/* c = a b is c' = b' a': for a result that lies column by column. */
static void swap_sides(mo_matmul_call *f)
{
    mo_matmul_side a = f->a;
    int64_t m = f->m;

    f->m = f->n;
    f->n = m;
    f->a = f->b;
    f->b = a;
    turn(&f->a);
    turn(&f->b);
    turn(&f->c);
}

static bool is_even(const mo_matmul_side *side, int outer, int inner,
                    int64_t extent)
{
    return side->batch[outer] == side->batch[inner] * extent;
}

static void move_batch(mo_matmul_call *f, int to, int from)
{
    f->a.batch[to] = f->a.batch[from];
    f->b.batch[to] = f->b.batch[from];
    f->c.batch[to] = f->c.batch[from];
}

/* Neighbours that all three matrices step through evenly become one. */
static void join_batches(mo_matmul_call *f)
{
    int n = 0;

    for (int d = 0; d < f->n_batch; d++) {
        int64_t extent = f->extent[d];

        if (extent == 1)
            continue;
        if (n > 0 && is_even(&f->a, n - 1, d, extent) &&
            is_even(&f->b, n - 1, d, extent) &&
            is_even(&f->c, n - 1, d, extent)) {
            move_batch(f, n - 1, d);
            f->extent[n - 1] *= extent;
            continue;
        }
        move_batch(f, n, d);
        f->extent[n++] = extent;
    }
    f->n_batch = n;
}

/* A last batch dimension that reads b again and goes on with the rows of a and
 * c is more rows. */
static bool is_more_rows(const mo_matmul_call *f, int d)
{
    if (f->b.batch[d] != 0)
        return false;
    return f->m == 1 || (f->a.batch[d] == f->m * f->a.row &&
                         f->c.batch[d] == f->m * f->c.row);
}

static void take_as_rows(mo_matmul_call *f)
{
    int d = --f->n_batch;

    if (f->m == 1) {
        f->a.row = f->a.batch[d];
        f->c.row = f->c.batch[d];
    }
    f->m *= f->extent[d];
}

/* rows x columns elements with these strides, seen column by column; what has
 * one row or column may lie both ways. */
static bool lies_by_columns(int64_t rows, int64_t columns, int64_t row,
                            int64_t column, mo_cuda_gemm_matrix *m)
{
    if (rows > 1 && row != 1)
        return false;
    *m = (mo_cuda_gemm_matrix){ .rows = rows,
                                .columns = columns,
                                .lead = columns > 1 ? column : rows };
    return m->lead >= rows;
}

/* The same, transposed where that is how it lies. */
static bool lies(int64_t rows, int64_t columns, int64_t row, int64_t column,
                 int64_t step, mo_cuda_gemm_matrix *m)
{
    bool plain = lies_by_columns(rows, columns, row, column, m);

    if (!plain && !lies_by_columns(columns, rows, column, row, m))
        return false;
    m->turned = !plain;
    m->step = step;
    return true;
}

/* Sizes are ints inside the library. */
static bool fits(const mo_cuda_gemm_matrix *m)
{
    return m->rows > 0 && m->columns > 0 && m->rows <= INT_MAX &&
           m->columns <= INT_MAX && m->lead <= INT_MAX;
}

bool mo_cuda_gemm_of(const mo_call *call, mo_cuda_gemm *gemm)
{
    mo_matmul_call f;
    bool swapped, batched;

    if (!as_matmul(call, &f))
        return false;
    swapped = f.n > 1 && f.c.column != 1;
    if (swapped)
        swap_sides(&f);
    join_batches(&f);
    while (f.n_batch > 0 && is_more_rows(&f, f.n_batch - 1))
        take_as_rows(&f);
    if (f.n_batch > 1)
        return false;
    batched = f.n_batch == 1;

    *gemm = (mo_cuda_gemm){ .left_in = swapped ? 0 : 1,
                            .right_in = swapped ? 1 : 0,
                            .batch = batched ? f.extent[0] : 1 };
    return lies(f.n, f.k, f.b.column, f.b.row, batched ? f.b.batch[0] : 0,
                &gemm->left) &&
           lies(f.k, f.m, f.a.column, f.a.row, batched ? f.a.batch[0] : 0,
                &gemm->right) &&
           lies(f.n, f.m, f.c.column, f.c.row, batched ? f.c.batch[0] : 0,
                &gemm->result) &&
           !gemm->result.turned && fits(&gemm->left) && fits(&gemm->right) &&
           fits(&gemm->result) && gemm->batch > 0 && gemm->batch <= INT_MAX &&
           gemm->left.step >= 0 && gemm->right.step >= 0;
}
