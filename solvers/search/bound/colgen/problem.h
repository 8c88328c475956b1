/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_case.h - a question put to fork_timed.h, in the numbers it is worked
 * with: can all branches be done within some time?
 *
 * Time is cut into equal cells that fill it exactly, so it is counted in ticks:
 * a nanosecond has as many as there are cells, a cell as many as the time has
 * nanoseconds.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_PROBLEM_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/bound/colgen/tree_classes.h"

/* How a node has what it reads of u. */
typedef enum mo_cg_input {
    MO_CG_INPUT_NONE,
    MO_CG_INPUT_DELAY,    /* it takes time to come, and nobody else's */
    MO_CG_INPUT_TRANSFER, /* by a transfer of its own */
    MO_CG_INPUT_BROADCAST /* with the tensor that comes to a device once for all
                           */
} mo_cg_input;

typedef struct mo_cg_problem {
    const mo_forkjoin *fork;
    const mo_cg_tree *tree;
    mo_regime regime;
    int a, b; /* devices of u and v, or MO_FREE */
    int n_devices, n_nodes;

    int cells;
    int64_t cell, horizon; /* ticks; horizon = cells * cell */

    /* Devices are resources 0, 1, ...; then come those of transfers.  From a to
     * b takes pair_resource[pair_start[a * K + b] .. pair_start[... + 1]). */
    int n_resources;
    int *pair_start, *pair_resource;

    /* Rows of transfer times that occur, numbered anew; -1: none. */
    int n_rows;
    int64_t *send;       /* row r from a to b: send[(r * K + a) * K + b] */
    int *row, *u_row;    /* by node */
    mo_cg_input *from_u; /* by node */
    int shared_row;      /* of what is shared; -1: nothing is */

    /* By node and device, mo_cg_tree_node_device.  What takes longer than the
     * horizon is told to take longer by one. */
    int64_t *p;
    bool *allowed;
} mo_cg_problem;

/* fork and tree must outlive it.  *c is NULL where numbers would not fit. */
mo_status mo_cg_problem_new(const mo_forkjoin *fork, const mo_cg_tree *tree,
                            const mo_regime *regime, int a, int b,
                            int64_t time_ns, int cells, mo_cg_problem **c,
                            mo_error *err);
void mo_cg_problem_free(mo_cg_problem *c);

static inline int mo_cg_tree_node_device(const mo_cg_problem *c, int node,
                                         int device)
{
    return node * c->n_devices + device;
}

static inline int mo_cg_device_pair(const mo_cg_problem *c, int a, int b)
{
    return a * c->n_devices + b;
}

static inline int64_t mo_cg_transfer_ticks(const mo_cg_problem *c, int row,
                                           int a, int b)
{
    return c->send[(int64_t) row * c->n_devices * c->n_devices +
                   mo_cg_device_pair(c, a, b)];
}

/* Whether transfers of two pairs exclude each other. */
bool mo_cg_pairs_conflict(const mo_cg_problem *c, int pair, int other);

/* Downwards, for negative numbers, too. */
static inline int64_t mo_cg_floor_div(int64_t x, int64_t by)
{
    return x / by - (x % by < 0);
}

/* Rows of cells may have an offset: cell j of one holds the ticks from
 * offset + (j - 1) * cell on.  The cell of a tick, and the first tick of one.
 */
static inline int mo_cg_cell_of_tick(const mo_cg_problem *c, int64_t offset,
                                     int64_t tick)
{
    return (int) mo_cg_floor_div(tick - offset, c->cell) + 1;
}

static inline int64_t mo_cg_cell_start(const mo_cg_problem *c, int64_t offset,
                                       int cell)
{
    return offset + (cell - 1) * c->cell;
}

#endif
