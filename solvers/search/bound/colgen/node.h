/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.h - node of the branch-and-bound tree: the domains that branching
 * restricts (arrival of the broadcast tensor on each device), and by constraint
 * propagation the start times of every op.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_NODE_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_NODE_H

#include "solvers/search/bound/colgen/problem.h"

/* Whether the broadcast tensor arrives at a device. */
typedef enum mo_cg_arrival {
    MO_CG_ARRIVAL_UNDECIDED,
    MO_CG_ARRIVAL_REQUIRED, /* and an op reads it there */
    MO_CG_ARRIVAL_FORBIDDEN
} mo_cg_arrival;

typedef struct mo_cg_node {
    mo_cg_arrival *arrival;             /* by device */
    int64_t *arrival_min, *arrival_max; /* by device: first and last tick at
                                           which it can arrive, if it does */
    int64_t *est, *lst; /* by node and device: earliest and latest start; est >
                           lst: does not run there */
} mo_cg_node;

/* Allocates the root node, without restrictions, or a copy; the caller frees
 * it with mo_cg_node_free(), which accepts NULL. */
mo_status mo_cg_node_new(const mo_cg_problem *c, mo_cg_node **state,
                         mo_error *err);
mo_status mo_cg_node_copy(const mo_cg_problem *c, const mo_cg_node *state,
                          mo_cg_node **copy, mo_error *err);
void mo_cg_node_free(mo_cg_node *state);

/* Propagates the constraints to a fixpoint or for some rounds. Returns false
 * if the node is infeasible. */
bool mo_cg_node_propagate(const mo_cg_problem *c, mo_cg_node *state);

/* Returns whether the domain at index `at` (by node and device) is not empty.
 */
static inline bool mo_cg_node_allows(const mo_cg_node *s, int at)
{
    return s->est[at] <= s->lst[at];
}

/* Returns the transfer time of the broadcast tensor to a device, in ticks. */
static inline int64_t mo_cg_broadcast_ticks(const mo_cg_problem *c, int device)
{
    return mo_cg_transfer_ticks(c, c->broadcast_row, c->u_device, device);
}

#endif
