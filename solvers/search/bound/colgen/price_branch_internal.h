/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_branch_parts.h - what the files of timed_branch.h share: the tables,
 * and how their cells stand to each other.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_PRICE_BRANCH_INTERNAL_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_PRICE_BRANCH_INTERNAL_H

#include "solvers/search/bound/colgen/price_branch.h"

struct mo_cg_branch_pricer {
    const mo_cg_problem *c;
    const mo_cg_dual_profile *prices;
    const mo_cg_node *state;
    size_t length;           /* of a row */
    int64_t *offset;         /* by node and device */
    mo_cg_cell_range *cells; /* by node and device, of own */
    double *own, *by;        /* by node and device, rows */
    double *fed;             /* by node and the reader's device, rows */
    double *sending;         /* by row of times and pair, rows */
    int *last_send;          /* by row of times and pair: its last cell */
    bool *is_sent;           /* by row of times: some node's reader needs it */
    double *from_u; /* by row of times and device, rows: sent by then */
    int *chosen;    /* by node: the cell, while a way is made */
};

static inline double *row_in(const mo_cg_branch_pricer *b, double *rows, int at)
{
    return rows + (size_t) at * b->length;
}

static inline int pair_at(const mo_cg_branch_pricer *b, int row, int from,
                          int to)
{
    return row * b->c->n_devices * b->c->n_devices +
           mo_cg_device_pair(b->c, from, to);
}

/* From the cell of a reader's start to the last cell of the start of something
 * that takes so long before it. */
static inline int earlier(const mo_cg_branch_pricer *b, int64_t reader_offset,
                          int64_t offset, int64_t length)
{
    int64_t room = reader_offset - offset - length - 1;

    return (int) mo_cg_floor_div(room, b->c->cell) + 1;
}

/* From when on a row of transfers to a device serves a reader there. */
static inline int send_shift(const mo_cg_branch_pricer *b, int reader_at,
                             int64_t length)
{
    return earlier(b, b->offset[reader_at], 0, length);
}

/* Starts of a node's transfers from a device that can be of use: not before
 * the node can have ended there, not after the last. */
static inline mo_cg_cell_range sending_cells(const mo_cg_branch_pricer *b,
                                             int node, int from, int to,
                                             int shift)
{
    int at = mo_cg_tree_node_device(b->c, node, from);
    int first = b->cells[at].first - shift;
    int last = b->last_send[pair_at(b, b->c->row[node], from, to)];

    return (mo_cg_cell_range){ first > 1 ? first : 1, last };
}

/* A root's transfer to v: its least price with all before it, and the cell of
 * its start. */
double mo_cg_branch_pricer_sink_transfer(const mo_cg_branch_pricer *b, int root,
                                         int device, int *cell);

static inline bool is_sent_to_v(const mo_cg_problem *c, int root, int device)
{
    return c->row[root] >= 0 && device != c->b;
}

#endif
