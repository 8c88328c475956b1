/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - binary min-heap (priority queue) of keys with an id: pops the least
 * key first, of equal keys the least id, whatever the order of pushes.
 *
 * An object of zero bytes is an empty heap.
 */
#ifndef MO_BASE_HEAP_H
#define MO_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_heap_item {
    int64_t key;
    int id;
} mo_heap_item;

typedef struct mo_heap {
    mo_heap_item *items; /* owned, in heap order: items[0] is the least */
    size_t n, room;
} mo_heap;

/* Inserts an item; fails only when memory is exhausted, and then leaves the
 * heap as it was. */
mo_status mo_heap_push(mo_heap *heap, int64_t key, int id, mo_error *err);

/* Removes and returns the least item; the heap must not be empty. */
mo_heap_item mo_heap_pop(mo_heap *heap);

/* Frees the items; the heap is empty and can be used again. */
void mo_heap_clear(mo_heap *heap);

#endif
