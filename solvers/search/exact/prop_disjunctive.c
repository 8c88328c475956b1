/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disjunctive propagator of a unary resource, for pairs: of two uses one
 * precedes the other. Where only one order is feasible, heads and tails
 * follow; where none is, one of them does not use the resource. For more than
 * two: prop_edge_finding.c.
 */
#include "base/minmax.h"
#include "solvers/search/exact/exact_internal.h"

static void merge_mode(const mo_exact_search *s, mo_exact_use_state *it,
                       int mode)
{
    const mo_exact_core *c = &s->core;

    it->mode = mode;
    if (c->value[MO_EXACT_HEAD(mode)] < it->head_ns)
        it->head_ns = c->value[MO_EXACT_HEAD(mode)];
    if (c->value[MO_EXACT_TAIL(mode)] < it->tail_ns)
        it->tail_ns = c->value[MO_EXACT_TAIL(mode)];
    if (s->model.modes[mode].length_ns < it->length_ns)
        it->length_ns = s->model.modes[mode].length_ns;
    if (s->model.modes[mode].length_ns > it->longest_ns)
        it->longest_ns = s->model.modes[mode].length_ns;
}

static int count_open_modes(const mo_exact_search *s, const mo_exact_task *task)
{
    int n = 0;

    for (int i = 0; i < task->n; i++)
        n += s->core.truth[s->model.modes[task->first + i].literal] >= 0;
    return n;
}

/* Computes in which open modes the task uses the resource, and whether it
 * must. */
static void compute_use_state(const mo_exact_search *s, const mo_exact_use *use,
                              mo_exact_use_state *it)
{
    const mo_exact_model *m = &s->model;
    const mo_exact_use_state nothing = { .use = use,
                                         .mode = -1,
                                         .head_ns = INT64_MAX,
                                         .tail_ns = INT64_MAX,
                                         .length_ns = INT64_MAX };
    int n_open = 0;

    *it = nothing;
    for (int i = 0; i < use->n; i++) {
        int mode = m->use.modes[use->first + i];
        int truth = s->core.truth[m->modes[mode].literal];

        if (truth > 0) {
            *it = nothing;
            it->is_certain = true;
            merge_mode(s, it, mode);
            return;
        }
        if (truth == 0) {
            merge_mode(s, it, mode);
            n_open++;
        }
    }
    if (n_open != 1)
        it->mode = -1;
    if (n_open == 0)
        it->use = NULL;
    else
        it->is_certain = n_open == count_open_modes(s, &m->tasks[use->task]);
}

void mo_exact_collect_uses(mo_exact_search *s, int resource)
{
    const mo_exact_adjacency *of = &s->model.use.of_resource;

    s->n_use_states = 0;
    for (int i = of->start[resource]; i < of->start[resource + 1]; i++) {
        mo_exact_use_state *it = &s->use_states[s->n_use_states];

        compute_use_state(s, &s->model.use.uses[of->items[i]], it);
        s->n_use_states += it->use != NULL;
    }
}

static void explain_mode(mo_exact_search *s, const mo_exact_use_state *it,
                         int mode, int64_t head_ns, int64_t tail_ns)
{
    mo_exact_core *c = &s->core;
    const mo_exact_mode *of = &s->model.modes[mode];

    if (c->truth[of->literal] < 0) {
        if (c->root_value[MO_EXACT_HEAD(mode)] < head_ns ||
            c->root_value[MO_EXACT_TAIL(mode)] < tail_ns ||
            of->length_ns < it->length_ns)
            mo_exact_explain_literal(c, of->literal ^ 1);
        return;
    }
    mo_exact_explain_bound(c, MO_EXACT_HEAD(mode), head_ns);
    mo_exact_explain_bound(c, MO_EXACT_TAIL(mode), tail_ns);
}

static bool is_in_use(const mo_exact_search *s, const mo_exact_use *use,
                      int mode)
{
    for (int i = 0; i < use->n; i++)
        if (s->model.use.modes[use->first + i] == mode)
            return true;
    return false;
}

void mo_exact_explain_use(mo_exact_search *s, const mo_exact_use_state *it,
                          int64_t head_ns, int64_t tail_ns)
{
    mo_exact_core *c = &s->core;
    const mo_exact_model *m = &s->model;
    const mo_exact_task *task = &m->tasks[it->use->task];

    if (it->mode >= 0 && c->truth[m->modes[it->mode].literal] > 0) {
        mo_exact_explain_literal(c, m->modes[it->mode].literal);
        explain_mode(s, it, it->mode, head_ns, tail_ns);
        return;
    }
    for (int i = 0; i < task->n; i++) {
        int mode = task->first + i;

        if (is_in_use(s, it->use, mode))
            explain_mode(s, it, mode, head_ns, tail_ns);
        else
            mo_exact_explain_literal(c, m->modes[mode].literal ^ 1);
    }
}

/* Explains why mode b cannot follow a, which is certain. */
static void explain_not_a_first(mo_exact_search *s, const mo_exact_use_state *a,
                                int b)
{
    mo_exact_core *c = &s->core;
    const mo_exact_mode *of = &s->model.modes[b];
    int64_t head = a->head_ns, tail = c->value[MO_EXACT_TAIL(b)];
    int64_t spare =
        mo_exact_explain_limit(s, head + a->length_ns + of->length_ns + tail);
    int64_t less_head = mo_min_i64(spare, head);

    mo_exact_explain_use(s, a, head - less_head, 0);
    mo_exact_explain_bound(c, MO_EXACT_TAIL(b), tail - (spare - less_head));
}

/* Explains why mode b cannot precede a. */
static void explain_not_b_first(mo_exact_search *s, const mo_exact_use_state *a,
                                int b)
{
    mo_exact_core *c = &s->core;
    const mo_exact_mode *of = &s->model.modes[b];
    int64_t head = c->value[MO_EXACT_HEAD(b)], tail = a->tail_ns;
    int64_t spare =
        mo_exact_explain_limit(s, head + of->length_ns + a->length_ns + tail);
    int64_t less_head = mo_min_i64(spare, head);

    mo_exact_explain_bound(c, MO_EXACT_HEAD(b), head - less_head);
    mo_exact_explain_use(s, a, 0, tail - (spare - less_head));
}

/* a is certain and precedes b if b is selected: by the order literal, or, if
 * that is MO_EXACT_NO_LITERAL, since b cannot precede it. */
static void raise_head_behind(mo_exact_search *s, const mo_exact_use_state *a,
                              int b, int literal)
{
    mo_exact_core *c = &s->core;
    int64_t end_ns = a->head_ns + a->length_ns;

    if (c->value[MO_EXACT_HEAD(b)] >= end_ns)
        return;
    mo_exact_core_clear_facts(c);
    if (literal != MO_EXACT_NO_LITERAL)
        mo_exact_explain_literal(c, literal);
    else
        explain_not_b_first(s, a, b);
    mo_exact_explain_use(s, a, a->head_ns, 0);
    mo_exact_core_raise_bound_by_facts(c, MO_EXACT_HEAD(b), end_ns);
}

static void raise_tail_before(mo_exact_search *s, const mo_exact_use_state *a,
                              int b, int literal)
{
    mo_exact_core *c = &s->core;
    int64_t rest_ns = a->length_ns + a->tail_ns;

    if (c->value[MO_EXACT_TAIL(b)] >= rest_ns)
        return;
    mo_exact_core_clear_facts(c);
    if (literal != MO_EXACT_NO_LITERAL)
        mo_exact_explain_literal(c, literal);
    else
        explain_not_a_first(s, a, b);
    mo_exact_explain_use(s, a, 0, a->tail_ns);
    mo_exact_core_raise_bound_by_facts(c, MO_EXACT_TAIL(b), rest_ns);
}

/* Propagates a certain use a to the mode b of another use. a_first is the
 * order literal. */
static bool propagate_pair_mode(mo_exact_search *s, const mo_exact_use_state *a,
                                int b, int a_first)
{
    mo_exact_core *c = &s->core;
    const mo_exact_mode *of = &s->model.modes[b];
    int64_t limit = mo_exact_limit_ns(s), both = a->length_ns + of->length_ns;
    bool a_may = a->head_ns + both + c->value[MO_EXACT_TAIL(b)] <= limit;
    bool b_may = c->value[MO_EXACT_HEAD(b)] + both + a->tail_ns <= limit;

    if (both == 0 || c->truth[of->literal] < 0)
        return true;
    if (c->truth[a_first] != 0) {
        if (c->truth[a_first] > 0)
            raise_head_behind(s, a, b, a_first);
        else
            raise_tail_before(s, a, b, a_first ^ 1);
        return true;
    }
    if (a_may && b_may)
        return true;
    if (!a_may && !b_may) {
        mo_exact_core_clear_facts(c);
        explain_not_a_first(s, a, b);
        explain_not_b_first(s, a, b);
        return mo_exact_core_imply_by_facts(c, of->literal ^ 1);
    }
    if (a_may)
        raise_head_behind(s, a, b, MO_EXACT_NO_LITERAL);
    else
        raise_tail_before(s, a, b, MO_EXACT_NO_LITERAL);
    return true;
}

/* Both certain: assigns the order literal when only one order is feasible. */
static bool propagate_pair_order(mo_exact_search *s,
                                 const mo_exact_use_state *a, int b,
                                 int a_first)
{
    mo_exact_core *c = &s->core;
    const mo_exact_mode *of = &s->model.modes[b];
    int64_t limit = mo_exact_limit_ns(s), both = a->length_ns + of->length_ns;

    if (both == 0 || c->truth[a_first] != 0 || c->truth[of->literal] <= 0)
        return true;
    if (a->head_ns + both + c->value[MO_EXACT_TAIL(b)] > limit) {
        mo_exact_core_clear_facts(c);
        mo_exact_explain_literal(c, of->literal);
        explain_not_a_first(s, a, b);
        return mo_exact_core_imply_by_facts(c, a_first ^ 1);
    }
    if (c->value[MO_EXACT_HEAD(b)] + both + a->tail_ns > limit) {
        mo_exact_core_clear_facts(c);
        mo_exact_explain_literal(c, of->literal);
        explain_not_b_first(s, a, b);
        return mo_exact_core_imply_by_facts(c, a_first);
    }
    return true;
}

static bool propagate_pair(mo_exact_search *s, const mo_exact_use_state *a,
                           const mo_exact_use_state *b)
{
    int a_first = mo_exact_order_literal(&s->model, a->use->task, b->use->task);

    if (a_first == MO_EXACT_NO_LITERAL)
        return true;
    for (int i = 0; i < b->use->n; i++) {
        int mode = s->model.use.modes[b->use->first + i];

        if (!propagate_pair_order(s, a, mode, a_first) ||
            !propagate_pair_mode(s, a, mode, a_first))
            return false;
    }
    return true;
}

bool mo_exact_propagate_disjunctive(mo_exact_search *s, int resource)
{
    mo_exact_collect_uses(s, resource);
    for (int i = 0; i < s->n_use_states; i++)
        for (int j = 0; j < s->n_use_states && s->use_states[i].is_certain; j++)
            if (i != j &&
                !propagate_pair(s, &s->use_states[i], &s->use_states[j]))
                return false;
    return !s->has_edge_finding || mo_exact_propagate_edge_finding(s);
}
