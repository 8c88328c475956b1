/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a conflict back to a clause: the facts that contradict each other are
 * marked on the trail, and from its end on each marked fact is replaced by
 * those that it follows from, until one literal of the last level is left and
 * all the others are literals of levels before.  Bounds are always replaced; of
 * one that grew further than needed, the entry where it first was enough is
 * marked, and only as much as was needed is explained.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "solvers/search/exact/core.h"
#include "solvers/search/exact/core_internal.h"

#define ACTIVITY_GROWTH (1 / 0.95)
#define ACTIVITY_MOST   1e100

enum { KEPT_SPREAD = 2 }; /* clauses that are never forgotten */

typedef struct walk {
    int level;   /* of the conflict */
    int n_level; /* marked entries of that level that are still to come */
    int n_bound; /* marked bounds of levels before */
    int at;      /* entry of the trail */
} walk;

static bool reserve(mo_exact_core *c)
{
    size_t room = c->trail_room;

    if (c->seen_room < room &&
        mo_array_reserve((void **) &c->seen, &c->seen_room, room,
                         sizeof *c->seen, NULL) != MO_OK)
        return false;
    if (c->needed_room < room &&
        mo_array_reserve((void **) &c->needed, &c->needed_room, room,
                         sizeof *c->needed, NULL) != MO_OK)
        return false;
    return c->learnt_room > c->n_trail ||
           mo_array_reserve((void **) &c->learnt, &c->learnt_room,
                            c->n_trail + 1, sizeof *c->learnt, NULL) == MO_OK;
}

/* The entry, before that one, which made the fact true. */
static int entry_of(const mo_exact_core *c, const mo_exact_fact *fact,
                    int before)
{
    int e;

    if (fact->what >= 0)
        return c->entry_of[fact->what >> 1];
    e = c->last_entry[~fact->what];
    while (e >= before)
        e = c->trail[e].before;
    while (c->trail[e].before >= 0 &&
           c->trail[c->trail[e].before].value >= fact->value)
        e = c->trail[e].before;
    assert(c->trail[e].value >= fact->value);
    return e;
}

static void bump(mo_exact_core *c, int variable)
{
    c->activity[variable] += c->activity_step;
    if (c->activity[variable] <= ACTIVITY_MOST)
        return;
    for (int v = 0; v < c->n_variables; v++)
        c->activity[v] /= ACTIVITY_MOST;
    c->activity_step /= ACTIVITY_MOST;
}

static void mark(mo_exact_core *c, walk *w, const mo_exact_fact *fact)
{
    int e = entry_of(c, fact, w->at);
    const mo_exact_trail_entry *entry = &c->trail[e];

    assert(e < w->at);
    if (entry->level == 0)
        return;
    if (c->seen[e]) {
        if (fact->value > c->needed[e])
            c->needed[e] = fact->value;
        return;
    }
    c->seen[e] = 1;
    c->needed[e] = fact->value;
    if (entry->what >= 0)
        bump(c, entry->what >> 1);
    if (entry->level == w->level)
        w->n_level++;
    else if (entry->what < 0)
        w->n_bound++;
    else
        c->learnt[c->n_learnt++] = entry->what ^ 1;
}

static void mark_facts(mo_exact_core *c, walk *w, const mo_exact_fact *facts,
                       size_t n)
{
    for (size_t i = 0; i < n; i++)
        mark(c, w, &facts[i]);
}

static void mark_clause(mo_exact_core *c, walk *w,
                        const mo_exact_trail_entry *entry)
{
    const mo_exact_clause *clause = &c->clauses[entry->at];

    for (int i = 0; i < clause->n; i++) {
        int literal = c->literals[clause->first + i];

        if (literal != entry->what)
            mark(c, w, &(mo_exact_fact){ literal ^ 1, 0 });
    }
}

/* Marks what the entry at w->at follows from. */
static void mark_reasons(mo_exact_core *c, walk *w)
{
    const mo_exact_trail_entry *entry = &c->trail[w->at];

    switch (entry->why) {
    case MO_EXACT_REASON_DECISION:
        assert(!"a decision has no reason");
        break;
    case MO_EXACT_REASON_CLAUSE:
        mark_clause(c, w, entry);
        break;
    case MO_EXACT_REASON_FACTS:
        mark_facts(c, w, c->stored + entry->at, (size_t) entry->n_facts);
        break;
    case MO_EXACT_REASON_LAZY:
        mo_exact_core_clear_facts(c);
        c->explain(c->context, entry, w->at, c->needed[w->at]);
        mark_facts(c, w, c->facts, c->n_facts);
        break;
    }
}

/* The highest level that the facts of the conflict are from. */
static int conflict_level(const mo_exact_core *c)
{
    int level = 0;

    for (size_t i = 0; i < c->n_facts; i++) {
        int e = entry_of(c, &c->facts[i], (int) c->n_trail);

        if (c->trail[e].level > level)
            level = c->trail[e].level;
    }
    return level;
}

/* What is marked becomes the conflict's facts. */
static void collect_marked(mo_exact_core *c, int before)
{
    mo_exact_core_clear_facts(c);
    for (int e = 0; e < before; e++)
        if (c->seen[e] && c->trail[e].what >= 0)
            mo_exact_core_add_literal_fact(c, c->trail[e].what);
        else if (c->seen[e])
            mo_exact_core_add_bound_fact(c, ~c->trail[e].what, c->needed[e]);
}

/* Fills learnt: first the literal that will be true, then the others.  False:
 * all that was of this level followed from levels before; now the facts are
 * from there. */
static bool find_clause(mo_exact_core *c, int level)
{
    walk w = { .level = level, .at = (int) c->n_trail };

    c->n_learnt = 1;
    mark_facts(c, &w, c->facts, c->n_facts);
    c->learnt[0] = MO_EXACT_NO_LITERAL;
    while (c->learnt[0] == MO_EXACT_NO_LITERAL || w.n_bound > 0) {
        const mo_exact_trail_entry *entry = &c->trail[--w.at];
        bool at_level = entry->level == level;

        if (!c->seen[w.at])
            continue;
        if (at_level && w.n_level == 1 && entry->what >= 0) {
            c->learnt[0] = entry->what ^ 1;
            continue;
        }
        if (!at_level && entry->what >= 0)
            continue;
        mark_reasons(c, &w);
        c->seen[w.at] = 0;
        if (!at_level) {
            w.n_bound--;
        } else if (--w.n_level == 0) {
            collect_marked(c, w.at);
            return false;
        }
    }
    return true;
}

static int level_of(const mo_exact_core *c, int literal)
{
    return c->trail[c->entry_of[literal >> 1]].level;
}

/* A literal that follows from the others of the clause is not needed. */
static bool is_superfluous(const mo_exact_core *c, int literal)
{
    const mo_exact_trail_entry *entry = &c->trail[c->entry_of[literal >> 1]];
    const mo_exact_clause *clause;

    if (entry->why != MO_EXACT_REASON_CLAUSE)
        return false;
    clause = &c->clauses[entry->at];
    for (int i = 0; i < clause->n; i++) {
        int other = c->literals[clause->first + i];

        if (other >> 1 != literal >> 1 && level_of(c, other) > 0 &&
            !c->seen[c->entry_of[other >> 1]])
            return false;
    }
    return true;
}

static void shorten(mo_exact_core *c)
{
    size_t n = c->n_learnt, kept = 1;

    for (size_t i = 1; i < n; i++) {
        int literal = c->learnt[i];

        /* It stays marked: what follows from it follows from the others. */
        if (is_superfluous(c, literal))
            continue;
        c->learnt[kept++] = literal;
    }
    c->n_learnt = kept;
}

/* Brings a literal of the highest level but the first's to the second place;
 * returns that level. */
static int find_second(mo_exact_core *c)
{
    size_t best = 1;
    int kept;

    if (c->n_learnt == 1)
        return 0;
    for (size_t i = 2; i < c->n_learnt; i++)
        if (level_of(c, c->learnt[i]) > level_of(c, c->learnt[best]))
            best = i;
    kept = c->learnt[1];
    c->learnt[1] = c->learnt[best];
    c->learnt[best] = kept;
    return level_of(c, c->learnt[1]);
}

static int count_levels(mo_exact_core *c)
{
    int n = 0;

    if (c->level_seen_room < c->n_levels + 1) {
        size_t old = c->level_seen_room;

        if (mo_array_reserve((void **) &c->level_seen, &c->level_seen_room,
                             c->n_levels + 1, sizeof *c->level_seen,
                             NULL) != MO_OK) {
            c->out_of_memory = true;
            return 1;
        }
        for (; old < c->level_seen_room; old++)
            c->level_seen[old] = 0;
    }
    c->count_number++;
    for (size_t i = 0; i < c->n_learnt; i++) {
        int level = level_of(c, c->learnt[i]);

        n += c->level_seen[level] != c->count_number;
        c->level_seen[level] = c->count_number;
    }
    return n;
}

/* Goes back to the level of the conflict and finds out what it teaches. */
static bool analyse(mo_exact_core *c)
{
    int level;

    do {
        if (c->out_of_memory)
            return false;
        level = conflict_level(c);
        if (level == 0)
            return false;
        mo_exact_core_backtrack(c, level);
        if (!reserve(c))
            return !(c->out_of_memory = true);
        for (size_t i = 0; i < c->n_trail; i++)
            c->seen[i] = 0;
    } while (!find_clause(c, level));
    return true;
}

bool mo_exact_core_analyze_conflict(mo_exact_core *c)
{
    int spread, clause = 0;

    if (!analyse(c))
        return false;
    shorten(c);
    c->activity_step *= ACTIVITY_GROWTH;
    spread = count_levels(c);
    mo_exact_core_backtrack(c, find_second(c));
    if (c->n_learnt > 1)
        clause = mo_exact_core_store_clause(c, c->learnt, c->n_learnt, spread);
    if (c->out_of_memory)
        return false;
    return mo_exact_core_imply(c, c->learnt[0], MO_EXACT_REASON_CLAUSE, clause);
}

/* Those that bind levels together are kept longest, then the short ones. */
static bool is_worse(const mo_exact_clause *a, const mo_exact_clause *b)
{
    return a->spread != b->spread ? a->spread > b->spread : a->n > b->n;
}

static int compare(const void *a, const void *b)
{
    const mo_exact_clause *v = a, *w = b;

    if (is_worse(v, w) != is_worse(w, v))
        return is_worse(v, w) ? 1 : -1;
    return (v->first < w->first) - (v->first > w->first);
}

static void move_literals(mo_exact_core *c)
{
    int *moved = malloc((c->n_literals + 1) * sizeof *moved);
    size_t n = 0;

    if (!moved) {
        c->out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < c->n_clauses; i++) {
        mo_exact_clause *clause = &c->clauses[i];

        for (int j = 0; j < clause->n; j++)
            moved[n + (size_t) j] = c->literals[clause->first + j];
        clause->first = (int) n;
        n += (size_t) clause->n;
    }
    free(c->literals);
    c->literals = moved;
    c->literals_room = c->n_literals + 1;
    c->n_literals = n;
}

void mo_exact_core_reduce_clauses(mo_exact_core *c)
{
    size_t n = c->n_clauses - c->n_given;
    mo_exact_clause *learnt = c->clauses + c->n_given;
    size_t kept = n / 2;

    assert(c->n_levels == 0);
    if (n < 2)
        return;
    qsort(learnt, n, sizeof *learnt, compare);
    while (kept < n && learnt[kept].spread <= KEPT_SPREAD)
        kept++;
    c->n_clauses = c->n_given + kept;
    move_literals(c);
    for (int l = 0; l < 2 * c->n_variables; l++)
        c->watches[l].n = 0;
    for (size_t i = 0; i < c->n_clauses && !c->out_of_memory; i++)
        mo_exact_core_watch_clause(c, (int) i);
}
