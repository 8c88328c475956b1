/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "schedule/validate/validate_internal.h"

/*
 * (1g): transfers that share a resource never overlap in time.  Ports: a
 * device sends one at a time and receives one at a time, both at once.  A
 * channel carries one from a to b.  A link carries one, in either direction.
 */

typedef struct interval_list {
    mo_validate_interval *items;
    size_t n, room;
} interval_list;

static mo_status occupy_resource(const mo_validate_state *j, interval_list *all,
                                 int transfer, int64_t resource, mo_error *err)
{
    const mo_transfer *t = &j->sent[transfer];
    mo_status status = MO_ARRAY_GROW(all->items, all->n, all->room, err);

    if (status == MO_OK)
        all->items[all->n++] = (mo_validate_interval){ resource, t->start_ns,
                                                       t->end_ns, transfer };
    return status;
}

static mo_status occupy_route(const mo_validate_state *j, interval_list *all,
                              int transfer, mo_error *err)
{
    const mo_instance *x = j->x;
    const mo_transfer *t = &j->sent[transfer];
    int64_t pair = (int64_t) t->from * x->n_devices + t->to;
    mo_status status = MO_OK;

    for (int r = x->route_start[pair];
         r < x->route_start[pair + 1] && status == MO_OK; r++)
        status = occupy_resource(j, all, transfer, x->route_link[r], err);
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

static void report_congestion(mo_validate_state *j,
                              const mo_validate_interval *a,
                              const mo_validate_interval *b, int64_t amount_ns)
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
        mo_validate_overlaps(j, all.items, all.n, report_congestion);
    free(all.items);
    return status;
}
