/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Local search with group moves, evaluated by simulation of the whole. The
 * groups are: connected ops beside the chain; each op of the chain; all ops of
 * a block, since a block that sends nothing may be better where others need
 * the ports; and a hub op of the chain with all its readers beside the chain,
 * without and with the block that it begins, since a widely read tensor is
 * best where its readers are. Multi-start: all ops without a device start on
 * one device, for each in turn; then first-improvement sweeps over the groups.
 *
 * These alternate with idle time before transfers. The simulator is
 * work-conserving; a long transfer is at times better delayed until one that
 * the chain needs has passed: for each of the longest transfers all ends of
 * conflicting ones are tried as release times.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "schedule/resource.h"
#include "solvers/search/primal/spine_internal.h"

enum {
    SWEEPS = 3,
    ROUNDS = 5,
    HOPELESS = 2, /* times the best: such a start is skipped */
    MAX_HUBS = 64,
    MAX_HELD = 24,     /* longest transfers that are delayed */
    MAX_TIMES = 200,   /* release times for each */
    EFFORT = 20000000, /* simulated ops, about */
    DELAY_EFFORT = EFFORT / 2,
    OP_WORK = 27 /* of a simulated op (mo_stop_spend) */
};

/* The plan, its makespan and the effort spent on it. */
typedef struct evaluator {
    const mo_primal_group_problem *of;
    mo_sim *sim;
    mo_sim_plan *plan;
    int64_t best_ns, evaluations, effort;
} evaluator;

typedef struct group_search {
    const mo_instance *x;
    evaluator e;
    int *set;         /* by op: union-find parent */
    int *start, *ops; /* of group s: ops[start[s] .. start[s + 1]) */
    int n_sets, n_ops, ops_room;
    int *before;      /* by op of a group: device before the move */
    int *home;        /* by op: its first device */
    int *left;        /* ops away from home */
    bool *loose;      /* by op: had no device */
    mo_sim_plan best; /* of all starts: devices and delays */
    int *group;       /* scratch, by colocation group */
    int *numbers;     /* buffer that the others point into */
} group_search;

typedef struct delay_search {
    const mo_instance *x;
    evaluator e;
    const int *home;       /* by op: device in its block, or -1 */
    mo_schedule *s;        /* of the plan at the begin of the sweep */
    int longest[MAX_HELD]; /* indices of its transfers */
    int *moved, *place;    /* ops, and their alternative devices */
    bool *hit;             /* by block */
    int64_t times_ns[MAX_TIMES];
} delay_search;

static int find_set(group_search *s, int op)
{
    while (s->set[op] != op)
        op = s->set[op] = s->set[s->set[op]];
    return op;
}

static void unite_sets(group_search *s, int a, int b)
{
    a = find_set(s, a);
    b = find_set(s, b);
    if (a < b)
        s->set[b] = a;
    else
        s->set[a] = b;
}

static void unite_connected(group_search *s)
{
    const mo_instance *x = s->x;
    int *first = s->group; /* an op of each */

    for (int i = 0; i < x->n; i++)
        s->set[i] = i;
    for (int q = 0; q < x->n_flows; q++)
        if (s->loose[x->flows[q].from] && s->loose[x->flows[q].to])
            unite_sets(s, x->flows[q].from, x->flows[q].to);
    for (int g = 0; g < x->n_groups; g++)
        first[g] = -1;
    for (int i = 0; i < x->n; i++)
        if (x->group[i] != MO_FREE) {
            if (first[x->group[i]] < 0)
                first[x->group[i]] = i;
            unite_sets(s, first[x->group[i]], i);
        }
}

/* Appends one group for each key from 0 on that occurs; key -1 is in none. */
static void append_groups_by_key(group_search *s, const int *key, int n_keys,
                                 int *count)
{
    int at = s->start[s->n_sets];

    for (int k = 0; k < n_keys; k++)
        count[k] = 0;
    for (int i = 0; i < s->x->n; i++)
        if (key[i] >= 0)
            count[key[i]]++;
    for (int k = 0; k < n_keys; k++) {
        int n = count[k];

        count[k] = at;
        at += n;
        if (n > 0)
            s->start[++s->n_sets] = at;
    }
    for (int i = 0; i < s->x->n; i++)
        if (key[i] >= 0)
            s->ops[count[key[i]]++] = i;
}

/* Appends the set of op to the last group, unless it is marked with the
 * number. */
static void append_set(group_search *s, int op, int *mark, int number)
{
    int root = find_set(s, op);

    if (mark[root] == number)
        return;
    mark[root] = number;
    for (int i = root; i < s->x->n && s->n_ops < s->ops_room; i++)
        if (find_set(s, i) == root)
            s->ops[s->n_ops++] = i;
}

/* Appends the end with its readers that have no device, and with the block
 * that it begins unless block is -1. */
static void append_hub_group(group_search *s, const mo_primal_spine_role *roles,
                             int end, int block, int *mark, int number)
{
    const mo_instance *x = s->x;

    s->n_ops = s->start[s->n_sets];
    append_set(s, end, mark, number);
    for (int q = x->out_start[end]; q < x->out_start[end + 1]; q++)
        if (s->loose[x->flows[q].to])
            append_set(s, x->flows[q].to, mark, number);
    for (int i = end + 1; i < x->n && block >= 0; i++)
        if (roles[i].block == block && !roles[i].is_end)
            append_set(s, i, mark, number);
    if (s->n_ops < s->ops_room)
        s->start[++s->n_sets] = s->n_ops;
}

static void append_hub_groups(group_search *s,
                              const mo_primal_spine_role *roles, int *mark)
{
    const mo_instance *x = s->x;
    int most = s->n_sets + MAX_HUBS;

    for (int i = 0; i < x->n; i++)
        mark[i] = -1;
    for (int i = 0; i < x->n; i++) {
        bool read = false;

        for (int q = x->out_start[i]; q < x->out_start[i + 1]; q++)
            read = read || s->loose[x->flows[q].to];
        if (!roles[i].is_end || !read || s->n_sets + 2 > most)
            continue;
        append_hub_group(s, roles, i, -1, mark, 2 * i);
        append_hub_group(s, roles, i, roles[i].block + 1, mark, 2 * i + 1);
    }
}

/* Accepts the plan if it is shorter than the best. */
static bool accept_if_shorter(evaluator *e)
{
    int64_t ns = mo_sim_run(e->sim, e->plan, e->best_ns);

    e->evaluations++;
    if (ns >= e->best_ns)
        return false;
    e->best_ns = ns;
    return true;
}

static bool is_effort_spent(const evaluator *e)
{
    return e->evaluations * e->of->x->n >= e->effort ||
           mo_stop_spend(e->of->stop, OP_WORK * e->of->x->n);
}

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

static bool has_left_home(const delay_search *h, int op)
{
    return h->home[op] >= 0 && h->x->group[op] == MO_FREE &&
           !h->e.of->roles[op].is_end && h->e.plan->device[op] != h->home[op];
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
            h->hit[h->e.of->roles[i].block] = true;
    for (int i = 0; i < h->x->n; i++)
        if (has_left_home(h, i) && h->hit[h->e.of->roles[i].block])
            h->moved[n++] = i;
    return n;
}

/* Exchanges the devices of the moved ops with those in place. */
static void swap_devices(delay_search *h, int n)
{
    for (int i = 0; i < n; i++) {
        int *now = &h->e.plan->device[h->moved[i]], before = *now;

        *now = h->place[i];
        h->place[i] = before;
    }
}

/* Tries the delay with the moved ops back home, then without. */
static bool try_delay(delay_search *h, int n_moved)
{
    if (n_moved > 0) {
        swap_devices(h, n_moved);
        if (accept_if_shorter(&h->e))
            return true;
        swap_devices(h, n_moved);
    }
    return accept_if_shorter(&h->e);
}

static void delay_transfer(delay_search *h, const mo_transfer *t)
{
    int64_t *send_release_ns = &h->e.plan->send_release_ns[t->item],
            kept_ns = *send_release_ns;
    mo_congestion congestion = h->e.of->regime->congestion;
    const mo_schedule *s = h->s;
    int n = 0, n_moved = find_avoiding_ops(h, t);

    /* The ends of conflicting transfers, ascending. */
    for (int i = 0; i < s->n_transfers && n < MAX_TIMES; i++)
        if (s->transfers[i].end_ns > t->start_ns && &s->transfers[i] != t &&
            mo_resource_is_shared(h->x, congestion, t->from, t->to,
                                  s->transfers[i].from, s->transfers[i].to))
            h->times_ns[n++] = s->transfers[i].end_ns;
    qsort(h->times_ns, (size_t) n, sizeof *h->times_ns, mo_compare_i64);

    for (int i = 0; i < n_moved; i++)
        h->place[i] = h->home[h->moved[i]];
    for (int i = -1; i < n && !is_effort_spent(&h->e); i++) {
        int64_t before_ns = h->e.best_ns;

        *send_release_ns = i < 0 ? 0 : h->times_ns[i];
        if (*send_release_ns != kept_ns && try_delay(h, n_moved))
            kept_ns = *send_release_ns;
        if (h->e.best_ns < before_ns)
            n_moved = 0; /* already moved, or better where they are */
    }
    *send_release_ns = kept_ns;
}

/* Delays transfers (inserted idle time) where that shortens the whole, also
 * together with moving ops back home. */
static mo_status delay_transfers(group_search *s, mo_error *err)
{
    size_t n = (size_t) s->x->n + 1;
    delay_search h = { .x = s->x, .e = s->e, .home = s->home };
    mo_status status = MO_OK;
    bool better = true;

    if (mo_resource_count(s->x, s->e.of->regime->congestion) == 0 ||
        mo_ablated(MO_ABLATION_transfer_delay))
        return MO_OK;
    h.e.evaluations = 0;
    h.e.effort = DELAY_EFFORT;
    h.moved = malloc(n * sizeof *h.moved);
    h.place = malloc(n * sizeof *h.place);
    h.hit = malloc(n * sizeof *h.hit); /* by block: each has an op of its own */
    if (!h.moved || !h.place || !h.hit)
        status = mo_fail_memory(err);
    for (int i = 0; i < SWEEPS && better && status == MO_OK; i++) {
        int64_t before_ns = h.e.best_ns;

        status = mo_sim_schedule(h.e.sim, h.e.plan, &h.s, err);
        if (status == MO_OK) {
            int n_longest = find_longest(&h);

            for (int j = 0; j < n_longest; j++)
                delay_transfer(&h, &h.s->transfers[h.longest[j]]);
            mo_schedule_free(h.s);
        }
        better = h.e.best_ns < before_ns;
    }
    s->e.best_ns = h.e.best_ns;
    free(h.moved);
    free(h.place);
    free(h.hit);
    return status;
}

/* Moves ops back home if that is shorter: those of one block, without its
 * ends, or all of them with block -1. */
static bool try_moving_home(group_search *s, int block)
{
    const mo_primal_spine_role *roles = s->e.of->roles;
    int n = 0;

    s->e.evaluations++; /* counting costs as much */
    for (int i = 0; i < s->x->n; i++)
        if (!s->loose[i] && s->e.plan->device[i] != s->home[i] &&
            (block < 0 || (roles[i].block == block && !roles[i].is_end &&
                           s->x->group[i] == MO_FREE))) {
            s->left[n] = i;
            s->before[n++] = s->e.plan->device[i];
            s->e.plan->device[i] = s->home[i];
        }
    if (n > 0 && accept_if_shorter(&s->e))
        return true;
    for (int j = 0; j < n; j++)
        s->e.plan->device[s->left[j]] = s->before[j];
    return false;
}

static void copy_plan(const mo_instance *x, const mo_sim_plan *from,
                      mo_sim_plan *to)
{
    memcpy(to->device, from->device, (size_t) x->n * sizeof *to->device);
    memcpy(to->send_release_ns, from->send_release_ns,
           (size_t) x->n_flows * sizeof *to->send_release_ns);
}

static bool try_moving_group(group_search *s, int set, int device)
{
    bool same = true;

    for (int at = s->start[set]; at < s->start[set + 1]; at++) {
        int *now = &s->e.plan->device[s->ops[at]];

        s->before[at] = *now;
        if (s->x->pin[s->ops[at]] == MO_FREE && *now != device) {
            *now = device;
            same = false;
        }
    }
    if (!same && accept_if_shorter(&s->e))
        return true;
    for (int at = s->start[set]; at < s->start[set + 1]; at++)
        s->e.plan->device[s->ops[at]] = s->before[at];
    return false;
}

static void sweep_groups(group_search *s)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool moved = false;

        for (int block = -1;
             block < s->e.of->n_blocks && !is_effort_spent(&s->e); block++)
            moved |= try_moving_home(s, block);
        for (int set = 0; set < s->n_sets; set++)
            for (int k = 0; k < s->x->n_devices && !is_effort_spent(&s->e); k++)
                if (try_moving_group(s, set, k))
                    moved = true;
        if (!moved)
            return;
    }
}

/* Multi-start over the devices; hopeless starts are skipped, the best plan is
 * kept. */
static mo_status start_on_each_device(group_search *s, mo_error *err)
{
    int64_t least_ns = INT64_MAX;
    mo_status status = MO_OK;

    for (int k = 0; k < s->x->n_devices && status == MO_OK; k++) {
        if (k > 0 && mo_stop_reached(s->e.of->stop))
            break;
        /* Start: ops without a device on this one, all others at home, no
         * delays. */
        for (int i = 0; i < s->x->n; i++)
            s->e.plan->device[i] = !s->loose[i]              ? s->home[i]
                                   : s->x->pin[i] == MO_FREE ? k
                                                             : s->x->pin[i];
        for (int q = 0; q < s->x->n_flows; q++)
            s->e.plan->send_release_ns[q] = 0;
        s->e.best_ns = mo_sim_run(s->e.sim, s->e.plan, INT64_MAX);
        s->e.evaluations = 0;
        if (s->e.best_ns / HOPELESS >= least_ns)
            continue;
        /* Alternates group moves and transfer delays: each opens moves for the
         * other. */
        status = MO_OK;

        for (int i = 0; i < ROUNDS && status == MO_OK; i++) {
            int64_t before_ns = s->e.best_ns;

            if (!mo_ablated(MO_ABLATION_group_moves))
                sweep_groups(s);
            status = delay_transfers(s, err);
            if (i > 0 && s->e.best_ns == before_ns)
                break;
        }
        if (s->e.best_ns >= least_ns)
            continue;
        least_ns = s->e.best_ns;
        copy_plan(s->x, s->e.plan, &s->best);
    }
    copy_plan(s->x, &s->best, s->e.plan);
    return status;
}

static mo_status reserve_buffers(group_search *s, size_t n, mo_error *err)
{
    size_t n_flows = (size_t) s->x->n_flows + 1;

    s->numbers = calloc(n, 15 * sizeof *s->numbers);
    s->group = malloc(((size_t) s->x->n_groups + 1) * sizeof *s->group);
    s->loose = calloc(n, sizeof *s->loose);
    s->best.device = malloc(n * sizeof *s->best.device);
    s->best.send_release_ns = malloc(n_flows * sizeof *s->best.send_release_ns);
    if (!s->numbers || !s->group || !s->loose || !s->best.device ||
        !s->best.send_release_ns)
        return mo_fail_memory(err);
    s->set = s->numbers;
    s->start = s->numbers + n; /* single sets, blocks, hubs */
    s->ops = s->numbers + 3 * n;
    s->before = s->numbers + 7 * n;
    s->ops_room = (int) (4 * n);
    s->home = s->numbers + 13 * n;
    s->left = s->numbers + 14 * n;
    return MO_OK;
}

mo_status mo_primal_group_moves(const mo_primal_group_problem *problem,
                                mo_sim *sim, mo_sim_plan *plan, mo_error *err)
{
    const mo_instance *x = problem->x;
    size_t n = (size_t) mo_max_int(x->n, problem->n_blocks) + 1 + MAX_HUBS;
    group_search s = {
        .x = x,
        .e = { .of = problem, .sim = sim, .plan = plan, .effort = EFFORT }
    };
    mo_status status = reserve_buffers(&s, n, err);

    if (status == MO_OK) {
        for (int i = 0; i < x->n; i++) {
            s.home[i] = plan->device[i];
            s.loose[i] = plan->device[i] < 0;
        }
        unite_connected(&s);

        /* The key of a set is its root, its first op; a set without movable op
         * gets key -1. */
        const mo_primal_spine_role *roles = problem->roles;
        int *key = s.numbers + 11 * n;
        int *count = s.numbers + 12 * n;
        const mo_instance *instance = s.x;

        for (int i = 0; i < instance->n; i++)
            key[i] = -1;
        for (int i = 0; i < instance->n; i++)
            if (s.loose[i] || roles[i].is_end)
                key[find_set(&s, i)] = 0;
        for (int i = 0; i < instance->n; i++)
            key[i] = key[find_set(&s, i)] < 0 ? -1 : find_set(&s, i);
        append_groups_by_key(&s, key, instance->n, count);
        for (int i = 0; i < instance->n; i++)
            key[i] = roles[i].is_end || instance->group[i] != MO_FREE
                         ? -1
                         : roles[i].block;
        append_groups_by_key(&s, key, problem->n_blocks, count);
        append_hub_groups(&s, problem->roles, s.numbers + 11 * n);
        status = start_on_each_device(&s, err);
    }
    free(s.best.send_release_ns);
    free(s.best.device);
    free(s.loose);
    free(s.group);
    free(s.numbers);
    return status;
}
