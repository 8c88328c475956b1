/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_state.h - what is assumed while a question of timed_case.h is looked
 * at: when the shared tensor comes to a device, how many ops a device has; and
 * what follows for the time of every op.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_NODE_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_NODE_H

#include "solvers/search/bound/colgen/problem.h"

/* Does the shared tensor come to a device? */
typedef enum mo_cg_arrival {
    MO_CG_ARRIVAL_UNDECIDED,
    MO_CG_ARRIVAL_REQUIRED, /* and somebody reads it there */
    MO_CG_ARRIVAL_FORBIDDEN
} mo_cg_arrival;

enum { MO_CG_MAX_CARDINALITIES = 16 };

/* Of all equals of a node in all branches, at most so many run on a device, or
 * on others than it. */
typedef struct mo_cg_cardinality {
    int node, device;
    bool elsewhere;
    int most;
} mo_cg_cardinality;

typedef struct mo_cg_node {
    mo_cg_arrival *fate; /* by device */
    int64_t *lo, *hi;    /* by device: the first and the last tick at which it
                            can have come, if it does */
    int64_t *est, *lst;  /* by node and device: the first and the last start,
                            est > lst: it does not run there */
    int n_limits;
    mo_cg_cardinality limits[MO_CG_MAX_CARDINALITIES];
} mo_cg_node;

/* Nothing assumed yet. */
mo_status mo_cg_node_new(const mo_cg_problem *c, mo_cg_node **state,
                         mo_error *err);
mo_status mo_cg_node_copy(const mo_cg_problem *c, const mo_cg_node *state,
                          mo_cg_node **copy, mo_error *err);
void mo_cg_node_free(mo_cg_node *state);

/* Draws the conclusions; false: there is no schedule like that. */
bool mo_cg_node_propagate(const mo_cg_problem *c, mo_cg_node *state);

static inline bool mo_cg_node_allows(const mo_cg_node *s, int at)
{
    return s->est[at] <= s->lst[at];
}

/* How long the shared tensor is under way to a device. */
static inline int64_t mo_cg_broadcast_ticks(const mo_cg_problem *c, int device)
{
    return mo_cg_transfer_ticks(c, c->shared_row, c->a, device);
}

#endif
