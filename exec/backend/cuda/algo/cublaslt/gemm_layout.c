/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/cublaslt/matmul_descs.h"

#include <limits.h>
#include <stddef.h>

#include "exec/op/call.h"

/* Pixels are rows of channels; weights are [out][in], packed or not. */
static bool conv_as_matmul(const mo_call_conv *conv, mo_call_matmul *matmul)
{
    int64_t pixels = conv->batch;

    if (!conv->channels_last || conv->transposed || conv->groups != 1 ||
        !mo_call_window_is_pixel_wise(&conv->sweep))
        return false;
    for (int d = 0; d < conv->sweep.spatial; d++)
        pixels *= conv->sweep.out[d];
    *matmul = (mo_call_matmul){
        .m = pixels,
        .n = conv->out_channels,
        .k = conv->in_channels,
        .a = { .row = conv->in_channels, .column = 1 },
        .b = { .row = 1, .column = conv->in_channels },
        .c = { .row = conv->out_channels, .column = 1 },
    };
    return true;
}

static bool get_matmul(const mo_call *call, mo_call_matmul *matmul)
{
    if (call->kind == MO_CALL_CONV)
        return conv_as_matmul(&call->u.conv, matmul);
    *matmul = call->u.matmul;
    return call->kind == MO_CALL_MATMUL;
}

/* rows x columns elements with these strides as a column-major matrix; one of
 * a single row or column may be either. */
static bool as_column_major(int64_t rows, int64_t columns, int64_t row,
                            int64_t column, mo_cuda_gemm_matrix *m)
{
    if (rows > 1 && row != 1)
        return false;
    *m = (mo_cuda_gemm_matrix){ .rows = rows,
                                .columns = columns,
                                .lead = columns > 1 ? column : rows };
    return m->lead >= rows;
}

/* The same, transposed if it is row-major. */
static bool as_blas_matrix(int64_t rows, int64_t columns, int64_t row,
                           int64_t column, int64_t step, mo_cuda_gemm_matrix *m)
{
    bool plain = as_column_major(rows, columns, row, column, m);

    if (!plain && !as_column_major(columns, rows, column, row, m))
        return false;
    m->transposed = !plain;
    m->step = step;
    return true;
}

/* Sizes are ints inside the library. */
static bool fits_int(const mo_cuda_gemm_matrix *m)
{
    return m->rows > 0 && m->columns > 0 && m->rows <= INT_MAX &&
           m->columns <= INT_MAX && m->lead <= INT_MAX;
}

bool mo_cuda_gemm_from_call(const mo_call *call, mo_cuda_gemm *gemm)
{
    mo_call_matmul f;
    bool swapped, batched;

    if (!get_matmul(call, &f))
        return false;
    swapped = mo_call_matmul_collapse(&f);
    if (f.n_batch > 1)
        return false;
    batched = f.n_batch == 1;

    *gemm = (mo_cuda_gemm){ .left_in = swapped ? 0 : 1,
                            .right_in = swapped ? 1 : 0,
                            .batch = batched ? f.extent[0] : 1 };
    return as_blas_matrix(f.n, f.k, f.b.column, f.b.row,
                          batched ? f.b.batch[0] : 0, &gemm->left) &&
           as_blas_matrix(f.k, f.m, f.a.column, f.a.row,
                          batched ? f.a.batch[0] : 0, &gemm->right) &&
           as_blas_matrix(f.n, f.m, f.c.column, f.c.row,
                          batched ? f.c.batch[0] : 0, &gemm->result) &&
           !gemm->result.transposed && fits_int(&gemm->left) &&
           fits_int(&gemm->right) && fits_int(&gemm->result) &&
           gemm->batch > 0 && gemm->batch <= INT_MAX && gemm->left.step >= 0 &&
           gemm->right.step >= 0;
}
