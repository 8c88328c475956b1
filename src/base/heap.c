/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"

static bool is_before(const mo_heap_item *a, const mo_heap_item *b)
{
    return a->key != b->key ? a->key < b->key : a->id < b->id;
}

mo_status mo_heap_push(mo_heap *heap, int64_t key, int id, mo_error *err)
{
    const mo_heap_item item = { key, id };
    mo_status status = MO_ARRAY_GROW(heap->items, heap->n, heap->room, err);
    size_t at = heap->n;

    if (status != MO_OK)
        return status;
    for (heap->n++; at > 0; at = (at - 1) / 2) {
        size_t above = (at - 1) / 2;

        if (!is_before(&item, &heap->items[above]))
            break;
        heap->items[at] = heap->items[above];
    }
    heap->items[at] = item;
    return MO_OK;
}

/* Returns the index of the lesser child, n if there is none. */
static size_t lesser_child(const mo_heap *heap, size_t at)
{
    size_t left = 2 * at + 1, right = left + 1;

    if (left >= heap->n)
        return heap->n;
    return right < heap->n && is_before(&heap->items[right], &heap->items[left])
               ? right
               : left;
}

mo_heap_item mo_heap_pop(mo_heap *heap)
{
    mo_heap_item first = heap->items[0], last;
    size_t at = 0, below;

    assert(heap->n > 0);
    last = heap->items[--heap->n];
    while ((below = lesser_child(heap, at)) < heap->n &&
           is_before(&heap->items[below], &last)) {
        heap->items[at] = heap->items[below];
        at = below;
    }
    heap->items[at] = last;
    return first;
}

void mo_heap_clear(mo_heap *heap)
{
    free(heap->items);
    *heap = (mo_heap){ 0 };
}
