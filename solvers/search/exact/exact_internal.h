/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact_search.h - one exact search: what its parts share.
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

/* A use of a resource, as it stands. */
typedef struct mo_exact_use_state {
    const mo_exact_resource_use *use;
    int mode;        /* the one that is taken, or -1 while several are open */
    bool is_certain; /* the task holds the resource whatever is decided */
    int64_t head_ns, tail_ns, length_ns; /* the least of the open modes */
    int64_t longest_ns;                  /* of them */
} mo_exact_use_state;

/* How bounds from below are asked for: exact_ask.h. */
typedef struct mo_exact_destructive_bound {
    int64_t until;    /* so many conflicts */
    int64_t patience; /* conflicts for one question; 0: none yet */
    int shift;        /* part of the gap that is asked for */
} mo_exact_destructive_bound;

typedef struct mo_exact_search {
    mo_exact_core core;
    mo_exact_model model;

    /* Only what ends within the horizon is of interest: what is shorter than
     * the best so far.  If the literal tight is true, only within tight_ns. */
    int64_t horizon_ns, tight_ns;
    int tight; /* or MO_EXACT_NO_LITERAL */
    mo_exact_destructive_bound asking;

    bool *is_stale;               /* by resource: to be looked at */
    mo_exact_use_state *standing; /* scratch: the uses of a resource */
    int n_standing;
    int *by_head; /* scratch: certain ones, latest head first */

    struct mo_exact_lifetime_order *partings; /* exact_live.c */
    size_t n_partings, partings_room;
    struct mo_exact_buffer *holdings;
    size_t n_holdings, holdings_room;

    int *device;       /* by op: in the best schedule, to begin with */
    mo_schedule *best; /* or NULL */
    int64_t lower_ns;  /* no schedule is shorter */
    int64_t nodes;
    const mo_stop *stop;
    unsigned looks; /* at it, those that were spared too */
    bool is_stopped;
    mo_status status; /* of what cannot be said otherwise */
    mo_error *err;
} mo_exact_search;

/* What everything has to end within, as things stand. */
static inline int64_t mo_exact_limit_ns(const mo_exact_search *s)
{
    return s->tight != MO_EXACT_NO_LITERAL && s->core.truth[s->tight] > 0 &&
                   s->tight_ns < s->horizon_ns
               ? s->tight_ns
               : s->horizon_ns;
}

/* Adds to the facts why the limit is less than total_ns; returns by how much
 * the total exceeds it without need. */
int64_t mo_exact_explain_limit(mo_exact_search *s, int64_t total_ns);

/* Follows all that is known; false: conflict, with its facts.  Where times
 * creep up it stops before the end, which mo_exact_is_fixpoint tells, and goes
 * on the next time.  Once it is_stopped nothing more is followed. */
bool mo_exact_propagate(mo_exact_search *s);
bool mo_exact_is_fixpoint(const mo_exact_search *s);

/* Do tasks wait for each other in a circle that takes time?  Then the facts say
 * which. */
bool mo_exact_has_positive_cycle(mo_exact_search *s);

/* Everything is looked at again, as the horizon has come nearer. */
bool mo_exact_propagate_all(mo_exact_search *s);

/* Why an entry is on the trail, for those that only say where. */
void mo_exact_explain(void *context, const mo_exact_trail_entry *entry,
                      int number, int64_t value);

/* What is told by a resource that can be held by one at a time. */
bool mo_exact_propagate_disjunctive(mo_exact_search *s, int resource);

/* The uses of the resource into s->standing: n_standing of them. */
void mo_exact_collect_uses(mo_exact_search *s, int resource);

/* Adds to the facts why a use that is certain is so, with at least that head
 * and tail. */
void mo_exact_explain_use(mo_exact_search *s, const mo_exact_use_state *it,
                          int64_t head_ns, int64_t tail_ns);

/* Larger sets than two; part of mo_exact_propagate_disjunctive. */
bool mo_exact_propagate_edge_finding(mo_exact_search *s);

/* What memory leaves of the devices' places. */
bool mo_exact_propagate_memory(mo_exact_search *s);

/* The next decision, or MO_EXACT_NO_LITERAL when heads are a schedule. */
int mo_exact_next_decision(mo_exact_search *s);

/* The mode of the task that is taken, or -1. */
int mo_exact_chosen_mode(const mo_exact_search *s, int task);

/* With live memory, where the heads are a schedule: does it fit?  If not,
 * *literal is what to decide; or MO_EXACT_NO_LITERAL, and everything begins
 * anew with the knowledge that it does not, unless *goes_on is false: then
 * there is nothing else. */
bool mo_exact_enforce_live_memory(mo_exact_search *s, int *literal,
                                  bool *goes_on);

/* The schedule that the heads are. */
mo_status mo_exact_extract_schedule(const mo_exact_search *s,
                                    mo_schedule **schedule, mo_error *err);

#endif
