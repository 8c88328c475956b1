/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live memory.  Heads are the earliest times, so where too much is held at one
 * moment, some of it has to wait.  Those that are held then cannot all overlap
 * each other, and of intervals that overlap pairwise all share a moment: so of
 * some two of them, one is gone before the other begins.  That they part is a
 * literal, and the clause that some two of them do, if all is placed as it is,
 * holds for good.
 */
#include "solvers/search/exact/prop_live_memory.h"

#include <stdlib.h>

#include "base/array.h"

__extension__ typedef __int128 wide;

static void raise_to(int64_t *value, int64_t least)
{
    if (*value < least)
        *value = least;
}

static int64_t end_of(const mo_exact_search *s, int task)
{
    int mode = mo_exact_chosen_mode(s, task);

    return s->core.value[MO_EXACT_HEAD(mode)] + s->model.modes[mode].length_ns;
}

static bool is_on(const mo_exact_search *s, int op, int device)
{
    return s->model.modes[mo_exact_chosen_mode(s, op)].from == device;
}

static void add_holding(mo_exact_search *s, mo_exact_buffer h, int device)
{
    int starter = mo_exact_chosen_mode(s, h.starter);

    if (h.bytes <= 0)
        return;
    if (MO_ARRAY_GROW(s->holdings, s->n_holdings, s->holdings_room, NULL) !=
        MO_OK) {
        s->core.out_of_memory = true;
        return;
    }
    h.literal = s->model.modes[starter].literal;
    h.start_ns = s->core.value[MO_EXACT_HEAD(starter)];
    h.end_ns = end_of(s, h.starter);
    for (int t = 0; t < (int) s->model.n_tasks; t++) {
        int mode = mo_exact_chosen_mode(s, t);

        if (mode >= 0 && mo_exact_mode_uses_buffer(&s->model, &h, device, mode))
            raise_to(&h.end_ns, end_of(s, t));
    }
    s->holdings[s->n_holdings++] = h;
}

static void add_op(mo_exact_search *s, int op, int device)
{
    const mo_instance *x = s->model.x;
    mo_exact_buffer h = { .kind = MO_EXACT_BUFFER_WORKSPACE,
                          .id = op,
                          .starter = op };

    h.bytes = x->memory_bytes[op] - x->weight_bytes[op];
    add_holding(s, h, device);
    h.kind = MO_EXACT_BUFFER_OUTPUT;
    for (int q = x->out_start[op]; q < x->out_start[op + 1]; q++) {
        h.id = x->flows[q].tensor;
        h.bytes = x->tensor_bytes[h.id];
        if (q == x->tensor_start[h.id])
            add_holding(s, h, device);
    }
}

static void add_copy(mo_exact_search *s, int task, int device)
{
    const mo_exact_task *t = &s->model.tasks[task];
    const mo_instance *x = s->model.x;
    int tensor = t->to == MO_FREE ? x->flows[t->item].tensor : t->item;

    add_holding(s,
                (mo_exact_buffer){ .kind = MO_EXACT_BUFFER_COPY,
                                   .id = task,
                                   .starter = task,
                                   .bytes = x->tensor_bytes[tensor] },
                device);
}

static void find_holdings(mo_exact_search *s, int device)
{
    const mo_exact_model *m = &s->model;

    s->n_holdings = 0;
    for (int i = 0; i < m->x->n; i++)
        if (is_on(s, i, device))
            add_op(s, i, device);
    for (int t = m->x->n; t < (int) m->n_tasks; t++) {
        int mode = mo_exact_chosen_mode(s, t);

        if (mode >= 0 && m->modes[mode].is_real && m->modes[mode].to == device)
            add_copy(s, t, device);
    }
}

/* What takes no time is there at its moment; what ends then is gone. */
static bool is_held_at(const mo_exact_buffer *h, int64_t at_ns)
{
    return h->start_ns <= at_ns && (at_ns < h->end_ns || h->start_ns == at_ns);
}

/* Marks what counts at the moment: of workspaces only the largest.  Returns
 * their bytes. */
static wide mark_held(mo_exact_search *s, int64_t at_ns)
{
    mo_exact_buffer *work = NULL;
    wide sum = 0;

    for (size_t i = 0; i < s->n_holdings; i++) {
        mo_exact_buffer *h = &s->holdings[i];

        h->counts = is_held_at(h, at_ns);
        if (h->counts && h->kind == MO_EXACT_BUFFER_WORKSPACE) {
            h->counts = false;
            if (!work || h->bytes > work->bytes)
                work = h;
        }
        sum += h->counts ? h->bytes : 0;
    }
    if (work)
        work->counts = true;
    return sum + (work ? work->bytes : 0);
}

static wide weights_on(const mo_exact_search *s, int device)
{
    const mo_instance *x = s->model.x;
    wide sum = 0;

    for (int i = 0; i < x->n; i++)
        if (is_on(s, i, device))
            sum += x->weight_bytes[i];
    return sum;
}

/* Takes out those that would be too much without: the smallest first. */
static void keep_few(mo_exact_search *s, wide excess)
{
    for (;;) {
        mo_exact_buffer *least = NULL;

        for (size_t i = 0; i < s->n_holdings; i++) {
            mo_exact_buffer *h = &s->holdings[i];

            if (h->counts && (!least || h->bytes < least->bytes))
                least = h;
        }
        if (!least || least->bytes >= excess)
            return;
        least->counts = false;
        excess -= least->bytes;
    }
}

/* A moment when the device holds too much: marks what does.  False: none. */
static bool find_excess(mo_exact_search *s, int device)
{
    wide weights = weights_on(s, device);
    int64_t capacity = s->model.x->capacity_bytes[device];

    if (capacity == INT64_MAX)
        return false;
    find_holdings(s, device);
    for (size_t i = 0; i < s->n_holdings && !s->core.out_of_memory; i++) {
        wide excess =
            mark_held(s, s->holdings[i].start_ns) + weights - capacity;

        if (excess > 0) {
            keep_few(s, excess);
            return true;
        }
    }
    return false;
}

/* Of the known partings of those that are too much, an open one, preferably
 * one that puts the other off least. */
static int open_parting(const mo_exact_search *s, int device)
{
    int best = MO_EXACT_NO_LITERAL;
    int64_t least = INT64_MAX;

    for (size_t i = 0; i < s->n_holdings; i++)
        for (size_t j = 0; j < s->n_holdings; j++) {
            const mo_exact_buffer *a = &s->holdings[i], *b = &s->holdings[j];
            const mo_exact_lifetime_order *parting;

            if (i == j || !a->counts || !b->counts ||
                a->end_ns - b->start_ns >= least)
                continue;
            parting = mo_exact_find_lifetime_order(s, a, device, b->starter);
            if (!parting || s->core.truth[parting->literal] != 0)
                continue;
            best = parting->literal;
            least = a->end_ns - b->start_ns;
        }
    return best;
}

static bool can_part(const mo_exact_search *s, const mo_exact_buffer *a,
                     const mo_exact_buffer *b)
{
    return a->counts && b->counts && a->starter != b->starter &&
           !mo_exact_always_ends_before(&s->model, b->starter,
                                        s->model.tasks[a->starter].source);
}

/* Some two part, or something is elsewhere: into clause, at level 0. */
static size_t make_clause(mo_exact_search *s, int device, int *clause)
{
    const mo_exact_model *m = &s->model;
    size_t n = 0, n_holdings = s->n_holdings;

    for (size_t i = 0; i < n_holdings; i++) {
        if (s->holdings[i].counts)
            clause[n++] = s->holdings[i].literal ^ 1;
        for (size_t j = 0; j < n_holdings; j++)
            if (can_part(s, &s->holdings[i], &s->holdings[j])) {
                int literal = mo_exact_add_lifetime_order(
                    s, &s->holdings[i], device, s->holdings[j].starter);

                if (literal != MO_EXACT_NO_LITERAL)
                    clause[n++] = literal;
            }
    }
    for (int u = 0; u < m->units->n; u++)
        if (m->units->bytes[u] > 0 &&
            s->device[m->units->ops[m->units->start[u]]] == device)
            clause[n++] = m->place[u * m->x->n_devices + device] ^ 1;
    return n;
}

/* Decisions begin anew, and with the same devices. */
static bool forbid(mo_exact_search *s, int device)
{
    size_t n = s->n_holdings;
    int *clause =
        malloc((n * n + n + (size_t) s->model.units->n + 1) * sizeof *clause);
    bool holds = false;

    if (!clause) {
        s->core.out_of_memory = true;
        return false;
    }
    for (int i = 0; i < s->model.x->n; i++)
        s->device[i] = s->model.modes[mo_exact_chosen_mode(s, i)].from;
    mo_exact_core_backtrack(&s->core, 0);
    n = make_clause(s, device, clause);
    if (!s->core.out_of_memory)
        holds = mo_exact_core_add_root_clause(&s->core, clause, (int) n);
    free(clause);
    return holds;
}

bool mo_exact_enforce_live_memory(mo_exact_search *s, int *literal,
                                  bool *goes_on)
{
    *goes_on = true;
    *literal = MO_EXACT_NO_LITERAL;
    if (s->model.regime.memory != MO_MEMORY_LIVE)
        return true;
    for (int k = 0; k < s->model.x->n_devices; k++) {
        if (!find_excess(s, k))
            continue;
        *literal = open_parting(s, k);
        if (*literal == MO_EXACT_NO_LITERAL)
            *goes_on = forbid(s, k);
        return false;
    }
    return true;
}
