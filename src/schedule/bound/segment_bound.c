/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/segment_bound.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "schedule/bound/load_bound.h"
#include "schedule/bound/head_tail.h"
#include "schedule/bound/infeasibility_test.h"

/*
 * With u on a and v on b, each op between them has a least time since the end
 * of u and one until the start of v, by device.  A time T from cut to cut takes
 * devices away from ops: those on which all that is more than T.  Without them
 * the times of others grow, and so on.  What is left then may be refuted
 * (refute.h).  The least T that is not is found by bisection, not to the last
 * nanosecond: whatever has been refuted holds.
 *
 * Where sending takes longer than running elsewhere gains, that says that
 * nearly everything stays where u is, which neither paths nor loads by
 * themselves tell.
 */

enum {
    MAX_ROUNDS = 6,      /* of taking devices away */
    PRECISION = 1 << 13, /* one part in so many */
};

struct mo_bound_segments {
    const mo_allowed_devices *places;
    mo_allowed_devices left; /* of those, within the time that is looked at */
    mo_infeas_test *refuter;
    const mo_stop *stop;
    int64_t *since_u, *until_v; /* by op and device */
    int64_t *at;                /* by device */
    bool *group_denied;         /* by group and device */
};

mo_status mo_bound_segments_new(const mo_allowed_devices *places,
                                mo_bound_segments **segments, mo_error *err)
{
    size_t n = (size_t) places->x->n, devices = (size_t) places->x->n_devices;
    size_t n_groups = (size_t) places->x->n_groups, size;
    mo_bound_segments *s = calloc(1, sizeof *s);
    mo_status status;

    if (!s)
        return mo_fail_memory(err);
    s->places = places;
    s->left = *places;
    s->left.allowed = NULL;
    if (mo_size_mul(n + 1, devices, &size)) {
        s->since_u = calloc(size, sizeof *s->since_u);
        s->until_v = calloc(size, sizeof *s->until_v);
        s->at = calloc(devices + 1, sizeof *s->at);
        s->left.allowed = calloc(size, sizeof *s->left.allowed);
        s->group_denied = calloc(n_groups + 1, devices + 1);
    }
    if (s->since_u && s->until_v && s->at && s->left.allowed && s->group_denied)
        status = mo_infeas_test_new(&s->left, places->x->n, &s->refuter, err);
    else
        status = mo_fail_memory(err);
    if (status == MO_OK)
        *segments = s;
    else
        mo_bound_segments_free(s);
    return status;
}

void mo_bound_segments_free(mo_bound_segments *s)
{
    if (!s)
        return;
    mo_infeas_test_free(s->refuter);
    free(s->since_u);
    free(s->until_v);
    free(s->at);
    free(s->left.allowed);
    free(s->group_denied);
    free(s);
}

void mo_bound_segments_set_stop(mo_bound_segments *s, const mo_stop *stop)
{
    s->stop = stop;
}

static void clear_op(const mo_bound_segments *s, int64_t *side, int op)
{
    size_t size = (size_t) s->places->x->n_devices * sizeof *side;

    if (op != MO_FREE)
        memset(side + mo_allowed_devices_index(s->places, op, 0), 0, size);
}

/* The sides of the segment's ops and of its ends. */
static void clear_sides(const mo_bound_segments *s,
                        const mo_bound_segment *segment, int64_t *side)
{
    clear_op(s, side, segment->u);
    clear_op(s, side, segment->v);
    for (int i = 0; i < segment->n; i++)
        clear_op(s, side, segment->ops[i]);
}

static void find_until_v(mo_bound_segments *s, const mo_bound_segment *segment,
                         int b)
{
    mo_head_tail pass = { &s->left, true, s->until_v, s->at };

    clear_sides(s, segment, s->until_v);
    if (segment->v != MO_FREE)
        mo_head_tail_propagate_from(&pass, segment->v, b);
    for (int i = segment->n - 1; i >= 0; i--)
        mo_head_tail_propagate(&pass, segment->ops[i]);
}

static void find_since_u(mo_bound_segments *s, const mo_bound_segment *segment,
                         int a)
{
    mo_head_tail pass = { &s->left, false, s->since_u, s->at };

    clear_sides(s, segment, s->since_u);
    if (segment->u != MO_FREE)
        mo_head_tail_propagate_from(&pass, segment->u, a);
    for (int i = 0; i < segment->n; i++)
        mo_head_tail_propagate(&pass, segment->ops[i]);
}

static void copy_op(mo_bound_segments *s, int op)
{
    size_t n_devices = (size_t) s->places->x->n_devices;
    int64_t at = mo_allowed_devices_index(s->places, op, 0);

    memcpy(s->left.allowed + at, s->places->allowed + at,
           n_devices * sizeof *s->left.allowed);
}

/* All devices are there again, and the sides as they are with all. */
static void begin_anew(mo_bound_segments *s, const mo_bound_segment *segment,
                       int a, int b)
{
    if (segment->u != MO_FREE)
        copy_op(s, segment->u);
    if (segment->v != MO_FREE)
        copy_op(s, segment->v);
    for (int i = 0; i < segment->n; i++)
        copy_op(s, segment->ops[i]);
    find_since_u(s, segment, a);
    find_until_v(s, segment, b);
}

static bool has_time(const mo_bound_segments *s, int op, int device,
                     int64_t time_ns)
{
    int64_t at = mo_allowed_devices_index(s->places, op, device);

    return s->left.allowed[at] &&
           s->since_u[at] + s->until_v[at] +
                   mo_instance_p_ns(s->places->x, op, device) <=
               time_ns;
}

/* A group goes where all of its ops can. */
static void deny_groups(mo_bound_segments *s, const mo_bound_segment *segment,
                        int64_t time_ns)
{
    const mo_instance *x = s->places->x;
    size_t n_devices = (size_t) x->n_devices;

    memset(s->group_denied, 0, (size_t) x->n_groups * n_devices);
    for (int i = 0; i < segment->n && x->n_groups > 0; i++) {
        int op = segment->ops[i], group = x->group[op];
        for (int k = 0; k < x->n_devices && group != MO_FREE; k++)
            if (!has_time(s, op, k, time_ns))
                s->group_denied[(size_t) group * n_devices + (size_t) k] = true;
    }
}

/* Takes devices away from op; returns whether one is left. */
static bool deny(mo_bound_segments *s, int op, int64_t time_ns, bool *changed)
{
    const mo_instance *x = s->places->x;
    int group = x->group[op];
    bool any = false;

    for (int k = 0; k < x->n_devices; k++) {
        bool *allowed =
            &s->left.allowed[mo_allowed_devices_index(s->places, op, k)];
        bool may = group == MO_FREE
                       ? has_time(s, op, k, time_ns)
                       : !s->group_denied[(int64_t) group * x->n_devices + k];

        *changed |= *allowed && !may;
        *allowed = *allowed && may;
        any |= *allowed;
    }
    return any;
}

/* Returns whether every op has a device left. */
static bool narrow(mo_bound_segments *s, const mo_bound_segment *segment, int a,
                   int b, int64_t time_ns)
{
    bool changed = true;

    for (int round = 0; round < MAX_ROUNDS && changed; round++) {
        if (round > 0) {
            find_since_u(s, segment, a);
            find_until_v(s, segment, b);
        }
        changed = false;
        deny_groups(s, segment, time_ns);
        for (int i = 0; i < segment->n; i++)
            if (!deny(s, segment->ops[i], time_ns, &changed))
                return false;
    }
    return true;
}

/* The time along single ways. */
static int64_t way_ns(const mo_bound_segments *s,
                      const mo_bound_segment *segment, int a, int b)
{
    int64_t way = 0;

    if (segment->v != MO_FREE)
        mo_head_tail_raise(
            &way,
            s->since_u[mo_allowed_devices_index(s->places, segment->v, b)]);
    if (segment->u != MO_FREE)
        mo_head_tail_raise(
            &way,
            s->until_v[mo_allowed_devices_index(s->places, segment->u, a)]);
    return way;
}

static bool is_refuted(mo_bound_segments *s, const mo_bound_segment *segment,
                       int a, int b, int64_t time_ns)
{
    begin_anew(s, segment, a, b);
    return !narrow(s, segment, a, b, time_ns) ||
           way_ns(s, segment, a, b) > time_ns ||
           mo_infeas_test_proves(s->refuter, time_ns);
}

/* Where the longest ops, one after the other, would end: there is nothing to
 * refute so much later. */
static int64_t far_ns(const mo_bound_segments *s,
                      const mo_bound_segment *segment)
{
    const mo_instance *x = s->places->x;
    int64_t sum = 0;

    for (int i = 0; i < segment->n; i++) {
        int64_t longest = 0;
        for (int k = 0; k < x->n_devices; k++)
            if (mo_allowed_devices_has(s->places, segment->ops[i], k))
                mo_head_tail_raise(&longest,
                                   mo_instance_p_ns(x, segment->ops[i], k));
        sum += longest;
    }
    return sum;
}

/* From u on a to v on b. */
static int64_t least_time(mo_bound_segments *s, const mo_bound_segment *segment,
                          int a, int b, int64_t most_ns)
{
    mo_infeas_test_case c = { segment->ops, segment->n, s->since_u,
                              s->until_v };
    int64_t least, most;

    begin_anew(s, segment, a, b);
    least = way_ns(s, segment, a, b);
    most = 2 * least + far_ns(s, segment);
    most = most < most_ns ? most : most_ns;
    mo_head_tail_raise(&least, mo_bound_load_of_ops_ns(s->places, segment->ops,
                                                       segment->n, s->at));
    mo_infeas_test_set_case(s->refuter, &c);
    if (segment->n == 0 || least >= most || mo_stop_reached(s->stop) ||
        !is_refuted(s, segment, a, b, least))
        return least;
    least++;
    while (most - least > least / PRECISION && !mo_stop_reached(s->stop)) {
        int64_t middle = least + (most - least) / 2;
        if (is_refuted(s, segment, a, b, middle))
            least = middle + 1;
        else
            most = middle;
    }
    return least;
}

static bool may_be_on(const mo_bound_segments *s, int op, int device)
{
    return op == MO_FREE ? device == 0
                         : mo_allowed_devices_has(s->places, op, device);
}

void mo_bound_segments_table(mo_bound_segments *s,
                             const mo_bound_segment *segment, int64_t most_ns,
                             int64_t *table)
{
    int n_devices = s->places->x->n_devices;

    for (int a = 0; a < n_devices; a++)
        for (int b = 0; b < n_devices; b++)
            if (may_be_on(s, segment->u, a) && may_be_on(s, segment->v, b))
                table[a * n_devices + b] =
                    least_time(s, segment, a, b, most_ns);
}
