/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conflict analysis (1-UIP clause learning, Marques-Silva and Sakallah 1999)
 * and the database of learnt clauses (nogoods). The facts of the conflict are
 * marked on the trail, and from its end on each marked fact is replaced by its
 * explanation, until one literal of the conflict level is left and all others
 * are literals of lower levels. Bounds are always replaced; of a bound that
 * grew further than needed, the entry where it first sufficed is marked, and
 * only the needed value is explained.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "solvers/search/exact/core.h"

#define ACTIVITY_GROWTH (1 / 0.95)
#define MAX_ACTIVITY    1e100

enum { KEPT_LBD = 2 }; /* such clauses are never deleted (glue clauses) */

typedef struct analysis {
    int level;          /* of the conflict */
    int n_current;      /* marked entries of that level still to resolve */
    int n_older_bounds; /* marked bounds of lower levels */
    int position;       /* trail entry */
} analysis;

static bool reserve_marks(mo_exact_core *c)
{
    size_t room = c->trail_room;

    if (c->analysis.seen_room < room &&
        mo_array_reserve((void **) &c->analysis.seen, &c->analysis.seen_room,
                         room, sizeof *c->analysis.seen, NULL) != MO_OK)
        return false;
    if (c->analysis.needed_room < room &&
        mo_array_reserve((void **) &c->analysis.needed,
                         &c->analysis.needed_room, room,
                         sizeof *c->analysis.needed, NULL) != MO_OK)
        return false;
    return c->analysis.learnt_room > c->n_trail ||
           mo_array_reserve((void **) &c->analysis.learnt,
                            &c->analysis.learnt_room, c->n_trail + 1,
                            sizeof *c->analysis.learnt, NULL) == MO_OK;
}

/* Returns the entry before that one which made the fact true. */
static int find_fact_entry(const mo_exact_core *c, const mo_exact_fact *fact,
                           int before)
{
    int e;

    if (fact->what >= 0)
        return c->entry_of[fact->what >> 1];
    e = c->last_entry[~fact->what];
    while (e >= before)
        e = c->trail[e].previous;
    while (c->trail[e].previous >= 0 &&
           c->trail[c->trail[e].previous].value >= fact->value)
        e = c->trail[e].previous;
    assert(c->trail[e].value >= fact->value);
    return e;
}

static void mark_fact(mo_exact_core *c, analysis *w, const mo_exact_fact *fact)
{
    int e = find_fact_entry(c, fact, w->position);
    const mo_exact_trail_entry *entry = &c->trail[e];

    assert(e < w->position);
    if (entry->level == 0)
        return;
    if (c->analysis.seen[e]) {
        if (fact->value > c->analysis.needed[e])
            c->analysis.needed[e] = fact->value;
        return;
    }
    c->analysis.seen[e] = 1;
    c->analysis.needed[e] = fact->value;
    if (entry->what >= 0) {
        int variable = entry->what >> 1;

        c->activity[variable] += c->activity_step;
        if (!(c->activity[variable] <= MAX_ACTIVITY)) {
            for (int v = 0; v < c->n_variables; v++)
                c->activity[v] /= MAX_ACTIVITY;
            c->activity_step /= MAX_ACTIVITY;
        }
    }
    if (entry->level == w->level)
        w->n_current++;
    else if (entry->what < 0)
        w->n_older_bounds++;
    else
        c->analysis.learnt[c->analysis.n_learnt++] = entry->what ^ 1;
}

static void mark_facts(mo_exact_core *c, analysis *w,
                       const mo_exact_fact *facts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mark_fact(c, w, &facts[i]);
}

/* Marks the explanation of the entry at w->position. */
static void mark_reasons(mo_exact_core *c, analysis *w)
{
    const mo_exact_trail_entry *entry = &c->trail[w->position];
    const mo_exact_clause *clause;

    switch (entry->reason) {
    case MO_EXACT_REASON_DECISION:
        assert(!"a decision has no reason");
        break;
    case MO_EXACT_REASON_CLAUSE:
        clause = &c->db.clauses[entry->reason_index];
        for (int i = 0; i < clause->n; i++) {
            int literal = c->db.literals[clause->first + i];

            if (literal != entry->what)
                mark_fact(c, w, &(mo_exact_fact){ literal ^ 1, 0 });
        }
        break;
    case MO_EXACT_REASON_FACTS:
        mark_facts(c, w, c->stored + entry->reason_index,
                   (size_t) entry->n_facts);
        break;
    case MO_EXACT_REASON_LAZY:
        mo_exact_core_clear_facts(c);
        c->explain(c->context, entry, w->position,
                   c->analysis.needed[w->position]);
        mark_facts(c, w, c->facts, c->n_facts);
        break;
    }
}

/* Resolves to the first unique implication point and fills learnt: its
 * negation, then the literals of lower levels. Returns false if the conflict
 * follows from lower levels alone; then its facts are those. */
static bool resolve_to_uip(mo_exact_core *c, int level)
{
    analysis w = { .level = level, .position = (int) c->n_trail };

    c->analysis.n_learnt = 1;
    mark_facts(c, &w, c->facts, c->n_facts);
    c->analysis.learnt[0] = MO_EXACT_NO_LITERAL;
    while (c->analysis.learnt[0] == MO_EXACT_NO_LITERAL ||
           w.n_older_bounds > 0) {
        const mo_exact_trail_entry *entry = &c->trail[--w.position];
        bool at_level = entry->level == level;

        if (!c->analysis.seen[w.position])
            continue;
        if (at_level && w.n_current == 1 && entry->what >= 0) {
            c->analysis.learnt[0] = entry->what ^ 1;
            continue;
        }
        if (!at_level && entry->what >= 0)
            continue;
        mark_reasons(c, &w);
        c->analysis.seen[w.position] = 0;
        if (!at_level) {
            w.n_older_bounds--;
        } else if (--w.n_current == 0) {
            /* Stores the marked facts as the conflict. */
            mo_exact_core_clear_facts(c);
            for (int e = 0; e < w.position; e++)
                if (c->analysis.seen[e] && c->trail[e].what >= 0)
                    mo_exact_explain_literal(c, c->trail[e].what);
                else if (c->analysis.seen[e])
                    mo_exact_explain_bound(c, ~c->trail[e].what,
                                           c->analysis.needed[e]);
            return false;
        }
    }
    return true;
}

static int literal_level(const mo_exact_core *c, int literal)
{
    return c->trail[c->entry_of[literal >> 1]].level;
}

/* Returns whether a literal is implied by the others of the clause (local
 * minimization). */
static bool is_redundant(const mo_exact_core *c, int literal)
{
    const mo_exact_trail_entry *entry = &c->trail[c->entry_of[literal >> 1]];
    const mo_exact_clause *clause;

    if (entry->reason != MO_EXACT_REASON_CLAUSE)
        return false;
    clause = &c->db.clauses[entry->reason_index];
    for (int i = 0; i < clause->n; i++) {
        int other = c->db.literals[clause->first + i];

        if (other >> 1 != literal >> 1 && literal_level(c, other) > 0 &&
            !c->analysis.seen[c->entry_of[other >> 1]])
            return false;
    }
    return true;
}

/* Moves a literal of the second highest level to position 1 and returns that
 * level. */
static int find_backjump_level(mo_exact_core *c)
{
    size_t best = 1;
    int kept;

    if (c->analysis.n_learnt == 1)
        return 0;
    for (size_t i = 2; i < c->analysis.n_learnt; i++)
        if (literal_level(c, c->analysis.learnt[i]) >
            literal_level(c, c->analysis.learnt[best]))
            best = i;
    kept = c->analysis.learnt[1];
    c->analysis.learnt[1] = c->analysis.learnt[best];
    c->analysis.learnt[best] = kept;
    return literal_level(c, c->analysis.learnt[1]);
}

static int compute_lbd(mo_exact_core *c)
{
    int n = 0;

    if (c->analysis.level_seen_room < c->n_levels + 1) {
        size_t old = c->analysis.level_seen_room;

        if (mo_array_reserve((void **) &c->analysis.level_seen,
                             &c->analysis.level_seen_room, c->n_levels + 1,
                             sizeof *c->analysis.level_seen, NULL) != MO_OK) {
            c->out_of_memory = true;
            return 1;
        }
        for (; old < c->analysis.level_seen_room; old++)
            c->analysis.level_seen[old] = 0;
    }
    c->analysis.count_number++;
    for (size_t i = 0; i < c->analysis.n_learnt; i++) {
        int level = literal_level(c, c->analysis.learnt[i]);

        n += c->analysis.level_seen[level] != c->analysis.count_number;
        c->analysis.level_seen[level] = c->analysis.count_number;
    }
    return n;
}

/* Backtracks to the level of the conflict and derives the learnt clause.
 * Returns false at level 0, or when memory runs out. */
static bool derive_clause(mo_exact_core *c)
{
    int level;

    do {
        if (c->out_of_memory)
            return false;
        level = 0;
        for (size_t i = 0; i < c->n_facts; i++) {
            int e = find_fact_entry(c, &c->facts[i], (int) c->n_trail);

            if (c->trail[e].level > level)
                level = c->trail[e].level;
        }
        if (level == 0)
            return false;
        mo_exact_core_backtrack(c, level);
        if (!reserve_marks(c))
            return !(c->out_of_memory = true);
        for (size_t i = 0; i < c->n_trail; i++)
            c->analysis.seen[i] = 0;
    } while (!resolve_to_uip(c, level));
    return true;
}

bool mo_exact_core_analyze_conflict(mo_exact_core *c)
{
    int lbd, clause = 0;

    if (!derive_clause(c))
        return false;
    if (c->minimizes) {
        size_t n = c->analysis.n_learnt, kept = 1;

        for (size_t i = 1; i < n; i++) {
            int literal = c->analysis.learnt[i];

            /* It stays marked: what it implies the others imply. */
            if (is_redundant(c, literal))
                continue;
            c->analysis.learnt[kept++] = literal;
        }
        c->analysis.n_learnt = kept;
    }
    c->activity_step *= ACTIVITY_GROWTH;
    lbd = compute_lbd(c);
    mo_exact_core_backtrack(c, find_backjump_level(c));
    if (c->analysis.n_learnt > 1)
        clause = mo_exact_core_store_clause(c, c->analysis.learnt,
                                            c->analysis.n_learnt, lbd);
    if (c->out_of_memory)
        return false;
    return mo_exact_core_imply(c, c->analysis.learnt[0], MO_EXACT_REASON_CLAUSE,
                               clause);
}

/* Deletion order: high LBD first, then long clauses (Audemard and Simon
 * 2009). */
static bool is_worse(const mo_exact_clause *a, const mo_exact_clause *b)
{
    return a->lbd != b->lbd ? a->lbd > b->lbd : a->n > b->n;
}

static int compare_clauses(const void *a, const void *b)
{
    const mo_exact_clause *v = a, *w = b;

    if (is_worse(v, w) != is_worse(w, v))
        return is_worse(v, w) ? 1 : -1;
    return (v->first < w->first) - (v->first > w->first);
}

static void compact_literals(mo_exact_core *c)
{
    int *moved = malloc((c->db.n_literals + 1) * sizeof *moved);
    size_t n = 0;

    if (!moved) {
        c->out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < c->db.n; i++) {
        mo_exact_clause *clause = &c->db.clauses[i];

        for (int j = 0; j < clause->n; j++)
            moved[n + (size_t) j] = c->db.literals[clause->first + j];
        clause->first = (int) n;
        n += (size_t) clause->n;
    }
    free(c->db.literals);
    c->db.literals = moved;
    c->db.literals_room = c->db.n_literals + 1;
    c->db.n_literals = n;
}

void mo_exact_core_reduce_clauses(mo_exact_core *c)
{
    size_t n = c->db.n - c->db.n_given;
    mo_exact_clause *learnt = c->db.clauses + c->db.n_given;
    size_t kept = n / 2;

    assert(c->n_levels == 0);
    if (n < 2)
        return;
    qsort(learnt, n, sizeof *learnt, compare_clauses);
    while (kept < n && learnt[kept].lbd <= KEPT_LBD)
        kept++;
    c->db.n = c->db.n_given + kept;
    compact_literals(c);
    for (int l = 0; l < 2 * c->n_variables; l++)
        c->watches[l].n = 0;
    for (size_t i = 0; i < c->db.n && !c->out_of_memory; i++)
        mo_exact_core_watch_clause(c, (int) i);
}
