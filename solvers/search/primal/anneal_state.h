/* SPDX-License-Identifier: Apache-2.0 */
/*
 * anneal_state.h - internal to anneal.c and anneal_*.c: the current schedule,
 * its critical path and the moves.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_ANNEAL_STATE_H
#define MO_SOLVERS_SEARCH_PRIMAL_ANNEAL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/random.h"
#include "cost/instance.h"
#include "schedule/placement_units.h"
#include "schedule/sim/incremental_sim.h"
#include "schedule/sim/justification.h"
#include "solvers/search/primal/anneal.h"

enum { MO_PRIMAL_ANNEAL_NO_BLOCKER = -1 };

/* A node of the critical path: ops and transfers, each of which started when
 * the one before it had ended. */
typedef struct mo_primal_anneal_critical_node {
    int node;    /* as in schedule/sim/incremental_sim.h */
    int blocker; /* the node that held its device or a resource while it was
                    ready; MO_PRIMAL_ANNEAL_NO_BLOCKER: it waited for an input
                  */
    int log_at;  /* index of the blocker in the log */
} mo_primal_anneal_critical_node;

/* Limits of the move of an in-tree. */
enum {
    MO_PRIMAL_ANNEAL_TREE_MAX_OPS = 48,
    MO_PRIMAL_ANNEAL_TREE_MAX_DEVICES = 16
};

/* An in-tree and the tables of its dynamic program. Nodes are numbered from the
 * root; rows of resources are devices, then output ports, then input ports. */
typedef struct mo_primal_anneal_tree {
    int n;                                     /* nodes */
    int op[MO_PRIMAL_ANNEAL_TREE_MAX_OPS];     /* by node */
    int reader[MO_PRIMAL_ANNEAL_TREE_MAX_OPS]; /* by node: a node before it;
                                                  none of the root */
    int device[MO_PRIMAL_ANNEAL_TREE_MAX_OPS]; /* by node: the best one */
    bool *is_inside;                           /* by op: of the tree */
    int64_t busy_ns[3 * MO_PRIMAL_ANNEAL_TREE_MAX_DEVICES]; /* by other work */
    int64_t price[3 * MO_PRIMAL_ANNEAL_TREE_MAX_DEVICES];   /* of busy time */
    /* By node and its device: least cost of its subtree; by node and device of
     * its reader: the device of the node at that least cost. */
    int64_t
        cost[MO_PRIMAL_ANNEAL_TREE_MAX_OPS * MO_PRIMAL_ANNEAL_TREE_MAX_DEVICES];
    int choice[MO_PRIMAL_ANNEAL_TREE_MAX_OPS *
               MO_PRIMAL_ANNEAL_TREE_MAX_DEVICES];
} mo_primal_anneal_tree;

/* A placement unit that moves from one device to another. */
typedef struct mo_primal_anneal_unit_move {
    int unit, from, to;
} mo_primal_anneal_unit_move;

/* State of one run. x and options are the caller's and outlive it; the rest is
 * owned. For one thread. */
typedef struct mo_primal_anneal_state {
    const mo_instance *x;
    mo_regime regime;
    const mo_primal_anneal_options *options;
    mo_placement_units *units; /* ops that are on one device together */
    mo_incremental_sim *trial; /* the current plan, and the proposal */
    const mo_incremental_sim_state *at; /* of trial; valid while that is */
    mo_random random;
    /* Move kinds that are drawn; another op move takes the place of others. */
    struct {
        bool group, tree, order, release, justify;
    } draws;

    int64_t *room_bytes;    /* by device: free with the proposed moves; negative
                               where they exceed its memory */
    int64_t overflow_bytes; /* sum over the devices of what is missing */
    mo_primal_anneal_unit_move *moves; /* of the proposal, for the rollback */
    int n_moves;

    mo_primal_anneal_critical_node *chain; /* critical path, from its end */
    int n_chain;                           /* 0: to be computed */

    int *set; /* scratch: ops that move together */

    mo_primal_anneal_tree tree;

    mo_justification *back;
    bool is_new;       /* placement changed since the last justification */
    int64_t *key;      /* by op: justified order, smaller goes first */
    int64_t *send_key; /* by flow: the same */
    int64_t *end_ns;   /* by node: ends that the order is computed from */
} mo_primal_anneal_state;

/* Prepares a run for mo_primal_anneal_set_start(). The caller closes it; after
 * a failure there is nothing to close. */
mo_status mo_primal_anneal_state_open(mo_primal_anneal_state *w,
                                      const mo_instance *x,
                                      const mo_regime *regime,
                                      const mo_primal_anneal_options *options,
                                      mo_error *err);
void mo_primal_anneal_state_close(mo_primal_anneal_state *w);

/* Restarts from a schedule that is within memory. */
void mo_primal_anneal_set_start(mo_primal_anneal_state *w,
                                const mo_schedule *start);

/* Proposes a random move to the simulation; returns false where it changes
 * nothing or is infeasible. */
bool mo_primal_anneal_propose(mo_primal_anneal_state *w);

/* Commits the proposal, or rolls it back. */
void mo_primal_anneal_accept(mo_primal_anneal_state *w);
void mo_primal_anneal_reject(mo_primal_anneal_state *w);

/* Proposes to move the op's placement unit; returns false where it is there or
 * a pin forbids it, and, of the first, where memory does. */
bool mo_primal_anneal_assign_unit(mo_primal_anneal_state *w, int op,
                                  int device);
bool mo_primal_anneal_move_unit(mo_primal_anneal_state *w, int op, int device);

/* Completes a proposal that exceeds the memory of devices: moves other units
 * from each of them to where there is room, first of all to the device that was
 * left for it.  Returns false where that does not succeed. */
bool mo_primal_anneal_eject(mo_primal_anneal_state *w);

/* Draws whether a proposal ejects others; beyond memory some do not. */
bool mo_primal_anneal_may_eject(mo_primal_anneal_state *w);

/* Moves of placements; they return as mo_primal_anneal_propose(). */
bool mo_primal_anneal_move_op(mo_primal_anneal_state *w, int op);
bool mo_primal_anneal_move_group(mo_primal_anneal_state *w, int op);
bool mo_primal_anneal_move_branch(mo_primal_anneal_state *w);

/* Exchanges a small set with an op of another device, so that loads change by
 * less than an op takes. */
bool mo_primal_anneal_move_exchange(mo_primal_anneal_state *w, int op);

/* Places an in-tree that has the op by dynamic programming. */
bool mo_primal_anneal_move_tree(mo_primal_anneal_state *w, int op);

/* Adds the justified order to a proposal that has been simulated to the end. */
void mo_primal_anneal_justify_trial(mo_primal_anneal_state *w);

static inline int mo_primal_anneal_random_below(mo_primal_anneal_state *w,
                                                int bound)
{
    return mo_random_below(&w->random, bound);
}

static inline int mo_primal_anneal_unit_device(const mo_primal_anneal_state *w,
                                               int unit)
{
    return w->at->device[w->units->ops[w->units->start[unit]]];
}

static inline bool mo_primal_anneal_has_room(const mo_primal_anneal_state *w,
                                             int unit, int device)
{
    return w->room_bytes[device] >= w->units->bytes[unit];
}

static inline bool mo_primal_anneal_node_is_op(const mo_primal_anneal_state *w,
                                               int node)
{
    return node < w->x->n;
}

static inline const mo_flow *
mo_primal_anneal_node_flow(const mo_primal_anneal_state *w, int node)
{
    return &w->x->flows[node - w->x->n];
}

#endif
