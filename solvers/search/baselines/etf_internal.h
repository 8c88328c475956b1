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
typedef struct mo_earliest_lineup {
    mo_queue later; /* by the time they can start, for all the device knows */
    mo_queue now;   /* by place */
} mo_earliest_lineup;

typedef struct mo_earliest_device {
    int64_t free_ns;
    int last;                  /* op that it ran, or -1 */
    mo_earliest_lineup ready;  /* all that may go there */
    mo_earliest_lineup urgent; /* the same by when they become urgent */
    int awaited;               /* the favourite child looked at last, or -1 */
    int64_t awaited_ns;        /* when that could start here */
} mo_earliest_device;

typedef struct mo_earliest {
    const mo_task *task;
    const mo_instance *x;
    const mo_earliest_options *options;
    mo_units *units;
    mo_room room;
    int *unit_device;   /* or MO_FREE */
    int *order, *place; /* Kahn's */
    int *waits;         /* by op: flows not yet made */
    int *open;          /* by op: devices that have not refused it */
    int *device, *rank; /* by op; MO_FREE until it is placed */
    int64_t *end_ns;
    bool *refused; /* by op and device, with memory only: it had no room */
    mo_earliest_device *devices;
} mo_earliest;

typedef struct mo_earliest_pair {
    int op, device; /* op -1: none */
    int64_t start_ns;
} mo_earliest_pair;

static inline bool mo_earliest_looks_at_memory(const mo_earliest *s)
{
    return s->options->memory && s->task->regime.memory != MO_MEMORY_NONE;
}

static inline int64_t mo_earliest_cell(const mo_earliest *s, int op, int k)
{
    return (int64_t) op * s->x->n_devices + k;
}

static inline bool mo_earliest_is_settled(const mo_earliest *s, int op)
{
    return s->unit_device[s->units->of_op[op]] != MO_FREE;
}

/* Pins and groups that are placed leave one device. */
static inline bool mo_earliest_may_go(const mo_earliest *s, int op, int k)
{
    if (mo_earliest_is_settled(s, op))
        return s->unit_device[s->units->of_op[op]] == k;
    return !s->options->allowed ||
           s->options->allowed[mo_earliest_cell(s, op, k)];
}

static inline bool mo_earliest_is_waiting(const mo_earliest *s, int op, int k)
{
    return s->device[op] == MO_FREE && mo_earliest_may_go(s, op, k) &&
           !(s->refused && s->refused[mo_earliest_cell(s, op, k)]);
}

/* earliest_next.c */

/* op could be started now: it lines up wherever it may go. */
mo_status mo_earliest_make_ready(mo_earliest *s, int op, mo_error *err);

/* It lines up for one more device. */
mo_status mo_earliest_line_up(mo_earliest *s, int op, int k, mo_error *err);

/* The pair that can start first; there is one while ops wait. */
mo_status mo_earliest_find_next(mo_earliest *s, mo_earliest_pair *best,
                                mo_error *err);

#endif
