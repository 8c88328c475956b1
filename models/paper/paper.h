/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paper.h - the paper's model in parts, over all devices or some of them, for
 * the formulations paper and pesto.
 *
 * Columns are laid out in blocks, so that an id is a sum and needs no lookup:
 *
 *     w | x_i_k | s_i | c_i | t_q | d_q | z_q | y_q_a_b | o_i_j | h_q_r | a_k
 *
 * Devices are numbered by their slots of models/paper/placement_block.h.
 */
#ifndef MO_MODELS_PAPER_PAPER_H
#define MO_MODELS_PAPER_PAPER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "models/frame/frame.h"
#include "models/frame/memory_rows.h"
#include "models/paper/placement_block.h"
#include "models/sink/sink.h"

typedef struct mo_paper_interval {
    int64_t start_ns, end_ns;
} mo_paper_interval;

typedef struct mo_paper {
    const mo_frame *frame;
    mo_frame *own_frame; /* owned by the model; or NULL */
    const mo_instance *x;
    mo_congestion congestion;

    mo_placement_block on; /* the devices of the model, and x */

    const mo_schedule *start;               /* or NULL */
    mo_paper_interval *op_span, *flow_span; /* in the start; else 0 */
    int *follow; /* by op: it reaches all ops from this number on */
    int64_t horizon_ns;
    double big_m; /* the horizon in units */

    /* First columns of the blocks. */
    int op_start, op_end, send, arrive, cross, channel, order;
    int send_order;    /* behind the orders of ops */
    bool orders_sends; /* transfers may conflict on some resource */

    /* With congestion by link: the y that use a link, as offsets from the
     * first y of a flow: link_channel[link_start[l] .. link_start[l + 1]). */
    int n_links, *link_start, *link_channel;

    mo_memory_rows *memory;
} mo_paper;

/* The differences between such models. */
typedef struct mo_paper_options {
    const int *device; /* NULL: all of them */
    int n_slots;
    mo_congestion congestion;
} mo_paper_options;

/* The frame's start, if there is one, must use these devices only.  The caller
 * frees *paper with mo_paper_free(). */
mo_status mo_paper_new(const mo_frame *frame, const mo_paper_options *choice,
                       mo_paper **paper, mo_error *err);

/* Callbacks of a formulation; the state is a mo_paper. */
void mo_paper_columns(void *state, mo_sink *sink);
void mo_paper_rows(void *state, mo_sink *sink);
void mo_paper_free(void *state);
bool mo_paper_has_start(const void *state);

/* Columns by meaning; a and b are slots that differ. */
static inline int mo_paper_place_column(const mo_paper *m, int op, int slot)
{
    return mo_placement_block_column(&m->on, op, slot);
}

static inline int mo_paper_channel_offset(const mo_paper *m, int a, int b)
{
    return a * (m->on.n_slots - 1) + b - (b > a);
}

static inline int mo_paper_channel_column(const mo_paper *m, int flow, int a,
                                          int b)
{
    return m->channel + flow * m->on.n_slots * (m->on.n_slots - 1) +
           mo_paper_channel_offset(m, a, b);
}

/* Returns a time in units, clipped to twice the horizon: beyond it is
 * infeasible all the same, and the coefficient stays small. */
double mo_paper_time(const mo_paper *m, int64_t ns);

/* Visits every pair of ops, or of flows, of which neither precedes the other,
 * the smaller number first, with the column of its order. */
typedef void mo_paper_pair_fn(const mo_paper *m, mo_sink *sink, int first,
                              int second, int order);
void mo_paper_each_op_pair(const mo_paper *m, mo_paper_pair_fn *visit,
                           mo_sink *sink);
void mo_paper_each_flow_pair(const mo_paper *m, mo_paper_pair_fn *visit,
                             mo_sink *sink);
/* Return the number of these pairs, or some number above most as soon as it is
 * exceeded. */
int64_t mo_paper_count_op_pairs(const mo_paper *m, int64_t most);
int64_t mo_paper_count_flow_pairs(const mo_paper *m, int64_t most);

/* The families of rows.c. */
void mo_paper_precedence(const mo_paper *m, mo_sink *sink);
void mo_paper_communication(const mo_paper *m, mo_sink *sink);
void mo_paper_non_overlap(const mo_paper *m, mo_sink *sink);
void mo_paper_congestion(const mo_paper *m, mo_sink *sink);

#endif
