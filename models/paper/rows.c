/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the paper's model that grow with the graph, not with its square
 * (but for the closure): precedence and communication.
 */
#include "models/paper/paper.h"

/* later - earlier >= 0 */
static void precedence_row(mo_sink *sink, int earlier, int later)
{
    mo_sink_term(sink, later, 1);
    mo_sink_term(sink, earlier, -1);
    mo_sink_row(sink, MO_GE, 0);
}

/* All successors of the column: the flows of the ops that op reaches, and
 * these ops; op itself only if it is not the one that ends. */
static void successor_rows(const mo_paper *m, mo_sink *sink, int end, int op,
                           bool with_op)
{
    const mo_instance *x = m->x;

    for (int v = op; v < x->n; v++) {
        if (!mo_dag_reach_path(m->frame->reach, op, v))
            continue;
        if (v != op || with_op)
            precedence_row(sink, end, m->op_start + v);
        for (int q = x->out_start[v]; q < x->out_start[v + 1]; q++)
            precedence_row(sink, end, m->send + q);
    }
}

/* (1): w >= C_i, (1a), and (1b): C_i = S_i + sum p_ik x_ik */
void mo_paper_precedence(const mo_paper *m, mo_sink *sink)
{
    mo_sink_family(sink, "makespan");
    for (int i = 0; i < m->x->n; i++)
        precedence_row(sink, m->op_end + i, 0);

    mo_sink_family(sink, "precedence");
    if (m->frame->closure) {
        for (int i = 0; i < m->x->n && !mo_sink_failed(sink); i++)
            successor_rows(m, sink, m->op_end + i, i, false);
        for (int q = 0; q < m->x->n_flows && !mo_sink_failed(sink); q++)
            successor_rows(m, sink, m->arrive + q, m->x->flows[q].to, true);
    } else {
        for (int q = 0; q < m->x->n_flows; q++) {
            precedence_row(sink, m->op_end + m->x->flows[q].from, m->send + q);
            precedence_row(sink, m->arrive + q,
                           m->op_start + m->x->flows[q].to);
        }
    }

    mo_sink_family(sink, "completion");
    for (int i = 0; i < m->x->n; i++) {
        mo_sink_term(sink, m->op_end + i, 1);
        mo_sink_term(sink, m->op_start + i, -1);
        for (int k = 0; k < m->on.n_slots; k++)
            mo_sink_term(
                sink, mo_paper_place_column(m, i, k),
                -mo_paper_time(m, mo_instance_p_ns(m->x, i, m->on.device[k])));
        mo_sink_row(sink, MO_EQ, 0);
    }
}

/* z_q <= 2 - x_ik - x_jk, z_q >= x_ik - x_jk, z_q >= x_jk - x_ik */
static void cross_rows(const mo_paper *m, mo_sink *sink, int q, int k)
{
    int x_i = mo_paper_place_column(m, m->x->flows[q].from, k);
    int x_j = mo_paper_place_column(m, m->x->flows[q].to, k);

    mo_sink_term(sink, m->cross + q, 1);
    mo_sink_term(sink, x_i, 1);
    mo_sink_term(sink, x_j, 1);
    mo_sink_row(sink, MO_LE, 2);

    mo_sink_term(sink, m->cross + q, 1);
    mo_sink_term(sink, x_i, -1);
    mo_sink_term(sink, x_j, 1);
    mo_sink_row(sink, MO_GE, 0);

    mo_sink_term(sink, m->cross + q, 1);
    mo_sink_term(sink, x_j, -1);
    mo_sink_term(sink, x_i, 1);
    mo_sink_row(sink, MO_GE, 0);
}

void mo_paper_communication(const mo_paper *m, mo_sink *sink)
{
    int n_flows = m->x->n_flows;

    mo_sink_family(sink, "cross");
    for (int q = 0; q < n_flows; q++)
        for (int k = 0; k < m->on.n_slots; k++)
            cross_rows(m, sink, q, k);

    mo_sink_family(sink, "sent");
    for (int q = 0; q < n_flows; q++) {
        int per_flow = m->on.n_slots * (m->on.n_slots - 1);

        /* sum y_qab = z_q */
        for (int channel = 0; channel < per_flow; channel++)
            mo_sink_term(sink, m->channel + q * per_flow + channel, 1);
        mo_sink_term(sink, m->cross + q, -1);
        mo_sink_row(sink, MO_EQ, 0);
    }

    mo_sink_family(sink, "channel");
    for (int q = 0; q < n_flows; q++)
        for (int a = 0; a < m->on.n_slots; a++)
            for (int b = 0; b < m->on.n_slots; b++)
                if (a != b) {
                    /* y_qab >= x_ia + x_jb - 1 */
                    mo_sink_term(sink, mo_paper_channel_column(m, q, a, b), 1);
                    mo_sink_term(
                        sink, mo_paper_place_column(m, m->x->flows[q].from, a),
                        -1);
                    mo_sink_term(sink,
                                 mo_paper_place_column(m, m->x->flows[q].to, b),
                                 -1);
                    mo_sink_row(sink, MO_GE, -1);
                }

    mo_sink_family(sink, "arrival");
    for (int q = 0; q < n_flows; q++) {
        /* C_q = S_q + sum p_qab y_qab */
        mo_sink_term(sink, m->arrive + q, 1);
        mo_sink_term(sink, m->send + q, -1);
        for (int a = 0; a < m->on.n_slots; a++)
            for (int b = 0; b < m->on.n_slots; b++)
                if (a != b)
                    mo_sink_term(sink, mo_paper_channel_column(m, q, a, b),
                                 -mo_paper_time(m, mo_instance_flow_ns(
                                                       m->x, q, m->on.device[a],
                                                       m->on.device[b])));
        mo_sink_row(sink, MO_EQ, 0);
    }
}

/*
 * The big-M rows of the paper's model: which of two ops on a device, and which
 * of two flows on a port, channel or link, comes first.
 *
 * These are nearly all rows there are, millions for a thousand ops, so the
 * loops do no lookups: the columns of a pair are sums, orders are counted
 * along, and reachability is queried once for all flows of an op.
 */

/*
 * Ids are topological, so of two ops only the smaller can reach the other; and
 * flows are sorted by producer, so of two flows only the smaller can precede
 * the other.  Flow q precedes all flows of the ops that its reader reaches,
 * and no others.  What lies behind the next clean cut is reached in any case
 * and not queried: a network of many layers is mostly that.
 */
void mo_paper_each_op_pair(const mo_paper *m, mo_paper_pair_fn *visit,
                           mo_sink *sink)
{
    int order = m->order;

    for (int i = 0; i < m->x->n && !mo_sink_failed(sink); i++)
        for (int j = i + 1; j < m->follow[i]; j++)
            if (!mo_dag_reach_path(m->frame->reach, i, j))
                visit(m, sink, i, j, order++);
}

static int first_behind(const mo_instance *x, int flow, int producer)
{
    int first = x->out_start[producer];

    return first > flow ? first : flow + 1;
}

void mo_paper_each_flow_pair(const mo_paper *m, mo_paper_pair_fn *visit,
                             mo_sink *sink)
{
    const mo_instance *x = m->x;
    int order = m->send_order;

    for (int q = 0; q < x->n_flows && !mo_sink_failed(sink); q++)
        for (int v = x->flows[q].from; v < m->follow[x->flows[q].to]; v++) {
            int end = x->out_start[v + 1], r = first_behind(x, q, v);

            if (r >= end ||
                mo_dag_reach_path(m->frame->reach, x->flows[q].to, v))
                continue;
            for (; r < end; r++)
                visit(m, sink, q, r, order++);
        }
}

int64_t mo_paper_count_op_pairs(const mo_paper *m, int64_t most)
{
    int64_t count = 0;

    for (int i = 0; i < m->x->n && count <= most; i++)
        for (int j = i + 1; j < m->follow[i]; j++)
            count += !mo_dag_reach_path(m->frame->reach, i, j);
    return count;
}

int64_t mo_paper_count_flow_pairs(const mo_paper *m, int64_t most)
{
    const mo_instance *x = m->x;
    int64_t count = 0;

    for (int q = 0; q < x->n_flows && count <= most; q++)
        for (int v = x->flows[q].from; v < m->follow[x->flows[q].to]; v++) {
            int behind = x->out_start[v + 1] - first_behind(x, q, v);

            if (behind > 0 &&
                !mo_dag_reach_path(m->frame->reach, x->flows[q].to, v))
                count += behind;
        }
    return count;
}

/* S_i >= C_j - M o_ij     - M (2 - x_ik - x_jk)
 * S_j >= C_i - M (1-o_ij) - M (2 - x_ik - x_jk)     for all k */
static void separate_ops(const mo_paper *m, mo_sink *sink, int i, int j,
                         int order)
{
    double big_m = m->big_m;
    int x_i = mo_paper_place_column(m, i, 0),
        x_j = mo_paper_place_column(m, j, 0);

    for (int k = 0; k < m->on.n_slots; k++) {
        mo_sink_term(sink, m->op_start + i, 1);
        mo_sink_term(sink, m->op_end + j, -1);
        mo_sink_term(sink, order, big_m);
        mo_sink_term(sink, x_i + k, -big_m);
        mo_sink_term(sink, x_j + k, -big_m);
        mo_sink_row(sink, MO_GE, -2 * big_m);

        mo_sink_term(sink, m->op_start + j, 1);
        mo_sink_term(sink, m->op_end + i, -1);
        mo_sink_term(sink, order, -big_m);
        mo_sink_term(sink, x_i + k, -big_m);
        mo_sink_term(sink, x_j + k, -big_m);
        mo_sink_row(sink, MO_GE, -3 * big_m);
    }
}

void mo_paper_non_overlap(const mo_paper *m, mo_sink *sink)
{
    mo_sink_family(sink, "overlap");
    mo_paper_each_op_pair(m, separate_ops, sink);
}

/* S_q >= C_r - M h_qr, the beginning of a row; its mirror image has r, q and
 * -M, and a constant of -M more. */
static void order_terms(const mo_paper *m, mo_sink *sink, int q, int r,
                        int order, double coef)
{
    mo_sink_term(sink, m->send + q, 1);
    mo_sink_term(sink, m->arrive + r, -1);
    mo_sink_term(sink, order, coef);
}

/* coef * (first + second), which may be one column. */
static void add_sum_terms(mo_sink *sink, int first, int second, double coef)
{
    if (first == second) {
        mo_sink_term(sink, first, 2 * coef);
        return;
    }
    mo_sink_term(sink, first, coef);
    mo_sink_term(sink, second, coef);
}

/* - M (2 - z_q - z_r) + M (inside_q + inside_r - outside_q - outside_r - 2),
 * less the constants.  Neither flow comes before the other, so only the two
 * insides can be one column, or the two outsides. */
static void port_terms(const mo_paper *m, mo_sink *sink, int q, int r,
                       const int inside[2], const int outside[2])
{
    mo_sink_term(sink, m->cross + q, -m->big_m);
    mo_sink_term(sink, m->cross + r, -m->big_m);
    add_sum_terms(sink, inside[0], inside[1], -m->big_m);
    add_sum_terms(sink, outside[0], outside[1], m->big_m);
}

static void port_rows(const mo_paper *m, mo_sink *sink, int q, int r, int order,
                      const int inside[2], const int outside[2])
{
    order_terms(m, sink, q, r, order, m->big_m);
    port_terms(m, sink, q, r, inside, outside);
    mo_sink_row(sink, MO_GE, -4 * m->big_m);

    order_terms(m, sink, r, q, order, -m->big_m);
    port_terms(m, sink, q, r, inside, outside);
    mo_sink_row(sink, MO_GE, -5 * m->big_m);
}

/* Both leave device k, or both enter it. */
static void separate_by_port(const mo_paper *m, mo_sink *sink, int q, int r,
                             int order)
{
    const mo_flow *first = &m->x->flows[q], *second = &m->x->flows[r];

    for (int k = 0; k < m->on.n_slots; k++) {
        int from[2] = { mo_paper_place_column(m, first->from, k),
                        mo_paper_place_column(m, second->from, k) };
        int to[2] = { mo_paper_place_column(m, first->to, k),
                      mo_paper_place_column(m, second->to, k) };

        port_rows(m, sink, q, r, order, from, to);
        port_rows(m, sink, q, r, order, to, from);
    }
}

/* - M (2 - sum of y_q - sum of y_r) over some channels, less the constant. */
static void channel_terms(const mo_paper *m, mo_sink *sink, int q, int r,
                          const int *offset, int n)
{
    int per_flow = m->on.n_slots * (m->on.n_slots - 1);

    for (int i = 0; i < n; i++) {
        mo_sink_term(sink, m->channel + q * per_flow + offset[i], -m->big_m);
        mo_sink_term(sink, m->channel + r * per_flow + offset[i], -m->big_m);
    }
}

static void resource_rows(const mo_paper *m, mo_sink *sink, int q, int r,
                          int order, const int *offset, int n)
{
    order_terms(m, sink, q, r, order, m->big_m);
    channel_terms(m, sink, q, r, offset, n);
    mo_sink_row(sink, MO_GE, -2 * m->big_m);

    order_terms(m, sink, r, q, order, -m->big_m);
    channel_terms(m, sink, q, r, offset, n);
    mo_sink_row(sink, MO_GE, -3 * m->big_m);
}

static void separate_by_channel(const mo_paper *m, mo_sink *sink, int q, int r,
                                int order)
{
    int n_channels = m->on.n_slots * (m->on.n_slots - 1);

    for (int channel = 0; channel < n_channels; channel++)
        resource_rows(m, sink, q, r, order, &channel, 1);
}

static void separate_by_link(const mo_paper *m, mo_sink *sink, int q, int r,
                             int order)
{
    for (int l = 0; l < m->n_links; l++) {
        int first = m->link_start[l], n = m->link_start[l + 1] - first;

        if (n > 0)
            resource_rows(m, sink, q, r, order, &m->link_channel[first], n);
    }
}

void mo_paper_congestion(const mo_paper *m, mo_sink *sink)
{
    static mo_paper_pair_fn *const separate[] = {
        [MO_CONGESTION_PORT] = separate_by_port,
        [MO_CONGESTION_CHANNEL] = separate_by_channel,
        [MO_CONGESTION_LINK] = separate_by_link,
    };

    if (!m->orders_sends)
        return;
    mo_sink_family(sink, "congestion");
    mo_paper_each_flow_pair(m, separate[m->congestion], sink);
}
