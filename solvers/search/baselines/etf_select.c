/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/baselines/etf_internal.h"

/* When all that op reads is there. */
static int64_t arrival_ns(const mo_baseline_etf *s, int op, int k)
{
    const mo_instance *x = s->x;
    int64_t last_ns = 0;

    for (int at = x->in_start[op]; at < x->in_start[op + 1]; at++) {
        int q = x->in_flows[at], from = x->flows[q].from;
        int64_t ns =
            s->end_ns[from] + mo_instance_flow_ns(x, q, s->device[from], k);

        last_ns = ns > last_ns ? ns : last_ns;
    }
    return last_ns;
}

static mo_status enter(mo_baseline_etf *s, int op, int k, int64_t urgent_ns,
                       mo_error *err)
{
    mo_baseline_etf_device *d = &s->devices[k];
    mo_status status = mo_baseline_pqueue_push(
        &d->ready.later, arrival_ns(s, op, k), s->place[op], err);

    if (status == MO_OK && s->options->favourite)
        status = mo_baseline_pqueue_push(&d->urgent.later, urgent_ns,
                                         s->place[op], err);
    return status;
}

static int64_t urgent_ns(const mo_baseline_etf *s, int op)
{
    int64_t last_ns = 0;

    for (int k = 0; s->options->favourite && k < s->x->n_devices; k++)
        if (mo_baseline_etf_is_allowed(s, op, k) &&
            arrival_ns(s, op, k) > last_ns)
            last_ns = arrival_ns(s, op, k);
    return last_ns;
}

mo_status mo_baseline_etf_make_ready(mo_baseline_etf *s, int op, mo_error *err)
{
    int64_t all_ns = urgent_ns(s, op);
    mo_status status = MO_OK;

    s->open[op] = 0;
    for (int k = 0; k < s->x->n_devices && status == MO_OK; k++)
        if (mo_baseline_etf_is_allowed(s, op, k)) {
            s->open[op]++;
            status = enter(s, op, k, all_ns, err);
        }
    return status;
}

mo_status mo_baseline_etf_enqueue(mo_baseline_etf *s, int op, int k,
                                  mo_error *err)
{
    return enter(s, op, k, urgent_ns(s, op), err);
}

/* The first of those that wait, or none. */
static mo_status first_in(mo_baseline_etf *s, mo_baseline_etf_ready_queue *l,
                          int k, mo_baseline_etf_choice *first, mo_error *err)
{
    int64_t free_ns = s->devices[k].free_ns;
    mo_status status = MO_OK;

    *first = (mo_baseline_etf_choice){ .op = -1 };
    while (l->later.n > 0 && l->later.items[0].key <= free_ns &&
           status == MO_OK) {
        int at = mo_baseline_pqueue_pop(&l->later).number;

        status = mo_baseline_pqueue_push(&l->now, at, at, err);
    }
    while (l->now.n > 0 &&
           !mo_baseline_etf_is_pending(s, s->order[l->now.items[0].number], k))
        mo_baseline_pqueue_pop(&l->now);
    while (l->later.n > 0 && !mo_baseline_etf_is_pending(
                                 s, s->order[l->later.items[0].number], k))
        mo_baseline_pqueue_pop(&l->later);
    if (l->now.n > 0)
        *first = (mo_baseline_etf_choice){ s->order[l->now.items[0].number], k,
                                           free_ns };
    else if (l->later.n > 0)
        *first = (mo_baseline_etf_choice){ s->order[l->later.items[0].number],
                                           k, l->later.items[0].key };
    return status;
}

static bool is_before(const mo_baseline_etf *s, const mo_baseline_etf_choice *a,
                      const mo_baseline_etf_choice *b)
{
    if (a->op < 0 || b->op < 0)
        return a->op >= 0;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    return s->place[a->op] < s->place[b->op];
}

/* The op that the device waits for, or -1. */
static int awaited(const mo_baseline_etf *s, int k)
{
    int last = s->devices[k].last, child;

    if (!s->options->favourite || last < 0)
        return -1;
    child = s->options->favourite[last];
    return child != MO_FREE && s->waits[child] == 0 &&
                   mo_baseline_etf_is_pending(s, child, k)
               ? child
               : -1;
}

static mo_baseline_etf_choice child_pair(mo_baseline_etf *s, int child, int k)
{
    mo_baseline_etf_device *d = &s->devices[k];

    if (d->awaited != child) {
        d->awaited = child;
        d->awaited_ns = arrival_ns(s, child, k);
    }
    return (mo_baseline_etf_choice){ child, k,
                                     d->awaited_ns > d->free_ns ? d->awaited_ns
                                                                : d->free_ns };
}

/* What the device would start next. */
static mo_status next_on(mo_baseline_etf *s, int k,
                         mo_baseline_etf_choice *next, mo_error *err)
{
    int child = awaited(s, k);
    mo_baseline_etf_choice favoured;
    mo_status status;

    if (child < 0)
        return first_in(s, &s->devices[k].ready, k, next, err);
    favoured = child_pair(s, child, k);
    status = first_in(s, &s->devices[k].urgent, k, next, err);
    if (!is_before(s, next, &favoured))
        *next = favoured;
    return status;
}

mo_status mo_baseline_etf_select(mo_baseline_etf *s,
                                 mo_baseline_etf_choice *best, mo_error *err)
{
    mo_status status = MO_OK;

    *best = (mo_baseline_etf_choice){ .op = -1 };
    for (int k = 0; k < s->x->n_devices && status == MO_OK; k++) {
        mo_baseline_etf_choice next;

        status = next_on(s, k, &next, err);
        if (status == MO_OK && is_before(s, &next, best))
            *best = next;
    }
    return status;
}
