/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Idle time insertion before transfers. The simulator is work-conserving; a
 * long transfer is at times better delayed until one that the chain needs has
 * passed: for each of the longest transfers all ends of conflicting ones are
 * tried as release times.
 */
#include <stdlib.h>
#include <string.h>

#include "schedule/resource.h"
#include "solvers/search/primal/spine_internal.h"

enum {
    SWEEPS = 3,
    MAX_HELD = 24,    /* longest transfers */
    MAX_TIMES = 200,  /* release times for each */
    EFFORT = 10000000 /* simulated ops, about */
};

typedef struct delay_search {
    const mo_instance *x;
    const mo_stop *stop;
    mo_regime regime;
    mo_sim *sim;
    mo_sim_plan *plan;
    const mo_primal_spine_role *roles; /* by op */
    const int *home;                   /* by op: device in its block, or -1 */
    mo_schedule *s;        /* of the plan at the begin of the sweep */
    int longest[MAX_HELD]; /* indices of its transfers */
    int *moved, *place;    /* ops, and their alternative devices */
    bool *hit;             /* by block */
    int64_t times_ns[MAX_TIMES];
    int64_t best_ns, evaluations;
} delay_search;

static int64_t transfer_ns(const mo_transfer *t)
{
    return t->end_ns - t->start_ns;
}

/* Returns the number of longest transfers, in order of length. */
static int find_longest(delay_search *h)
{
    const mo_schedule *s = h->s;
    int n = 0;

    for (int i = 0; i < s->n_transfers; i++) {
        int at = n < MAX_HELD ? n++ : MAX_HELD;

        for (; at > 0 && transfer_ns(&s->transfers[i]) >
                             transfer_ns(&s->transfers[h->longest[at - 1]]);
             at--)
            if (at < MAX_HELD)
                h->longest[at] = h->longest[at - 1];
        if (at < MAX_HELD)
            h->longest[at] = i;
    }
    return n;
}

static bool share_resource(const delay_search *h, const mo_transfer *t,
                           const mo_transfer *other)
{
    mo_congestion congestion = h->regime.congestion;
    int pair[2], other_pair[2];
    const int *ids, *other_ids;
    int n = mo_resource_list(h->x, congestion, t->from, t->to, pair, &ids);
    int m = mo_resource_list(h->x, congestion, other->from, other->to,
                             other_pair, &other_ids);

    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (ids[i] == other_ids[j])
                return true;
    return false;
}

static int compare_times(const void *a, const void *b)
{
    int64_t s = *(const int64_t *) a, t = *(const int64_t *) b;

    return (s > t) - (s < t);
}

/* Returns the number of ends of conflicting transfers, ascending in
 * times_ns. */
static int find_release_times(delay_search *h, const mo_transfer *t)
{
    const mo_schedule *s = h->s;
    int n = 0;

    for (int i = 0; i < s->n_transfers && n < MAX_TIMES; i++)
        if (s->transfers[i].end_ns > t->start_ns && &s->transfers[i] != t &&
            share_resource(h, t, &s->transfers[i]))
            h->times_ns[n++] = s->transfers[i].end_ns;
    qsort(h->times_ns, (size_t) n, sizeof *h->times_ns, compare_times);
    return n;
}

/* Accepts the plan if it is shorter than the best. */
static bool accept_if_shorter(delay_search *h)
{
    int64_t ns = mo_sim_run(h->sim, h->plan, h->best_ns);

    h->evaluations++;
    if (ns >= h->best_ns)
        return false;
    h->best_ns = ns;
    return true;
}

static bool has_left_home(const delay_search *h, int op)
{
    return h->home[op] >= 0 && h->x->group[op] == MO_FREE &&
           !h->roles[op].is_end && h->plan->device[op] != h->home[op];
}

/* Returns the ops that avoid the transfer: all ops of a block that have left
 * home, if one of them starts while it is under way. */
static int find_avoiding_ops(delay_search *h, const mo_transfer *t)
{
    const mo_schedule *s = h->s;
    int n = 0;

    memset(h->hit, 0, ((size_t) h->x->n + 1) * sizeof *h->hit);
    for (int i = 0; i < h->x->n; i++)
        if (has_left_home(h, i) && s->start_ns[i] < t->end_ns &&
            s->start_ns[i] >= t->start_ns)
            h->hit[h->roles[i].block] = true;
    for (int i = 0; i < h->x->n; i++)
        if (has_left_home(h, i) && h->hit[h->roles[i].block])
            h->moved[n++] = i;
    return n;
}

/* Exchanges the devices of the moved ops with those in place. */
static void swap_devices(delay_search *h, int n, int *place)
{
    for (int i = 0; i < n; i++) {
        int *now = &h->plan->device[h->moved[i]], before = *now;

        *now = place[i];
        place[i] = before;
    }
}

static bool is_effort_spent(const delay_search *h)
{
    return h->evaluations * h->x->n >= EFFORT || mo_stop_reached(h->stop);
}

/* Tries the delay with the moved ops back home, then without. */
static bool try_delay(delay_search *h, int n_moved, int *place)
{
    if (n_moved > 0) {
        swap_devices(h, n_moved, place);
        if (accept_if_shorter(h))
            return true;
        swap_devices(h, n_moved, place);
    }
    return accept_if_shorter(h);
}

static void delay_transfer(delay_search *h, const mo_transfer *t)
{
    int64_t *send_release_ns = &h->plan->send_release_ns[t->item],
            kept_ns = *send_release_ns;
    int n = find_release_times(h, t), n_moved = find_avoiding_ops(h, t);

    for (int i = 0; i < n_moved; i++)
        h->place[i] = h->home[h->moved[i]];
    for (int i = -1; i < n && !is_effort_spent(h); i++) {
        int64_t before_ns = h->best_ns;

        *send_release_ns = i < 0 ? 0 : h->times_ns[i];
        if (*send_release_ns != kept_ns && try_delay(h, n_moved, h->place))
            kept_ns = *send_release_ns;
        if (h->best_ns < before_ns)
            n_moved = 0; /* already moved, or better where they are */
    }
    *send_release_ns = kept_ns;
}

static mo_status sweep_transfers(delay_search *h, mo_error *err)
{
    mo_status status = mo_sim_schedule(h->sim, h->plan, &h->s, err);
    int n;

    if (status != MO_OK)
        return status;
    n = find_longest(h);
    for (int i = 0; i < n; i++)
        delay_transfer(h, &h->s->transfers[h->longest[i]]);
    mo_schedule_free(h->s);
    return MO_OK;
}

mo_status mo_primal_transfer_delay(const mo_instance *x,
                                   const mo_regime *regime, const mo_stop *stop,
                                   const mo_primal_spine_role *roles,
                                   const int *home, mo_sim *sim,
                                   mo_sim_plan *plan, int64_t *best_ns,
                                   mo_error *err)
{
    size_t n = (size_t) x->n + 1;
    delay_search h = { .x = x,
                       .stop = stop,
                       .regime = *regime,
                       .home = home,
                       .roles = roles,
                       .sim = sim,
                       .plan = plan };
    mo_status status = MO_OK;
    bool better = true;

    if (mo_resource_count(x, regime->congestion) == 0)
        return MO_OK;
    h.moved = malloc(n * sizeof *h.moved);
    h.place = malloc(n * sizeof *h.place);
    h.hit = malloc(n * sizeof *h.hit); /* by block: each has an op of its own */
    if (!h.moved || !h.place || !h.hit)
        status = mo_fail_memory(err);
    h.best_ns = *best_ns;
    for (int i = 0; i < SWEEPS && better && status == MO_OK; i++) {
        int64_t before_ns = h.best_ns;

        status = sweep_transfers(&h, err);
        better = h.best_ns < before_ns;
    }
    *best_ns = h.best_ns;
    free(h.moved);
    free(h.place);
    free(h.hit);
    return status;
}
