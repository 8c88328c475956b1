/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - numbers that wait their turn: the least key first, of equal keys
 * the least number.
 *
 * A queue that is all zeros is empty.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_PRIORITY_QUEUE_H
#define MO_SOLVERS_SEARCH_BASELINES_PRIORITY_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_baseline_pqueue_item {
    int64_t key;
    int number;
} mo_baseline_pqueue_item;

typedef struct mo_baseline_pqueue {
    mo_baseline_pqueue_item *items; /* a heap: the first is the least */
    size_t n, room;
} mo_baseline_pqueue;

mo_status mo_baseline_pqueue_push(mo_baseline_pqueue *queue, int64_t key,
                                  int number, mo_error *err);

/* Takes the first out of a queue that is not empty. */
mo_baseline_pqueue_item mo_baseline_pqueue_pop(mo_baseline_pqueue *queue);

void mo_baseline_pqueue_clear(mo_baseline_pqueue *queue);

#endif
