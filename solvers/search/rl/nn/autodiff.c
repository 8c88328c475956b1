/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/nn/autodiff.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/search/rl/nn/autodiff_internal.h"

enum { BLOCK_BYTES = 1 << 20, ALIGN = 64 };

typedef struct mo_rl_tape_block {
    struct mo_rl_tape_block *next;
    size_t room, used;
    _Alignas(ALIGN) char bytes[];
} mo_rl_tape_block;

static mo_rl_tape_block *new_block(mo_rl_tape *tape, size_t least)
{
    size_t room = least > BLOCK_BYTES ? least : BLOCK_BYTES;
    size_t bytes =
        (sizeof(mo_rl_tape_block) + room + ALIGN - 1) / ALIGN * ALIGN;
    mo_rl_tape_block *block = aligned_alloc(ALIGN, bytes);

    if (!block)
        return NULL;
    *block = (mo_rl_tape_block){ .room = room };
    tape->bytes += bytes;
    if (tape->current) {
        block->next = tape->current->next;
        tape->current->next = block;
    } else {
        tape->blocks = block;
    }
    return block;
}

/* Bump allocation: blocks are filled one after the other, in the same order
 * each time. */
void *mo_rl_tape_alloc(mo_rl_tape *tape, size_t bytes)
{
    size_t rounded = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    mo_rl_tape_block *block = tape->current;
    void *memory;

    if (tape->failed)
        return NULL;
    while (block && block->room - block->used < rounded)
        block = block->next;
    if (!block)
        block = new_block(tape, rounded);
    if (!block) {
        tape->failed = true;
        return NULL;
    }
    tape->current = block;
    memory = block->bytes + block->used;
    block->used += rounded;
    return memory;
}

const void *mo_rl_tape_save(mo_rl_tape *tape, const void *data, size_t bytes)
{
    void *copy;

    if (!data || !tape->gradient)
        return NULL;
    copy = mo_rl_tape_alloc(tape, bytes);
    return copy ? memcpy(copy, data, bytes) : NULL;
}

static bool reserve_node(mo_rl_tape *tape)
{
    int room = tape->nodes_room > 0 ? 2 * tape->nodes_room : 256;
    mo_rl_tape_node *nodes;

    if (tape->n_nodes < tape->nodes_room)
        return true;
    nodes = realloc(tape->nodes, (size_t) room * sizeof *nodes);
    if (!nodes) {
        tape->failed = true;
        return false;
    }
    tape->nodes = nodes;
    tape->nodes_room = room;
    return true;
}

mo_rl_tape_node *mo_rl_tape_new_node(mo_rl_tape *tape, int rows, int cols,
                                     mo_rl_tape_backward_fn *backward)
{
    size_t bytes = (size_t) rows * (size_t) cols * sizeof(mo_rl_real);
    mo_rl_tape_node *node;
    mo_rl_real *values;

    assert(rows >= 0 && cols >= 0);
    values = mo_rl_tape_alloc(tape, bytes);
    if (!values || !reserve_node(tape))
        return NULL;
    node = &tape->nodes[tape->n_nodes++];
    *node = (mo_rl_tape_node){
        .rows = rows, .cols = cols, .values = values, .backward = backward
    };
    return node;
}

mo_rl_tape_node *mo_rl_tape_new_zero_node(mo_rl_tape *tape, int rows, int cols,
                                          mo_rl_tape_backward_fn *backward)
{
    mo_rl_tape_node *node = mo_rl_tape_new_node(tape, rows, cols, backward);

    if (node)
        memset(node->values, 0,
               mo_rl_tape_node_size(node) * sizeof(mo_rl_real));
    return node;
}

mo_rl_var mo_rl_tape_node_var(const mo_rl_tape *tape,
                              const mo_rl_tape_node *made)
{
    return made && !tape->failed ? (mo_rl_var) (made - tape->nodes) : 0;
}

/* Matrix 0 is the empty one. */
static void init_tape(mo_rl_tape *tape)
{
    tape->n_nodes = 0;
    tape->failed = false;
    tape->current = tape->blocks;
    mo_rl_tape_new_node(tape, 0, 0, NULL);
}

mo_rl_tape *mo_rl_tape_new(const mo_rl_params *weights, mo_rl_real *gradient)
{
    mo_rl_tape *tape = calloc(1, sizeof *tape);

    if (!tape)
        return NULL;
    tape->weights = weights;
    tape->gradient = gradient;
    init_tape(tape);
    if (tape->failed) {
        mo_rl_tape_free(tape);
        return NULL;
    }
    return tape;
}

void mo_rl_tape_free(mo_rl_tape *tape)
{
    mo_rl_tape_block *block, *next;

    if (!tape)
        return;
    for (block = tape->blocks; block; block = next) {
        next = block->next;
        free(block);
    }
    free(tape->nodes);
    free(tape);
}

void mo_rl_tape_set_gradient(mo_rl_tape *tape, mo_rl_real *gradient)
{
    assert(tape->gradient && gradient);
    tape->gradient = gradient;
}

void mo_rl_tape_reset(mo_rl_tape *tape)
{
    for (mo_rl_tape_block *block = tape->blocks; block; block = block->next)
        block->used = 0;
    init_tape(tape);
}

bool mo_rl_tape_failed(const mo_rl_tape *tape)
{
    return tape->failed;
}

mo_rl_var mo_rl_tape_fail(mo_rl_tape *tape)
{
    tape->failed = true;
    return 0;
}

size_t mo_rl_tape_bytes(const mo_rl_tape *tape)
{
    return tape->bytes + (size_t) tape->nodes_room * sizeof *tape->nodes;
}

int mo_rl_tape_rows(const mo_rl_tape *tape, mo_rl_var a)
{
    return mo_rl_tape_node_at(tape, a)->rows;
}

int mo_rl_tape_cols(const mo_rl_tape *tape, mo_rl_var a)
{
    return mo_rl_tape_node_at(tape, a)->cols;
}

const mo_rl_real *mo_rl_tape_values(const mo_rl_tape *tape, mo_rl_var a)
{
    return mo_rl_tape_node_at(tape, a)->values;
}

/* The values are borrowed: each weight has many uses and rarely changes. */
mo_rl_var mo_rl_tape_param(mo_rl_tape *tape, int weight)
{
    const mo_rl_param *w;
    mo_rl_tape_node *made = mo_rl_tape_new_node(tape, 0, 0, NULL);

    assert(weight >= 0 && weight < tape->weights->n);
    if (!made)
        return 0;
    w = &tape->weights->items[weight];
    made->rows = w->rows;
    made->cols = w->cols;
    made->values = tape->weights->values + w->offset;
    made->weight = w;
    return mo_rl_tape_node_var(tape, made);
}

mo_rl_var mo_rl_tape_constant(mo_rl_tape *tape, int rows, int cols,
                              const mo_rl_real *values)
{
    mo_rl_tape_node *made = mo_rl_tape_new_node(tape, rows, cols, NULL);

    if (made)
        memcpy(made->values, values,
               mo_rl_tape_node_size(made) * sizeof(mo_rl_real));
    return mo_rl_tape_node_var(tape, made);
}

mo_rl_var mo_rl_tape_zeros(mo_rl_tape *tape, int rows, int cols)
{
    return mo_rl_tape_node_var(
        tape, mo_rl_tape_new_zero_node(tape, rows, cols, NULL));
}

mo_rl_real *mo_rl_tape_node_gradient(mo_rl_tape *tape, mo_rl_var a)
{
    mo_rl_tape_node *node = mo_rl_tape_node_at(tape, a);
    size_t bytes = mo_rl_tape_node_size(node) * sizeof(mo_rl_real);

    if (node->weight)
        return tape->gradient + node->weight->offset;
    if (!node->gradient) {
        node->gradient = mo_rl_tape_alloc(tape, bytes);
        if (node->gradient)
            memset(node->gradient, 0, bytes);
    }
    return node->gradient;
}

/* Nodes are in topological order: one pass is enough. */
void mo_rl_tape_backward(mo_rl_tape *tape, mo_rl_var a)
{
    mo_rl_real *seed;

    assert(tape->gradient);
    if (tape->failed)
        return;
    for (mo_rl_var i = 0; i < tape->n_nodes; i++)
        mo_rl_tape_node_at(tape, i)->gradient = NULL;
    seed = mo_rl_tape_node_gradient(tape, a);
    for (size_t i = 0;
         seed && i < mo_rl_tape_node_size(mo_rl_tape_node_at(tape, a)); i++)
        seed[i] += 1;
    for (mo_rl_var i = a; i > 0 && !tape->failed; i--) {
        const mo_rl_tape_node *node = mo_rl_tape_node_at(tape, i);

        if (node->gradient && node->backward)
            node->backward(tape, node);
    }
}

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
