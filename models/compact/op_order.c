/* SPDX-License-Identifier: Apache-2.0 */
/* Disjunctive rows of ops (big-M): which of two ops on one device is first. */
#include "models/compact/compact.h"
#include "models/compact/disjunctive_pairs.h"

const mo_compact_order_columns *mo_compact_order(const mo_compact *c, int i,
                                                 int j)
{
    int low = i < j ? i : j, high = i < j ? j : i;
    int64_t begin = c->order_start[low], end = c->order_start[low + 1];

    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;

        if (c->orders[middle].j < high)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < c->order_start[low + 1] && c->orders[begin].j == high
               ? &c->orders[begin]
               : NULL;
}

/* Ops of one group meet wherever they are: one row o_i_j + o_j_i >= 1 for all
 * devices, if the order is open on all. */
static bool one_row_suffices(const mo_compact *c, int i, int j)
{
    if (!mo_transfer_items_always_colocated(c->frame, i, j))
        return false;
    for (int k = 0; k < c->x->n_devices; k++)
        if (mo_disjunction_on_device(c->frame, i, j, k) ==
            MO_DISJUNCTION_SETTLED)
            return false;
    return true;
}

static void disjunction_rows(const mo_compact *c, int i,
                             const mo_compact_order_columns *order,
                             mo_sink *sink)
{
    bool any = order->forward >= 0 || order->backward >= 0;

    if (!any || !one_row_suffices(c, i, order->j)) {
        /* o_i_j + o_j_i >= x_i_k + x_j_k - 1 */
        for (int k = 0; k < c->x->n_devices; k++) {
            mo_disjunction disjunction =
                mo_disjunction_on_device(c->frame, i, order->j, k);

            if (disjunction == MO_DISJUNCTION_NONE ||
                disjunction == MO_DISJUNCTION_SETTLED)
                continue;
            /* o_i_j + o_j_i, those of them that are possible on the device. */
            if (disjunction == MO_DISJUNCTION_FORWARD ||
                disjunction == MO_DISJUNCTION_EITHER)
                mo_sink_term(sink, order->forward, 1);
            if (disjunction == MO_DISJUNCTION_BACKWARD ||
                disjunction == MO_DISJUNCTION_EITHER)
                mo_sink_term(sink, order->backward, 1);
            mo_sink_term(sink, mo_compact_place_column(c, i, k), -1);
            mo_sink_term(sink, mo_compact_place_column(c, order->j, k), -1);
            mo_sink_row(sink, MO_GE, -1);
        }
        return;
    }
    if (order->forward >= 0)
        mo_sink_term(sink, order->forward, 1);
    if (order->backward >= 0)
        mo_sink_term(sink, order->backward, 1);
    if (c->incumbent >= 0)
        mo_sink_term(sink, c->incumbent, 1);
    mo_sink_row(sink, MO_GE, 1);
}

/* s_j >= s_i + p_i - M (1 - o_i_j), M = latest end of i - earliest start of j
 */
static void order_row(const mo_compact *c, int i, int j, int o, mo_sink *sink)
{
    int64_t m_ns = c->frame->lct_ns[i] - c->frame->est_ns[j];
    double m = m_ns > 0 ? mo_compact_time(c, m_ns) : 0;

    if (o < 0)
        return;
    mo_sink_term(sink, mo_compact_start_column(c, j), 1);
    mo_sink_term(sink, mo_compact_start_column(c, i), -1);
    mo_compact_add_duration_terms(c, sink, i, -1);
    mo_sink_term(sink, o, -m);
    mo_sink_row(sink, MO_GE, -m);
}

void mo_compact_op_order_rows(const mo_compact *c, mo_sink *sink)
{
    mo_sink_family(sink, "meet");
    for (int i = 0; i < c->x->n; i++)
        for (int64_t p = c->order_start[i]; p < c->order_start[i + 1]; p++)
            disjunction_rows(c, i, &c->orders[p], sink);
    mo_sink_family(sink, "order");
    for (int i = 0; i < c->x->n; i++)
        for (int64_t p = c->order_start[i]; p < c->order_start[i + 1]; p++) {
            const mo_compact_order_columns *order = &c->orders[p];

            order_row(c, i, order->j, order->forward, sink);
            order_row(c, order->j, i, order->backward, sink);
        }
}
