/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validation of placement and of disjunctive resources: (1c), pins, groups,
 * (1e) and (1g).
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/validate/validate_internal.h"

/*
 * (1c), pins, groups, and (1e), (1g): overlaps by a sweep over sorted
 * intervals.
 *
 * Two intervals are apart when one ends before, or when, the other begins.
 * Sorted by start and then by end,
 *
 *       |---- a ----|
 *     z                     z takes no time and lies at a's start: in front
 *       |  z  |--- b ---|   one inside a, and b, begin before a has ended
 *
 * an interval overlaps some earlier one exactly when the latest end so far
 * lies behind its start: what takes no time comes before all that begins with
 * it.  Something that holds a resource twice does not conflict with itself.
 */

/* The interval in which a resource is occupied. */
typedef struct interval {
    int64_t resource;
    int64_t start_ns, end_ns;
    int number; /* of the op or transfer */
} interval;

typedef void overlap_fn(mo_validate_state *j, const interval *a,
                        const interval *b, int64_t amount_ns);

static int compare_intervals(const void *a, const void *b)
{
    const interval *s = a, *t = b;
    int by = mo_validate_compare(s->resource, t->resource);

    if (by == 0)
        by = mo_validate_compare(s->start_ns, t->start_ns);
    if (by == 0)
        by = mo_validate_compare(s->end_ns, t->end_ns);
    return by != 0 ? by : mo_validate_compare(s->number, t->number);
}

/* The amount by which b, which begins inside a, overlaps a. */
static int64_t overlap_amount(const interval *a, const interval *b)
{
    if (b->start_ns == b->end_ns)
        return mo_min_i64(b->start_ns - a->start_ns, a->end_ns - b->start_ns);
    return mo_min_i64(a->end_ns, b->end_ns) - b->start_ns;
}

/* Sorts the intervals; calls found for each that begins inside another on the
 * same resource. */
static void check_overlapping(mo_validate_state *j, interval *intervals,
                              size_t n, overlap_fn *found)
{
    const interval *last = NULL; /* to end, on the current resource */

    if (n > 1)
        qsort(intervals, n, sizeof *intervals, compare_intervals);
    for (size_t i = 0; i < n; i++) {
        const interval *here = &intervals[i];

        if (last && last->resource != here->resource)
            last = NULL;
        if (last && last->end_ns > here->start_ns &&
            last->number != here->number)
            found(j, last, here, overlap_amount(last, here));
        if (!last || here->end_ns > last->end_ns)
            last = here;
    }
}

/* (1c), pins, groups and (1e): constraints on ops and devices. */

static void report_overlap(mo_validate_state *j, const interval *a,
                           const interval *b, int64_t amount_ns)
{
    mo_validate_label device =
        mo_validate_label_device(j->x, (int) a->resource);

    if (b->start_ns == b->end_ns)
        mo_validate_add_violation(
            j, MO_VIOLATION_OVERLAP, amount_ns,
            "op %s takes no time and lies inside op %s on %s, by %s",
            mo_validate_label_op(j->x, b->number).text,
            mo_validate_label_op(j->x, a->number).text, device.text,
            mo_validate_label_us(amount_ns).text);
    else
        mo_validate_add_violation(j, MO_VIOLATION_OVERLAP, amount_ns,
                                  "ops %s and %s overlap on %s by %s",
                                  mo_validate_label_op(j->x, a->number).text,
                                  mo_validate_label_op(j->x, b->number).text,
                                  device.text,
                                  mo_validate_label_us(amount_ns).text);
}

mo_status mo_validate_devices(mo_validate_state *j, mo_error *err)
{
    const mo_instance *x = j->x;
    int *first = calloc((size_t) x->n_groups + 1, sizeof *first);
    interval *intervals = calloc((size_t) x->n + 1, sizeof *intervals);
    mo_status status = MO_OK;

    if (first && intervals) {
        size_t n = 0;

        for (int i = 0; i < x->n; i++) {
            int group, other;

            if (j->device[i] == MO_FREE)
                continue;
            j->verdict->busy_ns[j->device[i]] +=
                mo_instance_p_ns(x, i, j->device[i]);
            if (x->pin[i] != MO_FREE && x->pin[i] != j->device[i])
                mo_validate_add_violation(
                    j, MO_VIOLATION_PIN, 0,
                    "op %s is pinned to %s and is on %s",
                    mo_validate_label_op(x, i).text,
                    mo_validate_label_device(x, x->pin[i]).text,
                    mo_validate_label_device(x, j->device[i]).text);
            group = x->group[i];
            if (group == MO_FREE)
                continue;
            if (first[group] == 0) {
                first[group] = i + 1;
                continue;
            }
            other = first[group] - 1;
            if (j->device[i] != j->device[other])
                mo_validate_add_violation(
                    j, MO_VIOLATION_GROUP, 0,
                    "ops %s and %s belong on one device and are on %s and %s",
                    mo_validate_label_op(x, other).text,
                    mo_validate_label_op(x, i).text,
                    mo_validate_label_device(x, j->device[other]).text,
                    mo_validate_label_device(x, j->device[i]).text);
        }
        for (int i = 0; i < j->x->n; i++)
            if (j->device[i] != MO_FREE)
                intervals[n++] =
                    (interval){ j->device[i], j->start_ns[i], j->end_ns[i], i };
        check_overlapping(j, intervals, n, report_overlap);
    } else {
        status = mo_fail_memory(err);
    }
    free(intervals);
    free(first);
    return status;
}

/*
 * (1g): transfers that share a resource never overlap in time.  Ports: a
 * device sends one at a time and receives one at a time, both at once.  A
 * channel carries one from a to b.  A link carries one, in either direction.
 */

typedef struct interval_list {
    interval *items;
    size_t n, room;
} interval_list;

static mo_status occupy_resource(const mo_validate_state *j, interval_list *all,
                                 int transfer, int64_t resource, mo_error *err)
{
    const mo_transfer *t = &j->sent[transfer];
    mo_status status = MO_ARRAY_GROW(all->items, all->n, all->room, err);

    if (status == MO_OK)
        all->items[all->n++] =
            (interval){ resource, t->start_ns, t->end_ns, transfer };
    return status;
}

static mo_status occupy_route(const mo_validate_state *j, interval_list *all,
                              int transfer, mo_error *err)
{
    const mo_instance *x = j->x;
    const mo_transfer *t = &j->sent[transfer];
    int n;
    const int *links = mo_instance_route(x, t->from, t->to, &n);
    mo_status status = MO_OK;

    for (int r = 0; r < n && status == MO_OK; r++)
        status = occupy_resource(j, all, transfer, links[r], err);
    return status;
}

/* Ports: output ports have even numbers, input ports odd. */
static mo_status occupy_resources(const mo_validate_state *j,
                                  interval_list *all, int transfer,
                                  mo_error *err)
{
    const mo_transfer *t = &j->sent[transfer];
    mo_status status = MO_OK;

    switch (j->s->regime.congestion) {
    case MO_CONGESTION_PORT:
        status = occupy_resource(j, all, transfer, 2 * (int64_t) t->from, err);
        if (status == MO_OK)
            status =
                occupy_resource(j, all, transfer, 2 * (int64_t) t->to + 1, err);
        break;
    case MO_CONGESTION_CHANNEL:
        status = occupy_resource(
            j, all, transfer, (int64_t) t->from * j->x->n_devices + t->to, err);
        break;
    case MO_CONGESTION_LINK:
        status = occupy_route(j, all, transfer, err);
        break;
    case MO_CONGESTION_NONE:
        break;
    }
    return status;
}

static mo_validate_label label_resource(const mo_validate_state *j,
                                        int64_t resource)
{
    const mo_instance *x = j->x;
    mo_validate_label shown;
    int a, b;

    switch (j->s->regime.congestion) {
    case MO_CONGESTION_PORT:
        snprintf(shown.text, sizeof shown.text, "the port %s %.160s",
                 resource % 2 ? "into" : "out of",
                 mo_validate_label_device(x, (int) (resource / 2)).text);
        break;
    case MO_CONGESTION_CHANNEL:
        a = (int) (resource / x->n_devices);
        b = (int) (resource % x->n_devices);
        snprintf(shown.text, sizeof shown.text,
                 "the channel from %.160s to %.160s",
                 mo_validate_label_device(x, a).text,
                 mo_validate_label_device(x, b).text);
        break;
    case MO_CONGESTION_LINK:
    case MO_CONGESTION_NONE:
        snprintf(shown.text, sizeof shown.text, "link %lld",
                 (long long) resource);
        break;
    }
    return shown;
}

static void report_congestion(mo_validate_state *j, const interval *a,
                              const interval *b, int64_t amount_ns)
{
    mo_validate_label one = mo_validate_label_transfer(j, &j->sent[a->number]);
    mo_validate_label other =
        mo_validate_label_transfer(j, &j->sent[b->number]);
    mo_validate_label where = label_resource(j, a->resource);

    if (b->start_ns == b->end_ns)
        mo_validate_add_violation(
            j, MO_VIOLATION_CONGESTION, amount_ns,
            "the transfer of %s takes no time and lies inside that of "
            "%s on %s, by %s",
            other.text, one.text, where.text,
            mo_validate_label_us(amount_ns).text);
    else
        mo_validate_add_violation(
            j, MO_VIOLATION_CONGESTION, amount_ns,
            "the transfers of %s and of %s overlap on %s by %s", one.text,
            other.text, where.text, mo_validate_label_us(amount_ns).text);
}

mo_status mo_validate_congestion(mo_validate_state *j, mo_error *err)
{
    interval_list all = { 0 };
    mo_status status = MO_OK;

    for (int t = 0; t < j->n_sent && status == MO_OK; t++)
        status = occupy_resources(j, &all, t, err);
    if (status == MO_OK)
        check_overlapping(j, all.items, all.n, report_congestion);
    free(all.items);
    return status;
}
