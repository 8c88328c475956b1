/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/segment_bound.h"

#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/array.h"
#include "schedule/bound/load_bound.h"
#include "schedule/bound/head_tail.h"
#include "schedule/bound/infeasibility_test.h"
#include "schedule/equal_devices.h"

/*
 * Destructive lower bound by bisection.
 *
 * With u on a and v on b, each op between them has a head since the end of u
 * and a tail until the start of v, by device.  A time T removes devices from
 * ops: those on which head, own time and tail exceed T.  Without them the
 * heads and tails of others grow, to a fixpoint (constraint propagation).
 * What remains may be refuted by loads (infeasibility_test.h).  The least T
 * that is not refuted is found by bisection, not to the last nanosecond:
 * whatever has been refuted holds.
 *
 * Where a transfer takes longer than running elsewhere gains, this proves that
 * nearly everything stays where u is, which neither paths nor loads alone
 * prove.
 */

enum {
    MAX_ROUNDS = 6,      /* of propagation */
    PRECISION = 1 << 13, /* relative: one part in this many */
    TEST_WORK = 40 /* of a test, by op and pair of devices (mo_stop_spend) */
};

struct mo_bound_segments {
    const mo_allowed_devices *domains;
    mo_allowed_devices
        remaining; /* the devices left within the time under test */
    mo_infeas_test *infeas_test;
    const mo_stop *stop;
    int64_t *head_ns, *tail_ns; /* heads and tails by op and device */
    int64_t *at;                /* by device */
    bool *group_removed;        /* by group and device */
    int *first_equal;           /* by device: the first of its class */
    bool has_load, has_load_test, has_bisection; /* not switched off */
};

mo_status mo_bound_segments_new(const mo_allowed_devices *domains,
                                mo_bound_segments **segments, mo_error *err)
{
    size_t n = (size_t) domains->x->n, devices = (size_t) domains->x->n_devices;
    size_t n_groups = (size_t) domains->x->n_groups, size;
    mo_bound_segments *s = calloc(1, sizeof *s);
    mo_status status;

    if (!s)
        return mo_fail_memory(err);
    s->domains = domains;
    s->remaining = *domains;
    s->remaining.allowed = NULL;
    s->has_load = !mo_ablated(MO_ABLATION_bound_load);
    s->has_load_test = !mo_ablated(MO_ABLATION_infeasibility_test);
    s->has_bisection = !mo_ablated(MO_ABLATION_segment_bisection);
    if (mo_size_mul(n + 1, devices, &size)) {
        s->head_ns = calloc(size, sizeof *s->head_ns);
        s->tail_ns = calloc(size, sizeof *s->tail_ns);
        s->at = calloc(devices + 1, sizeof *s->at);
        s->remaining.allowed = calloc(size, sizeof *s->remaining.allowed);
        s->group_removed = calloc(n_groups + 1, devices + 1);
        s->first_equal = calloc(devices + 1, sizeof *s->first_equal);
    }
    if (s->head_ns && s->tail_ns && s->at && s->remaining.allowed &&
        s->group_removed && s->first_equal)
        status = mo_infeas_test_new(&s->remaining, domains->x->n,
                                    &s->infeas_test, err);
    else
        status = mo_fail_memory(err);
    if (status == MO_OK) {
        mo_equal_devices_find(domains, true, s->first_equal);
        *segments = s;
    } else {
        mo_bound_segments_free(s);
    }
    return status;
}

void mo_bound_segments_free(mo_bound_segments *s)
{
    if (!s)
        return;
    mo_infeas_test_free(s->infeas_test);
    free(s->head_ns);
    free(s->tail_ns);
    free(s->at);
    free(s->remaining.allowed);
    free(s->group_removed);
    free(s->first_equal);
    free(s);
}

void mo_bound_segments_set_stop(mo_bound_segments *s, const mo_stop *stop)
{
    s->stop = stop;
}

static void clear_op_times(const mo_bound_segments *s, int64_t *time_ns, int op)
{
    size_t size = (size_t) s->domains->x->n_devices * sizeof *time_ns;

    if (op != MO_FREE)
        memset(time_ns + mo_allowed_devices_index(s->domains, op, 0), 0, size);
}

/* Clears heads or tails of the segment's ops and of its ends. */
static void clear_times(const mo_bound_segments *s,
                        const mo_bound_segment *segment, int64_t *time_ns)
{
    clear_op_times(s, time_ns, segment->u);
    clear_op_times(s, time_ns, segment->v);
    for (int i = 0; i < segment->n; i++)
        clear_op_times(s, time_ns, segment->ops[i]);
}

static void find_tails(mo_bound_segments *s, const mo_bound_segment *segment,
                       int b)
{
    mo_head_tail pass = { .domains = &s->remaining,
                          .backward = true,
                          .time_ns = s->tail_ns,
                          .arrival_ns = s->at,
                          .stop = s->stop };

    clear_times(s, segment, s->tail_ns);
    if (segment->v != MO_FREE)
        mo_head_tail_propagate_from(&pass, segment->v, b);
    for (int i = segment->n - 1; i >= 0; i--)
        mo_head_tail_propagate(&pass, segment->ops[i]);
}

static void find_heads(mo_bound_segments *s, const mo_bound_segment *segment,
                       int a)
{
    mo_head_tail pass = { .domains = &s->remaining,
                          .time_ns = s->head_ns,
                          .arrival_ns = s->at,
                          .stop = s->stop };

    clear_times(s, segment, s->head_ns);
    if (segment->u != MO_FREE)
        mo_head_tail_propagate_from(&pass, segment->u, a);
    for (int i = 0; i < segment->n; i++)
        mo_head_tail_propagate(&pass, segment->ops[i]);
}

static void reset_op_devices(mo_bound_segments *s, int op)
{
    size_t n_devices = (size_t) s->domains->x->n_devices;
    int64_t at = mo_allowed_devices_index(s->domains, op, 0);

    memcpy(s->remaining.allowed + at, s->domains->allowed + at,
           n_devices * sizeof *s->remaining.allowed);
}

/* Resets to all devices, and heads and tails accordingly. */
static void reset_segment(mo_bound_segments *s, const mo_bound_segment *segment,
                          int a, int b)
{
    if (segment->u != MO_FREE)
        reset_op_devices(s, segment->u);
    if (segment->v != MO_FREE)
        reset_op_devices(s, segment->v);
    for (int i = 0; i < segment->n; i++)
        reset_op_devices(s, segment->ops[i]);
    find_heads(s, segment, a);
    find_tails(s, segment, b);
}

static bool has_time(const mo_bound_segments *s, int op, int device,
                     int64_t time_ns)
{
    int64_t at = mo_allowed_devices_index(s->domains, op, device);

    return s->remaining.allowed[at] &&
           s->head_ns[at] + s->tail_ns[at] +
                   mo_instance_p_ns(s->domains->x, op, device) <=
               time_ns;
}

/* Removes devices from op; returns whether one is left. */
static bool remove_devices(mo_bound_segments *s, int op, int64_t time_ns,
                           bool *changed)
{
    const mo_instance *x = s->domains->x;
    int group = x->group[op];
    bool any = false;

    for (int k = 0; k < x->n_devices; k++) {
        bool *allowed =
            &s->remaining.allowed[mo_allowed_devices_index(s->domains, op, k)];
        bool may = group == MO_FREE
                       ? has_time(s, op, k, time_ns)
                       : !s->group_removed[(int64_t) group * x->n_devices + k];

        *changed |= *allowed && !may;
        *allowed = *allowed && may;
        any |= *allowed;
    }
    return any;
}

/* Propagates to a fixpoint; returns whether every op has a device left. */
static bool propagate_devices(mo_bound_segments *s,
                              const mo_bound_segment *segment, int a, int b,
                              int64_t time_ns)
{
    bool changed = true;

    for (int round = 0;
         round < MAX_ROUNDS && changed && !mo_stop_reached(s->stop); round++) {
        if (round > 0) {
            find_heads(s, segment, a);
            find_tails(s, segment, b);
        }
        changed = false;
        /* A group may run where all of its ops may. */
        const mo_instance *x = s->domains->x;
        size_t n_devices = (size_t) x->n_devices;

        memset(s->group_removed, 0, (size_t) x->n_groups * n_devices);
        for (int i = 0; i < segment->n && x->n_groups > 0; i++) {
            int op = segment->ops[i], group = x->group[op];
            for (int k = 0; k < x->n_devices && group != MO_FREE; k++)
                if (!has_time(s, op, k, time_ns))
                    s->group_removed[(size_t) group * n_devices + (size_t) k] =
                        true;
        }
        for (int i = 0; i < segment->n; i++)
            if (!remove_devices(s, segment->ops[i], time_ns, &changed))
                return false;
    }
    return true;
}

/* The longest path from u to v. */
static int64_t path_ns(const mo_bound_segments *s,
                       const mo_bound_segment *segment, int a, int b)
{
    int64_t way = 0;

    if (segment->v != MO_FREE)
        mo_head_tail_raise(
            &way,
            s->head_ns[mo_allowed_devices_index(s->domains, segment->v, b)]);
    if (segment->u != MO_FREE)
        mo_head_tail_raise(
            &way,
            s->tail_ns[mo_allowed_devices_index(s->domains, segment->u, a)]);
    return way;
}

static bool is_refuted(mo_bound_segments *s, const mo_bound_segment *segment,
                       int a, int b, int64_t time_ns)
{
    reset_segment(s, segment, a, b);
    return !propagate_devices(s, segment, a, b, time_ns) ||
           path_ns(s, segment, a, b) > time_ns ||
           (s->has_load_test && !mo_stop_reached(s->stop) &&
            mo_infeas_test_proves(s->infeas_test, time_ns));
}

/* Returns the lower bound from u on a to v on b. */
static int64_t bisect_time(mo_bound_segments *s,
                           const mo_bound_segment *segment, int a, int b,
                           int64_t most_ns)
{
    mo_infeas_test_case c = { segment->ops, segment->n, s->head_ns,
                              s->tail_ns };
    int64_t n_devices = s->domains->x->n_devices;
    int64_t work = TEST_WORK * segment->n * n_devices * n_devices;
    int64_t least, most;

    reset_segment(s, segment, a, b);
    least = path_ns(s, segment, a, b);
    /* The sum of the longest processing times: an end of the bisection
     * interval. */
    const mo_instance *x = s->domains->x;
    int64_t sum = 0;

    for (int i = 0; i < segment->n; i++) {
        int64_t longest = 0;
        for (int k = 0; k < x->n_devices; k++)
            if (mo_allowed_devices_has(s->domains, segment->ops[i], k))
                mo_head_tail_raise(&longest,
                                   mo_instance_p_ns(x, segment->ops[i], k));
        sum += longest;
    }
    most = 2 * least + sum;
    most = most < most_ns ? most : most_ns;
    if (s->has_load)
        mo_head_tail_raise(&least,
                           mo_bound_load_of_ops_ns(s->domains, segment->ops,
                                                   segment->n, s->at));
    mo_infeas_test_set_case(s->infeas_test, &c);
    if (segment->n == 0 || least >= most || !s->has_bisection ||
        mo_stop_reached(s->stop) || !is_refuted(s, segment, a, b, least))
        return least;
    least++;
    while (most - least > least / PRECISION && !mo_stop_spend(s->stop, work)) {
        int64_t middle = least + (most - least) / 2;
        if (is_refuted(s, segment, a, b, middle))
            least = middle + 1;
        else
            most = middle;
    }
    return least;
}

/* The least time from the end of u to the end of op, by heads. */
static int64_t least_end_ns(const mo_bound_segments *s, int op)
{
    int64_t least = INT64_MAX;

    for (int k = 0; k < s->domains->x->n_devices; k++) {
        int64_t at = mo_allowed_devices_index(s->domains, op, k);

        if (s->domains->allowed[at] &&
            s->head_ns[at] + s->domains->x->p_ns[at] < least)
            least = s->head_ns[at] + s->domains->x->p_ns[at];
    }
    return least == INT64_MAX ? 0 : least;
}

static bool is_end_allowed(const mo_bound_segments *s, int op, int device)
{
    return op == MO_FREE ? device == 0
                         : mo_allowed_devices_has(s->domains, op, device);
}

/* Returns the first of the boundaries which equal devices make equal. */
static int first_boundary(const mo_bound_segments *s,
                          const mo_bound_segment *segment, int a, int b)
{
    int like_a = segment->u == MO_FREE ? a : s->first_equal[a];
    int like_b = segment->v == MO_FREE ? b : s->first_equal[b];

    if (segment->u != MO_FREE && segment->v != MO_FREE && a == b)
        like_b = like_a;
    else if (segment->u != MO_FREE && segment->v != MO_FREE)
        while (like_b == like_a || s->first_equal[like_b] != s->first_equal[b])
            like_b++;
    return like_a * s->domains->x->n_devices + like_b;
}

void mo_bound_segments_table(mo_bound_segments *s,
                             const mo_bound_segment *segment, int64_t most_ns,
                             int64_t *table)
{
    int n_devices = s->domains->x->n_devices;

    for (int a = 0; a < n_devices; a++)
        for (int b = 0; b < n_devices; b++) {
            int at = a * n_devices + b;
            int first = first_boundary(s, segment, a, b);

            if (is_end_allowed(s, segment->u, a) &&
                is_end_allowed(s, segment->v, b))
                table[at] = at == first ? bisect_time(s, segment, a, b, most_ns)
                                        : table[first];
        }
}

void mo_bound_segments_paths(mo_bound_segments *s,
                             const mo_bound_segment *segment, int64_t *table)
{
    int n_devices = s->domains->x->n_devices;
    int64_t load_ns = s->has_load
                          ? mo_bound_load_of_ops_ns(s->domains, segment->ops,
                                                    segment->n, s->at)
                          : 0;

    for (int a = 0; a < n_devices; a++) {
        if (!is_end_allowed(s, segment->u, a))
            continue;
        reset_segment(s, segment, a, 0);
        for (int b = 0; b < n_devices; b++) {
            int64_t way = load_ns;

            if (!is_end_allowed(s, segment->v, b))
                continue;
            if (segment->v != MO_FREE)
                mo_head_tail_raise(&way, s->head_ns[mo_allowed_devices_index(
                                             s->domains, segment->v, b)]);
            for (int i = 0; segment->v == MO_FREE && i < segment->n; i++)
                mo_head_tail_raise(&way, least_end_ns(s, segment->ops[i]));
            table[a * n_devices + b] = way;
        }
    }
}

bool mo_bound_segments_prove(mo_bound_segments *s,
                             const mo_bound_segment *segment, int a, int b,
                             int64_t most_ns, int64_t *time_ns)
{
    mo_infeas_test_case c = { segment->ops, segment->n, s->head_ns,
                              s->tail_ns };
    int n_devices = s->domains->x->n_devices, first;
    int64_t work = TEST_WORK * segment->n * n_devices * n_devices;

    if (!is_end_allowed(s, segment->u, a) || !is_end_allowed(s, segment->v, b))
        return false;
    first = first_boundary(s, segment, a, b);
    a = first / n_devices;
    b = first % n_devices;
    mo_stop_spend(s->stop, work);
    mo_infeas_test_set_case(s->infeas_test, &c);
    if (is_refuted(s, segment, a, b, *time_ns - 1))
        return true;
    most_ns = bisect_time(s, segment, a, b, most_ns);
    if (most_ns >= *time_ns)
        return true;
    *time_ns = most_ns;
    return false;
}
