/* SPDX-License-Identifier: Apache-2.0 */
/*
 * price_branch_internal.h - tables of the pricing problem of a branch, filled
 * by price_branch.c and read by price_branch_extract.c.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_PRICE_BRANCH_INTERNAL_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_PRICE_BRANCH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "solvers/search/bound/colgen/price_branch.h"

/*
 * Dynamic programming from the leaves to the root, by node and device and by
 * the cell of the start:
 *
 * cost_at[j]     cost of the node and its subtree, for a start in cell j,
 * cost_by[j]     the same for a start in cell j or before,
 * input_cost[j]  cost of a node's output on a device of its reader, for a
 *                reader that starts in cell j: computed there, or elsewhere
 *                and transferred.
 *
 * cost_at[j]    = its own time from cell j on + sum of its input_cost[j]
 * input_cost[j] = min(cost_by on the same device, shifted,
 *                     min over other devices and starts of the transfer up
 *                     to then of the transfer's time + cost_by there, shifted)
 *
 * A start somewhere in a cell is charged the minimal cost within the cell, and
 * counts as in time for whatever it can be in time for from there: so no real
 * schedule costs less. The shift in cells is exact along the critical path on
 * one device: start grids have offsets such that a cell ends as that of the
 * successor begins. Transfers have grids without an offset, which all nodes
 * with equal transfer times share.
 */

struct mo_cg_pricer {
    const mo_cg_problem *c;
    const mo_cg_dual_profile *prices;
    const mo_cg_node *state;
    size_t length;             /* of a table row */
    int64_t *offset;           /* by node and device */
    mo_cg_cell_range *cells;   /* by node and device: range of cost_at */
    double *cost_at, *cost_by; /* by node and device, rows */
    double *input_cost;        /* by node and the reader's device, rows */
    double *transfer_cost;     /* by comm row and pair, rows */
    int *last_transfer;        /* by comm row and pair: its last cell */
    bool *is_sent;             /* by comm row: the output of some node has it */
    double *u_input_cost;      /* by comm row and device, rows: least cost of a
                                  transfer from u that starts by then */
    int *chosen; /* by node: cell of the start, during extraction */
};

static inline double *table_row(const mo_cg_pricer *b, double *rows, int at)
{
    return rows + (size_t) at * b->length;
}

static inline int comm_pair(const mo_cg_pricer *b, int row, int from, int to)
{
    return row * b->c->n_devices * b->c->n_devices + mo_cg_pair(b->c, from, to);
}

static inline double *transfer_row(const mo_cg_pricer *b, int row, int from,
                                   int to)
{
    return table_row(b, b->transfer_cost, comm_pair(b, row, from, to));
}

/* Shift from the cell of a reader's start to the last cell in which something
 * of this length can start before it. */
static inline int shift_before(const mo_cg_pricer *b, int64_t reader_offset,
                               int64_t offset, int64_t length)
{
    int64_t room = reader_offset - offset - length - 1;

    return (int) mo_cg_floor_div(room, b->c->cell) + 1;
}

/* The shift for a transfer of this length to a reader. */
static inline int transfer_shift(const mo_cg_pricer *b, int reader_at,
                                 int64_t length)
{
    return shift_before(b, b->offset[reader_at], 0, length);
}

/* Cells of useful starts of a node's transfer: not before the node can end
 * there, not after the last start within the horizon. */
static inline mo_cg_cell_range transfer_cells(const mo_cg_pricer *b, int node,
                                              int from, int to, int shift)
{
    int at = mo_cg_index(b->c, node, from);
    int first = b->cells[at].first - shift;
    int last = b->last_transfer[comm_pair(b, b->c->comm_row[node], from, to)];

    return (mo_cg_cell_range){ first > 1 ? first : 1, last };
}

static inline bool is_sent_to_sink(const mo_cg_problem *c, int root, int device)
{
    return c->comm_row[root] >= 0 && device != c->v_device;
}

#endif
