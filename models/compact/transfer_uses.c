/* SPDX-License-Identifier: Apache-2.0 */
/* transfer_uses.c - the resources that transfer items need, and when. */
#include "models/compact/transfer_items.h"

#include <limits.h>
#include <stdlib.h>

#include "base/array.h"

static int64_t latest_start_or_min(const mo_frame *frame, int op, int k)
{
    return mo_frame_allowed(frame, op, k)
               ? mo_transfer_items_latest_start(frame, op, k)
               : INT64_MIN;
}

int64_t mo_transfer_items_deadline(const mo_frame *frame,
                                   const mo_transfer_item *item, int b)
{
    const mo_instance *x = frame->x;
    int64_t latest = INT64_MIN;

    if (item->device == MO_FREE)
        return latest_start_or_min(frame, item->to, b);
    for (int q = x->tensor_start[item->tensor];
         q < x->tensor_start[item->tensor + 1]; q++) {
        int64_t at = latest_start_or_min(frame, x->flows[q].to, b);

        if (at > latest && mo_transfer_items_reads(frame, item, x->flows[q].to))
            latest = at;
    }
    return latest;
}

static bool route_has(const mo_instance *x, mo_transfer_arc arc, int link)
{
    int n;
    const int *links = mo_instance_route(x, arc.a, arc.b, &n);

    for (int r = 0; r < n; r++)
        if (links[r] == link)
            return true;
    return false;
}

bool mo_transfer_items_needs_resource(const mo_frame *frame,
                                      mo_transfer_arc arc, int resource)
{
    switch (frame->regime.congestion) {
    case MO_CONGESTION_PORT:
        return resource == mo_transfer_items_egress(frame, arc.a) ||
               resource == mo_transfer_items_ingress(frame, arc.b);
    case MO_CONGESTION_CHANNEL:
        return resource == arc.a * frame->x->n_devices + arc.b;
    case MO_CONGESTION_LINK:
        return route_has(frame->x, arc, resource);
    case MO_CONGESTION_NONE:
        break;
    }
    return false;
}

static bool routes_cross(const mo_instance *x, mo_transfer_arc first,
                         mo_transfer_arc second)
{
    int n;
    const int *links = mo_instance_route(x, first.a, first.b, &n);

    for (int r = 0; r < n; r++)
        if (route_has(x, second, links[r]))
            return true;
    return false;
}

bool mo_transfer_items_share_resource(const mo_frame *frame,
                                      mo_transfer_arc first,
                                      mo_transfer_arc second)
{
    switch (frame->regime.congestion) {
    case MO_CONGESTION_PORT:
        return first.a == second.a || first.b == second.b;
    case MO_CONGESTION_CHANNEL:
        return first.a == second.a && first.b == second.b;
    case MO_CONGESTION_LINK:
        return routes_cross(frame->x, first, second);
    case MO_CONGESTION_NONE:
        break;
    }
    return false;
}

static int count_resources(const mo_frame *frame)
{
    int k = frame->x->n_devices;

    switch (frame->regime.congestion) {
    case MO_CONGESTION_PORT:
        return 2 * k;
    case MO_CONGESTION_CHANNEL:
        return k * k;
    case MO_CONGESTION_LINK:
        return frame->x->routing.n_links;
    case MO_CONGESTION_NONE:
        break;
    }
    return 0;
}

typedef struct use_builder {
    mo_transfer_items *items;
    const mo_frame *frame;
    const mo_instance *x;
    size_t room;
} use_builder;

static int compare_uses(const void *a, const void *b)
{
    const mo_transfer_use *x = a, *y = b;

    return (x->resource > y->resource) - (x->resource < y->resource);
}

static mo_status push_use(use_builder *w, mo_transfer_item *item,
                          mo_transfer_use use, int resource, mo_error *err)
{
    mo_transfer_items *items = w->items;
    mo_status status;

    if (items->n_uses == INT_MAX)
        return mo_fail(err, MO_E_LIMIT, "too many links in use for a model");
    status = MO_ARRAY_GROW(items->uses, (size_t) items->n_uses, w->room, err);
    if (status != MO_OK)
        return status;
    use.resource = resource;
    items->uses[items->n_uses++] = use;
    item->n_uses++;
    return MO_OK;
}

static mo_status push_route(use_builder *w, mo_transfer_item *item,
                            mo_transfer_arc arc, mo_transfer_use use,
                            mo_error *err)
{
    int n;
    const int *links = mo_instance_route(w->x, arc.a, arc.b, &n);
    mo_status status = MO_OK;

    for (int r = 0; r < n && status == MO_OK; r++)
        status = push_use(w, item, use, links[r], err);
    return status;
}

static mo_status use_arc(use_builder *w, mo_transfer_item *item,
                         mo_transfer_arc arc, mo_error *err)
{
    int64_t ns = mo_transfer_items_ns(w->items, item, arc);
    int64_t start = mo_transfer_items_earliest_end(w->frame, item->from, arc.a);
    int64_t end = mo_transfer_items_deadline(w->frame, item, arc.b);
    mo_transfer_use use =
        (mo_transfer_use){ 0, ns > 0, start, end - ns, start + ns, end };
    mo_status status = MO_OK;

    switch (w->frame->regime.congestion) {
    case MO_CONGESTION_PORT:
        status = push_use(w, item, use,
                          mo_transfer_items_egress(w->frame, arc.a), err);
        if (status == MO_OK)
            status = push_use(w, item, use,
                              mo_transfer_items_ingress(w->frame, arc.b), err);
        break;
    case MO_CONGESTION_CHANNEL:
        status = push_use(w, item, use, arc.a * w->x->n_devices + arc.b, err);
        break;
    case MO_CONGESTION_LINK:
        status = push_route(w, item, arc, use, err);
        break;
    case MO_CONGESTION_NONE:
        break;
    }
    return status;
}

static mo_status make_uses(use_builder *w, mo_transfer_item *item,
                           mo_error *err)
{
    mo_status status = MO_OK;

    item->use_start = w->items->n_uses;
    item->always_uses = true;
    for (int e = 0; e < item->n_arcs && status == MO_OK; e++) {
        mo_transfer_arc arc = w->items->arcs[item->arc_start + e];
        int n_before = item->n_uses;

        if (arc.a == arc.b)
            continue;
        status = use_arc(w, item, arc, err);
        if (item->n_uses == n_before)
            item->always_uses = false;
    }
    if (status == MO_OK) {
        /* Sorts the item's uses and merges those of one resource. */
        mo_transfer_use *uses = w->items->uses + item->use_start;
        int n = 0;

        if (item->n_uses > 0)
            qsort(uses, (size_t) item->n_uses, sizeof *uses, compare_uses);
        for (int u = 0; u < item->n_uses; u++)
            if (n > 0 && uses[n - 1].resource == uses[u].resource) {
                mo_transfer_use *use = &uses[n - 1];
                const mo_transfer_use *by = &uses[u];

                use->takes_time = use->takes_time || by->takes_time;
                if (by->start_min_ns < use->start_min_ns)
                    use->start_min_ns = by->start_min_ns;
                if (by->start_max_ns > use->start_max_ns)
                    use->start_max_ns = by->start_max_ns;
                if (by->end_min_ns < use->end_min_ns)
                    use->end_min_ns = by->end_min_ns;
                if (by->end_max_ns > use->end_max_ns)
                    use->end_max_ns = by->end_max_ns;
            } else
                uses[n++] = uses[u];
        w->items->n_uses -= item->n_uses - n;
        item->n_uses = n;
    }
    return status;
}

mo_status mo_transfer_items_find_uses(mo_transfer_items *items, mo_error *err)
{
    use_builder w = { items, items->frame, items->frame->x, 0 };
    /* Not NULL even when no item uses a resource. */
    mo_status status = MO_ARRAY_GROW(items->uses, (size_t) 0, w.room, err);

    items->n_resources = count_resources(items->frame);
    for (int i = 0; i < items->n && status == MO_OK; i++)
        status = make_uses(&w, &items->items[i], err);
    return status;
}
