/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cyclic_order.h - cyclic schedule of the tasks of a placement as a graph with
 * heights (Hanen and Munier, 1995): ops and transfers are tasks, and every
 * device, port, channel or link repeats its tasks in a cyclic order.
 *
 *     precedence      start_b >= start_a + ns_a
 *     next in order   start_b >= start_a + ns_a - height * period
 *
 * The heights of a resource sum to 1: its tasks take one turn a period.  For
 * given orders and heights the earliest starts are longest paths, and the least
 * period is the largest ratio of length to height of a cycle.
 */
#ifndef MO_SCHEDULE_PERIOD_CYCLIC_ORDER_H
#define MO_SCHEDULE_PERIOD_CYCLIC_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/schedule.h"

/* A task on a resource that it holds, linked into the resource's order. */
typedef struct mo_cyclic_member {
    int task, resource;
    int next, prev; /* members */
    int64_t height; /* of the arc to the next */
} mo_cyclic_member;

/* Op i is task i, with the overheads of its transfers (loads.h) before and
 * after it; transfer t of the schedule is task n_ops + t.  Tasks of no length
 * hold nothing. */
typedef struct mo_cyclic_order {
    const mo_instance *x;
    int n_ops, n, n_resources; /* n: tasks; resources: devices first */
    int64_t period_ns;
    int64_t *ns, *start_ns; /* by task */
    int64_t *deadline_ns;   /* by task: the latest start for insertions */
    int *succ, *succ_start; /* precedence, in compressed rows */
    int *pred, *pred_start;
    mo_cyclic_member *members;
    int *member_start; /* of a task */
    int *hint;         /* by resource: a member in its order; -1: none */
    bool *is_in;       /* by task: inserted */
    bool is_packing;   /* insertions disregard precedences */
    int64_t work;      /* steps made so far, for limits of effort */

    /* Work space.  The parent of a task is the one whose end set its start, by
     * the arc of that member, or by a precedence, -1.  The queue is a ring of
     * tasks to relax (insertion), or the order in which all are.  Tasks whose
     * mark is n_marks are those of the current pass. */
    int *queue, *parent, *parent_member;
    bool *is_queued;
    int *changed, n_changed;
    int64_t *before_ns; /* of the changed tasks */
    int64_t *mark, n_marks;
} mo_cyclic_order;

/* Makes the tasks of the schedule's placement, none inserted, without
 * deadlines.  x must outlive *c.  The caller clears *c, also after a failure.
 */
mo_status mo_cyclic_order_init(mo_cyclic_order *c, const mo_instance *x,
                               const mo_schedule *s, mo_error *err);
void mo_cyclic_order_clear(mo_cyclic_order *c);

/* Takes all tasks out; the period is that of the tasks to come. */
void mo_cyclic_order_reset(mo_cyclic_order *c, int64_t period_ns);

/* Inserts all tasks with the times of a schedule that is valid with the
 * period. */
mo_status mo_cyclic_order_import(mo_cyclic_order *c, const mo_schedule *s,
                                 int64_t period_ns, mo_error *err);

/* Inserts a task whose predecessors are in: between two tasks, the later one
 * and those behind it pushed, or into the first idle time.  Returns false where
 * there is no place before its deadline, or none without a cycle of positive
 * length or a start after its deadline; nothing has changed then. */
bool mo_cyclic_order_insert(mo_cyclic_order *c, int task);

/* Inserts a task for which others are taken out (ejection): at the time within
 * a period of its earliest, and before its deadline, at which the penalties,
 * by task, of those in the way are least.  Raises the task's own penalty.
 * Fills ejected with the tasks taken out and returns their number; it has room
 * for all members, arcs and resources. */
int mo_cyclic_order_force(mo_cyclic_order *c, int task, int64_t *penalty,
                          int *ejected);

/* Moves a task in the orders of its resources to where at_ns falls; the starts
 * are those before, and not valid after it. */
void mo_cyclic_order_move(mo_cyclic_order *c, int task, int64_t at_ns);

/* Sets the period to the least for the orders and heights that is at least
 * least_ns, with a request done within max_in_flight periods (0: no limit), and
 * all starts to the earliest.  All tasks are in.  *fits becomes false, period
 * and starts undefined, where no period keeps that limit. */
mo_status mo_cyclic_order_compact(mo_cyclic_order *c, int64_t least_ns,
                                  int max_in_flight, bool *fits, mo_error *err);

/* Local search over orders and heights for a latency of at most target_ns, at
 * the period; all tasks are in.  Ends when c->work reaches the limit.  Sets the
 * orders and heights to the best found and all starts to the earliest.  tail_ns
 * as of mo_cyclic_order_tails(). */
mo_status mo_cyclic_order_shorten(mo_cyclic_order *c, const int64_t *tail_ns,
                                  int64_t target_ns, int64_t limit,
                                  mo_error *err);

/* Returns the end of the last predecessor of a task; 0: it has none. */
int64_t mo_cyclic_order_ready_ns(const mo_cyclic_order *c, int task);

/* Fills c->queue with all tasks by their starts, so that most arcs lead
 * forward. */
mo_status mo_cyclic_order_sort_queue(mo_cyclic_order *c, mo_error *err);

/* Returns the end of the last op. */
int64_t mo_cyclic_order_latency_ns(const mo_cyclic_order *c);

/* Fills tail_ns, by task, with the longest path of precedences from its start
 * to the end of an op; returns the longest of all.  order has all tasks, in a
 * topological order. */
int64_t mo_cyclic_order_tails(const mo_cyclic_order *c, const int *order,
                              int64_t *tail_ns);

/* Sets *bound_ns to a lower bound of the latency with any period: the longest
 * path; of a resource, what it does from some time on, with the longest paths
 * before and the shortest behind (the one-machine bound).  order and tail_ns as
 * above. */
mo_status mo_cyclic_order_latency_bound(const mo_cyclic_order *c,
                                        const int *order,
                                        const int64_t *tail_ns,
                                        int64_t *bound_ns, mo_error *err);

/* Copies the times into a schedule of the same placement. */
void mo_cyclic_order_export(const mo_cyclic_order *c, mo_schedule *s);

#endif
