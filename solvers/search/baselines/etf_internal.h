/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_parts.h - what choosing the next pair and committing to it share.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_ETF_INTERNAL_H
#define MO_SOLVERS_SEARCH_BASELINES_ETF_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/placement_units.h"
#include "solvers/search/baselines/etf.h"
#include "solvers/search/baselines/etf_memory.h"
#include "solvers/search/baselines/priority_queue.h"

/*
 * Those that wait for one device, by Kahn's places: until the device is free,
 * some of them have become startable, and of these the first place counts; of
 * the others the one that comes first.  What has been placed elsewhere
 * meanwhile is only thrown away when it gets to the front.
 */
typedef struct mo_baseline_etf_ready_queue {
    mo_baseline_pqueue
        later; /* by the time they can start, for all the device knows */
    mo_baseline_pqueue now; /* by place */
} mo_baseline_etf_ready_queue;

typedef struct mo_baseline_etf_device {
    int64_t free_ns;
    int last;                          /* op that it ran, or -1 */
    mo_baseline_etf_ready_queue ready; /* all that may go there */
    mo_baseline_etf_ready_queue
        urgent;         /* the same by when they become urgent */
    int awaited;        /* the favourite child looked at last, or -1 */
    int64_t awaited_ns; /* when that could start here */
} mo_baseline_etf_device;

typedef struct mo_baseline_etf {
    const mo_method_task *task;
    const mo_instance *x;
    const mo_baseline_etf_options *options;
    mo_placement_units *units;
    mo_baseline_etf_memory room;
    int *unit_device;   /* or MO_FREE */
    int *order, *place; /* Kahn's */
    int *waits;         /* by op: flows not yet made */
    int *open;          /* by op: devices that have not refused it */
    int *device, *rank; /* by op; MO_FREE until it is placed */
    int64_t *end_ns;
    bool *refused; /* by op and device, with memory only: it had no room */
    mo_baseline_etf_device *devices;
} mo_baseline_etf;

typedef struct mo_baseline_etf_choice {
    int op, device; /* op -1: none */
    int64_t start_ns;
} mo_baseline_etf_choice;

static inline bool mo_baseline_etf_checks_memory(const mo_baseline_etf *s)
{
    return s->options->memory && s->task->regime.memory != MO_MEMORY_NONE;
}

static inline int64_t mo_baseline_etf_index(const mo_baseline_etf *s, int op,
                                            int k)
{
    return (int64_t) op * s->x->n_devices + k;
}

static inline bool mo_baseline_etf_unit_is_placed(const mo_baseline_etf *s,
                                                  int op)
{
    return s->unit_device[s->units->of_op[op]] != MO_FREE;
}

/* Pins and groups that are placed leave one device. */
static inline bool mo_baseline_etf_is_allowed(const mo_baseline_etf *s, int op,
                                              int k)
{
    if (mo_baseline_etf_unit_is_placed(s, op))
        return s->unit_device[s->units->of_op[op]] == k;
    return !s->options->allowed ||
           s->options->allowed[mo_baseline_etf_index(s, op, k)];
}

static inline bool mo_baseline_etf_is_pending(const mo_baseline_etf *s, int op,
                                              int k)
{
    return s->device[op] == MO_FREE && mo_baseline_etf_is_allowed(s, op, k) &&
           !(s->refused && s->refused[mo_baseline_etf_index(s, op, k)]);
}

/* earliest_next.c */

/* op could be started now: it lines up wherever it may go. */
mo_status mo_baseline_etf_make_ready(mo_baseline_etf *s, int op, mo_error *err);

/* It lines up for one more device. */
mo_status mo_baseline_etf_enqueue(mo_baseline_etf *s, int op, int k,
                                  mo_error *err);

/* The pair that can start first; there is one while ops wait. */
mo_status mo_baseline_etf_select(mo_baseline_etf *s,
                                 mo_baseline_etf_choice *best, mo_error *err);

#endif
