/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load cuts (valid inequalities): between two neighbouring clean cuts u and v
 * everything in between happens between the end of u and the start of v.  So
 * the load of no device, port, channel or link exceeds that, for every order:
 *
 *     s_v - s_u - p_u >= sum_i p_ik x_ik              for each device k
 *     s_v - s_u - p_u >= sum_I sum_ab c_Iab y_I_a_b   for each resource
 *
 * Before the first cut it is s_v alone, behind the last w instead of s_v.
 */
#include "models/compact/compact.h"

/* Ops strictly between begin and end, which are cuts, or -1 and n; items made
 * from begin on. */
typedef struct segment {
    int begin, end;
    int first_item, end_item;
} segment;

/* s_v - s_u - p_u, as terms. */
static void span_terms(const mo_compact *c, const segment *s, mo_sink *sink)
{
    mo_sink_term(sink,
                 s->end < c->x->n ? mo_compact_start_column(c, s->end) : 0, 1);
    if (s->begin < 0)
        return;
    mo_sink_term(sink, mo_compact_start_column(c, s->begin), -1);
    mo_compact_add_duration_terms(c, sink, s->begin, -1);
}

static bool has_work(const mo_compact *c, int i, int k)
{
    return mo_compact_place_column(c, i, k) >= 0 &&
           c->run[(int64_t) i * c->x->n_devices + k] > 0;
}

/* Returns whether the item needs the resource for some time. */
static bool needs_resource(const mo_compact *c, const mo_transfer_item *item,
                           int resource)
{
    const mo_transfer_use *uses = c->items->uses + item->use_start;

    for (int u = 0; u < item->n_uses; u++)
        if (uses[u].resource == resource)
            return uses[u].takes_time;
    return false;
}

static void resource_row(const mo_compact *c, const segment *s, int resource,
                         mo_sink *sink)
{
    int n = 0;

    for (int i = s->first_item; i < s->end_item && n < 2; i++)
        n += needs_resource(c, &c->items->items[i], resource);
    if (n < 2)
        return;
    span_terms(c, s, sink);
    for (int i = s->first_item; i < s->end_item; i++) {
        /* Parallel items between the same two ops share their columns. */
        const mo_transfer_item *item = &c->items->items[i];

        for (int e = 0; e < item->n_arcs; e++) {
            mo_transfer_arc arc = c->items->arcs[item->arc_start + e];
            int column = mo_compact_arc_column(c, item, e);
            double delay = c->delay[c->delay_start[i] + e];

            if (arc.a == arc.b ||
                !mo_transfer_items_needs_resource(c->frame, arc, resource))
                continue;
            if (item->no_parallel)
                mo_sink_term(sink, column, -delay);
            else
                mo_sink_term_add(sink, column, -delay);
        }
    }
    mo_sink_row(sink, MO_GE, 0);
}

/* Advances to the next segment; returns false behind the last. */
static bool next_segment(const mo_compact *c, int cut, segment *s)
{
    const mo_frame *f = c->frame;

    if (cut > f->n_cuts)
        return false;
    s->begin = cut == 0 ? -1 : f->cuts[cut - 1];
    s->end = cut < f->n_cuts ? f->cuts[cut] : f->x->n;
    s->first_item = s->end_item;
    while (s->end_item < c->items->n &&
           c->items->items[s->end_item].from < s->end)
        s->end_item++;
    return true;
}

void mo_compact_segment_load_rows(const mo_compact *c, mo_sink *sink)
{
    segment s = { 0 };
    int n_resources = c->items->n_resources;

    mo_sink_family(sink, "load");
    for (int cut = 0; next_segment(c, cut, &s); cut++)
        for (int k = 0; k < c->x->n_devices; k++) {
            int n = 0;

            for (int i = s.begin + 1; i < s.end; i++)
                n += has_work(c, i, k);
            if (n < 2)
                continue;
            span_terms(c, &s, sink);
            for (int i = s.begin + 1; i < s.end; i++)
                if (has_work(c, i, k))
                    mo_sink_term(sink, mo_compact_place_column(c, i, k),
                                 -c->run[(int64_t) i * c->x->n_devices + k]);
            mo_sink_row(sink, MO_GE, 0);
        }
    s = (segment){ 0 };
    /* With two devices every transfer that leaves the one enters the other:
     * ingress rows would repeat the egress rows. */
    if (c->frame->regime.congestion == MO_CONGESTION_PORT &&
        c->x->n_devices == 2)
        n_resources = mo_transfer_items_ingress(c->frame, 0);
    mo_sink_family(sink, "traffic");
    for (int cut = 0; next_segment(c, cut, &s); cut++)
        for (int r = 0; r < n_resources; r++)
            resource_row(c, &s, r, sink);
}
