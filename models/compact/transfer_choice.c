/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers required by a placement, and precedence. */
#include "models/compact/compact.h"
#include "models/transfer_number.h"

/*
 * One reader: y is the product of x of its ends,
 *
 *     sum_b y_I_a_b = x_i_a for each a,   sum_a y_I_a_b = x_j_b for each b.
 */
static void product_rows(const mo_compact *c, const mo_transfer_item *item,
                         mo_sink *sink)
{
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < c->x->n_devices; k++) {
            int op = side == 0 ? item->from : item->to;

            if (mo_compact_place_column(c, op, k) < 0)
                continue;
            for (int e = 0; e < item->n_arcs; e++) {
                mo_transfer_arc arc = c->items->arcs[item->arc_start + e];

                if ((side == 0 ? arc.a : arc.b) == k)
                    mo_sink_term(sink, mo_compact_arc_column(c, item, e), 1);
            }
            mo_sink_term(sink, mo_compact_place_column(c, op, k), -1);
            mo_sink_row(sink, MO_EQ, 0);
        }
}

/*
 * Several readers, to device b: y is at least 1 where the producer is on a and
 * some reader on b; the objective needs no more,
 *
 *     sum_a y_I_a_b >= x_j_b for each reader j,   y_I_a_b <= x_i_a for each a.
 */
static void cover_rows(const mo_compact *c, const mo_transfer_item *item,
                       mo_sink *sink)
{
    const mo_instance *x = c->x;

    for (int q = x->tensor_start[item->tensor];
         q < x->tensor_start[item->tensor + 1]; q++) {
        int op = x->flows[q].to;

        if (!mo_transfer_items_reads(c->frame, item, op))
            continue;
        for (int e = 0; e < item->n_arcs; e++)
            mo_sink_term(sink, mo_compact_arc_column(c, item, e), 1);
        mo_sink_term(sink, mo_compact_place_column(c, op, item->device), -1);
        mo_sink_row(sink, MO_GE, 0);
    }
}

/* s_j >= s_i + p_i, plus the transfer time where it needs no resource. */
static void precedence_row(const mo_compact *c, int i, int j, int item,
                           mo_sink *sink)
{
    mo_sink_term(sink, mo_compact_start_column(c, j), 1);
    mo_sink_term(sink, mo_compact_start_column(c, i), -1);
    mo_compact_add_duration_terms(c, sink, i, -1);
    if (item >= 0)
        mo_compact_add_delay_terms(c, sink, item, -1);
    mo_sink_row(sink, MO_GE, 0);
}

/* With tensors once most flows are no items, and their readers have precedence
 * rows of their own. */
static void wait_rows(const mo_compact *c, mo_sink *sink)
{
    const mo_instance *x = c->x;

    if (!mo_transfer_is_tensor(&c->frame->regime))
        return;
    mo_sink_family(sink, "wait");
    for (int t = 0; t < x->n_tensors; t++) {
        int item = c->items->of_tensor[t];
        int reader = item < c->items->of_tensor[t + 1]
                         ? c->items->items[item].to
                         : MO_FREE;

        for (int q = x->tensor_start[t]; q < x->tensor_start[t + 1]; q++)
            if (x->flows[q].to != reader)
                precedence_row(c, x->flows[q].from, x->flows[q].to, -1, sink);
    }
}

/*
 *     s_j >= t_I + sum_a c_ab y_I_a_b - M (1 - x_j_b)
 *
 * matters where j is not on b but other readers are, which may receive it
 * later: M is their latest start less j's earliest.  Where no reader is on b,
 * t_I can be as early as the producer's end, and j starts after that in any
 * case.
 */
static void arrive_row_shared(const mo_compact *c, int i, int op, mo_sink *sink)
{
    const mo_transfer_item *item = &c->items->items[i];
    /* The earliest start of op anywhere but on device; INT64_MAX: it has
     * no other device. */
    int64_t elsewhere = INT64_MAX;

    for (int k = 0; k < c->x->n_devices; k++)
        if (k != item->device && mo_compact_place_column(c, op, k) >= 0) {
            int64_t head =
                c->frame->head_ns[(int64_t) op * c->x->n_devices + k];

            elsewhere = head < elsewhere ? head : elsewhere;
        }
    /* The latest end of a shared item required by readers other than op. */
    int64_t others = INT64_MIN;

    for (int q = c->x->tensor_start[item->tensor];
         q < c->x->tensor_start[item->tensor + 1]; q++) {
        int other = c->x->flows[q].to;

        if (other != op && mo_transfer_items_reads(c->frame, item, other)) {
            int64_t at =
                mo_transfer_items_latest_start(c->frame, other, item->device);

            others = at > others ? at : others;
        }
    }
    double m = elsewhere < others ? mo_compact_time(c, others - elsewhere) : 0;

    mo_sink_term(sink, mo_compact_start_column(c, op), 1);
    mo_sink_term(sink, c->send[i], -1);
    mo_compact_add_delay_terms(c, sink, i, -1);
    mo_sink_term(sink, mo_compact_place_column(c, op, item->device), -m);
    mo_sink_row(sink, MO_GE, -m);
}

/* s_j >= t_I + c_I */
static void arrive_rows(const mo_compact *c, mo_sink *sink)
{
    const mo_instance *x = c->x;

    mo_sink_family(sink, "arrive");
    for (int i = 0; i < c->items->n; i++) {
        const mo_transfer_item *item = &c->items->items[i];

        if (c->send[i] < 0)
            continue;
        if (item->device == MO_FREE) {
            mo_sink_term(sink,
                         mo_compact_start_column(c, c->items->items[i].to), 1);
            mo_sink_term(sink, c->send[i], -1);
            mo_compact_add_delay_terms(c, sink, i, -1);
            mo_sink_row(sink, MO_GE, 0);
        }
        for (int q = x->tensor_start[item->tensor];
             item->device != MO_FREE && q < x->tensor_start[item->tensor + 1];
             q++)
            if (mo_transfer_items_reads(c->frame, item, x->flows[q].to))
                arrive_row_shared(c, i, x->flows[q].to, sink);
    }
}

void mo_compact_transfer_choice_rows(const mo_compact *c, mo_sink *sink)
{
    const mo_transfer_items *items = c->items;

    mo_sink_family(sink, "route");
    for (int i = 0; i < items->n; i++)
        if (items->items[i].device == MO_FREE && !items->items[i].never_sent &&
            c->items->items[i].first == i)
            product_rows(c, &items->items[i], sink);
    mo_sink_family(sink, "cover");
    for (int i = 0; i < items->n; i++)
        if (items->items[i].device != MO_FREE)
            cover_rows(c, &items->items[i], sink);
    mo_sink_family(sink, "source");
    for (int i = 0; i < items->n; i++)
        if (items->items[i].device != MO_FREE) {
            const mo_transfer_item *item = &items->items[i];

            for (int e = 0; e < item->n_arcs; e++) {
                mo_transfer_arc arc = c->items->arcs[item->arc_start + e];

                mo_sink_term(sink,
                             mo_compact_place_column(c, item->from, arc.a), 1);
                mo_sink_term(sink, mo_compact_arc_column(c, item, e), -1);
                mo_sink_row(sink, MO_GE, 0);
            }
        }
    /* Readers of items never sent, or at a time that does not matter. */
    mo_sink_family(sink, "prec");
    for (int i = 0; i < c->items->n; i++) {
        const mo_transfer_item *item = &c->items->items[i];

        if (item->device == MO_FREE && c->send[i] < 0)
            precedence_row(c, item->from, item->to, i, sink);
    }
    wait_rows(c, sink);
    /* t_I >= s_i + p_i */
    mo_sink_family(sink, "leave");
    for (int i = 0; i < c->items->n; i++) {
        const mo_transfer_item *item = &c->items->items[i];

        if (c->send[i] < 0)
            continue;
        mo_sink_term(sink, c->send[i], 1);
        mo_sink_term(sink, mo_compact_start_column(c, item->from), -1);
        mo_compact_add_duration_terms(c, sink, item->from, -1);
        mo_sink_row(sink, MO_GE, 0);
    }
    arrive_rows(c, sink);
}
