/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_heap.h - queues of numbered things, the one with the smallest key first
 * and of equals the one with the smallest number.
 *
 * A pairing heap (Fredman et al., 1986).  Links and keys lie in arrays by
 * number and a queue is but the number of its first, so that any number of
 * queues share the arrays, nothing is ever allocated, and a thing is in one
 * queue at a time.
 */
#ifndef MO_SCHEDULE_SIM_PAIRING_HEAP_H
#define MO_SCHEDULE_SIM_PAIRING_HEAP_H

#include <stdbool.h>
#include <stdint.h>

enum { MO_PAIRING_HEAP_EMPTY = -1 };

typedef struct mo_pairing_heap {
    int *child, *next; /* a first one below, others beside */
    int64_t *key;
} mo_pairing_heap;

static inline bool mo_pairing_heap_before(const mo_pairing_heap *h, int a,
                                          int b)
{
    return h->key[a] != h->key[b] ? h->key[a] < h->key[b] : a < b;
}

/* Of two queues, one. */
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

/* Joins those below the first, two by two and then all, to a new queue. */
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

/* Takes the first out of a queue that is not empty. */
static inline int mo_pairing_heap_pop(const mo_pairing_heap *h, int *queue)
{
    int first = *queue, below = h->child[first];

    if (below != MO_PAIRING_HEAP_EMPTY &&
        h->next[below] != MO_PAIRING_HEAP_EMPTY)
        below = mo_pairing_heap_merge_children(h, below);
    *queue = below;
    return first;
}

/* Appends all that is in the queue, in no order, to the n of a list; returns
 * how many there are then. */
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
