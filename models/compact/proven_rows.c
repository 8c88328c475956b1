/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cutting planes from proven bounds on the ops between u and v, neighbours in
 * a chain (models/frame/proven_bounds.h), with f_ab from the end of u on a to
 * the start of v on b.  As y does for a transfer, g gives the devices of both
 * ends:
 *
 *     anchor    sum_b g_ab = x_ua,   sum_a g_ab = x_vb
 *     segment   s_v - s_u - sum_a p_ua x_ua >= sum_ab f_ab g_ab
 *     priced    the same with r_ab, a bound on time and prices of memory, in
 *               place of f_ab and the sum of pi_ik x_ik over the ops between
 *               on the left
 *
 * Where u, or v, has one device left the x of the other suffice, and there are
 * no g.  Devices on which they are too far apart for the horizon have none
 * either.  A segment with a bound that the flow between u and v implies has no
 * rows; nor has the part before the first op of the chain or behind the last,
 * which heads and tails cover.
 */
#include <assert.h>
#include <limits.h>
#include <stdlib.h>

#include "base/array.h"
#include "models/compact/compact.h"

static const mo_proven_bounds_pair *segment_ends(const mo_compact *c,
                                                 const mo_compact_segment *s)
{
    return &c->frame->proven->pairs[s->pair];
}

static int count_devices(const mo_compact *c, int op)
{
    int n = 0;

    for (int k = 0; k < c->x->n_devices; k++)
        n += mo_compact_place_column(c, op, k) >= 0;
    return n;
}

/* Returns whether u may be on a and v on b. */
static bool is_pair_possible(const mo_compact *c, size_t number, int a, int b)
{
    const mo_proven_bounds_pair *pair = &c->frame->proven->pairs[number];

    return mo_compact_place_column(c, pair->u, a) >= 0 &&
           mo_compact_place_column(c, pair->v, b) >= 0 &&
           (a == b ||
            !mo_transfer_items_always_colocated(c->frame, pair->u, pair->v)) &&
           mo_transfer_items_earliest_end(c->frame, pair->u, a) +
                   mo_frame_proven_pair_ns(c->frame, number, a, b) <=
               mo_transfer_items_latest_start(c->frame, pair->v, b);
}

/* The longest time of a transfer from u that v alone waits for; precedence
 * implies it for every pair of devices.  Items are in the order of their
 * producers. */
static int64_t transfer_ns(const mo_compact *c, int u, int v,
                           mo_transfer_arc arc)
{
    const mo_instance *x = c->x;
    int64_t longest = 0;
    int first, end;

    if (x->out_start[u] == x->out_start[u + 1])
        return 0;
    first = c->items->of_tensor[x->flows[x->out_start[u]].tensor];
    end = c->items->of_tensor[x->flows[x->out_start[u + 1] - 1].tensor + 1];
    for (int i = first; i < end; i++) {
        const mo_transfer_item *item = &c->items->items[i];

        if (item->to == v && !item->never_sent &&
            mo_transfer_items_ns(c->items, item, arc) > longest)
            longest = mo_transfer_items_ns(c->items, item, arc);
    }
    return longest;
}

/* Returns whether the table is stronger than a flow from u to v. */
static bool is_stronger(const mo_compact *c, size_t number)
{
    const mo_proven_bounds_pair *pair = &c->frame->proven->pairs[number];

    for (int a = 0; a < c->x->n_devices; a++)
        for (int b = 0; b < c->x->n_devices; b++)
            if (is_pair_possible(c, number, a, b) &&
                mo_frame_proven_pair_ns(c->frame, number, a, b) >
                    transfer_ns(c, pair->u, pair->v, (mo_transfer_arc){ a, b }))
                return true;
    return false;
}

typedef struct segment_build {
    size_t n_arcs, arc_room;
    size_t n_segments, segment_room;
    int64_t id; /* of the next column */
} segment_build;

static mo_status add_segment(mo_compact *c, size_t number, segment_build *f,
                             mo_error *err)
{
    mo_compact_segment s = { .pair = number,
                             .arc_start = (int) f->n_arcs,
                             .first = -1 };
    mo_status status = MO_OK;

    for (int a = 0; a < c->x->n_devices; a++)
        for (int b = 0; b < c->x->n_devices && status == MO_OK; b++) {
            if (!is_pair_possible(c, number, a, b))
                continue;
            status =
                MO_ARRAY_GROW(c->segment_arcs, f->n_arcs, f->arc_room, err);
            if (status == MO_OK)
                c->segment_arcs[f->n_arcs++] = (mo_transfer_arc){ a, b };
        }
    if (status == MO_OK)
        status =
            MO_ARRAY_GROW(c->segments, f->n_segments, f->segment_room, err);
    if (status != MO_OK)
        return status;
    s.n_arcs = (int) f->n_arcs - s.arc_start;
    if (count_devices(c, segment_ends(c, &s)->u) > 1 &&
        count_devices(c, segment_ends(c, &s)->v) > 1) {
        s.first = (int) f->id;
        f->id += s.n_arcs;
    }
    c->segments[f->n_segments++] = s;
    return MO_OK;
}

mo_status mo_compact_proven_find(mo_compact *c, mo_error *err)
{
    size_t n = c->frame->proven ? c->frame->proven->n : 0;
    int64_t most = INT_MAX - (int64_t) c->x->n_devices * c->x->n_devices;
    segment_build f = { .id = c->first_segment };
    mo_status status = MO_OK;

    for (size_t i = 0; i < n && status == MO_OK; i++) {
        const mo_proven_bounds_pair *pair = &c->frame->proven->pairs[i];

        if (pair->u == MO_FREE || pair->v == MO_FREE || !is_stronger(c, i))
            continue;
        if (f.id > most || (int64_t) f.n_arcs > most)
            return mo_fail(err, MO_E_LIMIT,
                           "the model has more than %d columns", INT_MAX);
        status = add_segment(c, i, &f, err);
    }
    c->n_segments = (int) f.n_segments;
    c->end_segment = (int) f.id;
    return status;
}

static double start_value(const mo_compact *c, const mo_compact_segment *s,
                          mo_transfer_arc arc)
{
    const mo_proven_bounds_pair *pair = segment_ends(c, s);

    return c->start && c->frame->start->device[pair->u] == arc.a &&
           c->frame->start->device[pair->v] == arc.b;
}

void mo_compact_proven_columns(const mo_compact *c, mo_sink *sink)
{
    for (int i = 0; i < c->n_segments; i++)
        if (c->segments[i].first >= 0) {
            const mo_compact_segment *s = &c->segments[i];

            for (int e = 0; e < s->n_arcs; e++) {
                mo_transfer_arc arc = c->segment_arcs[s->arc_start + e];
                mo_variable g = { .role = MO_VARIABLE_ROLE_SEGMENT,
                                  .number = { (int) s->pair, arc.a, arc.b },
                                  .kind = MO_VARIABLE_CONTINUOUS,
                                  .lower = 0,
                                  .upper = 1,
                                  .value = start_value(c, s, arc) };
                int id = mo_sink_column(sink, &g);

                assert(id == s->first + e || mo_sink_failed(sink));
                (void) id;
            }
        }
}

/* sum over the arcs that touch op's device k, at the begin or the end, less
 * x_opk, is 0. */
static void anchor_row(const mo_compact *c, const mo_compact_segment *s,
                       bool at_end, int k, mo_sink *sink)
{
    int op = at_end ? segment_ends(c, s)->v : segment_ends(c, s)->u;

    if (mo_compact_place_column(c, op, k) < 0)
        return;
    for (int e = 0; e < s->n_arcs; e++) {
        mo_transfer_arc arc = c->segment_arcs[s->arc_start + e];

        if ((at_end ? arc.b : arc.a) == k)
            mo_sink_term(sink, s->first + e, 1);
    }
    mo_sink_term(sink, mo_compact_place_column(c, op, k), -1);
    mo_sink_row(sink, MO_EQ, 0);
}

/* The column that is 1 when the ends are on the arc's devices: g, or x of the
 * op that has several devices. */
static int arc_column(const mo_compact *c, const mo_compact_segment *s, int e)
{
    mo_transfer_arc arc = c->segment_arcs[s->arc_start + e];
    const mo_proven_bounds_pair *pair = segment_ends(c, s);

    if (s->first >= 0)
        return s->first + e;
    return count_devices(c, pair->u) > 1
               ? mo_compact_place_column(c, pair->u, arc.a)
               : mo_compact_place_column(c, pair->v, arc.b);
}

static void priced_row(const mo_compact *c, const mo_compact_segment *s,
                       mo_sink *sink)
{
    const mo_proven_bounds_pair *pair = segment_ends(c, s);
    int n_devices = c->x->n_devices;
    int64_t step_ns = c->frame->step_ns;

    mo_sink_term(sink, mo_compact_start_column(c, pair->v), 1);
    mo_sink_term(sink, mo_compact_start_column(c, pair->u), -1);
    mo_compact_add_duration_terms(c, sink, pair->u, -1);
    for (int i = 0; i < pair->n_ops; i++)
        for (int k = 0; k < n_devices; k++) {
            int column = mo_compact_place_column(c, pair->ops[i], k);
            int64_t ns =
                pair->price_ns[(size_t) i * (size_t) n_devices + (size_t) k];

            /* Up to what times are multiples of, so that it is written
             * exactly. */
            ns = (ns + step_ns - 1) / step_ns * step_ns;
            if (column >= 0 && ns > 0)
                mo_sink_term_add(sink, column, mo_compact_time(c, ns));
        }
    for (int e = 0; e < s->n_arcs; e++) {
        mo_transfer_arc arc = c->segment_arcs[s->arc_start + e];
        int64_t ns = mo_frame_proven_priced_ns(c->frame, s->pair, arc.a, arc.b);

        mo_sink_term_add(sink, arc_column(c, s, e), -mo_compact_time(c, ns));
    }
    mo_sink_row(sink, MO_GE, 0);
}

void mo_compact_proven_rows(const mo_compact *c, mo_sink *sink)
{
    mo_sink_family(sink, "anchor");
    for (int i = 0; i < c->n_segments; i++)
        if (c->segments[i].first >= 0) {
            for (int k = 0; k < c->x->n_devices; k++)
                anchor_row(c, &c->segments[i], false, k, sink);
            for (int k = 0; k < c->x->n_devices; k++)
                anchor_row(c, &c->segments[i], true, k, sink);
        }
    mo_sink_family(sink, "segment");
    for (int i = 0; i < c->n_segments; i++) {
        const mo_compact_segment *s = &c->segments[i];
        const mo_proven_bounds_pair *pair = segment_ends(c, s);

        mo_sink_term(sink, mo_compact_start_column(c, pair->v), 1);
        mo_sink_term(sink, mo_compact_start_column(c, pair->u), -1);
        mo_compact_add_duration_terms(c, sink, pair->u, -1);
        for (int e = 0; e < s->n_arcs; e++) {
            mo_transfer_arc arc = c->segment_arcs[s->arc_start + e];
            int64_t ns =
                mo_frame_proven_pair_ns(c->frame, s->pair, arc.a, arc.b);

            mo_sink_term_add(sink, arc_column(c, s, e),
                             -mo_compact_time(c, ns));
        }
        mo_sink_row(sink, MO_GE, 0);
    }
    mo_sink_family(sink, "priced");
    for (int i = 0; i < c->n_segments; i++)
        if (segment_ends(c, &c->segments[i])->n_ops > 0)
            priced_row(c, &c->segments[i], sink);
}
