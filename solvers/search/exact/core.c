/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/exact/core.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/array.h"

void mo_exact_core_init(mo_exact_core *c)
{
    *c = (mo_exact_core){ .activity_step =
                              !mo_ablated(MO_ABLATION_exact_activity),
                          .minimizes =
                              !mo_ablated(MO_ABLATION_exact_minimization) };
}

mo_status mo_exact_core_add_bounds(mo_exact_core *c, int n_bounds,
                                   mo_error *err)
{
    size_t n = (size_t) n_bounds + 1;

    c->n_bounds = n_bounds;
    c->value = calloc(n, sizeof *c->value);
    c->root_value = calloc(n, sizeof *c->root_value);
    c->last_entry = malloc(n * sizeof *c->last_entry);
    if (!c->value || !c->root_value || !c->last_entry)
        return mo_fail_memory(err);
    for (int b = 0; b < n_bounds; b++)
        c->last_entry[b] = -1;
    return MO_OK;
}

void mo_exact_core_clear(mo_exact_core *c)
{
    for (int l = 0; l < 2 * c->n_variables; l++)
        free(c->watches[l].list);
    free(c->truth);
    free(c->entry_of);
    free(c->activity);
    free(c->watches);
    free(c->value);
    free(c->root_value);
    free(c->last_entry);
    free(c->trail);
    free(c->level_start);
    free(c->db.clauses);
    free(c->db.literals);
    free(c->stored);
    free(c->facts);
    free(c->analysis.learnt);
    free(c->analysis.seen);
    free(c->analysis.needed);
    free(c->analysis.level_seen);
    *c = (mo_exact_core){ 0 };
}

/* Reserves an array; sets out_of_memory on failure. */
#define RESERVE(c, items, room, need)                                          \
    (mo_array_reserve((void **) &(items), &(room), (need), sizeof *(items),    \
                      NULL) == MO_OK ||                                        \
     !((c)->out_of_memory = true))

static bool reserve_variables(mo_exact_core *c, size_t room)
{
    int8_t *truth = realloc(c->truth, 2 * room);
    int *entry_of;
    double *activity;
    mo_exact_watch_list *watches;

    if (truth)
        c->truth = truth;
    entry_of = realloc(c->entry_of, room * sizeof *entry_of);
    if (entry_of)
        c->entry_of = entry_of;
    activity = realloc(c->activity, room * sizeof *activity);
    if (activity)
        c->activity = activity;
    watches = realloc(c->watches, 2 * room * sizeof *watches);
    if (watches)
        c->watches = watches;
    if (!truth || !entry_of || !activity || !watches)
        return !(c->out_of_memory = true);
    c->variables_room = room;
    return true;
}

int mo_exact_core_new_variable(mo_exact_core *c)
{
    int v = c->n_variables;

    if ((size_t) v == c->variables_room &&
        !reserve_variables(c, 2 * c->variables_room + 64))
        return 0;
    c->truth[2 * v] = c->truth[2 * v + 1] = 0;
    c->activity[v] = 0;
    c->watches[2 * v] = c->watches[2 * v + 1] = (mo_exact_watch_list){ 0 };
    c->n_variables++;
    return v;
}

int64_t mo_exact_core_bound_before(const mo_exact_core *c, int bound,
                                   int number)
{
    int e = c->last_entry[bound];

    while (e >= number)
        e = c->trail[e].previous;
    return e < 0 ? 0 : c->trail[e].value;
}

static bool push_trail(mo_exact_core *c, mo_exact_trail_entry entry)
{
    if (c->n_trail == c->trail_room &&
        !RESERVE(c, c->trail, c->trail_room, c->n_trail + 1))
        return false;
    entry.level = mo_exact_core_level(c);
    c->trail[c->n_trail++] = entry;
    return true;
}

static void set_true(mo_exact_core *c, int literal, mo_exact_trail_entry entry)
{
    entry.what = literal;
    if (!push_trail(c, entry))
        return;
    c->truth[literal] = 1;
    c->truth[literal ^ 1] = -1;
    c->entry_of[literal >> 1] = (int) c->n_trail - 1;
}

static void set_bound(mo_exact_core *c, int bound, int64_t value,
                      mo_exact_trail_entry entry)
{
    entry.what = ~bound;
    entry.value = value;
    entry.previous = c->last_entry[bound];
    if (!push_trail(c, entry))
        return;
    c->last_entry[bound] = (int) c->n_trail - 1;
    c->value[bound] = value;
    if (c->n_levels == 0)
        c->root_value[bound] = value;
}

void mo_exact_core_clear_facts(mo_exact_core *c)
{
    c->n_facts = 0;
}

static void append_fact(mo_exact_core *c, int what, int64_t value)
{
    if (c->n_facts == c->facts_room &&
        !RESERVE(c, c->facts, c->facts_room, c->n_facts + 1))
        return;
    c->facts[c->n_facts++] = (mo_exact_fact){ what, value };
}

void mo_exact_explain_literal(mo_exact_core *c, int literal)
{
    assert(c->truth[literal] > 0);
    if (c->trail[c->entry_of[literal >> 1]].level > 0)
        append_fact(c, literal, 0);
}

void mo_exact_explain_bound(mo_exact_core *c, int bound, int64_t value)
{
    assert(c->value[bound] >= value);
    if (value > c->root_value[bound])
        append_fact(c, ~bound, value);
}

/* Copies the collected facts as the reason of the next entry. */
static mo_exact_trail_entry store_facts(mo_exact_core *c)
{
    mo_exact_trail_entry entry = { .reason = MO_EXACT_REASON_FACTS,
                                   .reason_index = (int) c->n_stored };

    if (c->n_levels == 0 || c->n_facts == 0)
        return entry;
    if (c->n_stored + c->n_facts > c->stored_room &&
        !RESERVE(c, c->stored, c->stored_room, c->n_stored + c->n_facts))
        return entry;
    memcpy(c->stored + c->n_stored, c->facts, c->n_facts * sizeof *c->facts);
    c->n_stored += c->n_facts;
    entry.n_facts = (int) c->n_facts;
    return entry;
}

bool mo_exact_core_imply(mo_exact_core *c, int literal, mo_exact_reason reason,
                         int reason_index)
{
    mo_exact_trail_entry entry = { .what = literal,
                                   .reason = reason,
                                   .reason_index = reason_index };

    if (c->truth[literal] > 0)
        return true;
    if (c->truth[literal] == 0) {
        set_true(c, literal, entry);
        return true;
    }
    mo_exact_core_clear_facts(c);
    c->explain(c->context, &entry, (int) c->n_trail, 0);
    mo_exact_explain_literal(c, literal ^ 1);
    return false;
}

bool mo_exact_core_imply_by_facts(mo_exact_core *c, int literal)
{
    if (c->truth[literal] > 0)
        return true;
    if (c->truth[literal] < 0) {
        mo_exact_explain_literal(c, literal ^ 1);
        return false;
    }
    set_true(c, literal, store_facts(c));
    return true;
}

void mo_exact_core_raise_bound(mo_exact_core *c, int bound, int64_t value,
                               mo_exact_reason reason, int reason_index)
{
    if (value > c->value[bound])
        set_bound(c, bound, value,
                  (mo_exact_trail_entry){ .reason = reason,
                                          .reason_index = reason_index });
}

void mo_exact_core_raise_bound_by_facts(mo_exact_core *c, int bound,
                                        int64_t value)
{
    if (value > c->value[bound])
        set_bound(c, bound, value, store_facts(c));
}

static void add_watch(mo_exact_core *c, int literal, int clause, int other)
{
    mo_exact_watch_list *w = &c->watches[literal];

    if (w->n == w->room && !RESERVE(c, w->list, w->room, w->n + 1))
        return;
    w->list[w->n++] = (mo_exact_watch){ clause, other };
}

void mo_exact_core_watch_clause(mo_exact_core *c, int clause)
{
    const int *l = c->db.literals + c->db.clauses[clause].first;

    add_watch(c, l[0], clause, l[1]);
    add_watch(c, l[1], clause, l[0]);
}

int mo_exact_core_store_clause(mo_exact_core *c, const int *literals, size_t n,
                               int lbd)
{
    if ((c->db.n == c->db.room &&
         !RESERVE(c, c->db.clauses, c->db.room, c->db.n + 1)) ||
        (c->db.n_literals + n > c->db.literals_room &&
         !RESERVE(c, c->db.literals, c->db.literals_room,
                  c->db.n_literals + n)))
        return -1;
    c->db.clauses[c->db.n] =
        (mo_exact_clause){ (int) c->db.n_literals, (int) n, lbd };
    memcpy(c->db.literals + c->db.n_literals, literals, n * sizeof *literals);
    c->db.n_literals += n;
    mo_exact_core_watch_clause(c, (int) c->db.n);
    return (int) c->db.n++;
}

bool mo_exact_core_add_root_clause(mo_exact_core *c, const int *literals, int n)
{
    assert(c->n_levels == 0);
    c->analysis.n_learnt = 0;
    for (int i = 0; i < n; i++) {
        if (c->out_of_memory) /* then the literal may not exist */
            return true;
        if (c->truth[literals[i]] > 0)
            return true;
        if (c->truth[literals[i]] < 0)
            continue;
        if (c->analysis.n_learnt == c->analysis.learnt_room &&
            !RESERVE(c, c->analysis.learnt, c->analysis.learnt_room,
                     c->analysis.n_learnt + 1))
            return true;
        c->analysis.learnt[c->analysis.n_learnt++] = literals[i];
    }
    if (c->analysis.n_learnt == 0)
        return false;
    if (c->analysis.n_learnt == 1)
        set_true(c, c->analysis.learnt[0],
                 (mo_exact_trail_entry){ .reason = MO_EXACT_REASON_CLAUSE });
    else
        mo_exact_core_store_clause(c, c->analysis.learnt, c->analysis.n_learnt,
                                   0);
    return true;
}

/* Moves a literal that is not false to position 1, in place of the false one
 * there; returns whether there is one. */
static bool find_new_watch(const mo_exact_core *c, int *literals, int n)
{
    for (int i = 2; i < n; i++)
        if (c->truth[literals[i]] >= 0) {
            int kept = literals[1];

            literals[1] = literals[i];
            literals[i] = kept;
            return true;
        }
    return false;
}

/* Visits a clause in which literal has become false. Returns whether it stays
 * in this watch list; sets *conflict when all its literals are false. */
static bool visit_watch(mo_exact_core *c, mo_exact_watch *w, int literal,
                        bool *conflict)
{
    const mo_exact_clause *of = &c->db.clauses[w->clause];
    int *l = c->db.literals + of->first;

    if (l[0] == literal) {
        l[0] = l[1];
        l[1] = literal;
    }
    w->other = l[0];
    if (c->truth[l[0]] > 0)
        return true;
    if (find_new_watch(c, l, of->n)) {
        add_watch(c, l[1], w->clause, l[0]);
        return false;
    }
    if (c->truth[l[0]] < 0) {
        mo_exact_core_clear_facts(c);
        for (int i = 0; i < of->n; i++)
            mo_exact_explain_literal(c, c->db.literals[of->first + i] ^ 1);
        *conflict = true;
    } else {
        set_true(c, l[0],
                 (mo_exact_trail_entry){ .reason = MO_EXACT_REASON_CLAUSE,
                                         .reason_index = w->clause });
    }
    return true;
}

bool mo_exact_core_propagate_clauses(mo_exact_core *c, int literal)
{
    mo_exact_watch_list *w = &c->watches[literal ^ 1];
    bool conflict = false;
    size_t kept = 0;

    for (size_t i = 0; i < w->n; i++) {
        mo_exact_watch it = w->list[i];

        if (conflict || c->truth[it.other] > 0 ||
            visit_watch(c, &it, literal ^ 1, &conflict))
            w->list[kept++] = it;
    }
    w->n = kept;
    return !conflict;
}

void mo_exact_core_decide(mo_exact_core *c, int literal)
{
    if (c->n_levels == c->levels_room &&
        !RESERVE(c, c->level_start, c->levels_room, c->n_levels + 1))
        return;
    assert(c->truth[literal] == 0);
    c->level_start[c->n_levels++] = (int) c->n_trail;
    set_true(c, literal,
             (mo_exact_trail_entry){ .reason = MO_EXACT_REASON_DECISION });
}

void mo_exact_core_backtrack(mo_exact_core *c, int level)
{
    size_t n;

    if (level >= mo_exact_core_level(c))
        return;
    n = (size_t) c->level_start[level];
    while (c->n_trail > n) {
        const mo_exact_trail_entry *entry = &c->trail[--c->n_trail];

        if (entry->what >= 0) {
            c->truth[entry->what] = c->truth[entry->what ^ 1] = 0;
        } else {
            int bound = ~entry->what;

            c->last_entry[bound] = entry->previous;
            c->value[bound] =
                entry->previous < 0 ? 0 : c->trail[entry->previous].value;
        }
        if (entry->reason == MO_EXACT_REASON_FACTS)
            c->n_stored = (size_t) entry->reason_index;
    }
    c->n_levels = (size_t) level;
    if (c->n_propagated > n)
        c->n_propagated = n;
}
