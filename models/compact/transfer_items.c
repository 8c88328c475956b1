/* SPDX-License-Identifier: Apache-2.0 */
#include "models/compact/transfer_items.h"

#include <limits.h>
#include <stdlib.h>

#include "base/array.h"
#include "models/transfer_number.h"

/* The resources that items need, and when. */

static int64_t latest_start_or_min(const mo_frame *frame, int op, int k)
{
    return mo_frame_allowed(frame, op, k)
               ? mo_transfer_items_latest_start(frame, op, k)
               : INT64_MIN;
}

/* Returns the latest moment at which it may arrive on b; INT64_MIN: no reader
 * may be there. */
static int64_t deadline_on(const mo_frame *frame, const mo_transfer_item *item,
                           int b)
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
        return frame->x->n_links;
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

static void widen_use(mo_transfer_use *use, const mo_transfer_use *by)
{
    use->takes_time = use->takes_time || by->takes_time;
    if (by->start_min_ns < use->start_min_ns)
        use->start_min_ns = by->start_min_ns;
    if (by->start_max_ns > use->start_max_ns)
        use->start_max_ns = by->start_max_ns;
    if (by->end_min_ns < use->end_min_ns)
        use->end_min_ns = by->end_min_ns;
    if (by->end_max_ns > use->end_max_ns)
        use->end_max_ns = by->end_max_ns;
}

/* Sorts the item's uses and merges those of one resource. */
static void merge_uses(use_builder *w, mo_transfer_item *item)
{
    mo_transfer_use *uses = w->items->uses + item->use_start;
    int n = 0;

    if (item->n_uses > 0)
        qsort(uses, (size_t) item->n_uses, sizeof *uses, compare_uses);
    for (int u = 0; u < item->n_uses; u++)
        if (n > 0 && uses[n - 1].resource == uses[u].resource)
            widen_use(&uses[n - 1], &uses[u]);
        else
            uses[n++] = uses[u];
    w->items->n_uses -= item->n_uses - n;
    item->n_uses = n;
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

static mo_transfer_use window_on(const use_builder *w,
                                 const mo_transfer_item *item,
                                 mo_transfer_arc arc)
{
    int64_t ns = mo_transfer_items_ns(w->items, item, arc);
    int64_t start = mo_transfer_items_earliest_end(w->frame, item->from, arc.a);
    int64_t end = deadline_on(w->frame, item, arc.b);

    return (mo_transfer_use){ 0, ns > 0, start, end - ns, start + ns, end };
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
    mo_transfer_use use = window_on(w, item, arc);
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
    if (status == MO_OK)
        merge_uses(w, item);
    return status;
}

static mo_status find_uses(mo_transfer_items *items, mo_error *err)
{
    use_builder w = { items, items->frame, items->frame->x, 0 };
    /* Not NULL even when no item uses a resource. */
    mo_status status = MO_ARRAY_GROW(items->uses, (size_t) 0, w.room, err);

    items->n_resources = count_resources(items->frame);
    for (int i = 0; i < items->n && status == MO_OK; i++)
        status = make_uses(&w, &items->items[i], err);
    return status;
}

typedef struct item_builder {
    mo_transfer_items *items;
    const mo_frame *frame;
    const mo_instance *x;
    size_t n, room, arcs_room;
    int *first; /* by reader: the last producer's first item to it, or -1 */
} item_builder;

/* Returns the one device where op may run, or MO_FREE. */
static int only_device(const mo_frame *frame, int op)
{
    int only = MO_FREE;

    for (int k = 0; k < frame->x->n_devices; k++)
        if (mo_frame_allowed(frame, op, k)) {
            if (only != MO_FREE)
                return MO_FREE;
            only = k;
        }
    return only;
}

bool mo_transfer_items_always_colocated(const mo_frame *frame, int i, int j)
{
    const mo_instance *x = frame->x;
    int only;

    if (i == j || (x->group[i] != MO_FREE && x->group[i] == x->group[j]))
        return true;
    only = only_device(frame, i);
    return only != MO_FREE && only == only_device(frame, j);
}

bool mo_transfer_items_reads(const mo_frame *frame,
                             const mo_transfer_item *item, int op)
{
    if (item->device == MO_FREE)
        return op == item->to;
    return mo_frame_allowed(frame, op, item->device) &&
           !mo_transfer_items_always_colocated(frame, item->from, op);
}

int64_t mo_transfer_items_ns(const mo_transfer_items *items,
                             const mo_transfer_item *item, mo_transfer_arc arc)
{
    return mo_instance_row_ns(items->frame->x, item->row, arc.a, arc.b);
}

static mo_status push_arc(item_builder *w, mo_transfer_item *item,
                          mo_transfer_arc arc, mo_error *err)
{
    mo_transfer_items *items = w->items;
    mo_status status = MO_OK;

    if (items->n_arcs == INT_MAX)
        return mo_fail(err, MO_E_LIMIT, "too many ways to send for a model");
    status =
        MO_ARRAY_GROW(items->arcs, (size_t) items->n_arcs, w->arcs_room, err);
    if (status == MO_OK) {
        items->arcs[items->n_arcs++] = arc;
        item->n_arcs++;
        item->sent = item->sent || arc.a != arc.b;
    }
    return status;
}

/* The arcs into b, in the order of their sources. */
static mo_status make_arcs_to(item_builder *w, mo_transfer_item *item, int b,
                              mo_error *err)
{
    int64_t latest = deadline_on(w->frame, item, b);
    mo_status status = MO_OK;

    for (int a = 0; a < w->x->n_devices && status == MO_OK; a++) {
        mo_transfer_arc arc = { a, b };

        if (mo_frame_allowed(w->frame, item->from, a) &&
            mo_transfer_items_earliest_end(w->frame, item->from, a) +
                    mo_transfer_items_ns(w->items, item, arc) <=
                latest)
            status = push_arc(w, item, arc, err);
    }
    return status;
}

static bool is_never_sent(const item_builder *w, const mo_transfer_item *item)
{
    if (item->device == MO_FREE)
        return mo_transfer_items_always_colocated(w->frame, item->from,
                                                  item->to);
    for (int a = 0; a < w->x->n_devices; a++)
        if (a != item->device && mo_frame_allowed(w->frame, item->from, a))
            return false;
    return true;
}

static mo_status make_arcs(item_builder *w, mo_transfer_item *item,
                           mo_error *err)
{
    mo_status status = MO_OK;

    item->arc_start = w->items->n_arcs;
    item->never_sent = is_never_sent(w, item);
    for (int b = 0; b < w->x->n_devices && !item->never_sent && status == MO_OK;
         b++)
        if (item->device == b || (item->device == MO_FREE &&
                                  mo_frame_allowed(w->frame, item->to, b)))
            status = make_arcs_to(w, item, b, err);
    return status;
}

/* From the producer's earliest end to the last reader's latest start, or,
 * where no reader is on the device, to the producer's latest end. */
static void set_window(const item_builder *w, mo_transfer_item *item)
{
    item->start_min_ns = INT64_MAX;
    item->end_max_ns =
        item->device == MO_FREE ? 0 : w->frame->lct_ns[item->from];
    for (int k = 0; k < w->x->n_devices; k++) {
        if (mo_frame_allowed(w->frame, item->from, k)) {
            int64_t start =
                mo_transfer_items_earliest_end(w->frame, item->from, k);

            if (start < item->start_min_ns)
                item->start_min_ns = start;
        }
        if (item->device == MO_FREE || item->device == k) {
            int64_t end = deadline_on(w->frame, item, k);

            if (end > item->end_max_ns)
                item->end_max_ns = end;
        }
    }
}

/* Shares the arcs of a parallel item between the same two ops; returns false
 * if there is none. */
static bool share_arcs(item_builder *w, mo_transfer_item *item)
{
    mo_transfer_item *first;

    item->no_parallel = true;
    if (item->device != MO_FREE)
        return false;
    if (w->first[item->to] >= 0) {
        first = &w->items->items[w->first[item->to]];
        if (first->from == item->from) {
            item->first = w->first[item->to];
            item->no_parallel = first->no_parallel = false;
            item->never_sent = first->never_sent;
            item->sent = first->sent;
            item->arc_start = first->arc_start;
            item->n_arcs = first->n_arcs;
            return true;
        }
    }
    w->first[item->to] = item->first;
    return false;
}

static mo_status push_item(item_builder *w, mo_transfer_item item,
                           mo_error *err)
{
    mo_status status;

    if (w->n == INT_MAX)
        return mo_fail(err, MO_E_LIMIT, "too many transfers for a model");
    if ((status = MO_ARRAY_GROW(w->items->items, w->n, w->room, err)) != MO_OK)
        return status;
    item.first = (int) w->n;
    item.name = mo_transfer_is_tensor(&w->frame->regime)
                    ? mo_transfer_number(w->x, &w->frame->regime, item.tensor,
                                         item.device)
                    : (int) w->n;
    set_window(w, &item);
    if (!share_arcs(w, &item) && (status = make_arcs(w, &item, err)) != MO_OK)
        return status;
    w->items->items[w->n++] = item;
    w->items->n = (int) w->n;
    return MO_OK;
}

static mo_transfer_item flow_item(const item_builder *w, int flow)
{
    const mo_flow *q = &w->x->flows[flow];
    bool once = w->frame->regime.tensors == MO_TENSORS_ONCE;

    return (mo_transfer_item){ .from = q->from,
                               .to = q->to,
                               .device = MO_FREE,
                               .tensor = q->tensor,
                               .number = once ? q->tensor : flow,
                               .row = once ? w->x->tensor_row[q->tensor]
                                           : w->x->flow_row[flow] };
}

/* Returns whether the flow's reader may be on another device than the
 * producer. */
static bool may_be_sent(const item_builder *w, int flow)
{
    const mo_flow *q = &w->x->flows[flow];

    return !mo_transfer_items_always_colocated(w->frame, q->from, q->to);
}

static bool any_reads(const item_builder *w, const mo_transfer_item *item)
{
    for (int q = w->x->tensor_start[item->tensor];
         q < w->x->tensor_start[item->tensor + 1]; q++)
        if (mo_transfer_items_reads(w->frame, item, w->x->flows[q].to))
            return true;
    return false;
}

/* An item for each device where the tensor may be read. */
static mo_status push_shared(item_builder *w, int tensor, mo_error *err)
{
    mo_transfer_item item = flow_item(w, w->x->tensor_start[tensor]);
    mo_status status = MO_OK;

    item.to = MO_FREE;
    for (int b = 0; b < w->x->n_devices && status == MO_OK; b++) {
        item.device = b;
        if (any_reads(w, &item) && !is_never_sent(w, &item))
            status = push_item(w, item, err);
    }
    return status;
}

static mo_status push_tensor(item_builder *w, int tensor, mo_error *err)
{
    int n_sent = 0, last = 0;

    for (int q = w->x->tensor_start[tensor]; q < w->x->tensor_start[tensor + 1];
         q++)
        if (may_be_sent(w, q)) {
            last = q;
            n_sent++;
        }
    if (n_sent == 0)
        return MO_OK;
    return n_sent == 1 ? push_item(w, flow_item(w, last), err)
                       : push_shared(w, tensor, err);
}

/* Items are sorted by tensor, as those of a producer are sorted by its
 * tensors. */
static void index_tensors(mo_transfer_items *items)
{
    int i = 0;

    for (int t = 0; t < items->frame->x->n_tensors; t++) {
        items->of_tensor[t] = i;
        while (i < items->n && items->items[i].tensor == t)
            i++;
    }
    items->of_tensor[items->frame->x->n_tensors] = i;
}

static mo_status push_all(item_builder *w, mo_error *err)
{
    bool shared = mo_transfer_is_tensor(&w->frame->regime);
    int n = shared ? w->x->n_tensors : w->x->n_flows;
    mo_status status = MO_OK;

    for (int i = 0; i < n && status == MO_OK; i++)
        status = shared ? push_tensor(w, i, err)
                        : push_item(w, flow_item(w, i), err);
    if (status != MO_OK)
        return status;
    index_tensors(w->items);
    return find_uses(w->items, err);
}

static mo_status allocate_builder(item_builder *w, mo_error *err)
{
    w->items = calloc(1, sizeof *w->items);
    w->first = malloc(((size_t) w->x->n + 1) * sizeof *w->first);
    if (!w->items || !w->first)
        return mo_fail_memory(err);
    w->items->of_tensor =
        malloc(((size_t) w->x->n_tensors + 1) * sizeof *w->items->of_tensor);
    if (!w->items->of_tensor)
        return mo_fail_memory(err);
    w->items->frame = w->frame;
    for (int i = 0; i < w->x->n; i++)
        w->first[i] = -1;
    return MO_OK;
}

mo_status mo_transfer_items_make(const mo_frame *frame,
                                 mo_transfer_items **items, mo_error *err)
{
    item_builder w = { .frame = frame, .x = frame->x };
    mo_status status;

    if (mo_transfer_number_limit(frame->x, &frame->regime) > INT_MAX)
        return mo_fail(err, MO_E_LIMIT,
                       "too many tensors for so many devices; leave tensors "
                       "per edge");
    status = allocate_builder(&w, err);

    if (status == MO_OK)
        status = push_all(&w, err);
    free(w.first);
    if (status == MO_OK)
        *items = w.items;
    else
        mo_transfer_items_free(w.items);
    return status;
}

void mo_transfer_items_free(mo_transfer_items *items)
{
    if (!items)
        return;
    free(items->items);
    free(items->of_tensor);
    free(items->arcs);
    free(items->uses);
    free(items);
}
