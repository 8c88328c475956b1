/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <string.h>

#include "solvers/search/rl/nn/autodiff_internal.h"

/* to += from, n numbers. */
static void add_array(const mo_rl_real *restrict from, mo_rl_real *restrict to,
                      size_t n)
{
    for (; n >= 8; n -= 8, from += 8, to += 8)
        for (size_t i = 0; i < 8; i++)
            to[i] += from[i];
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}

static mo_rl_real *row_at(mo_rl_real *values, int cols, int i)
{
    return values + (size_t) cols * (size_t) i;
}

static const mo_rl_real *const_row_at(const mo_rl_real *values, int cols, int i)
{
    return values + (size_t) cols * (size_t) i;
}

static void save_parts(mo_rl_tape *tape, mo_rl_var made, const mo_rl_var *parts,
                       int n)
{
    const mo_rl_var *kept =
        mo_rl_tape_save(tape, parts, (size_t) n * sizeof *parts);

    mo_rl_tape_node_at(tape, made)->parts = kept;
    mo_rl_tape_node_at(tape, made)->n = n;
}

/* Concatenation */

static void backward_concat_cols(mo_rl_tape *tape, const mo_rl_tape_node *made)
{
    int at = 0;

    for (int p = 0; p < made->n; p++) {
        int cols = mo_rl_tape_cols(tape, made->parts[p]);
        mo_rl_real *to = mo_rl_tape_node_gradient(tape, made->parts[p]);

        for (int i = 0; to && i < made->rows; i++)
            add_array(const_row_at(made->gradient, made->cols, i) + at,
                      row_at(to, cols, i), (size_t) cols);
        at += cols;
    }
}

mo_rl_var mo_rl_tape_concat_cols(mo_rl_tape *tape, const mo_rl_var *parts,
                                 int n)
{
    int rows = mo_rl_tape_rows(tape, parts[0]), cols = 0, at = 0;
    mo_rl_tape_node *made;
    mo_rl_var number;

    for (int p = 0; p < n; p++)
        cols += mo_rl_tape_cols(tape, parts[p]);
    made = mo_rl_tape_new_node(tape, rows, cols, backward_concat_cols);
    if (!made)
        return 0;
    for (int p = 0; p < n; p++) {
        int width = mo_rl_tape_cols(tape, parts[p]);

        assert(mo_rl_tape_rows(tape, parts[p]) == rows);
        for (int i = 0; i < rows; i++)
            memcpy(row_at(made->values, cols, i) + at,
                   const_row_at(mo_rl_tape_values(tape, parts[p]), width, i),
                   (size_t) width * sizeof(mo_rl_real));
        at += width;
    }
    number = mo_rl_tape_node_var(tape, made);
    save_parts(tape, number, parts, n);
    return number;
}

static void backward_concat_rows(mo_rl_tape *tape, const mo_rl_tape_node *made)
{
    const mo_rl_real *from = made->gradient;

    for (int p = 0; p < made->n; p++) {
        size_t size =
            mo_rl_tape_node_size(mo_rl_tape_node_at(tape, made->parts[p]));
        mo_rl_real *to = mo_rl_tape_node_gradient(tape, made->parts[p]);

        if (to)
            add_array(from, to, size);
        from += size;
    }
}

mo_rl_var mo_rl_tape_concat_rows(mo_rl_tape *tape, const mo_rl_var *parts,
                                 int n)
{
    int rows = 0, cols = mo_rl_tape_cols(tape, parts[0]);
    mo_rl_tape_node *made;
    mo_rl_real *to;
    mo_rl_var number;

    for (int p = 0; p < n; p++)
        rows += mo_rl_tape_rows(tape, parts[p]);
    made = mo_rl_tape_new_node(tape, rows, cols, backward_concat_rows);
    if (!made)
        return 0;
    to = made->values;
    for (int p = 0; p < n; p++) {
        size_t size = mo_rl_tape_node_size(mo_rl_tape_node_at(tape, parts[p]));

        assert(mo_rl_tape_cols(tape, parts[p]) == cols);
        memcpy(to, mo_rl_tape_values(tape, parts[p]),
               size * sizeof(mo_rl_real));
        to += size;
    }
    number = mo_rl_tape_node_var(tape, made);
    save_parts(tape, number, parts, n);
    return number;
}

/* Slices and gathers */

static void backward_slice_cols(mo_rl_tape *tape, const mo_rl_tape_node *made)
{
    int cols = mo_rl_tape_cols(tape, made->a);
    mo_rl_real *to = mo_rl_tape_node_gradient(tape, made->a);

    for (int i = 0; to && i < made->rows; i++)
        add_array(const_row_at(made->gradient, made->cols, i),
                  row_at(to, cols, i) + made->n, (size_t) made->cols);
}

mo_rl_var mo_rl_tape_slice_cols(mo_rl_tape *tape, mo_rl_var a, int first, int n)
{
    int rows = mo_rl_tape_rows(tape, a), cols = mo_rl_tape_cols(tape, a);
    mo_rl_tape_node *made =
        mo_rl_tape_new_node(tape, rows, n, backward_slice_cols);

    if (!made)
        return 0;
    assert(first >= 0 && n >= 0 && first + n <= cols);
    made->a = a;
    made->n = first;
    for (int i = 0; i < rows; i++)
        memcpy(row_at(made->values, n, i),
               const_row_at(mo_rl_tape_values(tape, a), cols, i) + first,
               (size_t) n * sizeof(mo_rl_real));
    return mo_rl_tape_node_var(tape, made);
}

static void backward_gather_rows(mo_rl_tape *tape, const mo_rl_tape_node *made)
{
    mo_rl_real *to = mo_rl_tape_node_gradient(tape, made->a);

    for (int i = 0; to && i < made->rows; i++)
        add_array(const_row_at(made->gradient, made->cols, i),
                  row_at(to, made->cols, made->pick[i]), (size_t) made->cols);
}

mo_rl_var mo_rl_tape_gather_rows(mo_rl_tape *tape, mo_rl_var a, const int *pick,
                                 int n)
{
    int cols = mo_rl_tape_cols(tape, a);
    const int *kept = mo_rl_tape_save(tape, pick, (size_t) n * sizeof *pick);
    mo_rl_tape_node *made =
        mo_rl_tape_new_node(tape, n, cols, backward_gather_rows);

    if (!made)
        return 0;
    made->a = a;
    made->pick = kept;
    for (int i = 0; i < n; i++) {
        assert(pick[i] >= 0 && pick[i] < mo_rl_tape_rows(tape, a));
        memcpy(row_at(made->values, cols, i),
               const_row_at(mo_rl_tape_values(tape, a), cols, pick[i]),
               (size_t) cols * sizeof(mo_rl_real));
    }
    return mo_rl_tape_node_var(tape, made);
}

/* Sums of rows */

static void backward_segment_sum(mo_rl_tape *tape, const mo_rl_tape_node *made)
{
    mo_rl_real *to = mo_rl_tape_node_gradient(tape, made->a);

    for (int i = 0; to && i < made->rows; i++)
        for (int k = made->pick[i]; k < made->pick[i + 1]; k++)
            add_array(const_row_at(made->gradient, made->cols, i),
                      row_at(to, made->cols, made->list[k]),
                      (size_t) made->cols);
}

mo_rl_var mo_rl_tape_segment_sum(mo_rl_tape *tape, mo_rl_var a,
                                 const int *start, const int *list, int n)
{
    int cols = mo_rl_tape_cols(tape, a);
    mo_rl_tape_node *made =
        mo_rl_tape_new_zero_node(tape, n, cols, backward_segment_sum);

    if (!made)
        return 0;
    made->a = a;
    made->pick = start;
    made->list = list;
    for (int i = 0; i < n; i++)
        for (int k = start[i]; k < start[i + 1]; k++)
            add_array(const_row_at(mo_rl_tape_values(tape, a), cols, list[k]),
                      row_at(made->values, cols, i), (size_t) cols);
    return mo_rl_tape_node_var(tape, made);
}

static void backward_sum_rows(mo_rl_tape *tape, const mo_rl_tape_node *made)
{
    mo_rl_real *to = mo_rl_tape_node_gradient(tape, made->a);

    for (int i = 0; to && i < mo_rl_tape_rows(tape, made->a); i++)
        add_array(made->gradient, row_at(to, made->cols, i),
                  (size_t) made->cols);
}

mo_rl_var mo_rl_tape_sum_rows(mo_rl_tape *tape, mo_rl_var a)
{
    int cols = mo_rl_tape_cols(tape, a);
    mo_rl_tape_node *made =
        mo_rl_tape_new_zero_node(tape, 1, cols, backward_sum_rows);

    if (!made)
        return 0;
    made->a = a;
    for (int i = 0; i < mo_rl_tape_rows(tape, a); i++)
        add_array(const_row_at(mo_rl_tape_values(tape, a), cols, i),
                  made->values, (size_t) cols);
    return mo_rl_tape_node_var(tape, made);
}
