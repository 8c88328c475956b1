/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disjunctive rows of transfers (big-M): which of two that share a resource is
 * first.
 *
 * h_I_J = 1: I is before J.  Where both are sent and share a resource, one of
 * h_I_J and h_J_I is 1.  Written separately for each egress and ingress,
 *
 *     h_I_J + h_J_I >= use_I + use_J - 1,
 *
 * takes 2 K rows a pair.  But they share an egress if and only if both are sent
 * and their producers are on one device, and an ingress if their readers are:
 *
 *     h_I_J + h_J_I >= sent_I + sent_J - 1               one producer
 *     h_I_J + h_J_I >= meet_ac + sent_I + sent_J - 2     producers a and c
 *
 * meet_ac is o_a_c + o_c_a where there are such columns: it is 1 when a and c
 * are on one device, and need not be otherwise.  Elsewhere it is a column m_a_c
 * of its own, one for all pairs of transfers that need it.
 */
#include "models/compact/compact.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"
#include "models/compact/disjunctive_pairs.h"
#include "models/compact/shared_resource.h"

enum { FIRST_SLOTS = 64 };

static mo_op_pair ordered_pair(int i, int j)
{
    return i < j ? (mo_op_pair){ i, j } : (mo_op_pair){ j, i };
}

/* Returns the slot of the pair, or the empty slot where it would be. */
static size_t slot_of(const mo_op_pair_set *set, mo_op_pair pair)
{
    uint64_t key = (uint64_t) pair.i << 32 | (uint64_t) pair.j;
    size_t mask = set->n_slots - 1;
    size_t at = (size_t) ((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & mask;

    while (set->slots[at] >= 0) {
        const mo_op_pair *found = &set->pairs[set->slots[at]];

        if (found->i == pair.i && found->j == pair.j)
            break;
        at = (at + 1) & mask;
    }
    return at;
}

/* Adds the pair, in either order, unless it is there. */
static mo_status add_pair(mo_op_pair_set *set, int i, int j, mo_error *err)
{
    mo_op_pair pair = ordered_pair(i, j);
    size_t at;
    mo_status status = MO_ARRAY_GROW(set->pairs, set->n, set->room, err);

    if (status == MO_OK && set->n >= INT_MAX / 4)
        status = mo_fail(err, MO_E_LIMIT, "too many pairs of ops for a model");
    if (status == MO_OK && 2 * (set->n + 1) > set->n_slots) {
        size_t n_slots = set->n_slots ? 2 * set->n_slots : FIRST_SLOTS;
        int *slots = malloc(n_slots * sizeof *slots);

        if (!slots) {
            status = mo_fail_memory(err);
        } else {
            for (size_t s = 0; s < n_slots; s++)
                slots[s] = -1;
            free(set->slots);
            set->slots = slots;
            set->n_slots = n_slots;
            for (size_t p = 0; p < set->n; p++)
                slots[slot_of(set, set->pairs[p])] = (int) p;
        }
    }
    if (status != MO_OK)
        return status;
    at = slot_of(set, pair);
    if (set->slots[at] < 0) {
        set->slots[at] = (int) set->n;
        set->pairs[set->n++] = pair;
    }
    return MO_OK;
}

/* Returns its number, or -1. */
static int find_pair(const mo_op_pair_set *set, int i, int j)
{
    return set->n == 0 ? -1 : set->slots[slot_of(set, ordered_pair(i, j))];
}

/* Up to this many devices each has a row of its own, which is tighter. */
enum { MAX_ROWS_BY_DEVICE = 1 };

/* One side of two transfers with congestion by port: egress and producers, or
 * ingress and readers. */
typedef struct port_side {
    int i, j;           /* ops; MO_FREE: any */
    int first_resource; /* that of device 0 */
    bool together;      /* they share it whenever both are sent */
    int n_open; /* devices where both may be and windows leave it open */
} port_side;

static bool always_share(const mo_compact *c, const port_side *s)
{
    return s->i != MO_FREE && s->j != MO_FREE &&
           mo_transfer_items_always_colocated(c->frame, s->i, s->j);
}

/* Returns the device of the port, or a negative number: not on this side. */
static int device_on(const mo_compact *c, const port_side *s, int resource)
{
    int device = resource - s->first_resource;

    return device < c->x->n_devices ? device : -1;
}

static void count_open(const mo_compact *c,
                       const mo_compact_transfer_pair *pair, port_side *s)
{
    for (mo_compact_shared_resource at =
             mo_compact_shared_resource_begin(c, pair->first, pair->second);
         mo_compact_shared_resource_next(&at);)
        s->n_open += at.open && device_on(c, s, at.resource) >= 0;
}

static port_side egress_of(const mo_compact *c,
                           const mo_compact_transfer_pair *pair)
{
    const mo_transfer_item *items = c->items->items;
    port_side s = { items[pair->first].from, items[pair->second].from,
                    mo_transfer_items_egress(c->frame, 0), false, 0 };

    s.together = always_share(c, &s);
    count_open(c, pair, &s);
    return s;
}

/* A transfer for several readers has its device instead.  With two devices
 * every transfer that leaves the one enters the other: egress suffices. */
static port_side ingress_of(const mo_compact *c,
                            const mo_compact_transfer_pair *pair)
{
    const mo_transfer_item *first = &c->items->items[pair->first];
    const mo_transfer_item *second = &c->items->items[pair->second];
    port_side s = { first->to, second->to,
                    mo_transfer_items_ingress(c->frame, 0), false, 0 };

    s.together = always_share(c, &s) ||
                 (first->device != MO_FREE && first->device == second->device);
    if (c->x->n_devices > 2)
        count_open(c, pair, &s);
    return s;
}

/* Returns whether the columns o of the side's ops are 1 when both are on the
 * device. */
static bool is_covered_by_order(const mo_compact *c, const port_side *s,
                                int device)
{
    return mo_disjunction_on_device(c->frame, s->i, s->j, device) !=
           MO_DISJUNCTION_SETTLED;
}

static bool has_both(const port_side *s)
{
    return s->i != MO_FREE && s->j != MO_FREE;
}

typedef struct count_context {
    mo_compact *c;
    int64_t n_columns;
    mo_status status;
    mo_error *err;
} count_context;

static void add_same_device_pair(count_context *k, const port_side *s)
{
    if (s->n_open > MAX_ROWS_BY_DEVICE && has_both(s) &&
        !mo_compact_order(k->c, s->i, s->j) && k->status == MO_OK)
        k->status = add_pair(&k->c->same_device, s->i, s->j, k->err);
}

static void count_pair(void *context, const mo_compact_transfer_pair *pair)
{
    count_context *k = context;
    port_side egress, ingress;

    if (pair->fixed)
        return;
    k->n_columns += pair->forward + pair->backward;
    if (k->c->frame->regime.congestion != MO_CONGESTION_PORT)
        return;
    egress = egress_of(k->c, pair);
    ingress = ingress_of(k->c, pair);
    if ((egress.together && egress.n_open > 0) ||
        (ingress.together && ingress.n_open > 0))
        return;
    add_same_device_pair(k, &egress);
    add_same_device_pair(k, &ingress);
}

mo_status mo_compact_count_transfer_orders(mo_compact *c, int64_t *n_columns,
                                           mo_error *err)
{
    count_context k = { c, 0, MO_OK, err };

    mo_compact_each_transfer_pair(c, count_pair, &k);
    *n_columns = k.n_columns;
    return k.status;
}

typedef struct row_context {
    const mo_compact *c;
    mo_sink *sink;
    int column; /* the next h */
} row_context;

/* Adds sign * sent_I to the row; returns its constant part. */
static double sent_terms(const mo_compact *c, int i, double sign, mo_sink *sink)
{
    const mo_transfer_item *item = &c->items->items[i];
    bool stays = item->device == MO_FREE;

    for (int e = 0; e < item->n_arcs; e++) {
        mo_transfer_arc arc = c->items->arcs[item->arc_start + e];

        if ((arc.a == arc.b) == stays)
            mo_sink_term(sink, mo_compact_arc_column(c, item, e),
                         stays ? -sign : sign);
    }
    if (stays && c->incumbent >= 0)
        mo_sink_term_add(sink, c->incumbent, -sign);
    return stays ? sign : 0;
}

/* h_I_J + h_J_I */
static void order_terms(const mo_compact_transfer_pair *pair, int column,
                        mo_sink *sink)
{
    if (pair->forward)
        mo_sink_term(sink, column++, 1);
    if (pair->backward)
        mo_sink_term(sink, column, 1);
}

/* Between the same two ops: both need the same resources. */
static bool are_parallel(const mo_compact *c,
                         const mo_compact_transfer_pair *pair)
{
    const mo_transfer_item *items = c->items->items;

    return items[pair->first].first == items[pair->second].first;
}

/* ... >= sent_I + sent_J - 1, which is sent_I where they go together */
static void both_sent_row(const row_context *w,
                          const mo_compact_transfer_pair *pair)
{
    double constant;

    order_terms(pair, w->column, w->sink);
    constant = sent_terms(w->c, pair->first, -1, w->sink);
    if (are_parallel(w->c, pair)) {
        mo_sink_row(w->sink, MO_GE, -constant);
        return;
    }
    constant += sent_terms(w->c, pair->second, -1, w->sink);
    mo_sink_row(w->sink, MO_GE, -constant - 1);
}

/* ... >= meet + sent_I + sent_J - 2 */
static void meet_row(const row_context *w, const mo_compact_transfer_pair *pair,
                     const port_side *s)
{
    const mo_compact_order_columns *order = mo_compact_order(w->c, s->i, s->j);
    double constant;

    order_terms(pair, w->column, w->sink);
    if (!order)
        mo_sink_term(w->sink,
                     w->c->first_same_device +
                         find_pair(&w->c->same_device, s->i, s->j),
                     -1);
    if (order && order->forward >= 0)
        mo_sink_term(w->sink, order->forward, -1);
    if (order && order->backward >= 0)
        mo_sink_term(w->sink, order->backward, -1);
    constant = sent_terms(w->c, pair->first, -1, w->sink);
    constant += sent_terms(w->c, pair->second, -1, w->sink);
    mo_sink_row(w->sink, MO_GE, -constant - 2);
}

static void use_terms(const mo_compact *c, int i, int resource, mo_sink *sink)
{
    const mo_transfer_item *item = &c->items->items[i];

    for (int e = 0; e < item->n_arcs; e++) {
        mo_transfer_arc arc = c->items->arcs[item->arc_start + e];

        if (arc.a != arc.b &&
            mo_transfer_items_needs_resource(c->frame, arc, resource))
            mo_sink_term(sink, mo_compact_arc_column(c, item, e), -1);
    }
}

/* ... >= use_I + use_J - 1, for one resource, or use_I in the same way */
static void resource_row(const row_context *w,
                         const mo_compact_transfer_pair *pair, int resource)
{
    order_terms(pair, w->column, w->sink);
    use_terms(w->c, pair->first, resource, w->sink);
    if (are_parallel(w->c, pair)) {
        mo_sink_row(w->sink, MO_GE, 0);
        return;
    }
    use_terms(w->c, pair->second, resource, w->sink);
    mo_sink_row(w->sink, MO_GE, -1);
}

/* The same on one side; without those that the order columns cover. */
static void device_rows(const row_context *w,
                        const mo_compact_transfer_pair *pair,
                        const port_side *s, bool skip_covered)
{
    for (mo_compact_shared_resource at =
             mo_compact_shared_resource_begin(w->c, pair->first, pair->second);
         mo_compact_shared_resource_next(&at);) {
        int device = device_on(w->c, s, at.resource);

        if (at.open && device >= 0 &&
            !(skip_covered && is_covered_by_order(w->c, s, device)))
            resource_row(w, pair, at.resource);
    }
}

static void side_rows(const row_context *w,
                      const mo_compact_transfer_pair *pair, const port_side *s)
{
    bool covered;

    if (s->n_open <= MAX_ROWS_BY_DEVICE || !has_both(s)) {
        device_rows(w, pair, s, false);
        return;
    }
    if (!mo_compact_order(w->c, s->i, s->j)) {
        meet_row(w, pair, s);
        return;
    }
    /* Counts the open devices of the side that its order columns cover. */
    int n = 0;

    for (mo_compact_shared_resource at =
             mo_compact_shared_resource_begin(w->c, pair->first, pair->second);
         mo_compact_shared_resource_next(&at);) {
        int device = device_on(w->c, s, at.resource);

        n += at.open && device >= 0 && is_covered_by_order(w->c, s, device);
    }
    covered = n > MAX_ROWS_BY_DEVICE;
    if (covered)
        meet_row(w, pair, s);
    device_rows(w, pair, s, covered);
}

static void share_rows(void *context, const mo_compact_transfer_pair *pair)
{
    row_context *w = context;
    port_side egress, ingress;

    if (pair->fixed)
        return;
    if (w->c->frame->regime.congestion != MO_CONGESTION_PORT) {
        /* A row for each open resource. */
        for (mo_compact_shared_resource at = mo_compact_shared_resource_begin(
                 w->c, pair->first, pair->second);
             mo_compact_shared_resource_next(&at);)
            if (at.open)
                resource_row(w, pair, at.resource);
    } else {
        egress = egress_of(w->c, pair);
        ingress = ingress_of(w->c, pair);
        if ((egress.together && egress.n_open > 0) ||
            (ingress.together && ingress.n_open > 0)) {
            both_sent_row(w, pair);
        } else {
            side_rows(w, pair, &egress);
            side_rows(w, pair, &ingress);
        }
    }
    w->column += pair->forward + pair->backward;
}

/* t_J >= t_I + c_I - M (1 - h_I_J); h < 0: in any case. */
static void queue_row(const row_context *w, int first, int second, int h)
{
    const mo_compact *c = w->c;
    int64_t m_ns = c->items->items[first].end_max_ns -
                   c->items->items[second].start_min_ns;
    double m = h >= 0 && m_ns > 0 ? mo_compact_time(c, m_ns) : 0;

    mo_sink_term(w->sink, c->send[second], 1);
    mo_sink_term(w->sink, c->send[first], -1);
    mo_compact_add_delay_terms(c, w->sink, first, -1);
    if (h >= 0)
        mo_sink_term(w->sink, h, -m);
    mo_sink_row(w->sink, MO_GE, -m);
}

static void queue_rows(void *context, const mo_compact_transfer_pair *pair)
{
    row_context *w = context;

    if (pair->fixed) {
        queue_row(w, pair->first, pair->second, -1);
        return;
    }
    if (pair->forward)
        queue_row(w, pair->first, pair->second, w->column++);
    if (pair->backward)
        queue_row(w, pair->second, pair->first, w->column++);
}

void mo_compact_transfer_order_rows(const mo_compact *c, mo_sink *sink)
{
    row_context w = { c, sink, c->first_send_order };

    /* m_i_j >= x_i_k + x_j_k - 1 */
    mo_sink_family(sink, "same");
    for (size_t p = 0; p < c->same_device.n; p++)
        for (int k = 0; k < c->x->n_devices; k++) {
            int first =
                mo_compact_place_column(c, c->same_device.pairs[p].i, k);
            int second =
                mo_compact_place_column(c, c->same_device.pairs[p].j, k);

            if (first < 0 || second < 0)
                continue;
            mo_sink_term(sink, c->first_same_device + (int) p, 1);
            mo_sink_term(sink, first, -1);
            mo_sink_term(sink, second, -1);
            mo_sink_row(sink, MO_GE, -1);
        }
    mo_sink_family(sink, "share");
    mo_compact_each_transfer_pair(c, share_rows, &w);
    w.column = c->first_send_order;
    mo_sink_family(sink, "queue");
    mo_compact_each_transfer_pair(c, queue_rows, &w);
}
