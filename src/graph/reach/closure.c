/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/reach/closure.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"

/*
 * Upper triangular bit matrix: paths go from smaller ids to larger ones, so
 * row i starts with the word that holds bit i.
 *
 *     ids     0..63    64..127  128..191
 *     row 0   [      ] [      ] [      ]
 *     ...
 *     row 64           [      ] [      ]     64 rows of a length, then 64 one
 *     ...                                    word shorter
 *     row 128                   [      ]
 */
enum { WORD = 64 };

static size_t words_for(int n_ops)
{
    return ((size_t) n_ops + WORD - 1) / WORD;
}

static size_t row_start(size_t row_words, int op)
{
    size_t block = (size_t) op / WORD;
    size_t above = block * row_words - block * (block - 1) / 2;

    return above * WORD + (size_t) op % WORD * (row_words - block);
}

size_t mo_closure_bytes(int n_ops)
{
    size_t n = words_for(n_ops), words, bytes;

    if (!mo_size_mul(n, n + 1, &words) ||
        !mo_size_mul(words / 2, WORD * sizeof(uint64_t), &bytes))
        return SIZE_MAX;
    return bytes;
}

static uint64_t *row_of(const mo_closure *c, int op)
{
    return c->words + row_start(c->row_words, op);
}

static uint64_t bit_of(int op)
{
    return (uint64_t) 1 << op % WORD;
}

/* from reaches whatever to reaches: ORs the row of to into that of from. */
static void add_row(const mo_closure *c, int from, int to)
{
    size_t count = c->row_words - (size_t) to / WORD;
    const uint64_t *restrict source = row_of(c, to);
    uint64_t *restrict target = row_of(c, from) + (to / WORD - from / WORD);

    for (size_t i = 0; i < count; i++)
        target[i] |= source[i];
}

bool mo_closure_path(const mo_closure *closure, int a, int b)
{
    assert(a <= b);
    return row_of(closure, a)[b / WORD - a / WORD] & bit_of(b);
}

mo_status mo_closure_make(const mo_dag *dag, mo_closure *closure, mo_error *err)
{
    size_t bytes = mo_closure_bytes(dag->n);

    if (bytes == SIZE_MAX)
        return mo_fail_memory(err);
    closure->words = calloc(bytes / sizeof(uint64_t) + 1, sizeof(uint64_t));
    if (!closure->words)
        return mo_fail_memory(err);
    closure->row_words = words_for(dag->n);
    closure->bytes = bytes;
    for (int op = dag->n - 1; op >= 0; op--) {
        /* Rows of larger ids are complete. A successor that an earlier one
         * reaches adds nothing: in a real network that is every edge that skips
         * a layer. */
        row_of(closure, op)[0] |= bit_of(op);
        for (int e = dag->out_start[op]; e < dag->out_start[op + 1]; e++)
            if (!mo_closure_path(closure, op, mo_dag_to(dag, e)))
                add_row(closure, op, mo_dag_to(dag, e));
    }
    return MO_OK;
}
