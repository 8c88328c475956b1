/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/baselines/priority_queue.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"

static bool is_before(const mo_baseline_pqueue_item *a,
                      const mo_baseline_pqueue_item *b)
{
    return a->key != b->key ? a->key < b->key : a->number < b->number;
}

mo_status mo_baseline_pqueue_push(mo_baseline_pqueue *queue, int64_t key,
                                  int number, mo_error *err)
{
    const mo_baseline_pqueue_item item = { key, number };
    mo_status status = MO_ARRAY_GROW(queue->items, queue->n, queue->room, err);
    size_t at = queue->n;

    if (status != MO_OK)
        return status;
    for (queue->n++; at > 0; at = (at - 1) / 2) {
        size_t above = (at - 1) / 2;

        if (!is_before(&item, &queue->items[above]))
            break;
        queue->items[at] = queue->items[above];
    }
    queue->items[at] = item;
    return MO_OK;
}

/* The lesser of the two below at, or n. */
static size_t lesser_below(const mo_baseline_pqueue *queue, size_t at)
{
    size_t left = 2 * at + 1, right = left + 1;

    if (left >= queue->n)
        return queue->n;
    return right < queue->n &&
                   is_before(&queue->items[right], &queue->items[left])
               ? right
               : left;
}

mo_baseline_pqueue_item mo_baseline_pqueue_pop(mo_baseline_pqueue *queue)
{
    mo_baseline_pqueue_item first = queue->items[0], last;
    size_t at = 0, below;

    assert(queue->n > 0);
    last = queue->items[--queue->n];
    while ((below = lesser_below(queue, at)) < queue->n &&
           is_before(&queue->items[below], &last)) {
        queue->items[at] = queue->items[below];
        at = below;
    }
    queue->items[at] = last;
    return first;
}

void mo_baseline_pqueue_clear(mo_baseline_pqueue *queue)
{
    free(queue->items);
    *queue = (mo_baseline_pqueue){ 0 };
}
