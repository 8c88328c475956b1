/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disjunctive propagators of a unary resource: pairs, task intervals (overload)
 * and edge finding.
 */
#include "base/minmax.h"
#include "solvers/search/exact/exact_internal.h"

/*
 * Disjunctive propagator of a unary resource, for pairs: of two uses one
 * precedes the other. Where only one order is feasible, heads and tails
 * follow; where none is, one of them does not use the resource.
 */

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
        int mode = m->use_modes[use->first + i];
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
    const mo_exact_adjacency *of = &s->model.uses_of;

    s->n_use_states = 0;
    for (int i = of->start[resource]; i < of->start[resource + 1]; i++) {
        mo_exact_use_state *it = &s->use_states[s->n_use_states];

        compute_use_state(s, &s->model.uses[of->items[i]], it);
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
        if (s->model.use_modes[use->first + i] == mode)
            return true;
    return false;
}

/* Adds to the facts why a certain use is certain, with at least that head and
 * tail. */
static void explain_use(mo_exact_search *s, const mo_exact_use_state *it,
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
    int64_t mo_min_i64 = spare < head ? spare : head;

    explain_use(s, a, head - mo_min_i64, 0);
    mo_exact_explain_bound(c, MO_EXACT_TAIL(b), tail - (spare - mo_min_i64));
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
    int64_t mo_min_i64 = spare < head ? spare : head;

    mo_exact_explain_bound(c, MO_EXACT_HEAD(b), head - mo_min_i64);
    explain_use(s, a, 0, tail - (spare - mo_min_i64));
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
    explain_use(s, a, a->head_ns, 0);
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
    explain_use(s, a, 0, a->tail_ns);
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
        int mode = s->model.use_modes[b->use->first + i];

        if (!propagate_pair_order(s, a, mode, a_first) ||
            !propagate_pair_mode(s, a, mode, a_first))
            return false;
    }
    return true;
}

/*
 * Edge finding (Carlier and Pinson, 1989). All certain uses with at least some
 * head h and tail t run between h and deadline - t. If they do not fit, it is
 * a conflict; if another use does not fit between them, it is excluded; if it
 * only fits as the last (or first), it comes last (first).
 */

/* Task interval: the uses in by_head up to n with at least tail_ns. */
typedef struct task_interval {
    int n;
    int64_t head_ns, tail_ns, sum_ns;
    int64_t end_ns; /* lower bound on the end of all */
    int n_end;      /* given by the first n_end of them */
} task_interval;

static void explain_interval(mo_exact_search *s, const task_interval *w,
                             int64_t head_ns, int64_t tail_ns)
{
    for (int i = 0; i < w->n; i++) {
        const mo_exact_use_state *it = &s->use_states[s->by_head[i]];

        if (it->tail_ns >= w->tail_ns)
            explain_use(s, it, head_ns, tail_ns);
    }
}

/* Excludes a mode that does not fit into the interval. */
static bool exclude_mode(mo_exact_search *s, const task_interval *w, int mode)
{
    mo_exact_core *c = &s->core;
    int64_t head = mo_min_i64(w->head_ns, c->value[MO_EXACT_HEAD(mode)]);
    int64_t tail = mo_min_i64(w->tail_ns, c->value[MO_EXACT_TAIL(mode)]);
    int64_t spare;

    mo_exact_core_clear_facts(c);
    spare = mo_exact_explain_limit(
        s, head + w->sum_ns + s->model.modes[mode].length_ns + tail);
    head -= mo_min_i64(spare, head);
    mo_exact_explain_bound(c, MO_EXACT_HEAD(mode), head);
    mo_exact_explain_bound(c, MO_EXACT_TAIL(mode), tail);
    explain_interval(s, w, head, tail);
    return mo_exact_core_imply_by_facts(c, s->model.modes[mode].literal ^ 1);
}

/* The mode follows all of the interval, as otherwise the deadline is missed.
 * The first n_end uses, with their later head, determine the end of the
 * interval. */
static void push_last(mo_exact_search *s, const task_interval *w, int mode)
{
    mo_exact_core *c = &s->core;
    int64_t head = mo_min_i64(w->head_ns, c->value[MO_EXACT_HEAD(mode)]),
            end_head;
    task_interval end = *w;

    if (c->value[MO_EXACT_HEAD(mode)] >= w->end_ns)
        return;
    mo_exact_core_clear_facts(c);
    mo_exact_explain_limit(s, head + w->sum_ns +
                                  s->model.modes[mode].length_ns + w->tail_ns);
    mo_exact_explain_bound(c, MO_EXACT_HEAD(mode), head);
    explain_interval(s, w, head, w->tail_ns);
    end.n = w->n_end;
    end_head = s->use_states[s->by_head[end.n - 1]].head_ns;
    explain_interval(s, &end, end_head, w->tail_ns);
    mo_exact_core_raise_bound_by_facts(c, MO_EXACT_HEAD(mode), w->end_ns);
}

static void push_first(mo_exact_search *s, const task_interval *w, int mode)
{
    mo_exact_core *c = &s->core;
    int64_t tail = mo_min_i64(w->tail_ns, c->value[MO_EXACT_TAIL(mode)]);

    if (c->value[MO_EXACT_TAIL(mode)] >= w->sum_ns + w->tail_ns)
        return;
    mo_exact_core_clear_facts(c);
    mo_exact_explain_limit(s, w->head_ns + w->sum_ns +
                                  s->model.modes[mode].length_ns + tail);
    mo_exact_explain_bound(c, MO_EXACT_TAIL(mode), tail);
    explain_interval(s, w, w->head_ns, w->tail_ns);
    mo_exact_core_raise_bound_by_facts(c, MO_EXACT_TAIL(mode),
                                       w->sum_ns + w->tail_ns);
}

static bool propagate_interval_mode(mo_exact_search *s, const task_interval *w,
                                    int mode)
{
    const mo_exact_core *c = &s->core;
    int64_t limit = mo_exact_limit_ns(s);
    int64_t sum = w->sum_ns + s->model.modes[mode].length_ns;
    int64_t head = mo_min_i64(w->head_ns, c->value[MO_EXACT_HEAD(mode)]);
    int64_t tail = mo_min_i64(w->tail_ns, c->value[MO_EXACT_TAIL(mode)]);

    if (c->truth[s->model.modes[mode].literal] < 0)
        return true;
    if (head + sum + tail > limit)
        return exclude_mode(s, w, mode);
    if (head + sum + w->tail_ns > limit)
        push_last(s, w, mode);
    if (w->head_ns + sum + tail > limit)
        push_first(s, w, mode);
    return true;
}

static bool is_inside(const task_interval *w, const mo_exact_use_state *it)
{
    return it->is_certain && it->head_ns >= w->head_ns &&
           it->tail_ns >= w->tail_ns;
}

static bool propagate_interval(mo_exact_search *s, const task_interval *w,
                               int64_t longest_ns)
{
    int64_t limit = mo_exact_limit_ns(s);
    int64_t total_ns = w->head_ns + w->sum_ns + w->tail_ns;

    if (total_ns > limit) {
        int64_t spare, less_head;

        mo_exact_core_clear_facts(&s->core);
        spare = mo_exact_explain_limit(s, total_ns);
        less_head = mo_min_i64(spare, w->head_ns);
        explain_interval(s, w, w->head_ns - less_head,
                         w->tail_ns -
                             mo_min_i64(spare - less_head, w->tail_ns));
        return false;
    }
    if (total_ns + longest_ns <= limit)
        return true;
    for (int i = 0; i < s->n_use_states; i++) {
        const mo_exact_use_state *it = &s->use_states[i];

        if (is_inside(w, it))
            continue;
        for (int j = 0; j < it->use->n; j++)
            if (!propagate_interval_mode(
                    s, w, s->model.use_modes[it->use->first + j]))
                return false;
    }
    return true;
}

/* Propagates all intervals with this tail. */
static bool propagate_tail(mo_exact_search *s, int n, int64_t tail_ns,
                           int64_t longest_ns)
{
    task_interval w = { .tail_ns = tail_ns };
    int n_in = 0;

    for (int i = 0; i < n; i++) {
        const mo_exact_use_state *it = &s->use_states[s->by_head[i]];

        if (it->tail_ns < tail_ns)
            continue;
        w.n = i + 1;
        w.head_ns = it->head_ns;
        w.sum_ns += it->length_ns;
        if (w.head_ns + w.sum_ns > w.end_ns) {
            w.end_ns = w.head_ns + w.sum_ns;
            w.n_end = w.n;
        }
        /* Pairs are propagated elsewhere; equal heads form one interval. */
        if (++n_in < 2 ||
            (i + 1 < n &&
             s->use_states[s->by_head[i + 1]].head_ns == it->head_ns))
            continue;
        if (!propagate_interval(s, &w, longest_ns))
            return false;
    }
    return true;
}

static int sort_by_head(mo_exact_search *s)
{
    int n = 0;

    for (int i = 0; i < s->n_use_states; i++) {
        int at = n;

        if (!s->use_states[i].is_certain || s->use_states[i].length_ns == 0)
            continue;
        for (; at > 0 && s->use_states[s->by_head[at - 1]].head_ns <
                             s->use_states[i].head_ns;
             at--)
            s->by_head[at] = s->by_head[at - 1];
        s->by_head[at] = i;
        n++;
    }
    return n;
}

static bool is_first_with_tail(const mo_exact_search *s, int i)
{
    for (int j = 0; j < i; j++)
        if (s->use_states[s->by_head[j]].tail_ns ==
            s->use_states[s->by_head[i]].tail_ns)
            return false;
    return true;
}

/* Intervals of more than two uses; part of mo_exact_propagate_disjunctive(). */
static bool propagate_edge_finding(mo_exact_search *s)
{
    int64_t longest_ns = 0;
    int n = sort_by_head(s);

    for (int i = 0; i < s->n_use_states; i++)
        longest_ns = mo_max_i64(longest_ns, s->use_states[i].longest_ns);
    for (int i = 0; i < n && n > 1; i++)
        if (is_first_with_tail(s, i) &&
            !propagate_tail(s, n, s->use_states[s->by_head[i]].tail_ns,
                            longest_ns))
            return false;
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
    return propagate_edge_finding(s);
}
