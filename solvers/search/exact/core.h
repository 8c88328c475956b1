/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.h - solver core of lazy clause generation (Ohrimenko, Stuckey, Codish,
 * 2009): assignment trail, reasons, clause learning.
 *
 * There are two kinds of facts: a literal is true (2 v: variable v is true, 2
 * v + 1: it is false), or a bound, a time that only grows, is at least some
 * value. Facts are on one trail in the order of their derivation, each with
 * its reason, so that they can be undone. On a conflict the reasons are
 * resolved until only literals are left, all but one of them from before the
 * last decision level: the learnt clause (nogood). Only literals are decided,
 * so bounds never need to be part of a clause.
 */
#ifndef MO_SOLVERS_SEARCH_EXACT_CORE_H
#define MO_SOLVERS_SEARCH_EXACT_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { MO_EXACT_NO_LITERAL = -1 };

/* what: a literal that is true, or ~b: bound b is at least value. */
typedef struct mo_exact_fact {
    int what;
    int64_t value;
} mo_exact_fact;

typedef enum mo_exact_reason {
    MO_EXACT_REASON_DECISION,
    MO_EXACT_REASON_CLAUSE, /* reason_index: the clause */
    MO_EXACT_REASON_FACTS,  /* reason_index: the first of n_facts in `stored` */
    MO_EXACT_REASON_LAZY    /* explained on demand by mo_exact_core.explain */
} mo_exact_reason;

typedef struct mo_exact_trail_entry {
    int what; /* as in a fact */
    int level;
    int previous; /* of a bound: its previous entry, or -1 */
    mo_exact_reason reason;
    int reason_index, n_facts;
    int64_t value;
} mo_exact_trail_entry;

typedef struct mo_exact_clause {
    int first, n; /* range in `literals`; the first two are watched */
    int lbd;      /* literal block distance when learnt; 0: not learnt */
} mo_exact_clause;

typedef struct mo_exact_watch {
    int clause;
    int other; /* blocking literal: if true, the clause is satisfied */
} mo_exact_watch;

typedef struct mo_exact_watch_list {
    mo_exact_watch *list;
    size_t n, room;
} mo_exact_watch_list;

/* Clauses of the model, then learnt ones. */
typedef struct mo_exact_clause_db {
    mo_exact_clause *clauses;
    size_t n, room;
    size_t n_given; /* of the model */
    int *literals;
    size_t n_literals, literals_room;
} mo_exact_clause_db;

/* Buffers of conflict analysis. */
typedef struct mo_exact_analysis {
    int *learnt; /* literals of the clause in construction */
    size_t n_learnt, learnt_room;
    unsigned char *seen; /* by trail entry: marked */
    int64_t *needed;     /* by trail entry: value of the bound to explain */
    size_t seen_room, needed_room;
    int *level_seen; /* by level: count_number at which it was counted */
    size_t level_seen_room;
    int count_number;
} mo_exact_analysis;

typedef struct mo_exact_core mo_exact_core;

struct mo_exact_core {
    int n_variables;
    size_t variables_room;
    int8_t *truth;        /* by literal: 1, -1, or 0 while unassigned */
    int *entry_of;        /* by variable: on the trail, if assigned */
    double *activity;     /* by variable: VSIDS score */
    double activity_step; /* 0: activities are switched off */
    bool minimizes;       /* learnt clauses */
    mo_exact_watch_list
        *watches; /* by literal: clauses to visit when it becomes false */

    int n_bounds;
    int64_t *value, *root_value; /* by bound: now, and at level 0 */
    int *last_entry;             /* by bound: on the trail, or -1 */

    mo_exact_trail_entry *trail;
    size_t n_trail, trail_room;
    size_t n_propagated; /* trail entries that propagators have processed */
    int *level_start;    /* by level: its first entry */
    size_t n_levels, levels_room;

    mo_exact_clause_db db;

    mo_exact_fact *stored;
    size_t n_stored, stored_room;
    mo_exact_fact *facts; /* buffer: explanation or conflict in construction */
    size_t n_facts, facts_room;

    mo_exact_analysis analysis;

    /* Adds to the facts the explanation of a trail entry; value is what is
     * needed of a bound. */
    void (*explain)(void *context, const mo_exact_trail_entry *entry,
                    int number, int64_t value);
    void *context;
    bool out_of_memory; /* results since then are invalid */
};

/* Initializes an empty core. A core of zeros can be cleared too. */
void mo_exact_core_init(mo_exact_core *c);
void mo_exact_core_clear(mo_exact_core *c);

/* Allocates n_bounds bounds with value 0; called once. Returns MO_OK unless
 * memory runs out. */
mo_status mo_exact_core_add_bounds(mo_exact_core *c, int n_bounds,
                                   mo_error *err);

/* Returns the number of a new variable. */
int mo_exact_core_new_variable(mo_exact_core *c);

/* Returns 1, -1, or 0 while the literal is unassigned. */
static inline int mo_exact_core_truth(const mo_exact_core *c, int literal)
{
    return c->truth[literal];
}

/* Returns the present decision level. */
static inline int mo_exact_core_level(const mo_exact_core *c)
{
    return (int) c->n_levels;
}

/* Returns whether the literal is false and was so before that trail entry. */
static inline bool mo_exact_core_false_before(const mo_exact_core *c,
                                              int literal, int number)
{
    return c->truth[literal] < 0 && c->entry_of[literal >> 1] < number;
}

/* Returns the value of the bound before that trail entry. */
int64_t mo_exact_core_bound_before(const mo_exact_core *c, int bound,
                                   int number);

/* Adds a clause at level 0. Returns false if it contradicts the assignment
 * there. */
bool mo_exact_core_add_root_clause(mo_exact_core *c, const int *literals,
                                   int n);

/* Collect an explanation. Facts of level 0 are left out. */
void mo_exact_core_clear_facts(mo_exact_core *c);
void mo_exact_explain_literal(mo_exact_core *c, int literal);
void mo_exact_explain_bound(mo_exact_core *c, int bound, int64_t value);

/* Make a literal true, or raise a bound to a value; with a reason that is
 * explained on demand, or with the collected facts, which are copied. Return
 * false if the literal is false already; then the facts are the conflict. */
bool mo_exact_core_imply(mo_exact_core *c, int literal, mo_exact_reason reason,
                         int reason_index);
bool mo_exact_core_imply_by_facts(mo_exact_core *c, int literal);
void mo_exact_core_raise_bound(mo_exact_core *c, int bound, int64_t value,
                               mo_exact_reason reason, int reason_index);
void mo_exact_core_raise_bound_by_facts(mo_exact_core *c, int bound,
                                        int64_t value);

/* Unit propagation for a literal that has become true, by watched literals.
 * Returns false on a conflict, with its facts collected. */
bool mo_exact_core_propagate_clauses(mo_exact_core *c, int literal);

/* Opens a decision level with that literal; mo_exact_core_backtrack() undoes
 * all levels above `level`. */
void mo_exact_core_decide(mo_exact_core *c, int literal);
void mo_exact_core_backtrack(mo_exact_core *c, int level);

/* Conflict analysis: learns a clause from the collected facts (first unique
 * implication point), backjumps to where it is unit, and asserts its literal.
 * Returns false if the conflict is at level 0: the problem is infeasible. */
bool mo_exact_core_analyze_conflict(mo_exact_core *c);

/* At level 0: deletes the worse half of the learnt clauses. */
void mo_exact_core_reduce_clauses(mo_exact_core *c);

/* Internal to core.c and conflict.c: stores a clause of two or more literals
 * and returns its number, -1 if memory runs out. */
int mo_exact_core_store_clause(mo_exact_core *c, const int *literals, size_t n,
                               int lbd);

/* Internal: adds the first two literals to the watch lists. */
void mo_exact_core_watch_clause(mo_exact_core *c, int clause);

#endif
