/* SPDX-License-Identifier: Apache-2.0 */
/*
 * anneal_walk.h - the inside of annealing: where a walk stands, and the steps
 * it may take.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_ANNEAL_STATE_H
#define MO_SOLVERS_SEARCH_PRIMAL_ANNEAL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/random.h"
#include "cost/instance.h"
#include "schedule/sim/justification.h"
#include "schedule/sim/incremental_sim.h"
#include "schedule/placement_units.h"
#include "solvers/search/primal/anneal.h"

enum { MO_PRIMAL_ANNEAL_NO_BLOCKER = -1 };

/* A part of the chain that leads to the makespan: ops and transfers, each of
 * which started when the one before it had ended. */
typedef struct mo_primal_anneal_critical_node {
    int node;    /* as in schedule/sim/incremental_sim.h */
    int blocker; /* what held its device or a resource until then, though it was
                    ready; MO_PRIMAL_ANNEAL_NO_BLOCKER: it waited for what it
                    reads */
    int log_at;  /* the blocker's place in the log */
} mo_primal_anneal_critical_node;

/* For a step that finds devices for a tree of ops. */
enum {
    MO_PRIMAL_ANNEAL_TREE_MAX_OPS = 48,
    MO_PRIMAL_ANNEAL_TREE_MAX_DEVICES = 16
};

typedef struct mo_primal_anneal_tree {
    int n;
    int op[MO_PRIMAL_ANNEAL_TREE_MAX_OPS],
        reader[MO_PRIMAL_ANNEAL_TREE_MAX_OPS],
        device[MO_PRIMAL_ANNEAL_TREE_MAX_OPS];
    bool *is_inside; /* by op */
    int64_t busy_ns[3 * MO_PRIMAL_ANNEAL_TREE_MAX_DEVICES],
        price[3 * MO_PRIMAL_ANNEAL_TREE_MAX_DEVICES];
    int64_t
        cost[MO_PRIMAL_ANNEAL_TREE_MAX_OPS * MO_PRIMAL_ANNEAL_TREE_MAX_DEVICES];
    int choice[MO_PRIMAL_ANNEAL_TREE_MAX_OPS *
               MO_PRIMAL_ANNEAL_TREE_MAX_DEVICES];
} mo_primal_anneal_tree;

typedef struct mo_primal_anneal_unit_move {
    int unit, from, to;
} mo_primal_anneal_unit_move;

typedef struct mo_primal_anneal_state {
    const mo_instance *x;
    mo_regime regime;
    const mo_primal_anneal_options *options;
    mo_placement_units *units;
    mo_incremental_sim *trial;
    const mo_incremental_sim_state *at;
    mo_random random;

    int64_t *room_bytes;               /* by device, with the moves in it */
    mo_primal_anneal_unit_move *moves; /* of the step */
    int n_moves;

    mo_primal_anneal_critical_node *chain; /* from the end to the beginning */
    int n_chain;                           /* 0: to be found anew */

    int *set; /* for a step, ops that go together */

    mo_primal_anneal_tree tree;

    mo_justification *back;
    bool is_new; /* the placement, since the last order from behind */
    int64_t *key, *send_key; /* that order */
    int64_t *end_ns;         /* by node, from which it is made */
} mo_primal_anneal_state;

mo_status mo_primal_anneal_state_open(mo_primal_anneal_state *w,
                                      const mo_instance *x,
                                      const mo_regime *regime,
                                      const mo_primal_anneal_options *options,
                                      mo_error *err);
void mo_primal_anneal_state_close(mo_primal_anneal_state *w);

/* From that schedule, which is within memory. */
void mo_primal_anneal_set_start(mo_primal_anneal_state *w,
                                const mo_schedule *start);

/* Changes something, to be tried; false: what came to mind makes no difference
 * or is not allowed. */
bool mo_primal_anneal_propose(mo_primal_anneal_state *w);

/* The step is kept or not. */
void mo_primal_anneal_accept(mo_primal_anneal_state *w);
void mo_primal_anneal_reject(mo_primal_anneal_state *w);

/* Moves the op's unit, as far as pins and memory let it; false: it stays. */
bool mo_primal_anneal_assign_unit(mo_primal_anneal_state *w, int op,
                                  int device);

/* Steps of several kinds, as mo_primal_anneal_propose. */
bool mo_primal_anneal_move_op(mo_primal_anneal_state *w, int op);
bool mo_primal_anneal_move_group(mo_primal_anneal_state *w, int op);
bool mo_primal_anneal_move_branch(mo_primal_anneal_state *w);

/* Something goes to another device and something else comes from there, so that
 * loads change by less than an op takes. */
bool mo_primal_anneal_move_exchange(mo_primal_anneal_state *w, int op);

bool mo_primal_anneal_move_tree(mo_primal_anneal_state *w, int op);
bool mo_primal_anneal_move_order(mo_primal_anneal_state *w, int op);
bool mo_primal_anneal_move_release(mo_primal_anneal_state *w, int op);

/* All in the order in which they could be as late as possible. */
bool mo_primal_anneal_move_justify(mo_primal_anneal_state *w);

/* The same, in addition, for a step that has been tried to the end. */
void mo_primal_anneal_justify_trial(mo_primal_anneal_state *w);

/* Lets what was blocked start earlier. */
bool mo_primal_anneal_move_before_blocker(
    mo_primal_anneal_state *w, const mo_primal_anneal_critical_node *delay);

/* A part of the chain by chance; NULL: there is no op at all. */
const mo_primal_anneal_critical_node *
mo_primal_anneal_pick_critical(mo_primal_anneal_state *w);

/* Whether two that run cannot do so at once. */
bool mo_primal_anneal_are_exclusive(const mo_primal_anneal_state *w, int node,
                                    int other);

static inline int mo_primal_anneal_random_below(mo_primal_anneal_state *w,
                                                int bound)
{
    return mo_random_below(&w->random, bound);
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
