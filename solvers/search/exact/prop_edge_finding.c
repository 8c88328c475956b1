/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A resource and several of those that hold it: all with at least some head h
 * and some tail t, which are certain, run between h and the limit - t.  Is
 * there no room for them, it is a conflict; is there none for another one
 * besides, that is elsewhere; is there none if it is not the last (or the
 * first), it is (edge finding: Carlier and Pinson, 1989).
 */
#include <stdlib.h>

#include "solvers/search/exact/exact_internal.h"

/* Those in by_head, from the first to the last, with the tail. */
typedef struct window {
    int n;
    int64_t head_ns, tail_ns, sum_ns;
    int64_t end_ns; /* none is done before this */
    int n_end;      /* as the first so many of them show */
} window;

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void blame_window(mo_exact_search *s, const window *w, int64_t head_ns,
                         int64_t tail_ns)
{
    for (int i = 0; i < w->n; i++) {
        const mo_exact_use_state *it = &s->standing[s->by_head[i]];

        if (it->tail_ns >= w->tail_ns)
            mo_exact_explain_use(s, it, head_ns, tail_ns);
    }
}

static bool refute(mo_exact_search *s, const window *w)
{
    int64_t spare, less_head;

    mo_exact_core_clear_facts(&s->core);
    spare = mo_exact_explain_limit(s, w->head_ns + w->sum_ns + w->tail_ns);
    less_head = less(spare, w->head_ns);
    blame_window(s, w, w->head_ns - less_head,
                 w->tail_ns - less(spare - less_head, w->tail_ns));
    return false;
}

/* The mode and the window do not fit together. */
static bool deny(mo_exact_search *s, const window *w, int mode)
{
    mo_exact_core *c = &s->core;
    int64_t head = less(w->head_ns, c->value[MO_EXACT_HEAD(mode)]);
    int64_t tail = less(w->tail_ns, c->value[MO_EXACT_TAIL(mode)]);
    int64_t spare;

    mo_exact_core_clear_facts(c);
    spare = mo_exact_explain_limit(
        s, head + w->sum_ns + s->model.modes[mode].length_ns + tail);
    head -= less(spare, head);
    mo_exact_core_add_bound_fact(c, MO_EXACT_HEAD(mode), head);
    mo_exact_core_add_bound_fact(c, MO_EXACT_TAIL(mode), tail);
    blame_window(s, w, head, tail);
    return mo_exact_core_imply_by_facts(c, s->model.modes[mode].literal ^ 1);
}

/* It comes behind all of the window, as something in it cannot be the last.
 * Of those in the window, the first n_end have the later head that tells when
 * they are done. */
static void put_last(mo_exact_search *s, const window *w, int mode)
{
    mo_exact_core *c = &s->core;
    int64_t head = less(w->head_ns, c->value[MO_EXACT_HEAD(mode)]), end_head;
    window end = *w;

    if (c->value[MO_EXACT_HEAD(mode)] >= w->end_ns)
        return;
    mo_exact_core_clear_facts(c);
    mo_exact_explain_limit(s, head + w->sum_ns +
                                  s->model.modes[mode].length_ns + w->tail_ns);
    mo_exact_core_add_bound_fact(c, MO_EXACT_HEAD(mode), head);
    blame_window(s, w, head, w->tail_ns);
    end.n = w->n_end;
    end_head = s->standing[s->by_head[end.n - 1]].head_ns;
    blame_window(s, &end, end_head, w->tail_ns);
    mo_exact_core_raise_bound_by_facts(c, MO_EXACT_HEAD(mode), w->end_ns);
}

static void put_first(mo_exact_search *s, const window *w, int mode)
{
    mo_exact_core *c = &s->core;
    int64_t tail = less(w->tail_ns, c->value[MO_EXACT_TAIL(mode)]);

    if (c->value[MO_EXACT_TAIL(mode)] >= w->sum_ns + w->tail_ns)
        return;
    mo_exact_core_clear_facts(c);
    mo_exact_explain_limit(s, w->head_ns + w->sum_ns +
                                  s->model.modes[mode].length_ns + tail);
    mo_exact_core_add_bound_fact(c, MO_EXACT_TAIL(mode), tail);
    blame_window(s, w, w->head_ns, w->tail_ns);
    mo_exact_core_raise_bound_by_facts(c, MO_EXACT_TAIL(mode),
                                       w->sum_ns + w->tail_ns);
}

static bool look_at_mode(mo_exact_search *s, const window *w, int mode)
{
    const mo_exact_core *c = &s->core;
    int64_t limit = mo_exact_limit_ns(s);
    int64_t sum = w->sum_ns + s->model.modes[mode].length_ns;
    int64_t head = less(w->head_ns, c->value[MO_EXACT_HEAD(mode)]);
    int64_t tail = less(w->tail_ns, c->value[MO_EXACT_TAIL(mode)]);

    if (c->truth[s->model.modes[mode].literal] < 0)
        return true;
    if (head + sum + tail > limit)
        return deny(s, w, mode);
    if (head + sum + w->tail_ns > limit)
        put_last(s, w, mode);
    if (w->head_ns + sum + tail > limit)
        put_first(s, w, mode);
    return true;
}

static bool is_in(const window *w, const mo_exact_use_state *it)
{
    return it->is_certain && it->head_ns >= w->head_ns &&
           it->tail_ns >= w->tail_ns;
}

static bool look_at_window(mo_exact_search *s, const window *w,
                           int64_t longest_ns)
{
    int64_t limit = mo_exact_limit_ns(s);
    int64_t total_ns = w->head_ns + w->sum_ns + w->tail_ns;

    if (total_ns > limit)
        return refute(s, w);
    if (total_ns + longest_ns <= limit)
        return true;
    for (int i = 0; i < s->n_standing; i++) {
        const mo_exact_use_state *it = &s->standing[i];

        if (is_in(w, it))
            continue;
        for (int j = 0; j < it->use->n; j++)
            if (!look_at_mode(s, w, s->model.use_modes[it->use->first + j]))
                return false;
    }
    return true;
}

/* Of all that might come into a window. */
static int64_t longest(const mo_exact_search *s)
{
    int64_t ns = 0;

    for (int i = 0; i < s->n_standing; i++)
        if (s->standing[i].longest_ns > ns)
            ns = s->standing[i].longest_ns;
    return ns;
}

/* All windows with this tail. */
static bool look_at_tail(mo_exact_search *s, int n, int64_t tail_ns,
                         int64_t longest_ns)
{
    window w = { .tail_ns = tail_ns };
    int n_in = 0;

    for (int i = 0; i < n; i++) {
        const mo_exact_use_state *it = &s->standing[s->by_head[i]];

        if (it->tail_ns < tail_ns)
            continue;
        w.n = i + 1;
        w.head_ns = it->head_ns;
        w.sum_ns += it->length_ns;
        if (w.head_ns + w.sum_ns > w.end_ns) {
            w.end_ns = w.head_ns + w.sum_ns;
            w.n_end = w.n;
        }
        /* Two together are looked at elsewhere, and equal heads at once. */
        if (++n_in < 2 ||
            (i + 1 < n &&
             s->standing[s->by_head[i + 1]].head_ns == it->head_ns))
            continue;
        if (!look_at_window(s, &w, longest_ns))
            return false;
    }
    return true;
}

static int sort_certain(mo_exact_search *s)
{
    int n = 0;

    for (int i = 0; i < s->n_standing; i++) {
        int at = n;

        if (!s->standing[i].is_certain || s->standing[i].length_ns == 0)
            continue;
        for (; at > 0 &&
               s->standing[s->by_head[at - 1]].head_ns < s->standing[i].head_ns;
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
        if (s->standing[s->by_head[j]].tail_ns ==
            s->standing[s->by_head[i]].tail_ns)
            return false;
    return true;
}

bool mo_exact_propagate_edge_finding(mo_exact_search *s)
{
    int64_t longest_ns = longest(s);
    int n = sort_certain(s);

    for (int i = 0; i < n && n > 1; i++)
        if (is_first_with_tail(s, i) &&
            !look_at_tail(s, n, s->standing[s->by_head[i]].tail_ns, longest_ns))
            return false;
    return true;
}
