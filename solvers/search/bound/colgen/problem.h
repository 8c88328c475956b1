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
typedef enum mo_timed_from_u {
    MO_TIMED_NOTHING,
    MO_TIMED_LATER, /* it takes time to come, and nobody else's */
    MO_TIMED_SENT,  /* by a transfer of its own */
    MO_TIMED_SHARED /* with the tensor that comes to a device once for all */
} mo_timed_from_u;

typedef struct mo_timed_case {
    const mo_fork *fork;
    const mo_timed_tree *tree;
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
    int64_t *send;           /* row r from a to b: send[(r * K + a) * K + b] */
    int *row, *u_row;        /* by node */
    mo_timed_from_u *from_u; /* by node */
    int shared_row;          /* of what is shared; -1: nothing is */

    /* By node and device, mo_timed_at.  What takes longer than the horizon is
     * told to take longer by one. */
    int64_t *p;
    bool *allowed;
} mo_timed_case;

/* fork and tree must outlive it.  *c is NULL where numbers would not fit. */
mo_status mo_timed_case_make(const mo_fork *fork, const mo_timed_tree *tree,
                             const mo_regime *regime, int a, int b,
                             int64_t time_ns, int cells, mo_timed_case **c,
                             mo_error *err);
void mo_timed_case_free(mo_timed_case *c);

static inline int mo_timed_at(const mo_timed_case *c, int node, int device)
{
    return node * c->n_devices + device;
}

static inline int mo_timed_pair(const mo_timed_case *c, int a, int b)
{
    return a * c->n_devices + b;
}

static inline int64_t mo_timed_send(const mo_timed_case *c, int row, int a,
                                    int b)
{
    return c->send[(int64_t) row * c->n_devices * c->n_devices +
                   mo_timed_pair(c, a, b)];
}

/* Whether transfers of two pairs exclude each other. */
bool mo_timed_pairs_meet(const mo_timed_case *c, int pair, int other);

/* Downwards, for negative numbers, too. */
static inline int64_t mo_timed_floor(int64_t x, int64_t by)
{
    return x / by - (x % by < 0);
}

/* Rows of cells may have an offset: cell j of one holds the ticks from
 * offset + (j - 1) * cell on.  The cell of a tick, and the first tick of one.
 */
static inline int mo_timed_cell_of(const mo_timed_case *c, int64_t offset,
                                   int64_t tick)
{
    return (int) mo_timed_floor(tick - offset, c->cell) + 1;
}

static inline int64_t mo_timed_cell_start(const mo_timed_case *c,
                                          int64_t offset, int cell)
{
    return offset + (cell - 1) * c->cell;
}

#endif
