/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix products and linear operations of autodiff, with their gradients.
 *
 * Products are loops over rows that the compiler vectorizes.  The matrices of
 * policies are thin, a few dozen columns at most: the overhead of a BLAS
 * exceeds such a product, and its sums depend on the number of its threads.
 */
#include <assert.h>
#include <string.h>

#include "solvers/search/rl/nn/autodiff_internal.h"

/* CLONES before a function: it is compiled a second time for processors with
 * vectors of eight, and the version is selected when the program is loaded.
 * Both round alike.  Not under sanitizers, which start too late for the
 * selection, and not with clang, which gives such functions names that are not
 * static. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) &&    \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#pragma GCC optimize("fp-contract=off")
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif

#define INLINE static inline __attribute__((always_inline))

/* Eight numbers, in as few registers as the processor needs. */
enum { VEC_WIDTH = 8 };
typedef mo_rl_real vec
    __attribute__((vector_size(VEC_WIDTH * sizeof(mo_rl_real)),
                   aligned(sizeof(mo_rl_real)), may_alias));

/* c[0..4 * WIDE) += a[0] b[0][..] + a[step] b[1][..] + ..., rows of b being n
 * apart. */
INLINE void add_product_4(const mo_rl_real *a, size_t step, const mo_rl_real *b,
                          size_t n, mo_rl_real *c, int k)
{
    vec *to = (vec *) c;
    vec sum0 = to[0], sum1 = to[1], sum2 = to[2], sum3 = to[3];

    for (int l = 0; l < k; l++, a += step, b += n) {
        const vec *row = (const vec *) b;

        sum0 += *a * row[0];
        sum1 += *a * row[1];
        sum2 += *a * row[2];
        sum3 += *a * row[3];
    }
    to[0] = sum0;
    to[1] = sum1;
    to[2] = sum2;
    to[3] = sum3;
}

INLINE void add_product_1(const mo_rl_real *a, size_t step, const mo_rl_real *b,
                          size_t n, mo_rl_real *c, int k)
{
    vec *to = (vec *) c;
    vec sum = *to;

    for (int l = 0; l < k; l++, a += step, b += n)
        sum += *a * *(const vec *) b;
    *to = sum;
}

/* The same for a whole row of c. */
INLINE void add_rows(const mo_rl_real *a, size_t step, const mo_rl_real *b,
                     size_t n, mo_rl_real *c, int k)
{
    const size_t block = (size_t) 4 * VEC_WIDTH;
    size_t j = 0;

    for (; j + block <= n; j += block)
        add_product_4(a, step, b + j, n, c + j, k);
    for (; j + VEC_WIDTH <= n; j += VEC_WIDTH)
        add_product_1(a, step, b + j, n, c + j, k);
    for (; j < n; j++) {
        mo_rl_real sum = c[j];

        for (size_t l = 0; l < (size_t) k; l++)
            sum += a[l * step] * b[l * n + j];
        c[j] = sum;
    }
}

/* c[m][n] += a[m][k] b[k][n] */
CLONES static void add_product(const mo_rl_real *a, const mo_rl_real *b,
                               mo_rl_real *c, int m, int k, int n)
{
    if (n == VEC_WIDTH && k == VEC_WIDTH)
        for (int i = 0; i < m; i++, a += VEC_WIDTH, c += VEC_WIDTH)
            add_product_1(a, 1, b, VEC_WIDTH, c, VEC_WIDTH);
    else
        for (int i = 0; i < m; i++, a += k, c += n)
            add_rows(a, 1, b, (size_t) n, c, k);
}

/* Block of rows that stays in the cache. */
enum { BLOCK_ROWS = 16 };

/* c[k][n] += a[m][k]^T b[m][n] */
CLONES static void add_transposed_product(const mo_rl_real *a,
                                          const mo_rl_real *b, mo_rl_real *c,
                                          int m, int k, int n)
{
    for (int first = 0; first < m; first += BLOCK_ROWS) {
        int rows = m - first < BLOCK_ROWS ? m - first : BLOCK_ROWS;

        for (int l = 0; l < k; l++)
            add_rows(a + (size_t) first * (size_t) k + l, (size_t) k,
                     b + (size_t) first * (size_t) n, (size_t) n,
                     c + (size_t) l * (size_t) n, rows);
    }
}

/* b^T, computed once. */
static const mo_rl_real *transpose_of(mo_rl_tape *tape, mo_rl_var b)
{
    mo_rl_tape_node *node = mo_rl_tape_node_at(tape, b);
    const mo_rl_real *from = node->values;
    mo_rl_real *to;

    if (node->transposed)
        return node->transposed;
    to = mo_rl_tape_alloc(tape, mo_rl_tape_node_size(node) * sizeof *to);
    if (!to)
        return NULL;
    for (int i = 0; i < node->rows; i++)
        for (int j = 0; j < node->cols; j++)
            to[(size_t) j * (size_t) node->rows + (size_t) i] = *from++;
    node->transposed = to;
    return to;
}

/* c[m][n] += a[m][k] b^T, where b has n rows. */
static void add_product_transposed(mo_rl_tape *tape, const mo_rl_real *a,
                                   mo_rl_var b, mo_rl_real *c, int m)
{
    const mo_rl_tape_node *node = mo_rl_tape_node_at(tape, b);
    const mo_rl_real *transposed = transpose_of(tape, b);

    if (transposed)
        add_product(a, transposed, c, m, node->cols, node->rows);
}

/* Backward through c = a b. */
static void backward_matmul(mo_rl_tape *tape, const mo_rl_tape_node *made)
{
    const mo_rl_tape_node *a = mo_rl_tape_node_at(tape, made->a);
    const mo_rl_tape_node *b = mo_rl_tape_node_at(tape, made->b);
    mo_rl_real *to_a = mo_rl_tape_node_gradient(tape, made->a);
    mo_rl_real *to_b = mo_rl_tape_node_gradient(tape, made->b);

    if (!to_a || !to_b)
        return;
    add_product_transposed(tape, made->gradient, made->b, to_a, a->rows);
    add_transposed_product(a->values, made->gradient, to_b, a->rows, a->cols,
                           b->cols);
}

mo_rl_var mo_rl_tape_matmul(mo_rl_tape *tape, mo_rl_var a, mo_rl_var b)
{
    int m = mo_rl_tape_rows(tape, a), k = mo_rl_tape_cols(tape, a);
    int n = mo_rl_tape_cols(tape, b);
    mo_rl_tape_node *made =
        mo_rl_tape_new_zero_node(tape, m, n, backward_matmul);

    if (!made)
        return 0;
    assert(mo_rl_tape_rows(tape, b) == k);
    made->a = a;
    made->b = b;
    add_product(mo_rl_tape_values(tape, a), mo_rl_tape_values(tape, b),
                made->values, m, k, n);
    return mo_rl_tape_node_var(tape, made);
}

/* Backward through c = a b^T: dc b, and dc^T a. */
static void backward_matmul_transposed(mo_rl_tape *tape,
                                       const mo_rl_tape_node *made)
{
    const mo_rl_tape_node *a = mo_rl_tape_node_at(tape, made->a);
    const mo_rl_tape_node *b = mo_rl_tape_node_at(tape, made->b);
    mo_rl_real *to_a = mo_rl_tape_node_gradient(tape, made->a);
    mo_rl_real *to_b = mo_rl_tape_node_gradient(tape, made->b);

    if (!to_a || !to_b)
        return;
    add_product(made->gradient, b->values, to_a, a->rows, b->rows, a->cols);
    add_transposed_product(made->gradient, a->values, to_b, a->rows, b->rows,
                           a->cols);
}

mo_rl_var mo_rl_tape_matmul_transposed(mo_rl_tape *tape, mo_rl_var a,
                                       mo_rl_var b)
{
    int m = mo_rl_tape_rows(tape, a), k = mo_rl_tape_cols(tape, a);
    int n = mo_rl_tape_rows(tape, b);
    mo_rl_tape_node *made =
        mo_rl_tape_new_zero_node(tape, m, n, backward_matmul_transposed);

    if (!made)
        return 0;
    assert(mo_rl_tape_cols(tape, b) == k);
    made->a = a;
    made->b = b;
    add_product_transposed(tape, mo_rl_tape_values(tape, a), b, made->values,
                           m);
    return mo_rl_tape_node_var(tape, made);
}

/* Backward through ReLU and bias: elements cut off at 0 pass no gradient. */
INLINE void backward_relu_bias(const mo_rl_real *restrict values,
                               mo_rl_real *restrict gradient,
                               mo_rl_real *restrict bias, int m, int n)
{
    for (int i = 0; i < m; i++, values += n, gradient += n)
        for (int j = 0; j < n; j++) {
            gradient[j] = values[j] > 0 ? gradient[j] : 0;
            bias[j] += gradient[j];
        }
}

static void backward_dense_relu(mo_rl_tape *tape, const mo_rl_tape_node *made)
{
    mo_rl_real *to_bias = mo_rl_tape_node_gradient(tape, made->n);

    if (!to_bias)
        return;
    if (made->cols == 8)
        backward_relu_bias(made->values, made->gradient, to_bias, made->rows,
                           8);
    else
        backward_relu_bias(made->values, made->gradient, to_bias, made->rows,
                           made->cols);
    backward_matmul(tape, made);
}

INLINE void clamp_at_zero(mo_rl_real *values, size_t m, int n)
{
    for (size_t i = 0; i < m; i++, values += n)
        for (int j = 0; j < n; j++)
            values[j] = values[j] > 0 ? values[j] : 0;
}

mo_rl_var mo_rl_tape_dense_relu(mo_rl_tape *tape, mo_rl_var a, mo_rl_var b,
                                mo_rl_var bias)
{
    int m = mo_rl_tape_rows(tape, a), k = mo_rl_tape_cols(tape, a);
    int n = mo_rl_tape_cols(tape, b);
    mo_rl_tape_node *made =
        mo_rl_tape_new_node(tape, m, n, backward_dense_relu);

    if (!made)
        return 0;
    assert(mo_rl_tape_rows(tape, b) == k && mo_rl_tape_cols(tape, bias) == n &&
           mo_rl_tape_rows(tape, bias) == 1);
    made->a = a;
    made->b = b;
    made->n = bias;
    for (int i = 0; i < m; i++)
        memcpy(made->values + (size_t) i * (size_t) n,
               mo_rl_tape_values(tape, bias), (size_t) n * sizeof(mo_rl_real));
    add_product(mo_rl_tape_values(tape, a), mo_rl_tape_values(tape, b),
                made->values, m, k, n);
    if (n == 8)
        clamp_at_zero(made->values, (size_t) m, 8);
    else
        clamp_at_zero(made->values, (size_t) m, n);
    return mo_rl_tape_node_var(tape, made);
}

static void add_array(const mo_rl_real *restrict from, mo_rl_real *restrict to,
                      size_t n)
{
    for (; n >= 8; n -= 8, from += 8, to += 8)
        for (size_t i = 0; i < 8; i++)
            to[i] += from[i];
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}

/* A broadcast row receives the gradient of all rows. */
static void backward_add(mo_rl_tape *tape, const mo_rl_tape_node *made)
{
    int rows = mo_rl_tape_rows(tape, made->b);
    size_t cols = (size_t) made->cols;
    mo_rl_real *to_a = mo_rl_tape_node_gradient(tape, made->a);
    mo_rl_real *to_b = mo_rl_tape_node_gradient(tape, made->b);

    if (!to_a || !to_b)
        return;
    add_array(made->gradient, to_a, mo_rl_tape_node_size(made));
    if (rows == made->rows)
        add_array(made->gradient, to_b, mo_rl_tape_node_size(made));
    else
        for (int i = 0; i < made->rows; i++)
            add_array(made->gradient + (size_t) i * cols, to_b, cols);
}

mo_rl_var mo_rl_tape_add(mo_rl_tape *tape, mo_rl_var a, mo_rl_var b)
{
    int rows = mo_rl_tape_rows(tape, b);
    size_t cols = (size_t) mo_rl_tape_cols(tape, a);
    mo_rl_tape_node *made = mo_rl_tape_new_node(
        tape, mo_rl_tape_rows(tape, a), mo_rl_tape_cols(tape, a), backward_add);

    if (!made)
        return 0;
    assert(mo_rl_tape_cols(tape, b) == made->cols);
    assert(rows == 1 || rows == made->rows);
    made->a = a;
    made->b = b;
    memcpy(made->values, mo_rl_tape_values(tape, a),
           mo_rl_tape_node_size(made) * sizeof(mo_rl_real));
    if (rows == made->rows)
        add_array(mo_rl_tape_values(tape, b), made->values,
                  mo_rl_tape_node_size(made));
    else
        for (int i = 0; i < made->rows; i++)
            add_array(mo_rl_tape_values(tape, b),
                      made->values + (size_t) i * cols, cols);
    return mo_rl_tape_node_var(tape, made);
}

static void backward_mul(mo_rl_tape *tape, const mo_rl_tape_node *made)
{
    const mo_rl_real *a = mo_rl_tape_values(tape, made->a);
    const mo_rl_real *b = mo_rl_tape_values(tape, made->b);
    mo_rl_real *to_a = mo_rl_tape_node_gradient(tape, made->a);
    mo_rl_real *to_b = mo_rl_tape_node_gradient(tape, made->b);

    if (!to_a || !to_b)
        return;
    for (size_t i = 0; i < mo_rl_tape_node_size(made); i++) {
        to_a[i] += made->gradient[i] * b[i];
        to_b[i] += made->gradient[i] * a[i];
    }
}

mo_rl_var mo_rl_tape_mul(mo_rl_tape *tape, mo_rl_var a, mo_rl_var b)
{
    mo_rl_tape_node *made = mo_rl_tape_new_node(
        tape, mo_rl_tape_rows(tape, a), mo_rl_tape_cols(tape, a), backward_mul);
    const mo_rl_real *x, *y;

    if (!made)
        return 0;
    assert(mo_rl_tape_rows(tape, b) == made->rows &&
           mo_rl_tape_cols(tape, b) == made->cols);
    made->a = a;
    made->b = b;
    x = mo_rl_tape_values(tape, a);
    y = mo_rl_tape_values(tape, b);
    for (size_t i = 0; i < mo_rl_tape_node_size(made); i++)
        made->values[i] = x[i] * y[i];
    return mo_rl_tape_node_var(tape, made);
}

static void backward_scale(mo_rl_tape *tape, const mo_rl_tape_node *made)
{
    mo_rl_real *to = mo_rl_tape_node_gradient(tape, made->a);

    for (size_t i = 0; to && i < mo_rl_tape_node_size(made); i++)
        to[i] += (mo_rl_real) made->by * made->gradient[i];
}

mo_rl_var mo_rl_tape_scale(mo_rl_tape *tape, mo_rl_var a, double by)
{
    mo_rl_tape_node *made =
        mo_rl_tape_new_node(tape, mo_rl_tape_rows(tape, a),
                            mo_rl_tape_cols(tape, a), backward_scale);
    const mo_rl_real *x;

    if (!made)
        return 0;
    made->a = a;
    made->by = by;
    x = mo_rl_tape_values(tape, a);
    for (size_t i = 0; i < mo_rl_tape_node_size(made); i++)
        made->values[i] = (mo_rl_real) by * x[i];
    return mo_rl_tape_node_var(tape, made);
}
