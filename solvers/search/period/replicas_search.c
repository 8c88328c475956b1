/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set partitioning by dynamic programming over the devices that are left, with
 * lazy evaluation: a group has a bound of its period until it is solved.  The
 * partition that is best by the bounds is taken, its groups are solved, and
 * so on until nothing of it is left to solve: then no other is better, but for
 * the gaps of single groups.  Devices of a class (equal_devices.h) count once:
 * a group has the first ones of each class.
 */
#include "solvers/search/period/replicas_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "cost/instance/sub_instance.h"
#include "schedule/equal_devices.h"
#include "schedule/period/loads.h"
#include "solvers/search/period/load_state.h"
#include "solvers/search/period/period_search.h"

#define LEAST_S 0.01

/* A group of devices, a bit for each. */
typedef struct group {
    bool solved;      /* or proven infeasible */
    int64_t lower_ns; /* of its period; INT64_MAX: no copy fits */
    int64_t upper_ns; /* INT64_MAX: no copy is known */
    int *device;      /* by op of the whole: of that copy */
} group;

/* Best sum of rates of some devices, and the first group of it; 0: the first
 * device is left over. */
typedef struct choice {
    bool known;
    double rate; /* negative: impossible */
    unsigned first;
} choice;

typedef struct partition_search {
    const mo_method_task *task;
    const mo_instance *x;
    int wanted;
    int first[MO_REPLICAS_MAX_DEVICES]; /* of the class */
    group *groups;                      /* by devices, normalized */
    choice *choices;                    /* by number of copies and devices */
    bool by_bounds;                     /* of the current pass */
} partition_search;

static unsigned all_devices(const partition_search *s)
{
    return (1U << s->x->n_devices) - 1;
}

/* Replaces devices by the first ones of their classes. */
static unsigned normalize(const partition_search *s, unsigned devices)
{
    unsigned made = 0;

    for (int k = 0; k < s->x->n_devices; k++) {
        int to = s->first[k];

        if (!(devices >> k & 1))
            continue;
        while (made >> to & 1 || s->first[to] != s->first[k])
            to++;
        made |= 1U << to;
    }
    return made;
}

/* Makes the instance of a group; parts are the caller's to free, the last is
 * the result.  *x is NULL where a pinned op needs another device. */
static mo_status make_part(const partition_search *s, unsigned devices,
                           mo_instance **parts, int *n_parts,
                           const mo_instance **x, mo_error *err)
{
    mo_status status = MO_OK;

    *x = s->x;
    *n_parts = 0;
    for (int k = s->x->n_devices - 1; k >= 0 && status == MO_OK; k--) {
        if (devices >> k & 1)
            continue;
        if (mo_instance_first_pinned_to(s->x, k) != MO_FREE) {
            *x = NULL;
            return MO_OK;
        }
        status = mo_instance_without_device(*x, k, &parts[*n_parts], err);
        if (status == MO_OK)
            *x = parts[(*n_parts)++];
    }
    return status;
}

static void free_parts(mo_instance **parts, int n)
{
    while (n > 0)
        mo_instance_free(parts[--n]);
}

/* Ops at their shortest, shared by all devices; memory by its sum. */
static void bound_group(const partition_search *s, unsigned devices, group *g)
{
    const mo_instance *x = s->x;
    double sum_ns = 0, needed = 0, capacity = 0;
    int64_t longest_ns = mo_max_i64(x->load.host_request_ns, 1);
    int n = 0;

    *g = (group){ .lower_ns = INT64_MAX, .upper_ns = INT64_MAX };
    for (int k = 0; k < x->n_devices; k++) {
        bool is_in = devices >> k & 1;

        if (!is_in && mo_instance_first_pinned_to(x, k) != MO_FREE) {
            g->solved = true;
            return;
        }
        n += is_in;
        if (is_in)
            capacity += (double) x->capacity_bytes[k];
    }
    for (int i = 0; i < x->n; i++) {
        int64_t ns = INT64_MAX;

        for (int k = 0; k < x->n_devices; k++)
            if (devices >> k & 1)
                ns = mo_min_i64(ns, mo_instance_p_ns(x, i, k));
        sum_ns += (double) ns;
        longest_ns = mo_max_i64(longest_ns, ns);
        needed +=
            (double) mo_regime_resident_bytes(x, s->task->regime.memory, i);
    }
    g->solved = needed > capacity * (1 + 1e-9);
    if (!g->solved)
        g->lower_ns =
            mo_max_i64(longest_ns, (int64_t) ceil(sum_ns / n * (1 - 1e-12)));
}

/* Takes a placement of the part that has these devices. */
static mo_status take_placement(const partition_search *s, unsigned devices,
                                const mo_method_result *placed, group *g,
                                mo_error *err)
{
    int in_whole[MO_REPLICAS_MAX_DEVICES], n = 0;
    mo_period_loads loads = { 0 };
    mo_status status;

    if (placed->infeasible)
        g->lower_ns = INT64_MAX;
    else
        g->lower_ns = mo_max_i64(g->lower_ns, placed->lower_ns);
    g->solved = true;
    if (!placed->schedule || !placed->fits)
        return MO_OK;
    for (int k = 0; k < s->x->n_devices; k++)
        if (devices >> k & 1)
            in_whole[n++] = k;
    g->device = calloc((size_t) s->x->n + 1, sizeof *g->device);
    if (!g->device)
        return mo_fail_memory(err);
    for (int i = 0; i < s->x->n; i++)
        g->device[i] = in_whole[placed->schedule->device[i]];
    status =
        mo_period_loads_compute(s->x, &s->task->regime, g->device, &loads, err);
    g->upper_ns = mo_max_i64(loads.period_ns, 1);
    mo_period_loads_clear(&loads);
    return status;
}

/* Solves a group within so many seconds; 0: no limit. */
static mo_status solve_group(const partition_search *s, unsigned devices,
                             double seconds, group *g, mo_error *err)
{
    mo_instance *parts[MO_REPLICAS_MAX_DEVICES];
    const mo_instance *x = NULL;
    int n_parts;
    mo_method_task task = *s->task;
    mo_method_result placed = { 0 };
    mo_stop stop;
    mo_status status = make_part(s, devices, parts, &n_parts, &x, err);

    mo_stop_after(&stop, seconds);
    stop.outer = s->task->stop;
    task.x = x;
    task.stop = &stop;
    task.on_progress = NULL;
    task.certify = false;
    task.proven = NULL;
    task.patterns = NULL;
    task.start = NULL;
    if (status == MO_OK && x)
        status = mo_period_search_place(&task, &placed, err);
    if (status == MO_OK)
        status = take_placement(s, devices, &placed, g, err);
    mo_method_result_clear(&placed);
    free_parts(parts, n_parts);
    return status;
}

static double rate_of(const partition_search *s, unsigned devices)
{
    const group *g = &s->groups[normalize(s, devices)];
    int64_t ns = s->by_bounds ? g->lower_ns : g->upper_ns;

    return ns == INT64_MAX ? -1 : 1 / (double) ns;
}

static choice *choice_of(const partition_search *s, int n, unsigned left)
{
    return &s->choices[((size_t) n << s->x->n_devices) + left];
}

/* The best partition of the devices left into n groups; with any number of
 * them, n is 0. */
static const choice *choose(const partition_search *s, int n, unsigned left)
{
    choice *c = choice_of(s, n, left);
    unsigned lowest = left & (~left + 1), rest = left & ~lowest;

    if (c->known)
        return c;
    *c = (choice){ .known = true, .rate = s->wanted > 0 && n > 0 ? -1 : 0 };
    if (left == 0 || (s->wanted > 0 && n == 0))
        return c;
    *c = *choose(s, n, normalize(s, rest));
    c->first = 0;
    for (unsigned more = rest;; more = (more - 1) & rest) {
        double rate = rate_of(s, more | lowest), others;

        if (rate > 0) {
            others =
                choose(s, s->wanted > 0 ? n - 1 : 0, normalize(s, rest & ~more))
                    ->rate;
            if (others >= 0 && rate + others > c->rate) {
                c->rate = rate + others;
                c->first = more | lowest;
            }
        }
        if (more == 0)
            break;
    }
    return c;
}

/* Fills groups with those of the best partition, by bounds or by copies that
 * are known; returns their number, and sets *rate. */
static int best_partition(partition_search *s, bool by_bounds, unsigned *groups,
                          double *rate)
{
    unsigned left = all_devices(s);
    int n = s->wanted, count = 0;
    size_t layers = (size_t) s->wanted + 1;

    s->by_bounds = by_bounds;
    memset(s->choices, 0, (layers << s->x->n_devices) * sizeof *s->choices);
    left = normalize(s, left);
    *rate = choose(s, n, left)->rate;
    while (*rate > 0 && left) {
        const choice *c = choose(s, n, left);
        unsigned lowest = left & (~left + 1);

        if (s->wanted > 0 && n == 0)
            break;
        if (!c->first) {
            left = normalize(s, left & ~lowest);
            continue;
        }
        groups[count++] = c->first;
        left = normalize(s, left & ~c->first);
        n -= s->wanted > 0;
    }
    return count;
}

static double seconds_left(const partition_search *s)
{
    return mo_stop_remaining_s(s->task->stop);
}

/* Solves the groups of the partition that is best by bounds; *any: there were
 * any. */
static mo_status solve_best(partition_search *s, bool *any, double *rate,
                            mo_error *err)
{
    unsigned groups[MO_REPLICAS_MAX_DEVICES];
    int n = best_partition(s, true, groups, rate), unsolved = 0;
    mo_status status = MO_OK;

    for (int i = 0; i < n; i++)
        unsolved += !s->groups[normalize(s, groups[i])].solved;
    *any = unsolved > 0;
    for (int i = 0; i < n && status == MO_OK; i++) {
        unsigned devices = normalize(s, groups[i]);
        group *g = &s->groups[devices];
        double seconds = seconds_left(s);

        if (g->solved)
            continue;
        /* Half of the time is for those that come later. */
        seconds = isinf(seconds) ? 0 : fmax(seconds / (2 * unsolved), LEAST_S);
        status = solve_group(s, devices, seconds, g, err);
    }
    return status;
}

/* Copies on the devices of the groups themselves: of a class, a group that was
 * solved has the first ones, and the others get their places in order. */
static mo_status copy_groups(partition_search *s, const unsigned *groups, int n,
                             mo_replicas_result *found, mo_error *err)
{
    unsigned used = 0;

    for (int c = 0; c < n; c++) {
        unsigned devices = normalize(s, groups[c]);
        const group *g = &s->groups[devices];
        int to[MO_REPLICAS_MAX_DEVICES] = { 0 };
        mo_replica *copy = &found->copies[found->n];

        for (int k = 0; k < s->x->n_devices; k++)
            if (devices >> k & 1) {
                to[k] = s->first[k];
                while (used >> to[k] & 1 || s->first[to[k]] != s->first[k])
                    to[k]++;
                used |= 1U << to[k];
            }
        copy->period_ns = g->upper_ns;
        copy->device = calloc((size_t) s->x->n + 1, sizeof *copy->device);
        if (!copy->device)
            return mo_fail_memory(err);
        found->n++;
        for (int i = 0; i < s->x->n; i++)
            copy->device[i] = to[g->device[i]];
    }
    /* The fastest first. */
    for (int c = 1; c < found->n; c++)
        for (int d = c; d > 0 && found->copies[d].period_ns <
                                     found->copies[d - 1].period_ns;
             d--) {
            mo_replica swapped = found->copies[d];

            found->copies[d] = found->copies[d - 1];
            found->copies[d - 1] = swapped;
        }
    return MO_OK;
}

static mo_status take_best(partition_search *s, double bound_rate,
                           mo_replicas_result *found, mo_error *err)
{
    unsigned groups[MO_REPLICAS_MAX_DEVICES];
    double rate;
    int n = best_partition(s, false, groups, &rate);
    const group *all = &s->groups[normalize(s, all_devices(s))];
    mo_status status = copy_groups(s, groups, n, found, err);

    if (bound_rate > 0)
        found->bound_ns = (int64_t) ceil(1 / bound_rate - 1e-6);
    if (status != MO_OK || found->n == 0)
        return status;
    status = mo_replicas_period(s->x, &s->task->regime, found->copies, found->n,
                                &found->period_ns, err);
    /* Shared links or the host can make one pipeline better. */
    if (status == MO_OK && s->wanted == 0 && all->device &&
        all->upper_ns < found->period_ns) {
        const unsigned whole = all_devices(s);

        mo_replicas_clear(found->copies, found->n);
        found->n = 0;
        status = copy_groups(s, &whole, 1, found, err);
        found->period_ns = all->upper_ns;
    }
    return status;
}

static mo_status open_search(partition_search *s, mo_error *err)
{
    size_t n_sets = (size_t) 1 << s->x->n_devices;
    mo_period_problem p = { 0 };
    mo_status status = mo_period_problem_init(&p, s->x, &s->task->regime, err);

    s->groups = calloc(n_sets, sizeof *s->groups);
    s->choices = calloc(n_sets * ((size_t) s->wanted + 1), sizeof *s->choices);
    if (status == MO_OK && (!s->groups || !s->choices))
        status = mo_fail_memory(err);
    if (status == MO_OK)
        mo_equal_devices_find(&p.domains, true, s->first);
    /* Routes over physical links are not compared. */
    for (int k = 0; s->task->regime.congestion == MO_CONGESTION_LINK &&
                    k < s->x->n_devices;
         k++)
        s->first[k] = k;
    mo_period_problem_clear(&p);
    for (unsigned set = 1; status == MO_OK && set < n_sets; set++)
        if (normalize(s, set) == set)
            bound_group(s, set, &s->groups[set]);
    return status;
}

mo_status mo_replicas_search(const mo_method_task *task, int wanted,
                             const mo_method_result *known,
                             mo_replicas_result *found, mo_error *err)
{
    partition_search s = { .task = task, .x = task->x, .wanted = wanted };
    unsigned all;
    double rate = 0;
    bool any = true;
    mo_status status;

    if (s.x->n_devices > MO_REPLICAS_MAX_DEVICES)
        return mo_fail(err, MO_E_LIMIT,
                       "--replicas takes clusters of up to %d devices, and "
                       "there are %d; leave some out with --drop-device",
                       MO_REPLICAS_MAX_DEVICES, s.x->n_devices);
    if (wanted > s.x->n_devices)
        return mo_fail(err, MO_E_USAGE,
                       "--replicas %d is more than there are devices, %d",
                       wanted, s.x->n_devices);
    status = open_search(&s, err);
    all = all_devices(&s);
    if (status == MO_OK && known && normalize(&s, all) == all)
        status = take_placement(&s, all, known, &s.groups[all], err);
    /* Whole copies on single devices are a first solution. */
    for (int k = 0; k < s.x->n_devices && status == MO_OK; k++) {
        group *g = &s.groups[normalize(&s, 1U << k)];

        if (!g->solved)
            status = solve_group(&s, normalize(&s, 1U << k), 0, g, err);
    }
    while (status == MO_OK && any) {
        status = solve_best(&s, &any, &rate, err);
        if (any && mo_stop_reached(task->stop)) {
            found->stopped = true;
            break;
        }
    }
    if (status == MO_OK) {
        unsigned groups[MO_REPLICAS_MAX_DEVICES];

        best_partition(&s, true, groups, &rate);
        status = take_best(&s, rate, found, err);
    }
    for (unsigned set = 0; s.groups && set <= all; set++)
        free(s.groups[set].device);
    free(s.groups);
    free(s.choices);
    return status;
}

void mo_replicas_result_clear(mo_replicas_result *found)
{
    mo_replicas_clear(found->copies, found->n);
    found->n = 0;
}
