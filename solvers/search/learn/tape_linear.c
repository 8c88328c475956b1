#include <assert.h>
#include <string.h>

#include "solvers/search/learn/tape_parts.h"

/*
 * Products are loops over rows that the compiler turns into vectors.  The
 * matrices of policies are thin, a few dozen columns at most: a BLAS spends
 * longer on getting ready than on such a product, and its sums depend on the
 * number of its threads.
 */

#define INLINE static inline __attribute__((always_inline))

/* c[k][n] += a[m][k]^T b[m][n] */
INLINE void add_turned_product_of(const mo_real *restrict a,
                                  const mo_real *restrict b,
                                  mo_real *restrict c, int m, int k, int n)
{
    for (int i = 0; i < m; i++, a += k, b += n)
        for (int l = 0; l < k; l++) {
            mo_real x = a[l];
            mo_real *row = c + (size_t) l * (size_t) n;

            for (int j = 0; j < n; j++)
                row[j] += x * b[j];
        }
}

/* What sums are kept in registers, and rows that are looked at while they are
 * near. */
enum { WIDE = 16, NEAR = 16 };

/* c[0..width) += a[0] b[0][..] + a[step] b[1][..] + ..., rows of b being n
 * apart.  Loops whose number of turns is known become vectors. */
INLINE void add_rows_of(const mo_real *restrict a, int step,
                        const mo_real *restrict b, int n, mo_real *restrict c,
                        int k, int width)
{
    mo_real sum[WIDE];

    memcpy(sum, c, (size_t) width * sizeof *sum);
    for (int l = 0; l < k; l++, a += step, b += n) {
        mo_real x = *a;

#pragma GCC unroll 16
        for (int j = 0; j < width; j++)
            sum[j] += x * b[j];
    }
    memcpy(c, sum, (size_t) width * sizeof *sum);
}

/* The same for a whole row of c. */
static void add_rows(const mo_real *a, int step, const mo_real *b, int n,
                     mo_real *c, int k)
{
    int j = 0;

    for (; j + WIDE <= n; j += WIDE)
        add_rows_of(a, step, b + j, n, c + j, k, WIDE);
    for (; j + 4 <= n; j += 4)
        add_rows_of(a, step, b + j, n, c + j, k, 4);
    for (; j < n; j++)
        add_rows_of(a, step, b + j, n, c + j, k, 1);
}

/* c[m][n] += a[m][k] b[k][n] */
static void add_product(const mo_real *a, const mo_real *b, mo_real *c, int m,
                        int k, int n)
{
    if (n == 8)
        for (int i = 0; i < m; i++, a += k, c += 8)
            add_rows_of(a, 1, b, 8, c, k, 8);
    else
        for (int i = 0; i < m; i++, a += k, c += n)
            add_rows(a, 1, b, n, c, k);
}

static void add_turned_product(const mo_real *a, const mo_real *b, mo_real *c,
                               int m, int k, int n)
{
    if (n == 8) {
        add_turned_product_of(a, b, c, m, k, 8);
        return;
    }
    for (int first = 0; first < m; first += NEAR) {
        int rows = m - first < NEAR ? m - first : NEAR;

        for (int l = 0; l < k; l++)
            add_rows(a + (size_t) first * (size_t) k + l, k,
                     b + (size_t) first * (size_t) n, n,
                     c + (size_t) l * (size_t) n, rows);
    }
}

/* c[m][n] += a[m][k] b[n][k]^T */
static void add_product_turned(mo_tape *tape, const mo_real *a,
                               const mo_real *b, mo_real *c, int m, int k,
                               int n)
{
    size_t bytes = (size_t) k * (size_t) n * sizeof(mo_real);
    mo_real *turned = mo_tape_memory(tape, bytes);

    if (!turned)
        return;
    for (int l = 0; l < k; l++)
        for (int j = 0; j < n; j++)
            turned[l * n + j] = b[j * k + l];
    add_product(a, turned, c, m, k, n);
}

/* Through c = a b, of which made has the gradient. */
static void back_through_product(mo_tape *tape, const mo_tape_node *made)
{
    const mo_tape_node *a = mo_tape_at(tape, made->a);
    const mo_tape_node *b = mo_tape_at(tape, made->b);
    mo_real *to_a = mo_tape_gradient_of(tape, made->a);
    mo_real *to_b = mo_tape_gradient_of(tape, made->b);

    if (!to_a || !to_b)
        return;
    add_product_turned(tape, made->gradient, b->values, to_a, a->rows, b->cols,
                       a->cols);
    add_turned_product(a->values, made->gradient, to_b, a->rows, a->cols,
                       b->cols);
}

mo_var mo_tape_product(mo_tape *tape, mo_var a, mo_var b)
{
    int m = mo_tape_rows(tape, a), k = mo_tape_cols(tape, a);
    int n = mo_tape_cols(tape, b);
    mo_tape_node *made = mo_tape_make(tape, m, n, back_through_product);

    if (!made)
        return 0;
    assert(mo_tape_rows(tape, b) == k);
    made->a = a;
    made->b = b;
    add_product(mo_tape_values(tape, a), mo_tape_values(tape, b), made->values,
                m, k, n);
    return mo_tape_made(tape, made);
}

/* Of c = a b^T: dc b, and dc^T a. */
static void back_from_turned(mo_tape *tape, const mo_tape_node *made)
{
    const mo_tape_node *a = mo_tape_at(tape, made->a);
    const mo_tape_node *b = mo_tape_at(tape, made->b);
    mo_real *to_a = mo_tape_gradient_of(tape, made->a);
    mo_real *to_b = mo_tape_gradient_of(tape, made->b);

    if (!to_a || !to_b)
        return;
    add_product(made->gradient, b->values, to_a, a->rows, b->rows, a->cols);
    add_turned_product(made->gradient, a->values, to_b, a->rows, b->rows,
                       a->cols);
}

mo_var mo_tape_product_turned(mo_tape *tape, mo_var a, mo_var b)
{
    int m = mo_tape_rows(tape, a), k = mo_tape_cols(tape, a);
    int n = mo_tape_rows(tape, b);
    mo_tape_node *made = mo_tape_make(tape, m, n, back_from_turned);

    if (!made)
        return 0;
    assert(mo_tape_cols(tape, b) == k);
    made->a = a;
    made->b = b;
    add_product_turned(tape, mo_tape_values(tape, a), mo_tape_values(tape, b),
                       made->values, m, k, n);
    return mo_tape_made(tape, made);
}

/* ------------------------------------------------------------------- layers */

/* What came out as 0 was cut off there, and nothing goes back through it. */
INLINE void back_through_of(const mo_real *restrict values,
                            mo_real *restrict gradient, mo_real *restrict bias,
                            int m, int n)
{
    for (int i = 0; i < m; i++, values += n, gradient += n)
        for (int j = 0; j < n; j++) {
            gradient[j] = values[j] > 0 ? gradient[j] : 0;
            bias[j] += gradient[j];
        }
}

static void back_from_layer(mo_tape *tape, const mo_tape_node *made)
{
    mo_real *to_bias = mo_tape_gradient_of(tape, made->n);

    if (!to_bias)
        return;
    if (made->cols == 8)
        back_through_of(made->values, made->gradient, to_bias, made->rows, 8);
    else
        back_through_of(made->values, made->gradient, to_bias, made->rows,
                        made->cols);
    back_through_product(tape, made);
}

INLINE void cut_of(mo_real *values, size_t m, int n)
{
    for (size_t i = 0; i < m; i++, values += n)
        for (int j = 0; j < n; j++)
            values[j] = values[j] > 0 ? values[j] : 0;
}

mo_var mo_tape_layer(mo_tape *tape, mo_var a, mo_var b, mo_var bias)
{
    int m = mo_tape_rows(tape, a), k = mo_tape_cols(tape, a);
    int n = mo_tape_cols(tape, b);
    mo_tape_node *made = mo_tape_make(tape, m, n, back_from_layer);

    if (!made)
        return 0;
    assert(mo_tape_rows(tape, b) == k && mo_tape_cols(tape, bias) == n &&
           mo_tape_rows(tape, bias) == 1);
    made->a = a;
    made->b = b;
    made->n = bias;
    for (int i = 0; i < m; i++)
        memcpy(made->values + (size_t) i * (size_t) n,
               mo_tape_values(tape, bias), (size_t) n * sizeof(mo_real));
    add_product(mo_tape_values(tape, a), mo_tape_values(tape, b), made->values,
                m, k, n);
    if (n == 8)
        cut_of(made->values, (size_t) m, 8);
    else
        cut_of(made->values, (size_t) m, n);
    return mo_tape_made(tape, made);
}

/* --------------------------------------------------------------------- sums */

static void add_all(const mo_real *restrict from, mo_real *restrict to,
                    size_t n)
{
    for (; n >= 8; n -= 8, from += 8, to += 8)
        for (size_t i = 0; i < 8; i++)
            to[i] += from[i];
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}

/* What was one row for all gets from all. */
static void back_from_sum(mo_tape *tape, const mo_tape_node *made)
{
    int rows = mo_tape_rows(tape, made->b);
    size_t cols = (size_t) made->cols;
    mo_real *to_a = mo_tape_gradient_of(tape, made->a);
    mo_real *to_b = mo_tape_gradient_of(tape, made->b);

    if (!to_a || !to_b)
        return;
    add_all(made->gradient, to_a, mo_tape_size(made));
    if (rows == made->rows)
        add_all(made->gradient, to_b, mo_tape_size(made));
    else
        for (int i = 0; i < made->rows; i++)
            add_all(made->gradient + (size_t) i * cols, to_b, cols);
}

mo_var mo_tape_sum(mo_tape *tape, mo_var a, mo_var b)
{
    int rows = mo_tape_rows(tape, b);
    size_t cols = (size_t) mo_tape_cols(tape, a);
    mo_tape_node *made = mo_tape_make(tape, mo_tape_rows(tape, a),
                                      mo_tape_cols(tape, a), back_from_sum);

    if (!made)
        return 0;
    assert(mo_tape_cols(tape, b) == made->cols);
    assert(rows == 1 || rows == made->rows);
    made->a = a;
    made->b = b;
    memcpy(made->values, mo_tape_values(tape, a),
           mo_tape_size(made) * sizeof(mo_real));
    if (rows == made->rows)
        add_all(mo_tape_values(tape, b), made->values, mo_tape_size(made));
    else
        for (int i = 0; i < made->rows; i++)
            add_all(mo_tape_values(tape, b), made->values + (size_t) i * cols,
                    cols);
    return mo_tape_made(tape, made);
}

static void back_from_times(mo_tape *tape, const mo_tape_node *made)
{
    const mo_real *a = mo_tape_values(tape, made->a);
    const mo_real *b = mo_tape_values(tape, made->b);
    mo_real *to_a = mo_tape_gradient_of(tape, made->a);
    mo_real *to_b = mo_tape_gradient_of(tape, made->b);

    if (!to_a || !to_b)
        return;
    for (size_t i = 0; i < mo_tape_size(made); i++) {
        to_a[i] += made->gradient[i] * b[i];
        to_b[i] += made->gradient[i] * a[i];
    }
}

mo_var mo_tape_times(mo_tape *tape, mo_var a, mo_var b)
{
    mo_tape_node *made = mo_tape_make(tape, mo_tape_rows(tape, a),
                                      mo_tape_cols(tape, a), back_from_times);
    const mo_real *x, *y;

    if (!made)
        return 0;
    assert(mo_tape_rows(tape, b) == made->rows &&
           mo_tape_cols(tape, b) == made->cols);
    made->a = a;
    made->b = b;
    x = mo_tape_values(tape, a);
    y = mo_tape_values(tape, b);
    for (size_t i = 0; i < mo_tape_size(made); i++)
        made->values[i] = x[i] * y[i];
    return mo_tape_made(tape, made);
}

static void back_from_scaled(mo_tape *tape, const mo_tape_node *made)
{
    mo_real *to = mo_tape_gradient_of(tape, made->a);

    for (size_t i = 0; to && i < mo_tape_size(made); i++)
        to[i] += (mo_real) made->by * made->gradient[i];
}

mo_var mo_tape_scaled(mo_tape *tape, mo_var a, double by)
{
    mo_tape_node *made = mo_tape_make(tape, mo_tape_rows(tape, a),
                                      mo_tape_cols(tape, a), back_from_scaled);
    const mo_real *x;

    if (!made)
        return 0;
    made->a = a;
    made->by = by;
    x = mo_tape_values(tape, a);
    for (size_t i = 0; i < mo_tape_size(made); i++)
        made->values[i] = (mo_real) by * x[i];
    return mo_tape_made(tape, made);
}
