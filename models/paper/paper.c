/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MILP as the paper prints it (big-M), for comparison; compact.c has the
 * same optimum in a fraction of the rows.
 *
 * Letters: ops i, j; flows q = (i, j), one for each reader of a tensor; devices
 * k, a, b.  S, C are s, c of ops and t, d of flows; u is called y; the printed
 * delta is o between ops and h between flows, 1 when the first comes first.
 *
 *     minimize w
 *     w >= C_i                                        makespan     (1)
 *     C_i <= S_q, C_q <= S_j           q = (i, j)     precedence   (1a)
 *     C_i = S_i + sum_k p_ik x_ik                     completion   (1b)
 *     sum_k x_ik = 1                                  assignment   (1c)
 *     sum_i m_i x_ik <= Mem_k                         memory       (1d)
 *
 *     S_i >= C_j - M o_ij       - M (2 - x_ik - x_jk) overlap      (1e)
 *     S_j >= C_i - M (1 - o_ij) - M (2 - x_ik - x_jk)
 *         for all k and i < j of which neither follows the other
 *
 *     z_q <= 2 - x_ik - x_jk                          cross        (1f)
 *     z_q >= x_ik - x_jk
 *     z_q >= x_jk - x_ik
 *     sum_{a != b} y_qab = z_q                        sent
 *     y_qab >= x_ia + x_jb - 1               a != b   channel
 *     C_q = S_q + sum_{a != b} p_qab y_qab            arrival
 *
 *     S_q >= C_r - M h_qr       - M (2 - z_q - z_r)   congestion   (1g)
 *                + M (x_ak + x_ck - x_bk - x_dk - 2)
 *     S_r >= C_q - M (1 - h_qr) - M (2 - z_q - z_r)
 *                + M (x_ak + x_ck - x_bk - x_dk - 2)
 *     and both again with + M (x_bk + x_dk - x_ak - x_ck - 2)
 *         for all k, q = (a, b) < r = (c, d), neither following the other
 *
 *     x_ik = 1 for a pinned op (pin), x_ik = x_jk in a group (group).
 *
 * What is repaired of the print:
 *
 *   - The first three rows of (1f) hold for all k, and the sums leave a = b
 *     out.
 *   - One o or h for a pair; the print has two, of i, j and of j, i.
 *   - Flows that share an end have one column twice in a row of (1g); its
 *     coefficients are added up, as readers refuse it otherwise.
 *   - M is the horizon, a makespan that was reached; with a number that is only
 *     "large", solvers return times below the optimum.
 *   - Times are in a unit that puts the horizon between 100 and 10,000.
 *   - (1a) is written for direct successors in the augmented DAG, from which
 *     the others follow; with closure for all, as printed.
 *
 * (1g) as printed lets a device send one flow at a time and receive one.  The
 * text mentions channels.  The other readings replace (1g):
 *
 *     S_q >= C_r - M h_qr       - M (2 - Y_q - Y_r)
 *     S_r >= C_q - M (1 - h_qr) - M (2 - Y_q - Y_r)
 *
 * with Y = y_ab for every channel a, b; or, for every link, Y = the sum of y_ab
 * over the pairs whose route has the link.
 */
#include "models/paper/paper.h"

#include <limits.h>
#include <stdlib.h>

#include "models/formulation.h"
#include "models/identity.h"
#include "models/sink/scale.h"

static mo_status prepare_paper(const mo_frame *frame, void **state,
                               mo_error *err)
{
    mo_paper_options all = { NULL, frame->x->n_devices,
                             frame->regime.congestion };
    mo_paper *m;
    mo_status status = mo_paper_new(frame, &all, &m, err);

    if (status == MO_OK)
        *state = m;
    return status;
}

const mo_formulation mo_formulation_paper = {
    .name = "paper",
    .help = "as the paper prints it, repaired where it must be",
    .has_tensors_once = false,
    .has_regime = true,
    .prepare = prepare_paper,
    .columns = mo_paper_columns,
    .rows = mo_paper_rows,
    .release = mo_paper_free,
    .has_start = mo_paper_has_start,
};

/*
 * Data of the paper's model before its first column: its devices, its horizon,
 * the layout of the blocks of columns, the channels that use a link.
 */

static void add_all_channel_links(mo_paper *m, bool counts)
{
    for (int a = 0; a < m->on.n_slots; a++)
        for (int b = 0; b < m->on.n_slots; b++)
            if (a != b) {
                int n;
                const int *links = mo_instance_route(m->x, m->on.device[a],
                                                     m->on.device[b], &n);

                /* Adds the channel from slot a to slot b to the links on its
                 * route: counts it, or, once the lists have room, stores it. */
                for (int at = 0; at < n; at++) {
                    int link = links[at];

                    if (counts)
                        m->link_start[link + 1]++;
                    else
                        m->link_channel[m->link_start[link]++] =
                            mo_paper_channel_offset(m, a, b);
                }
            }
}

static mo_status find_contention(mo_paper *m, mo_error *err)
{
    int n = m->x->routing.n_links;

    m->orders_sends = m->congestion != MO_CONGESTION_NONE && m->on.n_slots > 1;
    if (m->congestion != MO_CONGESTION_LINK)
        return MO_OK;
    m->n_links = n;
    m->link_start = calloc((size_t) n + 1, sizeof *m->link_start);
    if (!m->link_start)
        return mo_fail_memory(err);
    add_all_channel_links(m, true);
    for (int l = 0; l < n; l++)
        m->link_start[l + 1] += m->link_start[l];
    m->link_channel =
        calloc((size_t) m->link_start[n] + 1, sizeof *m->link_channel);
    if (!m->link_channel)
        return mo_fail_memory(err);
    add_all_channel_links(m, false);
    for (int l = n; l > 0; l--) /* each start has moved to its end */
        m->link_start[l] = m->link_start[l - 1];
    m->link_start[0] = 0;
    m->orders_sends = m->link_start[m->n_links] > 0;
    return MO_OK;
}

/* Blocks in the order of the columns.  Ids are ints, also those of the columns
 * behind these. */
static mo_status lay_out_columns(mo_paper *m, mo_error *err)
{
    const int64_t most = INT_MAX - m->on.n_slots - MO_IDENTITY_NAMES;
    int64_t n = m->x->n, n_flows = m->x->n_flows, n_slots = m->on.n_slots;
    int64_t channel = 1 + n * (n_slots + 2) + 3 * n_flows;
    int64_t order = channel + n_flows * n_slots * (n_slots - 1), end, sends;

    end = order > most ? order : order + mo_paper_count_op_pairs(m, most);
    sends = end > most || !m->orders_sends
                ? end
                : end + mo_paper_count_flow_pairs(m, most);
    if (sends > most)
        return mo_fail(err, MO_E_LIMIT,
                       "%d ops and %d flows on %d devices make more than %d "
                       "columns in this formulation; use moirai-place",
                       m->x->n, m->x->n_flows, m->on.n_slots, INT_MAX);
    m->op_start = 1 + (int) (n * n_slots);
    m->op_end = m->op_start + m->x->n;
    m->send = m->op_end + m->x->n;
    m->arrive = m->send + m->x->n_flows;
    m->cross = m->arrive + m->x->n_flows;
    m->channel = (int) channel;
    m->order = (int) order;
    m->send_order = (int) end;
    return MO_OK;
}

static mo_status fill_paper(mo_paper *m, const mo_paper_options *choice,
                            mo_error *err)
{
    int64_t step = 1;
    int cut, next;
    mo_status status = mo_placement_block_init(&m->on, m->x, choice->device,
                                               choice->n_slots, err);

    if (status == MO_OK) {
        m->op_span = calloc((size_t) m->x->n + 1, sizeof *m->op_span);
        m->flow_span = calloc((size_t) m->x->n_flows + 1, sizeof *m->flow_span);
        m->follow = calloc((size_t) m->x->n + 1, sizeof *m->follow);
        status = m->op_span && m->flow_span && m->follow ? MO_OK
                                                         : mo_fail_memory(err);
    }
    if (status == MO_OK)
        status = find_contention(m, err);
    if (status == MO_OK) {
        status = mo_memory_rows_new(m->frame, &m->memory, err);
        for (int k = 0; k < m->x->n_devices && status == MO_OK; k++)
            if (m->on.slot[k] < 0)
                mo_memory_rows_exclude(m->memory, k);
    }
    if (status != MO_OK)
        return status;
    /* Rounded up to five digits: it is written in millions of rows. */
    while (m->frame->horizon_ns / step >= 100000)
        step *= 10;
    m->horizon_ns = (m->frame->horizon_ns + step - 1) / step * step;
    m->big_m = mo_scale_time(m->frame->unit_ns, m->horizon_ns);
    /* A flow that is not sent is at the end of its producer, for no time. */
    const mo_schedule *s = m->start;

    for (int i = 0; i < m->x->n && s; i++) {
        m->op_span[i].start_ns = s->start_ns[i];
        m->op_span[i].end_ns =
            s->start_ns[i] + mo_instance_p_ns(m->x, i, s->device[i]);
    }
    for (int q = 0; q < m->x->n_flows && s; q++) {
        const mo_flow *f = &m->x->flows[q];
        const mo_transfer *sent = NULL;
        int64_t ready_ns = m->op_span[f->from].end_ns;

        if (s->device[f->from] != s->device[f->to])
            sent = mo_schedule_transfer(s, q, s->device[f->to]);
        m->flow_span[q] =
            sent ? (mo_paper_interval){ sent->start_ns, sent->end_ns }
                 : (mo_paper_interval){ ready_ns, ready_ns };
    }
    /* Everything behind a clean cut succeeds everything before it. */
    cut = m->frame->n_cuts;
    next = m->x->n;
    for (int i = m->x->n - 1; i >= 0; i--) {
        if (cut > 0 && m->frame->cuts[cut - 1] == i)
            next = m->frame->cuts[--cut];
        m->follow[i] = next;
    }
    return lay_out_columns(m, err);
}

mo_status mo_paper_new(const mo_frame *frame, const mo_paper_options *choice,
                       mo_paper **paper, mo_error *err)
{
    mo_paper *m;
    mo_status status;

    if (frame->regime.tensors != MO_TENSORS_PER_EDGE)
        return mo_fail(err, MO_E_SUPPORT,
                       "this formulation sends every reader its own copy of a "
                       "tensor; use --tensors per-edge");
    m = calloc(1, sizeof *m);
    if (!m)
        return mo_fail_memory(err);
    m->frame = frame;
    m->x = frame->x;
    m->start = frame->start;
    m->congestion = choice->congestion;
    status = fill_paper(m, choice, err);
    if (status != MO_OK) {
        mo_paper_free(m);
        return status;
    }
    *paper = m;
    return MO_OK;
}

void mo_paper_free(void *state)
{
    mo_paper *m = state;

    if (!m)
        return;
    mo_placement_block_clear(&m->on);
    mo_memory_rows_free(m->memory);
    free(m->op_span);
    free(m->flow_span);
    free(m->follow);
    free(m->link_start);
    free(m->link_channel);
    mo_frame_free(m->own_frame);
    free(m);
}

bool mo_paper_has_start(const void *state)
{
    return ((const mo_paper *) state)->start != NULL;
}

/*
 * The columns of the paper's model, with their values in the MIP start.
 */

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

static void declare_flows(const mo_paper *m, mo_sink *sink)
{
    int n = m->x->n_flows;

    for (int q = 0; q < n; q++)
        declare_time(m, sink, MO_VARIABLE_ROLE_SEND, q,
                     m->flow_span[q].start_ns);
    for (int q = 0; q < n; q++)
        declare_time(m, sink, MO_VARIABLE_ROLE_ARRIVE, q,
                     m->flow_span[q].end_ns);
    for (int q = 0; q < n; q++) {
        const mo_flow *f = &m->x->flows[q];

        declare_binary(sink, MO_VARIABLE_ROLE_CROSS, q, 0, 0,
                       m->start && m->start->device[f->from] !=
                                       m->start->device[f->to]);
    }
    for (int q = 0; q < n; q++) {
        for (int a = 0; a < m->on.n_slots; a++)
            for (int b = 0; b < m->on.n_slots; b++)
                if (a != b)
                    declare_binary(sink, MO_VARIABLE_ROLE_CHANNEL, q,
                                   m->on.device[a], m->on.device[b],
                                   is_on(m, m->x->flows[q].from, a) &&
                                       is_on(m, m->x->flows[q].to, b));
    }
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
    for (int i = 0; i < m->x->n; i++)
        declare_time(m, sink, MO_VARIABLE_ROLE_START, i,
                     m->op_span[i].start_ns);
    for (int i = 0; i < m->x->n; i++)
        declare_time(m, sink, MO_VARIABLE_ROLE_COMPLETE, i,
                     m->op_span[i].end_ns);
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
