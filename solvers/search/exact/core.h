/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact_core.h - the reasoning part of the exact search: what is known, why,
 * and what is learnt from a dead end.
 *
 * Two kinds of facts: a literal is true (2 v says that variable v is, 2 v + 1
 * that it is not), or a bound, a time that only grows, is at least some value.
 * Facts stand on one trail in the order in which they became known, each with
 * the reason for it, so that they can be taken back.  Where facts contradict
 * each other, the reasons are followed back until only literals are left, all
 * but one of them from before the last decision: a clause that is learnt.  Only
 * literals are decided, so bounds never need to be part of a clause.  (Lazy
 * clause generation: Ohrimenko, Stuckey, Codish, 2009.)
 */
#ifndef MO_SOLVERS_SEARCH_EXACT_CORE_H
#define MO_SOLVERS_SEARCH_EXACT_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { MO_EXACT_NO_LITERAL = -1 };

/* what is a literal that is true, or ~b: bound b is at least value. */
typedef struct mo_exact_fact {
    int what;
    int64_t value;
} mo_exact_fact;

typedef enum mo_exact_reason {
    MO_EXACT_REASON_DECISION,
    MO_EXACT_REASON_CLAUSE, /* at: the clause */
    MO_EXACT_REASON_FACTS,  /* at: the first of n_facts that are stored */
    MO_EXACT_REASON_LAZY /* at: whoever made it knows, mo_exact_core.explain */
} mo_exact_reason;

typedef struct mo_exact_trail_entry {
    int what; /* as in a fact */
    int level;
    int before; /* of a bound: its entry before this, or -1 */
    mo_exact_reason why;
    int at, n_facts;
    int64_t value;
} mo_exact_trail_entry;

typedef struct mo_exact_clause {
    int first, n; /* its literals; the first two are watched */
    int spread;   /* how many levels met in it when it was learnt; 0: given */
} mo_exact_clause;

typedef struct mo_exact_watch {
    int clause;
    int other; /* some other literal of it: if true, there is nothing to do */
} mo_exact_watch;

typedef struct mo_exact_watch_list {
    mo_exact_watch *list;
    size_t n, room;
} mo_exact_watch_list;

typedef struct mo_exact_core mo_exact_core;

struct mo_exact_core {
    int n_variables;
    size_t variables_room;
    signed char *truth; /* by literal: 1, -1, or 0 while open */
    int *entry_of;      /* by variable: on the trail, while not open */
    double *activity;   /* by variable: how much it had to do with conflicts */
    double activity_step;
    mo_exact_watch_list
        *watches; /* by literal: clauses to look at when it is false */

    int n_bounds;
    int64_t *value, *root_value; /* by bound: now, and without any decision */
    int *last_entry;             /* by bound: on the trail, or -1 */

    mo_exact_trail_entry *trail;
    size_t n_trail, trail_room;
    size_t n_propagated; /* of the trail, by whoever works it off */
    int *level_start;    /* by level: its first entry */
    size_t n_levels, levels_room;

    mo_exact_clause *clauses;
    size_t n_clauses, clauses_room;
    size_t n_given; /* the first ones are not learnt */
    int *literals;
    size_t n_literals, literals_room;

    mo_exact_fact *stored;
    size_t n_stored, stored_room;
    mo_exact_fact *facts; /* being collected: a reason, or a conflict */
    size_t n_facts, facts_room;

    int *learnt; /* literals */
    size_t n_learnt, learnt_room;
    unsigned char *seen; /* by entry of the trail */
    int64_t *needed;     /* by entry: what a bound was asked for */
    size_t seen_room, needed_room;
    int *level_seen; /* by level: when it was last counted */
    size_t level_seen_room;
    int count_number;

    /* Adds to the facts what entry follows from; value is what is needed of a
     * bound. */
    void (*explain)(void *context, const mo_exact_trail_entry *entry,
                    int number, int64_t value);
    void *context;
    bool out_of_memory; /* nothing that happened since counts */
};

/* Nothing is known in a core that is all zeros, and it can be closed. */
void mo_exact_core_init(mo_exact_core *c);
void mo_exact_core_clear(mo_exact_core *c);

/* That many bounds, all 0; once. */
mo_status mo_exact_core_add_bounds(mo_exact_core *c, int n_bounds,
                                   mo_error *err);

/* The number of a new variable. */
int mo_exact_core_new_variable(mo_exact_core *c);

static inline int mo_exact_core_truth(const mo_exact_core *c, int literal)
{
    return c->truth[literal];
}

static inline int mo_exact_core_level(const mo_exact_core *c)
{
    return (int) c->n_levels;
}

/* Is the literal false, and was it so before that entry of the trail? */
static inline bool mo_exact_core_false_before(const mo_exact_core *c,
                                              int literal, int number)
{
    return c->truth[literal] < 0 && c->entry_of[literal >> 1] < number;
}

/* What the bound was before that entry of the trail. */
int64_t mo_exact_core_bound_before(const mo_exact_core *c, int bound,
                                   int number);

/* A clause that always holds, to be given before anything is decided; false
 * when it contradicts what is known for good. */
bool mo_exact_core_add_root_clause(mo_exact_core *c, const int *literals,
                                   int n);

/* Collects facts.  Those that hold without any decision are left out. */
void mo_exact_core_clear_facts(mo_exact_core *c);
void mo_exact_core_add_literal_fact(mo_exact_core *c, int literal);
void mo_exact_core_add_bound_fact(mo_exact_core *c, int bound, int64_t value);

/* The literal is true, or the bound at least value; for a reason that will be
 * asked for by its number, or because of the facts that were collected, which
 * stay.  False: the literal is false already, and the facts are a conflict. */
bool mo_exact_core_imply(mo_exact_core *c, int literal, mo_exact_reason why,
                         int at);
bool mo_exact_core_imply_by_facts(mo_exact_core *c, int literal);
void mo_exact_core_raise_bound(mo_exact_core *c, int bound, int64_t value,
                               mo_exact_reason why, int at);
void mo_exact_core_raise_bound_by_facts(mo_exact_core *c, int bound,
                                        int64_t value);

/* What clauses say when a literal has become true; false: conflict. */
bool mo_exact_core_propagate_clauses(mo_exact_core *c, int literal);

/* A new level, with that literal. */
void mo_exact_core_decide(mo_exact_core *c, int literal);
void mo_exact_core_backtrack(mo_exact_core *c, int level);

/* Out of the facts of a conflict: learns a clause, goes back to where it says
 * something, and says it.  False: there is no way out. */
bool mo_exact_core_analyze_conflict(mo_exact_core *c);

/* At level 0: forgets the worse half of what was learnt. */
void mo_exact_core_reduce_clauses(mo_exact_core *c);

#endif
