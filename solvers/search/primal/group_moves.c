/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Local search with group moves, evaluated by simulation of the whole. The
 * groups are: connected ops beside the chain; each op of the chain; all ops of
 * a block, since a block that sends nothing may be better where others need
 * the ports; and a hub op of the chain with all its readers beside the chain,
 * without and with the block that it begins, since a widely read tensor is
 * best where its readers are. Multi-start: all ops without a device start on
 * one device, for each in turn; then first-improvement sweeps over the groups.
 */
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "solvers/search/primal/spine_internal.h"

enum {
    SWEEPS = 3,
    ROUNDS = 5,
    HOPELESS = 2, /* times the best: such a start is skipped */
    MAX_HUBS = 64,
    EFFORT = 20000000 /* simulated ops, about */
};

typedef struct group_search {
    const mo_instance *x;
    const mo_stop *stop;
    mo_sim *sim;
    mo_sim_plan *plan;
    int *set;         /* by op: union-find parent */
    int *start, *ops; /* of group s: ops[start[s] .. start[s + 1]) */
    int n_sets, n_ops, ops_room;
    int *before; /* by op of a group: device before the move */
    int *home;   /* by op: its first device */
    int *left;   /* ops away from home */
    bool *loose; /* by op: had no device */
    int64_t best_ns, evaluations;
    mo_sim_plan best; /* of all starts: devices and delays */
    int *group;       /* scratch, by colocation group */
    int *numbers;     /* buffer that the others point into */
} group_search;

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

/* A set without movable op gets key -1. */
static void append_set_groups(group_search *s,
                              const mo_primal_spine_role *roles, int n_blocks,
                              int *key, int *count)
{
    const mo_instance *x = s->x;

    for (int i = 0; i < x->n; i++)
        key[i] = -1;
    for (int i = 0; i < x->n; i++)
        if (s->loose[i] || roles[i].is_end)
            key[find_set(s, i)] = 0;
    for (int i = 0; i < x->n; i++) /* the root of a set is its first op */
        key[i] = key[find_set(s, i)] < 0 ? -1 : find_set(s, i);
    append_groups_by_key(s, key, x->n, count);
    for (int i = 0; i < x->n; i++)
        key[i] =
            roles[i].is_end || x->group[i] != MO_FREE ? -1 : roles[i].block;
    append_groups_by_key(s, key, n_blocks, count);
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

static bool accept_if_shorter(group_search *s)
{
    int64_t ns = mo_sim_run(s->sim, s->plan, s->best_ns);

    s->evaluations++;
    if (ns >= s->best_ns)
        return false;
    s->best_ns = ns;
    return true;
}

static bool is_effort_spent(const group_search *s)
{
    return s->evaluations * s->x->n > EFFORT || mo_stop_reached(s->stop);
}

/* Moves ops back home if that is shorter: those of one block, without its
 * ends, or all of them with block -1. */
static bool try_moving_home(group_search *s, const mo_primal_spine_role *roles,
                            int block)
{
    int n = 0;

    s->evaluations++; /* counting costs as much */
    for (int i = 0; i < s->x->n; i++)
        if (!s->loose[i] && s->plan->device[i] != s->home[i] &&
            (block < 0 || (roles[i].block == block && !roles[i].is_end &&
                           s->x->group[i] == MO_FREE))) {
            s->left[n] = i;
            s->before[n++] = s->plan->device[i];
            s->plan->device[i] = s->home[i];
        }
    if (n > 0 && accept_if_shorter(s))
        return true;
    for (int j = 0; j < n; j++)
        s->plan->device[s->left[j]] = s->before[j];
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
        int *now = &s->plan->device[s->ops[at]];

        s->before[at] = *now;
        if (s->x->pin[s->ops[at]] == MO_FREE && *now != device) {
            *now = device;
            same = false;
        }
    }
    if (!same && accept_if_shorter(s))
        return true;
    for (int at = s->start[set]; at < s->start[set + 1]; at++)
        s->plan->device[s->ops[at]] = s->before[at];
    return false;
}

static void sweep_groups(group_search *s, const mo_primal_spine_role *roles,
                         int n_blocks)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool moved = false;

        for (int block = -1; block < n_blocks && !is_effort_spent(s); block++)
            moved |= try_moving_home(s, roles, block);
        for (int set = 0; set < s->n_sets; set++)
            for (int k = 0; k < s->x->n_devices && !is_effort_spent(s); k++)
                if (try_moving_group(s, set, k))
                    moved = true;
        if (!moved)
            return;
    }
}

/* Alternates group moves and transfer delays: each opens moves for the
 * other. */
static mo_status alternate_moves(group_search *s,
                                 const mo_primal_spine_role *roles,
                                 int n_blocks, const mo_regime *regime,
                                 mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < ROUNDS && status == MO_OK; i++) {
        int64_t before_ns = s->best_ns;

        sweep_groups(s, roles, n_blocks);
        status = mo_primal_transfer_delay(s->x, regime, s->stop, roles, s->home,
                                          s->sim, s->plan, &s->best_ns, err);
        if (i > 0 && s->best_ns == before_ns)
            break;
    }
    return status;
}

/* Multi-start over the devices; hopeless starts are skipped, the best plan is
 * kept. */
static mo_status start_on_each_device(group_search *s,
                                      const mo_primal_spine_role *roles,
                                      int n_blocks, const mo_regime *regime,
                                      mo_error *err)
{
    int64_t least_ns = INT64_MAX;
    mo_status status = MO_OK;

    for (int k = 0; k < s->x->n_devices && status == MO_OK; k++) {
        if (k > 0 && mo_stop_reached(s->stop))
            break;
        /* Start: ops without a device on this one, all others at home, no
         * delays. */
        for (int i = 0; i < s->x->n; i++)
            s->plan->device[i] = !s->loose[i]              ? s->home[i]
                                 : s->x->pin[i] == MO_FREE ? k
                                                           : s->x->pin[i];
        for (int q = 0; q < s->x->n_flows; q++)
            s->plan->send_release_ns[q] = 0;
        s->best_ns = mo_sim_run(s->sim, s->plan, INT64_MAX);
        s->evaluations = 0;
        if (s->best_ns / HOPELESS >= least_ns)
            continue;
        status = alternate_moves(s, roles, n_blocks, regime, err);
        if (s->best_ns >= least_ns)
            continue;
        least_ns = s->best_ns;
        copy_plan(s->x, s->plan, &s->best);
    }
    copy_plan(s->x, &s->best, s->plan);
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

static void clear_search(group_search *s)
{
    free(s->best.send_release_ns);
    free(s->best.device);
    free(s->loose);
    free(s->group);
    free(s->numbers);
}

mo_status mo_primal_group_moves(const mo_instance *x, const mo_regime *regime,
                                const mo_stop *stop, mo_sim *sim,
                                const mo_primal_spine_role *roles, int n_blocks,
                                mo_sim_plan *plan, mo_error *err)
{
    size_t n = (size_t) mo_max_int(x->n, n_blocks) + 1 + MAX_HUBS;
    group_search s = { .x = x, .stop = stop, .sim = sim, .plan = plan };
    mo_status status = reserve_buffers(&s, n, err);

    if (status == MO_OK) {
        for (int i = 0; i < x->n; i++) {
            s.home[i] = plan->device[i];
            s.loose[i] = plan->device[i] < 0;
        }
        unite_connected(&s);
        append_set_groups(&s, roles, n_blocks, s.numbers + 11 * n,
                          s.numbers + 12 * n);
        append_hub_groups(&s, roles, s.numbers + 11 * n);
        status = start_on_each_device(&s, roles, n_blocks, regime, err);
    }
    clear_search(&s);
    return status;
}
