/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns (decision variables) of the compact formulation, in the order of
 * their ids, with their bounds and their values in the MIP start.
 */
#include <assert.h>

#include "models/compact/compact.h"

static void declare_column(mo_sink *sink, int id, const mo_variable *column)
{
    int given = mo_sink_column(sink, column);

    assert(given == id || mo_sink_failed(sink));
    (void) given;
    (void) id;
}

static mo_variable binary_variable(mo_variable_role role, int i, int j,
                                   double value)
{
    return (mo_variable){ .role = role,
                          .number = { i, j },
                          .kind = MO_VARIABLE_BINARY,
                          .lower = 0,
                          .upper = 1,
                          .value = value };
}

/* A time between two moments; where there is none, the rows are infeasible. */
static mo_variable time_variable(const mo_compact *c, mo_variable_role role,
                                 int i, int64_t from_ns, int64_t to_ns,
                                 int64_t value_ns)
{
    if (to_ns < from_ns)
        to_ns = from_ns;
    return (mo_variable){ .role = role,
                          .number = { i },
                          .kind = MO_VARIABLE_CONTINUOUS,
                          .lower = mo_compact_time(c, from_ns),
                          .upper = mo_compact_time(c, to_ns),
                          .value = mo_compact_time(c, value_ns) };
}

int64_t mo_compact_makespan_lower(const mo_compact *c)
{
    /* Of the windows: the largest, over the ops, of the least head,
     * own time and tail. */
    const mo_frame *f = c->frame;
    int64_t most = 0;

    for (int i = 0; i < c->x->n; i++) {
        int64_t least = f->horizon_ns;

        for (int k = 0; k < c->x->n_devices; k++)
            if (mo_compact_place_column(c, i, k) >= 0) {
                int64_t sum = mo_transfer_items_earliest_end(f, i, k) +
                              f->tail_ns[(int64_t) i * c->x->n_devices + k];

                least = sum < least ? sum : least;
            }
        most = least > most ? least : most;
    }
    int64_t proven = mo_frame_proven_ns(f);

    return proven > most ? proven : most;
}

static void declare_starts(const mo_compact *c, mo_sink *sink)
{
    const mo_frame *f = c->frame;

    for (int i = 0; i < c->x->n; i++) {
        int64_t latest = 0;

        for (int k = 0; k < c->x->n_devices; k++)
            if (mo_compact_place_column(c, i, k) >= 0) {
                int64_t at = mo_transfer_items_latest_start(c->frame, i, k);

                latest = at > latest ? at : latest;
            }
        mo_variable s =
            time_variable(c, MO_VARIABLE_ROLE_START, i, f->est_ns[i], latest,
                          c->start ? f->start->start_ns[i] : 0);

        declare_column(sink, mo_compact_start_column(c, i), &s);
    }
    for (int i = 0; i < c->items->n; i++) {
        const mo_transfer_item *item = &c->items->items[i];
        mo_variable t = time_variable(c, MO_VARIABLE_ROLE_SEND, item->name,
                                      item->start_min_ns, item->end_max_ns,
                                      c->start ? c->start[i].start_ns : 0);

        if (c->send[i] >= 0)
            declare_column(sink, c->send[i], &t);
    }
}

static void declare_order(const mo_compact *c, int i, int j, int id,
                          mo_sink *sink)
{
    mo_variable o = binary_variable(MO_VARIABLE_ROLE_ORDER, i, j,
                                    mo_compact_start_order(c, i, j));

    if (id >= 0)
        declare_column(sink, id, &o);
}

typedef struct declare_context {
    const mo_compact *c;
    mo_sink *sink;
    int id; /* the next */
} declare_context;

static void declare_send_order(declare_context *d, int first, int second)
{
    const mo_transfer_item *items = d->c->items->items;
    mo_variable h = binary_variable(
        MO_VARIABLE_ROLE_SEND_ORDER, items[first].name, items[second].name,
        mo_compact_start_transfer_order(d->c, first, second));

    declare_column(d->sink, d->id++, &h);
}

static void declare_send_pair(void *context,
                              const mo_compact_transfer_pair *pair)
{
    declare_context *d = context;

    if (!pair->fixed && pair->forward)
        declare_send_order(d, pair->first, pair->second);
    if (!pair->fixed && pair->backward)
        declare_send_order(d, pair->second, pair->first);
}

void mo_compact_columns(void *state, mo_sink *sink)
{
    const mo_compact *c = state;
    declare_context d = { c, sink, c->first_send_order };

    mo_variable w = time_variable(
        c, MO_VARIABLE_ROLE_MAKESPAN, 0, mo_compact_makespan_lower(c),
        c->frame->horizon_ns, c->start ? c->frame->start->makespan_ns : 0);

    declare_column(sink, 0, &w);
    for (int i = 0; i < c->x->n; i++)
        for (int k = 0; k < c->x->n_devices; k++) {
            bool at_start = c->start && c->frame->start->device[i] == k;
            mo_variable x = binary_variable(at_start && c->incumbent >= 0
                                                ? MO_VARIABLE_ROLE_FREE_PLACE
                                                : MO_VARIABLE_ROLE_PLACE,
                                            i, k, at_start);

            if (mo_compact_place_column(c, i, k) >= 0)
                declare_column(sink, mo_compact_place_column(c, i, k), &x);
        }
    declare_starts(c, sink);
    for (int i = 0; i < c->items->n; i++) {
        const mo_transfer_item *item = &c->items->items[i];

        for (int e = 0; e < item->n_arcs && item->first == i; e++) {
            mo_transfer_arc arc = c->items->arcs[item->arc_start + e];
            mo_variable y = { .role = MO_VARIABLE_ROLE_CHANNEL,
                              .number = { item->name, arc.a, arc.b },
                              .kind = MO_VARIABLE_CONTINUOUS,
                              .lower = 0,
                              .upper = 1,
                              .value = mo_compact_start_arc(c, item, arc) };

            declare_column(sink, mo_compact_arc_column(c, item, e), &y);
        }
    }
    for (int i = 0; i < c->x->n; i++)
        for (int64_t p = c->order_start[i]; p < c->order_start[i + 1]; p++) {
            const mo_compact_order_columns *order = &c->orders[p];

            declare_order(c, i, order->j, order->forward, sink);
            declare_order(c, order->j, i, order->backward, sink);
        }
    for (size_t p = 0; p < c->same_device.n; p++) {
        mo_op_pair pair = c->same_device.pairs[p];
        mo_variable m = { .role = MO_VARIABLE_ROLE_SAME_DEVICE,
                          .number = { pair.i, pair.j },
                          .kind = MO_VARIABLE_CONTINUOUS,
                          .lower = 0,
                          .upper = 1,
                          .value =
                              mo_compact_start_same_device(c, pair.i, pair.j) };

        declare_column(sink, c->first_same_device + (int) p, &m);
    }
    mo_compact_each_transfer_pair(c, declare_send_pair, &d);
    mo_compact_proven_columns(c, sink);
    mo_compact_incumbent_columns(c, sink);
    mo_memory_rows_columns(c->memory, c->start ? c->frame->start : NULL, sink);
}
