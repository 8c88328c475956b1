/* SPDX-License-Identifier: Apache-2.0 */
#include "models/compact/transfer_items.h"

#include <limits.h>
#include <stdlib.h>

#include "base/array.h"
#include "models/transfer_number.h"

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
        item->may_be_sent = item->may_be_sent || arc.a != arc.b;
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
                                  mo_frame_allowed(w->frame, item->to, b))) {
            /* The arcs into b, in the order of their sources. */
            int64_t latest = mo_transfer_items_deadline(w->frame, item, b);

            status = MO_OK;
            for (int a = 0; a < w->x->n_devices && status == MO_OK; a++) {
                mo_transfer_arc arc = { a, b };

                if (mo_frame_allowed(w->frame, item->from, a) &&
                    mo_transfer_items_earliest_end(w->frame, item->from, a) +
                            mo_transfer_items_ns(w->items, item, arc) <=
                        latest)
                    status = push_arc(w, item, arc, err);
            }
        }
    return status;
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
            item->may_be_sent = first->may_be_sent;
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
    /* From the producer's earliest end to the last reader's latest start, or,
     * where no reader is on the device, to the producer's latest end. */
    item.start_min_ns = INT64_MAX;
    item.end_max_ns = item.device == MO_FREE ? 0 : w->frame->lct_ns[item.from];
    for (int k = 0; k < w->x->n_devices; k++) {
        if (mo_frame_allowed(w->frame, item.from, k)) {
            int64_t start =
                mo_transfer_items_earliest_end(w->frame, item.from, k);

            if (start < item.start_min_ns)
                item.start_min_ns = start;
        }
        if (item.device == MO_FREE || item.device == k) {
            int64_t end = mo_transfer_items_deadline(w->frame, &item, k);

            if (end > item.end_max_ns)
                item.end_max_ns = end;
        }
    }
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
                               .row = once ? w->x->comm.tensor_row[q->tensor]
                                           : w->x->comm.flow_row[flow] };
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

static mo_status push_tensor(item_builder *w, int tensor, mo_error *err)
{
    int n_sent = 0, last = 0;
    mo_transfer_item item;
    mo_status status = MO_OK;

    for (int q = w->x->tensor_start[tensor]; q < w->x->tensor_start[tensor + 1];
         q++)
        if (may_be_sent(w, q)) {
            last = q;
            n_sent++;
        }
    if (n_sent == 0)
        return MO_OK;
    if (n_sent == 1)
        return push_item(w, flow_item(w, last), err);
    item = flow_item(w, w->x->tensor_start[tensor]);
    item.to = MO_FREE;
    for (int b = 0; b < w->x->n_devices && status == MO_OK; b++) {
        item.device = b;
        if (any_reads(w, &item) && !is_never_sent(w, &item))
            status = push_item(w, item, err);
    }
    return status;
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
    /* Items are sorted by tensor, as those of a producer are sorted by its
     * tensors. */
    int i = 0;

    for (int t = 0; t < w->items->frame->x->n_tensors; t++) {
        w->items->of_tensor[t] = i;
        while (i < w->items->n && w->items->items[i].tensor == t)
            i++;
    }
    w->items->of_tensor[w->items->frame->x->n_tensors] = i;
    return mo_transfer_items_find_uses(w->items, err);
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
