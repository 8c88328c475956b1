/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairing_heap.h - priority queues of numbered elements: pairing heaps
 * (Fredman et al., 1986).  The smallest key goes first, of equal keys the
 * smallest number.
 *
 * Links and keys are arrays by number and a heap is the number of its root, so
 * that any number of heaps share the arrays, nothing is ever allocated, and an
 * element is in one heap at a time.  The caller owns the arrays.
 */
#ifndef MO_SCHEDULE_SIM_PAIRING_HEAP_H
#define MO_SCHEDULE_SIM_PAIRING_HEAP_H

#include <stdbool.h>
#include <stdint.h>

enum { MO_PAIRING_HEAP_EMPTY = -1 };

typedef struct mo_pairing_heap {
    int *child, *next; /* first child, next sibling */
    int64_t *key;
} mo_pairing_heap;

static inline bool mo_pairing_heap_before(const mo_pairing_heap *h, int a,
                                          int b)
{
    return h->key[a] != h->key[b] ? h->key[a] < h->key[b] : a < b;
}

/* Melds two heaps and returns the root. */
static inline int mo_pairing_heap_meld(const mo_pairing_heap *h, int a, int b)
{
    if (mo_pairing_heap_before(h, b, a)) {
        int first = b;

        b = a;
        a = first;
    }
    h->next[b] = h->child[a];
    h->child[a] = b;
    return a;
}

static inline void mo_pairing_heap_push(const mo_pairing_heap *h, int *queue,
                                        int it)
{
    h->child[it] = MO_PAIRING_HEAP_EMPTY;
    *queue = *queue == MO_PAIRING_HEAP_EMPTY
                 ? it
                 : mo_pairing_heap_meld(h, *queue, it);
}

/* Two-pass merge of the children of a removed root; returns the new root. */
static inline int mo_pairing_heap_merge_children(const mo_pairing_heap *h,
                                                 int below)
{
    int pairs = MO_PAIRING_HEAP_EMPTY, queue;

    while (below != MO_PAIRING_HEAP_EMPTY) {
        int a = below, b = h->next[a];

        below = b == MO_PAIRING_HEAP_EMPTY ? MO_PAIRING_HEAP_EMPTY : h->next[b];
        if (b != MO_PAIRING_HEAP_EMPTY)
            a = mo_pairing_heap_meld(h, a, b);
        h->next[a] = pairs;
        pairs = a;
    }
    queue = pairs;
    pairs = h->next[queue];
    while (pairs != MO_PAIRING_HEAP_EMPTY) {
        int rest = h->next[pairs];

        queue = mo_pairing_heap_meld(h, queue, pairs);
        pairs = rest;
    }
    return queue;
}

/* Removes and returns the root of a heap that is not empty. */
static inline int mo_pairing_heap_pop(const mo_pairing_heap *h, int *queue)
{
    int first = *queue, below = h->child[first];

    if (below != MO_PAIRING_HEAP_EMPTY &&
        h->next[below] != MO_PAIRING_HEAP_EMPTY)
        below = mo_pairing_heap_merge_children(h, below);
    *queue = below;
    return first;
}

/* Appends all elements, unordered, to the n entries of list; returns the new
 * number of entries. */
static inline int mo_pairing_heap_list(const mo_pairing_heap *h, int queue,
                                       int *list, int n)
{
    int at = n;

    if (queue != MO_PAIRING_HEAP_EMPTY)
        list[n++] = queue;
    for (; at < n; at++)
        for (int c = h->child[list[at]]; c != MO_PAIRING_HEAP_EMPTY;
             c = h->next[c])
            list[n++] = c;
    return n;
}

#endif
