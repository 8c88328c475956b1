/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of the paper's model, with their values in the MIP start.
 */
#include "models/paper/paper.h"

#include "models/sink/scale.h"

double mo_paper_time(const mo_paper *m, int64_t ns)
{
    int64_t most_ns = 2 * m->horizon_ns;

    return mo_scale_time(m->frame->unit_ns, ns < most_ns ? ns : most_ns);
}

static void declare_time(const mo_paper *m, mo_sink *sink,
                         mo_variable_role role, int number, int64_t value_ns)
{
    mo_sink_column(sink, &(mo_variable){
                             .role = role,
                             .number = { number },
                             .kind = MO_VARIABLE_CONTINUOUS,
                             .upper = m->big_m,
                             .value = mo_paper_time(m, value_ns),
                         });
}

static void declare_binary(mo_sink *sink, mo_variable_role role, int a, int b,
                           int c, bool value)
{
    mo_sink_column(sink, &(mo_variable){ .role = role,
                                         .number = { a, b, c },
                                         .kind = MO_VARIABLE_BINARY,
                                         .upper = 1,
                                         .value = value });
}

static bool is_on(const mo_paper *m, int op, int slot)
{
    return m->start && m->start->device[op] == m->on.device[slot];
}

static void declare_ops(const mo_paper *m, mo_sink *sink)
{
    int n = m->x->n;

    for (int i = 0; i < n; i++)
        declare_time(m, sink, MO_VARIABLE_ROLE_START, i,
                     m->op_span[i].start_ns);
    for (int i = 0; i < n; i++)
        declare_time(m, sink, MO_VARIABLE_ROLE_COMPLETE, i,
                     m->op_span[i].end_ns);
}

static bool is_sent(const mo_paper *m, int flow)
{
    const mo_flow *f = &m->x->flows[flow];

    return m->start && m->start->device[f->from] != m->start->device[f->to];
}

static void declare_channels(const mo_paper *m, mo_sink *sink, int flow)
{
    const mo_flow *f = &m->x->flows[flow];

    for (int a = 0; a < m->on.n_slots; a++)
        for (int b = 0; b < m->on.n_slots; b++)
            if (a != b)
                declare_binary(sink, MO_VARIABLE_ROLE_CHANNEL, flow,
                               m->on.device[a], m->on.device[b],
                               is_on(m, f->from, a) && is_on(m, f->to, b));
}

static void declare_flows(const mo_paper *m, mo_sink *sink)
{
    int n = m->x->n_flows;

    for (int q = 0; q < n; q++)
        declare_time(m, sink, MO_VARIABLE_ROLE_SEND, q,
                     m->flow_span[q].start_ns);
    for (int q = 0; q < n; q++)
        declare_time(m, sink, MO_VARIABLE_ROLE_ARRIVE, q,
                     m->flow_span[q].end_ns);
    for (int q = 0; q < n; q++)
        declare_binary(sink, MO_VARIABLE_ROLE_CROSS, q, 0, 0, is_sent(m, q));
    for (int q = 0; q < n; q++)
        declare_channels(m, sink, q);
}

/* Pairs that share no resource in the start may have any order. */
static bool is_before(mo_paper_interval first, mo_paper_interval second)
{
    return first.end_ns <= second.start_ns;
}

static void declare_op_order(const mo_paper *m, mo_sink *sink, int i, int j,
                             int order)
{
    (void) order;
    declare_binary(sink, MO_VARIABLE_ROLE_ORDER, i, j, 0,
                   is_before(m->op_span[i], m->op_span[j]));
}

static void declare_send_order(const mo_paper *m, mo_sink *sink, int q, int r,
                               int order)
{
    (void) order;
    declare_binary(sink, MO_VARIABLE_ROLE_SEND_ORDER, q, r, 0,
                   is_before(m->flow_span[q], m->flow_span[r]));
}

void mo_paper_columns(void *state, mo_sink *sink)
{
    mo_paper *m = state;

    declare_time(m, sink, MO_VARIABLE_ROLE_MAKESPAN, 0,
                 m->start ? m->start->makespan_ns : 0);
    mo_placement_block_columns(&m->on, m->start, sink);
    declare_ops(m, sink);
    declare_flows(m, sink);
    mo_paper_each_op_pair(m, declare_op_order, sink);
    if (m->orders_sends)
        mo_paper_each_flow_pair(m, declare_send_order, sink);
    mo_memory_rows_columns(m->memory, m->start, sink);
}

static int place_column(const void *state, int op, int device)
{
    const mo_paper *m = state;

    return m->on.slot[device] < 0
               ? -1
               : mo_paper_place_column(m, op, m->on.slot[device]);
}

static void add_received_terms(const void *state, mo_sink *sink, int tensor,
                               int device, double coef)
{
    const mo_paper *m = state;
    int end = m->x->tensor_start[tensor + 1];

    for (int q = m->x->tensor_start[tensor]; q < end; q++)
        for (int a = 0; a < m->on.n_slots; a++)
            if (a != m->on.slot[device])
                mo_sink_term(
                    sink, mo_paper_channel_column(m, q, a, m->on.slot[device]),
                    coef);
}

void mo_paper_rows(void *state, mo_sink *sink)
{
    const mo_paper *m = state;
    const mo_memory_rows_source columns = { m, place_column,
                                            add_received_terms };

    if (mo_sink_failed(sink))
        return; /* not all columns are there */
    mo_paper_precedence(m, sink);
    mo_placement_block_rows(&m->on, sink);
    mo_memory_rows_write(m->memory, &columns, sink);
    mo_paper_communication(m, sink);
    mo_paper_non_overlap(m, sink);
    mo_paper_congestion(m, sink);
}
