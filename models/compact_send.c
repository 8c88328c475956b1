/*
 * Two transfers that share a resource: which of them is first.
 *
 * h_I_J says that I is before J.  Where both are sent and share a resource, one
 * of h_I_J and h_J_I is 1.  To say so for each egress and ingress by itself,
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
 * of its own, one for all pairs of transfers that ask.
 */
#include "models/compact.h"
#include "models/pairs.h"

/* How often one row for all devices replaces rows for each of them: never for
 * so few. */
enum { FEW_DEVICES = 1 };

/* A side of two transfers with congestion by port: egress and producers, or
 * ingress and readers. */
typedef struct side {
    int i, j;           /* ops; MO_FREE: no matter which */
    int first_resource; /* that of device 0 */
    bool together;      /* they share it whenever both are sent */
    int n_open; /* devices where both may be and windows leave it open */
} side;

/* What is left to decide when both need the resource. */
typedef enum outcome { APART, OPEN } outcome;

static outcome look_at(const mo_use *u, const mo_use *v, mo_send_pair *pair)
{
    pair->forward = pair->forward || u->end_min_ns <= v->start_max_ns;
    pair->backward = pair->backward || v->end_min_ns <= u->start_max_ns;
    if ((!u->takes_time && !v->takes_time) ||
        u->end_max_ns <= v->start_min_ns || v->end_max_ns <= u->start_min_ns)
        return APART;
    return OPEN;
}

/* The resources both may need, one after the other; false behind the last. */
typedef struct common {
    const mo_use *u, *v, *u_end, *v_end;
} common;

static common common_begin(const mo_compact *c, const mo_item *first,
                           const mo_item *second)
{
    const mo_use *uses = c->items->uses;

    return (common){ uses + first->use_start, uses + second->use_start,
                     uses + first->use_start + first->n_uses,
                     uses + second->use_start + second->n_uses };
}

static bool common_find(common *at)
{
    while (at->u < at->u_end && at->v < at->v_end) {
        if (at->u->resource == at->v->resource)
            return true;
        if (at->u->resource < at->v->resource)
            at->u++;
        else
            at->v++;
    }
    return false;
}

static void common_next(common *at)
{
    at->u++;
    at->v++;
}

/* Is every reader of the first at the second's producer or before it? */
static bool is_ordered(const mo_compact *c, const mo_item *first,
                       const mo_item *second)
{
    const mo_instance *x = c->x;

    if (first->device == MO_FREE)
        return mo_reach_path(c->frame->reach, first->to, second->from);
    for (int q = x->tensor_start[first->tensor];
         q < x->tensor_start[first->tensor + 1]; q++)
        if (mo_items_reads(c->frame, first, x->flows[q].to) &&
            !mo_reach_path(c->frame->reach, x->flows[q].to, second->from))
            return false;
    return true;
}

/* Does it say anything about the two? */
static bool fill_pair(const mo_compact *c, mo_send_pair *pair)
{
    const mo_item *first = &c->items->items[pair->first];
    const mo_item *second = &c->items->items[pair->second];
    bool open = false;

    if (first->end_max_ns <= second->start_min_ns ||
        second->end_max_ns <= first->start_min_ns ||
        is_ordered(c, first, second))
        return false;
    pair->fixed = mo_items_alike(first, second);
    pair->forward = pair->backward = false;
    for (common at = common_begin(c, first, second); common_find(&at);
         common_next(&at))
        open = look_at(at.u, at.v, pair) == OPEN || open;
    return open;
}

/* The first clean cut behind op: what is made from there on comes after
 * everything op sends. */
static int cut_behind(const mo_frame *f, int op, int *cut)
{
    while (*cut < f->n_cuts && f->cuts[*cut] <= op)
        ++*cut;
    return *cut < f->n_cuts ? f->cuts[*cut] : f->x->n;
}

void mo_compact_send_pairs(const mo_compact *c, mo_send_pair_take *take,
                           void *context)
{
    const mo_items *items = c->items;
    int cut = 0;

    for (int i = 0; i < items->n; i++) {
        int end = cut_behind(c->frame, items->items[i].from, &cut);

        for (int j = i + 1; j < items->n && items->items[j].from < end; j++) {
            mo_send_pair pair = { .first = i, .second = j };

            if (c->send[i] >= 0 && c->send[j] >= 0 && fill_pair(c, &pair))
                take(context, &pair);
        }
    }
}

/* Sides: who is asked for, and where it is open. */

static bool is_together(const mo_compact *c, const side *s)
{
    return s->i != MO_FREE && s->j != MO_FREE &&
           mo_items_together(c->frame, s->i, s->j);
}

static void count_open(const mo_compact *c, const mo_send_pair *pair, side *s)
{
    const mo_item *items = c->items->items;
    mo_send_pair ignored = { 0 };

    for (common at = common_begin(c, &items[pair->first], &items[pair->second]);
         common_find(&at); common_next(&at))
        if (at.u->resource >= s->first_resource &&
            at.u->resource < s->first_resource + c->x->n_devices)
            s->n_open += look_at(at.u, at.v, &ignored) == OPEN;
}

static side egress_of(const mo_compact *c, const mo_send_pair *pair)
{
    const mo_item *items = c->items->items;
    side s = { items[pair->first].from, items[pair->second].from,
               mo_items_egress(c->frame, 0), false, 0 };

    s.together = is_together(c, &s);
    count_open(c, pair, &s);
    return s;
}

/* A transfer for several readers has its device instead. */
static side ingress_of(const mo_compact *c, const mo_send_pair *pair)
{
    const mo_item *first = &c->items->items[pair->first];
    const mo_item *second = &c->items->items[pair->second];
    side s = { first->to, second->to, mo_items_ingress(c->frame, 0), false, 0 };

    s.together = is_together(c, &s) ||
                 (first->device != MO_FREE && first->device == second->device);
    count_open(c, pair, &s);
    return s;
}

/* Do the columns o of the side's ops say when they are both on the device? */
static bool order_tells(const mo_compact *c, const side *s, int device)
{
    return mo_pairs_meeting(c->frame, s->i, s->j, device) != MO_MEETING_SETTLED;
}

static bool has_both(const side *s)
{
    return s->i != MO_FREE && s->j != MO_FREE;
}

/* Counting */

typedef struct counting {
    mo_compact *c;
    int64_t n_columns;
    mo_status status;
    mo_error *err;
} counting;

static void want_meet(counting *k, const side *s)
{
    if (s->n_open > FEW_DEVICES && has_both(s) &&
        !mo_compact_order(k->c, s->i, s->j) && k->status == MO_OK)
        k->status = mo_meets_add(&k->c->meets, s->i, s->j, k->err);
}

static void count_pair(void *context, const mo_send_pair *pair)
{
    counting *k = context;
    side egress, ingress;

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
    want_meet(k, &egress);
    want_meet(k, &ingress);
}

mo_status mo_compact_send_count(mo_compact *c, int64_t *n_columns,
                                mo_error *err)
{
    counting k = { c, 0, MO_OK, err };

    mo_compact_send_pairs(c, count_pair, &k);
    *n_columns = k.n_columns;
    return k.status;
}

/* Rows */

typedef struct writing {
    const mo_compact *c;
    mo_sink *sink;
    int column; /* the next h */
} writing;

/* Adds sign * sent_I to the row; what is constant in it is returned. */
static double sent_terms(const mo_compact *c, int i, double sign, mo_sink *sink)
{
    const mo_item *item = &c->items->items[i];
    bool stays = item->device == MO_FREE;

    for (int e = 0; e < item->n_arcs; e++) {
        mo_arc arc = c->items->arcs[item->arc_start + e];

        if ((arc.a == arc.b) == stays)
            mo_term(sink, mo_compact_arc(c, item, e), stays ? -sign : sign);
    }
    return stays ? sign : 0;
}

/* h_I_J + h_J_I */
static void order_terms(const mo_send_pair *pair, int column, mo_sink *sink)
{
    if (pair->forward)
        mo_term(sink, column++, 1);
    if (pair->backward)
        mo_term(sink, column, 1);
}

/* Between the same two ops: what one needs the other needs, too. */
static bool go_together(const mo_compact *c, const mo_send_pair *pair)
{
    const mo_item *items = c->items->items;

    return items[pair->first].first == items[pair->second].first;
}

/* ... >= sent_I + sent_J - 1, which is sent_I where they go together */
static void both_sent_row(const writing *w, const mo_send_pair *pair)
{
    double constant;

    order_terms(pair, w->column, w->sink);
    constant = sent_terms(w->c, pair->first, -1, w->sink);
    if (go_together(w->c, pair)) {
        mo_row(w->sink, MO_GE, -constant);
        return;
    }
    constant += sent_terms(w->c, pair->second, -1, w->sink);
    mo_row(w->sink, MO_GE, -constant - 1);
}

/* ... >= meet + sent_I + sent_J - 2 */
static void meet_row(const writing *w, const mo_send_pair *pair, const side *s)
{
    const mo_order *order = mo_compact_order(w->c, s->i, s->j);
    double constant;

    order_terms(pair, w->column, w->sink);
    if (!order)
        mo_term(w->sink,
                w->c->first_meet + mo_meets_find(&w->c->meets, s->i, s->j), -1);
    if (order && order->forward >= 0)
        mo_term(w->sink, order->forward, -1);
    if (order && order->backward >= 0)
        mo_term(w->sink, order->backward, -1);
    constant = sent_terms(w->c, pair->first, -1, w->sink);
    constant += sent_terms(w->c, pair->second, -1, w->sink);
    mo_row(w->sink, MO_GE, -constant - 2);
}

static void use_terms(const mo_compact *c, int i, int resource, mo_sink *sink)
{
    const mo_item *item = &c->items->items[i];

    for (int e = 0; e < item->n_arcs; e++) {
        mo_arc arc = c->items->arcs[item->arc_start + e];

        if (arc.a != arc.b && mo_items_needs(c->frame, arc, resource))
            mo_term(sink, mo_compact_arc(c, item, e), -1);
    }
}

/* ... >= use_I + use_J - 1, for one resource, or use_I in the same way */
static void resource_row(const writing *w, const mo_send_pair *pair,
                         int resource)
{
    order_terms(pair, w->column, w->sink);
    use_terms(w->c, pair->first, resource, w->sink);
    if (go_together(w->c, pair)) {
        mo_row(w->sink, MO_GE, 0);
        return;
    }
    use_terms(w->c, pair->second, resource, w->sink);
    mo_row(w->sink, MO_GE, -1);
}

static int count_told(const mo_compact *c, const mo_send_pair *pair,
                      const side *s);

/* Rows for the open resources; with a side only for its devices that order
 * columns say nothing of. */
static void resource_rows(const writing *w, const mo_send_pair *pair,
                          const side *s, bool only_untold)
{
    const mo_compact *c = w->c;
    const mo_item *items = c->items->items;
    mo_send_pair ignored = { 0 };

    for (common at = common_begin(c, &items[pair->first], &items[pair->second]);
         common_find(&at); common_next(&at)) {
        int device = at.u->resource - (s ? s->first_resource : 0);

        if (look_at(at.u, at.v, &ignored) != OPEN)
            continue;
        if (s && (device < 0 || device >= c->x->n_devices))
            continue;
        if (only_untold && order_tells(c, s, device))
            continue;
        resource_row(w, pair, at.u->resource);
    }
}

/* Open devices of the side of which its order columns tell. */
static int count_told(const mo_compact *c, const mo_send_pair *pair,
                      const side *s)
{
    const mo_item *items = c->items->items;
    mo_send_pair ignored = { 0 };
    int n = 0;

    for (common at = common_begin(c, &items[pair->first], &items[pair->second]);
         common_find(&at); common_next(&at)) {
        int device = at.u->resource - s->first_resource;

        if (device >= 0 && device < c->x->n_devices &&
            look_at(at.u, at.v, &ignored) == OPEN)
            n += order_tells(c, s, device);
    }
    return n;
}

static void side_rows(const writing *w, const mo_send_pair *pair, const side *s)
{
    bool told;

    if (s->n_open <= FEW_DEVICES || !has_both(s)) {
        resource_rows(w, pair, s, false);
        return;
    }
    if (!mo_compact_order(w->c, s->i, s->j)) {
        meet_row(w, pair, s);
        return;
    }
    told = count_told(w->c, pair, s) > FEW_DEVICES;
    if (told)
        meet_row(w, pair, s);
    resource_rows(w, pair, s, told);
}

static void meet_pair(void *context, const mo_send_pair *pair)
{
    writing *w = context;
    side egress, ingress;

    if (pair->fixed)
        return;
    if (w->c->frame->regime.congestion != MO_CONGESTION_PORT) {
        resource_rows(w, pair, NULL, false);
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
static void before(const writing *w, int first, int second, int h)
{
    const mo_compact *c = w->c;
    int64_t m_ns = c->items->items[first].end_max_ns -
                   c->items->items[second].start_min_ns;
    double m = h >= 0 && m_ns > 0 ? mo_compact_time(c, m_ns) : 0;

    mo_term(w->sink, c->send[second], 1);
    mo_term(w->sink, c->send[first], -1);
    mo_compact_delay(c, w->sink, first, -1);
    if (h >= 0)
        mo_term(w->sink, h, -m);
    mo_row(w->sink, MO_GE, -m);
}

static void order_pair(void *context, const mo_send_pair *pair)
{
    writing *w = context;

    if (pair->fixed) {
        before(w, pair->first, pair->second, -1);
        return;
    }
    if (pair->forward)
        before(w, pair->first, pair->second, w->column++);
    if (pair->backward)
        before(w, pair->second, pair->first, w->column++);
}

/* m_i_j >= x_i_k + x_j_k - 1 */
static void same_device_rows(const mo_compact *c, mo_sink *sink)
{
    mo_sink_family(sink, "same");
    for (size_t p = 0; p < c->meets.n; p++)
        for (int k = 0; k < c->x->n_devices; k++) {
            int first = mo_compact_place(c, c->meets.pairs[p].i, k);
            int second = mo_compact_place(c, c->meets.pairs[p].j, k);

            if (first < 0 || second < 0)
                continue;
            mo_term(sink, c->first_meet + (int) p, 1);
            mo_term(sink, first, -1);
            mo_term(sink, second, -1);
            mo_row(sink, MO_GE, -1);
        }
}

void mo_compact_send_rows(const mo_compact *c, mo_sink *sink)
{
    writing w = { c, sink, c->first_send_order };

    same_device_rows(c, sink);
    mo_sink_family(sink, "share");
    mo_compact_send_pairs(c, meet_pair, &w);
    w.column = c->first_send_order;
    mo_sink_family(sink, "queue");
    mo_compact_send_pairs(c, order_pair, &w);
}
