/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data of the paper's model before its first column: its devices, its horizon,
 * the layout of the blocks of columns, the channels that use a link.
 */
#include "models/paper/paper.h"

#include <limits.h>
#include <stdlib.h>

#include "models/identity.h"
#include "models/sink/scale.h"

static mo_status allocate_arrays(mo_paper *m, mo_error *err)
{
    m->op_span = calloc((size_t) m->x->n + 1, sizeof *m->op_span);
    m->flow_span = calloc((size_t) m->x->n_flows + 1, sizeof *m->flow_span);
    m->follow = calloc((size_t) m->x->n + 1, sizeof *m->follow);
    return m->op_span && m->flow_span && m->follow ? MO_OK
                                                   : mo_fail_memory(err);
}

/* Everything behind a clean cut succeeds everything before it. */
static void find_followers(mo_paper *m)
{
    int cut = m->frame->n_cuts, next = m->x->n;

    for (int i = m->x->n - 1; i >= 0; i--) {
        if (cut > 0 && m->frame->cuts[cut - 1] == i)
            next = m->frame->cuts[--cut];
        m->follow[i] = next;
    }
}

/* Adds the channel from slot a to slot b to the links on its route: counts it,
 * or, once the lists have room, stores it. */
static void add_channel_links(mo_paper *m, int a, int b, bool counts)
{
    const mo_instance *x = m->x;
    int pair = m->on.device[a] * x->n_devices + m->on.device[b];

    for (int at = x->route_start[pair]; at < x->route_start[pair + 1]; at++) {
        int link = x->route_link[at];

        if (counts)
            m->link_start[link + 1]++;
        else
            m->link_channel[m->link_start[link]++] =
                mo_paper_channel_offset(m, a, b);
    }
}

static void add_all_channel_links(mo_paper *m, bool counts)
{
    for (int a = 0; a < m->on.n_slots; a++)
        for (int b = 0; b < m->on.n_slots; b++)
            if (a != b)
                add_channel_links(m, a, b, counts);
}

static mo_status find_links(mo_paper *m, mo_error *err)
{
    int n = m->x->n_links;

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
    return MO_OK;
}

static mo_status find_contention(mo_paper *m, mo_error *err)
{
    mo_status status = MO_OK;

    m->orders_sends = m->congestion != MO_CONGESTION_NONE && m->on.n_slots > 1;
    if (m->congestion != MO_CONGESTION_LINK)
        return MO_OK;
    status = find_links(m, err);
    if (status == MO_OK)
        m->orders_sends = m->link_start[m->n_links] > 0;
    return status;
}

static mo_status find_memory(mo_paper *m, mo_error *err)
{
    mo_status status = mo_memory_rows_new(m->frame, &m->memory, err);

    for (int k = 0; k < m->x->n_devices && status == MO_OK; k++)
        if (m->on.slot[k] < 0)
            mo_memory_rows_exclude(m->memory, k);
    return status;
}

/* Rounded up to a number of five digits: it is written in millions of rows. */
static int64_t round_up_digits(int64_t ns)
{
    int64_t step = 1;

    while (ns / step >= 100000)
        step *= 10;
    return (ns + step - 1) / step * step;
}

static void find_horizon(mo_paper *m)
{
    m->horizon_ns = round_up_digits(m->frame->horizon_ns);
    m->big_m = mo_scale_time(m->frame->unit_ns, m->horizon_ns);
}

/* A flow that is not sent is at the end of its producer, for no time. */
static void find_start_intervals(mo_paper *m)
{
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
    mo_status status = mo_placement_block_init(&m->on, m->x, choice->device,
                                               choice->n_slots, err);

    if (status == MO_OK)
        status = allocate_arrays(m, err);
    if (status == MO_OK)
        status = find_contention(m, err);
    if (status == MO_OK)
        status = find_memory(m, err);
    if (status != MO_OK)
        return status;
    find_horizon(m);
    find_start_intervals(m);
    find_followers(m);
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
