/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set partitioning by dynamic programming over the devices that are left, with
 * lazy evaluation: a group has a bound of its period until it is solved.  The
 * partition that is best by the bounds is taken, its groups are solved, and
 * so on until nothing of it is left to solve: then no other is better, but for
 * the gaps of single groups.  Devices of a class (equal_devices.h) count once:
 * a group is how many it has of each class, a number of mixed radix.
 */
#include "solvers/search/period/replicas_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "cost/instance/sub_instance.h"
#include "schedule/equal_devices.h"
#include "schedule/period/loads.h"
#include "schedule/period/modulo_schedule.h"
#include "solvers/search/period/load_state.h"
#include "solvers/search/period/period_search.h"

#define LEAST_S 0.01

/* A group of devices: the first ones of each class. */
typedef struct group {
    bool solved;      /* or proven infeasible */
    int64_t lower_ns; /* of its period; INT64_MAX: no copy fits */
    int64_t upper_ns; /* INT64_MAX: no copy is known */
    int *device;      /* by op of the whole: of that copy */
} group;

/* Best sum of rates of some devices, and the first group of it; 0: a device of
 * the first class is left over. */
typedef struct choice {
    bool known;
    double rate; /* negative: impossible */
    int first;
} choice;

/* Equal devices. */
typedef struct device_class {
    int n;
    int stride; /* of one device in the number of a group */
    int members[MO_REPLICAS_MAX_DEVICES];
} device_class;

typedef struct partition_search {
    const mo_method_task *task;
    const mo_instance *x;
    int wanted;
    device_class *classes; /* n_classes */
    int n_classes;
    int n_groups;  /* numbers of groups, from 0 on; the last has all devices */
    group *groups; /* by number */
    choice *choices; /* by number of copies, and of the group that is left */
    bool by_bounds;  /* of the current pass */
} partition_search;

/* How many devices of a class a group has. */
static int count_of(const partition_search *s, int number, int c)
{
    return number / s->classes[c].stride % (s->classes[c].n + 1);
}

/* The first class that a group has a device of. */
static int first_class(const partition_search *s, int number)
{
    int c = 0;

    while (count_of(s, number, c) == 0)
        c++;
    return c;
}

static void list_devices(const partition_search *s, int number, bool *has)
{
    memset(has, 0, (size_t) s->x->n_devices * sizeof *has);
    for (int c = 0; c < s->n_classes; c++)
        for (int i = 0; i < count_of(s, number, c); i++)
            has[s->classes[c].members[i]] = true;
}

/* Makes the instance of a group; parts are the caller's to free, the last is
 * the result.  *x is NULL where a pinned op needs another device. */
static mo_status make_part(const partition_search *s, const bool *has,
                           mo_instance **parts, int *n_parts,
                           const mo_instance **x, mo_error *err)
{
    mo_status status = MO_OK;

    *x = s->x;
    *n_parts = 0;
    for (int k = s->x->n_devices - 1; k >= 0 && status == MO_OK; k--) {
        if (has[k])
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

/* Ops at their shortest, shared by all devices; memory by its sum. */
static void bound_group(const partition_search *s, int number)
{
    const mo_instance *x = s->x;
    group *g = &s->groups[number];
    bool has[MO_REPLICAS_MAX_DEVICES];
    double sum_ns = 0, needed = 0, capacity = 0;
    int64_t longest_ns = mo_max_i64(x->load.host_request_ns, 1);
    int n = 0;

    list_devices(s, number, has);
    *g = (group){ .lower_ns = INT64_MAX, .upper_ns = INT64_MAX };
    for (int k = 0; k < x->n_devices; k++) {
        if (!has[k] && mo_instance_first_pinned_to(x, k) != MO_FREE) {
            g->solved = true;
            return;
        }
        n += has[k];
        if (has[k])
            capacity += (double) x->capacity_bytes[k];
    }
    for (int i = 0; i < x->n; i++) {
        int64_t ns = INT64_MAX;

        for (int k = 0; k < x->n_devices; k++)
            if (has[k])
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
static mo_status take_placement(const partition_search *s, int number,
                                const mo_method_result *placed, mo_error *err)
{
    group *g = &s->groups[number];
    bool has[MO_REPLICAS_MAX_DEVICES];
    int in_whole[MO_REPLICAS_MAX_DEVICES], n = 0;
    mo_modulo_schedule m = { 0 };
    mo_period_loads loads = { 0 };
    bool is_limited =
        s->task->in_flight > 0 || s->task->regime.memory == MO_MEMORY_LIVE;
    mo_status status;

    if (placed->infeasible)
        g->lower_ns = INT64_MAX;
    else
        g->lower_ns = mo_max_i64(g->lower_ns, placed->lower_ns);
    g->solved = true;
    if (!placed->schedule || !placed->fits)
        return MO_OK;
    list_devices(s, number, has);
    for (int k = 0; k < s->x->n_devices; k++)
        if (has[k])
            in_whole[n++] = k;
    g->device = calloc((size_t) s->x->n + 1, sizeof *g->device);
    if (!g->device)
        return mo_fail_memory(err);
    for (int i = 0; i < s->x->n; i++)
        g->device[i] = in_whole[placed->schedule->device[i]];
    status =
        mo_period_loads_compute(s->x, &s->task->regime, g->device, &loads, err);
    g->upper_ns = mo_max_i64(loads.period_ns, 1);
    if (status == MO_OK && is_limited) {
        status = mo_modulo_schedule_make(s->x, &s->task->regime, g->device,
                                         s->task->in_flight, NULL, &m, err);
        g->upper_ns = m.fits ? mo_max_i64(m.period_ns, 1) : INT64_MAX;
    }
    mo_modulo_schedule_clear(&m);
    mo_period_loads_clear(&loads);
    return status;
}

/* Solves a group within so many seconds; 0: no limit. */
static mo_status solve_group(const partition_search *s, int number,
                             double seconds, mo_error *err)
{
    bool has[MO_REPLICAS_MAX_DEVICES];
    mo_instance *parts[MO_REPLICAS_MAX_DEVICES];
    const mo_instance *x = NULL;
    int n_parts;
    mo_method_task task = *s->task;
    mo_method_result placed = { 0 };
    mo_stop stop;
    mo_status status;

    list_devices(s, number, has);
    status = make_part(s, has, parts, &n_parts, &x, err);
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
        status = take_placement(s, number, &placed, err);
    mo_method_result_clear(&placed);
    while (n_parts > 0)
        mo_instance_free(parts[--n_parts]);
    return status;
}

static double rate_of(const partition_search *s, int number)
{
    const group *g = &s->groups[number];
    int64_t ns = s->by_bounds ? g->lower_ns : g->upper_ns;

    return ns == INT64_MAX ? -1 : 1 / (double) ns;
}

/* Returns the next smaller part of the devices left, by number. */
static int next_part(const partition_search *s, int part, int left)
{
    for (int c = 0; c < s->n_classes; c++) {
        int stride = s->classes[c].stride;

        if (count_of(s, part, c) > 0)
            return part - stride;
        part += stride * count_of(s, left, c);
    }
    return 0;
}

/* The best partition of the devices left into n groups; with any number of
 * them, n is 0. */
static const choice *choose(const partition_search *s, int n, int left)
{
    choice *c = &s->choices[(size_t) n * (size_t) s->n_groups + (size_t) left];
    int one;

    if (c->known)
        return c;
    *c = (choice){ .known = true, .rate = s->wanted > 0 && n > 0 ? -1 : 0 };
    if (left == 0 || (s->wanted > 0 && n == 0))
        return c;
    one = s->classes[first_class(s, left)].stride;
    *c = *choose(s, n, left - one);
    c->first = 0;
    for (int more = left - one;; more = next_part(s, more, left - one)) {
        double rate = rate_of(s, more + one), others;

        if (rate > 0) {
            others =
                choose(s, s->wanted > 0 ? n - 1 : 0, left - one - more)->rate;
            if (others >= 0 && rate + others > c->rate) {
                c->rate = rate + others;
                c->first = more + one;
            }
        }
        if (more == 0)
            break;
    }
    return c;
}

/* Fills groups with those of the best partition, by bounds or by copies that
 * are known; returns their number, and sets *rate. */
static int best_partition(partition_search *s, bool by_bounds, int *groups,
                          double *rate)
{
    int left = s->n_groups - 1, n = s->wanted, count = 0;

    s->by_bounds = by_bounds;
    memset(s->choices, 0,
           ((size_t) s->wanted + 1) * (size_t) s->n_groups *
               sizeof *s->choices);
    *rate = choose(s, n, left)->rate;
    while (*rate > 0 && left) {
        const choice *c = choose(s, n, left);

        if (s->wanted > 0 && n == 0)
            break;
        if (!c->first) {
            left -= s->classes[first_class(s, left)].stride;
            continue;
        }
        groups[count++] = c->first;
        left -= c->first;
        n -= s->wanted > 0;
    }
    return count;
}

/* Solves the groups of the partition that is best by bounds; *any: there were
 * any. */
static mo_status solve_best(partition_search *s, bool *any, mo_error *err)
{
    int groups[MO_REPLICAS_MAX_DEVICES];
    double rate;
    int n = best_partition(s, true, groups, &rate), unsolved = 0;
    mo_status status = MO_OK;

    for (int i = 0; i < n; i++)
        unsolved += !s->groups[groups[i]].solved;
    *any = unsolved > 0;
    for (int i = 0; i < n && status == MO_OK; i++) {
        double seconds = mo_stop_remaining_s(s->task->stop);

        if (s->groups[groups[i]].solved)
            continue;
        /* Half of the time is for those that come later. */
        seconds = isinf(seconds) ? 0 : fmax(seconds / (2 * unsolved), LEAST_S);
        status = solve_group(s, groups[i], seconds, err);
    }
    return status;
}

/* Copies on the devices of the groups themselves: of a class, a group that was
 * solved has the first ones, and the others get their places in order. */
static mo_status copy_groups(partition_search *s, const int *groups, int n,
                             mo_replicas_result *found, mo_error *err)
{
    int used[MO_REPLICAS_MAX_DEVICES] = { 0 }; /* by class */

    for (int i = 0; i < n; i++) {
        const group *g = &s->groups[groups[i]];
        int to[MO_REPLICAS_MAX_DEVICES] = { 0 };
        mo_replica *copy = &found->copies[found->n];

        for (int c = 0; c < s->n_classes; c++) {
            const int *members = s->classes[c].members;
            int count = count_of(s, groups[i], c);

            for (int k = 0; k < count; k++)
                to[members[k]] = members[used[c] + k];
            used[c] += count;
        }
        copy->period_ns = g->upper_ns;
        copy->device = calloc((size_t) s->x->n + 1, sizeof *copy->device);
        if (!copy->device)
            return mo_fail_memory(err);
        found->n++;
        for (int op = 0; op < s->x->n; op++)
            copy->device[op] = to[g->device[op]];
    }
    /* The fastest first. */
    for (int c = 1; c < found->n; c++) {
        mo_replica one = found->copies[c];
        int d = c;

        for (; d > 0 && one.period_ns < found->copies[d - 1].period_ns; d--)
            found->copies[d] = found->copies[d - 1];
        found->copies[d] = one;
    }
    return MO_OK;
}

static mo_status take_best(partition_search *s, mo_replicas_result *found,
                           mo_error *err)
{
    int groups[MO_REPLICAS_MAX_DEVICES];
    double rate;
    int n;
    const group *all = &s->groups[s->n_groups - 1];
    mo_status status;

    best_partition(s, true, groups, &rate);
    if (rate > 0)
        found->bound_ns = (int64_t) ceil(1 / rate - 1e-6);
    n = best_partition(s, false, groups, &rate);
    status = copy_groups(s, groups, n, found, err);
    if (status != MO_OK || found->n == 0)
        return status;
    status = mo_replicas_period(s->x, &s->task->regime, found->copies, found->n,
                                &found->period_ns, err);
    /* Shared links or the host can make one pipeline better. */
    if (status == MO_OK && s->wanted == 0 && all->device &&
        all->upper_ns < found->period_ns) {
        mo_replicas_clear(found->copies, found->n);
        found->n = 0;
        groups[0] = s->n_groups - 1;
        status = copy_groups(s, groups, 1, found, err);
        found->period_ns = all->upper_ns;
    }
    return status;
}

/* Sorts the devices into classes, and numbers the groups. Fails with MO_E_LIMIT
 * where these are too many. */
static mo_status find_classes(partition_search *s, const int *first,
                              mo_error *err)
{
    int class_of[MO_REPLICAS_MAX_DEVICES];

    s->classes = calloc((size_t) s->x->n_devices, sizeof *s->classes);
    if (!s->classes)
        return mo_fail_memory(err);
    for (int k = 0; k < s->x->n_devices; k++) {
        device_class *c;

        class_of[k] = first[k] == k ? s->n_classes++ : class_of[first[k]];
        c = &s->classes[class_of[k]];
        c->members[c->n++] = k;
    }
    s->n_groups = 1;
    for (int c = 0; c < s->n_classes; c++) {
        s->classes[c].stride = s->n_groups;
        s->n_groups *= s->classes[c].n + 1;
        if (s->n_groups > MO_REPLICAS_MAX_GROUPS)
            return mo_fail(err, MO_E_LIMIT,
                           "--replicas: %d devices make more than %d groups; "
                           "leave some out with --drop-device",
                           s->x->n_devices, MO_REPLICAS_MAX_GROUPS);
    }
    return MO_OK;
}

static mo_status open_search(partition_search *s, mo_error *err)
{
    int first[MO_REPLICAS_MAX_DEVICES];
    mo_period_problem p = { 0 };
    mo_status status = mo_period_problem_init(&p, s->x, &s->task->regime, err);

    if (status == MO_OK)
        mo_equal_devices_find(&p.domains, true, first);
    /* Routes over physical links are not compared. */
    if (s->task->regime.congestion == MO_CONGESTION_LINK)
        for (int k = 0; k < s->x->n_devices; k++)
            first[k] = k;
    mo_period_problem_clear(&p);
    if (status == MO_OK)
        status = find_classes(s, first, err);
    if (status != MO_OK)
        return status;
    s->groups = calloc((size_t) s->n_groups, sizeof *s->groups);
    s->choices = calloc((size_t) s->n_groups * ((size_t) s->wanted + 1),
                        sizeof *s->choices);
    if (!s->groups || !s->choices)
        return mo_fail_memory(err);
    for (int g = 1; g < s->n_groups; g++)
        bound_group(s, g);
    return MO_OK;
}

mo_status mo_replicas_search(const mo_method_task *task, int wanted,
                             const mo_method_result *known,
                             mo_replicas_result *found, mo_error *err)
{
    partition_search s = { .task = task, .x = task->x, .wanted = wanted };
    bool any = true;
    mo_status status;

    if (s.x->n_devices > MO_REPLICAS_MAX_DEVICES)
        return mo_fail(err, MO_E_LIMIT,
                       "--replicas takes up to %d devices, not %d; leave some "
                       "out with --drop-device",
                       MO_REPLICAS_MAX_DEVICES, s.x->n_devices);
    if (wanted > s.x->n_devices)
        return mo_fail(err, MO_E_USAGE,
                       "--replicas %d is more than there are devices, %d",
                       wanted, s.x->n_devices);
    status = open_search(&s, err);
    if (status == MO_OK && known)
        status = take_placement(&s, s.n_groups - 1, known, err);
    /* Whole copies on single devices are a first solution. */
    for (int c = 0; c < s.n_classes && status == MO_OK; c++)
        if (!s.groups[s.classes[c].stride].solved)
            status = solve_group(&s, s.classes[c].stride, 0, err);
    while (status == MO_OK && any) {
        status = solve_best(&s, &any, err);
        if (any && mo_stop_reached(task->stop)) {
            found->stopped = true;
            break;
        }
    }
    if (status == MO_OK)
        status = take_best(&s, found, err);
    for (int g = 0; s.groups && g < s.n_groups; g++)
        free(s.groups[g].device);
    free(s.classes);
    free(s.groups);
    free(s.choices);
    return status;
}

void mo_replicas_result_clear(mo_replicas_result *found)
{
    mo_replicas_clear(found->copies, found->n);
    found->n = 0;
}
