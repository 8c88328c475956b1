/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edge finding (Carlier and Pinson, 1989). All certain uses with at least some
 * head h and tail t run between h and deadline - t. If they do not fit, it is
 * a conflict; if another use does not fit between them, it is excluded; if it
 * only fits as the last (or first), it comes last (first).
 */
#include "base/minmax.h"
#include "solvers/search/exact/exact_internal.h"

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
            mo_exact_explain_use(s, it, head_ns, tail_ns);
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

        if (it->is_certain && it->head_ns >= w->head_ns &&
            it->tail_ns >= w->tail_ns)
            continue;
        for (int j = 0; j < it->use->n; j++)
            if (!propagate_interval_mode(
                    s, w, s->model.use.modes[it->use->first + j]))
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

static bool is_first_with_tail(const mo_exact_search *s, int i)
{
    for (int j = 0; j < i; j++)
        if (s->use_states[s->by_head[j]].tail_ns ==
            s->use_states[s->by_head[i]].tail_ns)
            return false;
    return true;
}

bool mo_exact_propagate_edge_finding(mo_exact_search *s)
{
    int64_t longest_ns = 0;
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

    for (int i = 0; i < s->n_use_states; i++)
        longest_ns = mo_max_i64(longest_ns, s->use_states[i].longest_ns);
    for (int i = 0; i < n && n > 1; i++)
        if (is_first_with_tail(s, i) &&
            !propagate_tail(s, n, s->use_states[s->by_head[i]].tail_ns,
                            longest_ns))
            return false;
    return true;
}
