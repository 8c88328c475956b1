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

typedef struct mo_queued {
    int64_t key;
    int number;
} mo_queued;

typedef struct mo_queue {
    mo_queued *items; /* a heap: the first is the least */
    size_t n, room;
} mo_queue;

mo_status mo_queue_push(mo_queue *queue, int64_t key, int number,
                        mo_error *err);

/* Takes the first out of a queue that is not empty. */
mo_queued mo_queue_pop(mo_queue *queue);

void mo_queue_clear(mo_queue *queue);

#endif
