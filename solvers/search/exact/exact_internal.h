/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact_internal.h - state of one exact search, shared by its propagators,
 * branching and search loop.
 */
#ifndef MO_SOLVERS_SEARCH_EXACT_EXACT_INTERNAL_H
#define MO_SOLVERS_SEARCH_EXACT_EXACT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "schedule/schedule.h"
#include "solvers/search/exact/core.h"
#include "solvers/search/exact/task_model.h"

/* State of a resource use under the present assignment. */
typedef struct mo_exact_use_state {
    const mo_exact_use *use;
    int mode;        /* the selected mode, or -1 while several are open */
    bool is_certain; /* the task uses the resource in all open modes */
    int64_t head_ns, tail_ns, length_ns; /* minima over the open modes */
    int64_t longest_ns;                  /* maximum over them */
} mo_exact_use_state;

/* State of destructive bounding (exact.c). */
typedef struct mo_exact_destructive_bound {
    int64_t until;          /* conflict count at which the phase ends */
    int64_t conflict_limit; /* conflicts for one trial; 0: none yet */
    int gap_shift;          /* the trial is at 1 / 2^gap_shift of the gap */
} mo_exact_destructive_bound;

typedef struct mo_exact_search {
    mo_exact_core core;
    mo_exact_model model;

    /* Schedules must end within the horizon, one less than the best so far. If
     * the literal `trial` is true, within trial_ns. */
    int64_t horizon_ns, trial_ns;
    int trial; /* or MO_EXACT_NO_LITERAL */
    mo_exact_destructive_bound destructive;

    bool has_edge_finding; /* not switched off */

    bool *is_stale;                 /* by resource: to be propagated again */
    mo_exact_use_state *use_states; /* scratch buffer: the uses of a resource */
    int n_use_states;
    int *by_head; /* scratch buffer: certain ones, latest head first */

    struct mo_exact_lifetime_order *lifetime_orders; /* prop_live_memory.c */
    size_t n_lifetime_orders, lifetime_orders_room;
    struct mo_exact_buffer *buffers;
    size_t n_buffers, buffers_room;

    int *device;       /* by op: in the best schedule, as phase saving */
    mo_schedule *best; /* or NULL */
    int64_t lower_ns;  /* proven lower bound */
    int64_t nodes;
    const mo_stop *stop;
    unsigned stop_checks; /* calls, of which some check the clock */
    bool is_stopped;
    mo_status status; /* of failures inside callbacks */
    mo_error *err;
} mo_exact_search;

/* Returns the deadline of the schedule under the present assignment. */
static inline int64_t mo_exact_limit_ns(const mo_exact_search *s)
{
    return s->trial != MO_EXACT_NO_LITERAL && s->core.truth[s->trial] > 0 &&
                   s->trial_ns < s->horizon_ns
               ? s->trial_ns
               : s->horizon_ns;
}

/* Adds to the facts why total_ns exceeds the deadline; returns the slack by
 * which the explained total may be smaller. */
int64_t mo_exact_explain_limit(mo_exact_search *s, int64_t total_ns);

/* Propagates to a fixpoint. Returns false on a conflict, with its facts
 * collected. Where bounds grow very often it stops early
 * (mo_exact_is_fixpoint() returns false) and continues in the next call. Does
 * nothing more once s->is_stopped. */
bool mo_exact_propagate(mo_exact_search *s);
bool mo_exact_is_fixpoint(const mo_exact_search *s);

/* Propagates everything again after the horizon has shrunk. Returns false on a
 * conflict. */
bool mo_exact_propagate_all(mo_exact_search *s);

/* Callback of the core: explains a trail entry with a lazy reason. */
void mo_exact_explain(void *context, const mo_exact_trail_entry *entry,
                      int number, int64_t value);

/* Disjunctive propagator of a unary resource: pairs of uses, then edge
 * finding. Returns false on a conflict. */
bool mo_exact_propagate_disjunctive(mo_exact_search *s, int resource);

/* Stores the uses of the resource in s->use_states and their number in
 * n_use_states. */
void mo_exact_collect_uses(mo_exact_search *s, int resource);

/* Edge finding on the uses that mo_exact_collect_uses() stored. Returns false
 * on a conflict. */
bool mo_exact_propagate_edge_finding(mo_exact_search *s);

/* Adds to the facts why a certain use is certain, with at least that head and
 * tail. */
void mo_exact_explain_use(mo_exact_search *s, const mo_exact_use_state *it,
                          int64_t head_ns, int64_t tail_ns);

/* Propagator of static memory: packing of units on devices. Returns false on a
 * conflict. */
bool mo_exact_propagate_memory(mo_exact_search *s);

/* Branching: returns the next decision literal, or MO_EXACT_NO_LITERAL when
 * the heads are a schedule. */
int mo_exact_next_decision(mo_exact_search *s);

/* Returns the selected mode of the task, or -1. */
int mo_exact_chosen_mode(const mo_exact_search *s, int task);

/* Checks live memory when the heads are a schedule. Returns true if it fits.
 * If not, *literal is the next decision; where it is MO_EXACT_NO_LITERAL, a
 * clause was added and the search restarts, or *goes_on is false: the problem
 * is infeasible. */
bool mo_exact_enforce_live_memory(mo_exact_search *s, int *literal,
                                  bool *goes_on);

#endif
