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

static void direct_precedence_rows(const mo_paper *m, mo_sink *sink)
{
    for (int q = 0; q < m->x->n_flows; q++) {
        precedence_row(sink, m->op_end + m->x->flows[q].from, m->send + q);
        precedence_row(sink, m->arrive + q, m->op_start + m->x->flows[q].to);
    }
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

static void closure_rows(const mo_paper *m, mo_sink *sink)
{
    for (int i = 0; i < m->x->n && !mo_sink_failed(sink); i++)
        successor_rows(m, sink, m->op_end + i, i, false);
    for (int q = 0; q < m->x->n_flows && !mo_sink_failed(sink); q++)
        successor_rows(m, sink, m->arrive + q, m->x->flows[q].to, true);
}

/* (1): w >= C_i, (1a), and (1b): C_i = S_i + sum p_ik x_ik */
void mo_paper_precedence(const mo_paper *m, mo_sink *sink)
{
    mo_sink_family(sink, "makespan");
    for (int i = 0; i < m->x->n; i++)
        precedence_row(sink, m->op_end + i, 0);

    mo_sink_family(sink, "precedence");
    if (m->frame->closure)
        closure_rows(m, sink);
    else
        direct_precedence_rows(m, sink);

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

/* sum y_qab = z_q */
static void sent_row(const mo_paper *m, mo_sink *sink, int q)
{
    int per_flow = m->on.n_slots * (m->on.n_slots - 1);

    for (int channel = 0; channel < per_flow; channel++)
        mo_sink_term(sink, m->channel + q * per_flow + channel, 1);
    mo_sink_term(sink, m->cross + q, -1);
    mo_sink_row(sink, MO_EQ, 0);
}

/* y_qab >= x_ia + x_jb - 1 */
static void channel_row(const mo_paper *m, mo_sink *sink, int q, int a, int b)
{
    mo_sink_term(sink, mo_paper_channel_column(m, q, a, b), 1);
    mo_sink_term(sink, mo_paper_place_column(m, m->x->flows[q].from, a), -1);
    mo_sink_term(sink, mo_paper_place_column(m, m->x->flows[q].to, b), -1);
    mo_sink_row(sink, MO_GE, -1);
}

/* C_q = S_q + sum p_qab y_qab */
static void arrival_row(const mo_paper *m, mo_sink *sink, int q)
{
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

void mo_paper_communication(const mo_paper *m, mo_sink *sink)
{
    int n_flows = m->x->n_flows;

    mo_sink_family(sink, "cross");
    for (int q = 0; q < n_flows; q++)
        for (int k = 0; k < m->on.n_slots; k++)
            cross_rows(m, sink, q, k);

    mo_sink_family(sink, "sent");
    for (int q = 0; q < n_flows; q++)
        sent_row(m, sink, q);

    mo_sink_family(sink, "channel");
    for (int q = 0; q < n_flows; q++)
        for (int a = 0; a < m->on.n_slots; a++)
            for (int b = 0; b < m->on.n_slots; b++)
                if (a != b)
                    channel_row(m, sink, q, a, b);

    mo_sink_family(sink, "arrival");
    for (int q = 0; q < n_flows; q++)
        arrival_row(m, sink, q);
}
