/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem.h - data of the feasibility problem that branch and price decides:
 * can all branches of a fork-join subgraph run within a horizon?
 *
 * The horizon is divided exactly into cells of equal length, so time is
 * counted in ticks: a nanosecond has as many ticks as there are cells, a cell
 * as many as the horizon has nanoseconds.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_PROBLEM_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/bound/forkjoin/fork_join.h"

/* Branches with isomorphic subtrees merged: where an op reads several ops whose
 * subtrees are isomorphic, one node represents them all. A placement that is
 * cheapest for one is cheapest for each. */
typedef struct mo_cg_tree_node {
    int op;          /* of the instance, one of those it represents */
    int reader;      /* a node; MO_FREE: v, or none */
    int row, u_row;  /* rows of transfer times, as in fork_join.h */
    int class;       /* of the fork */
    int times;       /* equals that each of its readers reads */
    int total;       /* equals in one branch */
    int first_child; /* inputs: first child, then by next; -1: end */
    int next;
} mo_cg_tree_node;

typedef struct mo_cg_tree {
    int n;
    mo_cg_tree_node *nodes; /* in topological order from the roots */
    int *root;              /* by class */
    int *start;             /* by class, into node_of */
    int *node_of;           /* of op j of class c: node_of[start[c] + j] */
} mo_cg_tree;

/* Allocates the merged trees of all classes; the caller frees *tree with
 * mo_cg_tree_free(), which accepts NULL.  Returns MO_OK unless memory runs
 * out. */
mo_status mo_cg_tree_new(const mo_forkjoin *fork, mo_cg_tree **tree,
                         mo_error *err);
void mo_cg_tree_free(mo_cg_tree *tree);

/* How the input of a node from u is modelled. */
typedef enum mo_cg_input {
    MO_CG_INPUT_NONE,
    MO_CG_INPUT_DELAY,    /* a delay that holds no resource */
    MO_CG_INPUT_TRANSFER, /* a transfer of its own */
    MO_CG_INPUT_BROADCAST /* the broadcast tensor, which is sent to a device
                             once */
} mo_cg_input;

typedef struct mo_cg_problem {
    const mo_forkjoin *fork;
    const mo_cg_tree *tree;
    mo_regime regime;
    int u_device, v_device; /* devices of u and v, or MO_FREE */
    int n_devices, n_nodes;

    int cells;
    int64_t cell, horizon; /* ticks; horizon = cells * cell */

    /* Devices are resources 0, 1, ...; those of transfers follow. A transfer
     * from a to b holds pair_resource[pair_start[a * K + b] .. pair_start[...
     * + 1]). */
    int n_resources;
    int *pair_start, *pair_resource;

    /* Rows of transfer times of the instance that occur here, renumbered; -1:
     * none. */
    int n_comm_rows;
    int64_t *transfer; /* row r from a to b: transfer[(r * K + a) * K + b] */
    int *comm_row, *u_comm_row; /* by node */
    mo_cg_input *u_input;       /* by node */
    int broadcast_row;          /* of the broadcast tensor; -1: there is none */

    /* By node and device, mo_cg_index(). Times beyond the horizon
     * are stored as horizon + 1. */
    int64_t *p;
    bool *allowed;
    double *budget_part; /* by node and device: share of the budget that one op
                            takes; NULL: no budget */
    double budget_ns;    /* all of it */
    double sum_ns;       /* as in mo_cg_budget */
    int last_sum_cell;   /* the last that begins within its from_ns */
} mo_cg_problem;

/* Budget of memory: all ops of all branches together cost at most ns, which is
 * positive.  The price of an op is op_price_ns, by op of the fork's instance
 * and device, where that is not NULL (of equal ops the least counts), else that
 * of its resident bytes at these prices of a byte by device.  Where sum_ns is
 * not 0, that price and the time, which is at least from_ns, are together at
 * most sum_ns. */
typedef struct mo_cg_budget {
    const double *price_ns;
    double ns;
    const int64_t *op_price_ns;
    double sum_ns;
    int64_t from_ns;
} mo_cg_budget;

/* Allocates a problem for a horizon of time_ns; the caller frees *c with
 * mo_cg_problem_free(), which accepts NULL. The fork and the tree are borrowed
 * and must outlive it. *c is NULL, with MO_OK returned, where ticks would
 * overflow. */
mo_status mo_cg_problem_new(const mo_forkjoin_case *at, const mo_cg_tree *tree,
                            int64_t time_ns, int cells, mo_cg_problem **c,
                            mo_error *err);
void mo_cg_problem_free(mo_cg_problem *c);

/* Adds a budget; returns MO_OK unless memory runs out. */
mo_status mo_cg_problem_set_budget(mo_cg_problem *c, const mo_cg_budget *budget,
                                   mo_error *err);

/* Return the index of tables by node and device, and by pair of devices. */
static inline int mo_cg_index(const mo_cg_problem *c, int node, int device)
{
    return node * c->n_devices + device;
}

static inline int mo_cg_pair(const mo_cg_problem *c, int a, int b)
{
    return a * c->n_devices + b;
}

/* Returns the transfer time of a comm row from a to b, in ticks. */
static inline int64_t mo_cg_transfer_ticks(const mo_cg_problem *c, int row,
                                           int a, int b)
{
    return c->transfer[(int64_t) row * c->n_devices * c->n_devices +
                       mo_cg_pair(c, a, b)];
}

/* Returns whether transfers of two pairs of devices share a resource. */
bool mo_cg_pairs_conflict(const mo_cg_problem *c, int pair, int other);

/* Returns x / by rounded down, also for negative x. */
static inline int64_t mo_cg_floor_div(int64_t x, int64_t by)
{
    return x / by - (x % by < 0);
}

/* Start grids may have an offset: cell j contains the ticks from offset + (j -
 * 1) * cell on. These return the cell of a tick, and the first tick of a
 * cell. */
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
