/* SPDX-License-Identifier: Apache-2.0 */
#include "models/compact/compact.h"
#include "models/compact/shared_resource.h"

mo_compact_shared_resource
mo_compact_shared_resource_begin(const mo_compact *c, int first, int second)
{
    const mo_transfer_item *i = &c->items->items[first],
                           *j = &c->items->items[second];
    const mo_transfer_use *u = c->items->uses + i->use_start;
    const mo_transfer_use *v = c->items->uses + j->use_start;

    return (mo_compact_shared_resource){
        .u = u, .v = v, .u_end = u + i->n_uses, .v_end = v + j->n_uses
    };
}

bool mo_compact_shared_resource_next(mo_compact_shared_resource *at)
{
    while (at->u < at->u_end && at->v < at->v_end) {
        if (at->u->resource == at->v->resource) {
            const mo_transfer_use *u = at->u++, *v = at->v++;

            at->resource = u->resource;
            at->forward = u->end_min_ns <= v->start_max_ns;
            at->backward = v->end_min_ns <= u->start_max_ns;
            at->open = (u->takes_time || v->takes_time) &&
                       u->end_max_ns > v->start_min_ns &&
                       v->end_max_ns > u->start_min_ns;
            return true;
        }
        if (at->u->resource < at->v->resource)
            at->u++;
        else
            at->v++;
    }
    return false;
}

/* Returns whether every reader of the first is the second's producer or
 * precedes it. */
static bool is_ordered(const mo_compact *c, const mo_transfer_item *first,
                       const mo_transfer_item *second)
{
    const mo_instance *x = c->x;

    if (first->device == MO_FREE)
        return mo_dag_reach_path(c->frame->reach, first->to, second->from);
    for (int q = x->tensor_start[first->tensor];
         q < x->tensor_start[first->tensor + 1]; q++)
        if (mo_transfer_items_reads(c->frame, first, x->flows[q].to) &&
            !mo_dag_reach_path(c->frame->reach, x->flows[q].to, second->from))
            return false;
    return true;
}

/*
 * Returns whether the pair needs rows.  Where two transfers are
 * interchangeable and conflict whenever they are sent, their order is fixed
 * beforehand (symmetry breaking).  A row over several resources at once
 * demands an order also where they are apart, so that an order has a column if
 * any of the resources has time for it.
 */
static bool fill_pair(const mo_compact *c, mo_compact_transfer_pair *pair)
{
    const mo_transfer_item *first = &c->items->items[pair->first];
    const mo_transfer_item *second = &c->items->items[pair->second];
    bool open = false;

    if (first->end_max_ns <= second->start_min_ns ||
        second->end_max_ns <= first->start_min_ns ||
        is_ordered(c, first, second))
        return false;
    pair->fixed =
        mo_transfer_items_interchangeable(first, second) && first->always_uses;
    for (mo_compact_shared_resource at =
             mo_compact_shared_resource_begin(c, pair->first, pair->second);
         mo_compact_shared_resource_next(&at);) {
        pair->forward = pair->forward || at.forward;
        pair->backward = pair->backward || at.backward;
        open = open || at.open;
    }
    return open;
}

void mo_compact_each_transfer_pair(const mo_compact *c,
                                   mo_compact_transfer_pair_fn *visit,
                                   void *context)
{
    const mo_transfer_items *items = c->items;
    int cut = 0;

    for (int i = 0; i < items->n; i++) {
        /* The first clean cut behind op: what is produced from there on comes
         * after everything op sends. */
        while (cut < c->frame->n_cuts &&
               c->frame->cuts[cut] <= items->items[i].from)
            cut++;
        int end = cut < c->frame->n_cuts ? c->frame->cuts[cut] : c->frame->x->n;

        for (int j = i + 1; j < items->n && items->items[j].from < end; j++) {
            mo_compact_transfer_pair pair = { .first = i, .second = j };

            if (c->send[i] >= 0 && c->send[j] >= 0 && fill_pair(c, &pair))
                visit(context, &pair);
        }
    }
}
