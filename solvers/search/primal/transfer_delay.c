/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "schedule/resource.h"
#include "solvers/search/primal/spine_internal.h"

/*
 * The simulator sends whatever can be sent.  Something long is better held back
 * at times, until what the chain needs more has passed: for each of the longest
 * transfers, all moments are tried at which another one that was in its way has
 * ended.
 */

enum {
    SWEEPS = 3,
    MOST_HELD = 24,   /* transfers */
    MOST_TIMES = 200, /* moments for each */
    EFFORT = 10000000 /* ops simulated, more or less */
};

typedef struct holding {
    const mo_instance *x;
    const mo_stop *stop;
    mo_regime regime;
    mo_sim *sim;
    mo_sim_plan *plan;
    const mo_primal_spine_role *roles; /* by op */
    const int *home;        /* by op: where its block has it, or -1 */
    mo_schedule *s;         /* of the plan, when the sweep began */
    int longest[MOST_HELD]; /* transfers of it */
    int *moved, *place;     /* ops, and where they could be */
    bool *hit;              /* by block */
    int64_t times_ns[MOST_TIMES];
    int64_t best_ns, evaluations;
} holding;

static int64_t length_ns(const mo_transfer *t)
{
    return t->end_ns - t->start_ns;
}

/* Puts the longest transfers first, in their order; returns how many. */
static int find_longest(holding *h)
{
    const mo_schedule *s = h->s;
    int n = 0;

    for (int i = 0; i < s->n_transfers; i++) {
        int at = n < MOST_HELD ? n++ : MOST_HELD;

        for (; at > 0 && length_ns(&s->transfers[i]) >
                             length_ns(&s->transfers[h->longest[at - 1]]);
             at--)
            if (at < MOST_HELD)
                h->longest[at] = h->longest[at - 1];
        if (at < MOST_HELD)
            h->longest[at] = i;
    }
    return n;
}

static bool exclude(const holding *h, const mo_transfer *t,
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

/* When others end that are in its way or would have been. */
static int find_times(holding *h, const mo_transfer *t)
{
    const mo_schedule *s = h->s;
    int n = 0;

    for (int i = 0; i < s->n_transfers && n < MOST_TIMES; i++)
        if (s->transfers[i].end_ns > t->start_ns && &s->transfers[i] != t &&
            exclude(h, t, &s->transfers[i]))
            h->times_ns[n++] = s->transfers[i].end_ns;
    qsort(h->times_ns, (size_t) n, sizeof *h->times_ns, compare_times);
    return n;
}

/* Whether the plan is better so; then it stays. */
static bool is_better(holding *h)
{
    int64_t ns = mo_sim_run(h->sim, h->plan, h->best_ns);

    h->evaluations++;
    if (ns >= h->best_ns)
        return false;
    h->best_ns = ns;
    return true;
}

static bool has_left(const holding *h, int op)
{
    return h->home[op] >= 0 && h->x->group[op] == MO_FREE &&
           !h->roles[op].is_end && h->plan->device[op] != h->home[op];
}

/* Ops that were moved out of the transfer's way: all of a block that are not
 * where it had them, if some of them run while it is under way. */
static int find_moved(holding *h, const mo_transfer *t)
{
    const mo_schedule *s = h->s;
    int n = 0;

    memset(h->hit, 0, ((size_t) h->x->n + 1) * sizeof *h->hit);
    for (int i = 0; i < h->x->n; i++)
        if (has_left(h, i) && s->start_ns[i] < t->end_ns &&
            s->start_ns[i] >= t->start_ns)
            h->hit[h->roles[i].block] = true;
    for (int i = 0; i < h->x->n; i++)
        if (has_left(h, i) && h->hit[h->roles[i].block])
            h->moved[n++] = i;
    return n;
}

/* Changes places of what was moved: those in the plan and those kept here. */
static void swap_places(holding *h, int n, int *place)
{
    for (int i = 0; i < n; i++) {
        int *now = &h->plan->device[h->moved[i]], before = *now;

        *now = place[i];
        place[i] = before;
    }
}

static bool is_spent(const holding *h)
{
    return h->evaluations * h->x->n >= EFFORT || mo_stop_reached(h->stop);
}

/* With what was moved out of its way back at home, or else where it is. */
static bool try_hold(holding *h, int n_moved, int *place)
{
    if (n_moved > 0) {
        swap_places(h, n_moved, place);
        if (is_better(h))
            return true;
        swap_places(h, n_moved, place);
    }
    return is_better(h);
}

static void hold(holding *h, const mo_transfer *t)
{
    int64_t *send_release_ns = &h->plan->send_release_ns[t->item],
            kept_ns = *send_release_ns;
    int n = find_times(h, t), n_moved = find_moved(h, t);

    for (int i = 0; i < n_moved; i++)
        h->place[i] = h->home[h->moved[i]];
    for (int i = -1; i < n && !is_spent(h); i++) {
        int64_t before_ns = h->best_ns;

        *send_release_ns = i < 0 ? 0 : h->times_ns[i];
        if (*send_release_ns != kept_ns && try_hold(h, n_moved, h->place))
            kept_ns = *send_release_ns;
        if (h->best_ns < before_ns)
            n_moved = 0; /* at home, or where they are better */
    }
    *send_release_ns = kept_ns;
}

static mo_status sweep(holding *h, mo_error *err)
{
    mo_status status = mo_sim_schedule(h->sim, h->plan, &h->s, err);
    int n;

    if (status != MO_OK)
        return status;
    n = find_longest(h);
    for (int i = 0; i < n; i++)
        hold(h, &h->s->transfers[h->longest[i]]);
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
    holding h = { .x = x,
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
    h.hit = malloc(n * sizeof *h.hit); /* each block has an op of its own */
    if (!h.moved || !h.place || !h.hit)
        status = mo_fail_memory(err);
    h.best_ns = *best_ns;
    for (int i = 0; i < SWEEPS && better && status == MO_OK; i++) {
        int64_t before_ns = h.best_ns;

        status = sweep(&h, err);
        better = h.best_ns < before_ns;
    }
    *best_ns = h.best_ns;
    free(h.moved);
    free(h.place);
    free(h.hit);
    return status;
}
