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

enum { MO_WALK_NOBODY = -1 };

/* A part of the chain that leads to the makespan: ops and transfers, each of
 * which started when the one before it had ended. */
typedef struct mo_delay {
    int node;    /* as in schedule/sim/incremental_sim.h */
    int blocker; /* what held its device or a resource until then, though it was
                    ready; MO_WALK_NOBODY: it waited for what it reads */
    int log_at;  /* the blocker's place in the log */
} mo_delay;

/* For a step that finds devices for a tree of ops. */
enum { MO_TREE_MOST = 48, MO_TREE_DEVICES = 16 };

typedef struct mo_tree {
    int n;
    int op[MO_TREE_MOST], reader[MO_TREE_MOST], device[MO_TREE_MOST];
    bool *is_inside; /* by op */
    int64_t busy_ns[3 * MO_TREE_DEVICES], price[3 * MO_TREE_DEVICES];
    int64_t cost[MO_TREE_MOST * MO_TREE_DEVICES];
    int choice[MO_TREE_MOST * MO_TREE_DEVICES];
} mo_tree;

typedef struct mo_unit_move {
    int unit, from, to;
} mo_unit_move;

typedef struct mo_walk {
    const mo_instance *x;
    mo_regime regime;
    const mo_anneal_options *options;
    mo_units *units;
    mo_trial *trial;
    const mo_standing *at;
    mo_random random;

    int64_t *room_bytes; /* by device, with the moves in it */
    mo_unit_move *moves; /* of the step */
    int n_moves;

    mo_delay *chain; /* from the end to the beginning */
    int n_chain;     /* 0: to be found anew */

    int *set; /* for a step, ops that go together */

    mo_tree tree;

    mo_back *back;
    bool is_new; /* the placement, since the last order from behind */
    int64_t *key, *send_key; /* that order */
    int64_t *end_ns;         /* by node, from which it is made */
} mo_walk;

mo_status mo_walk_open(mo_walk *w, const mo_instance *x,
                       const mo_regime *regime,
                       const mo_anneal_options *options, mo_error *err);
void mo_walk_close(mo_walk *w);

/* From that schedule, which is within memory. */
void mo_walk_begin(mo_walk *w, const mo_schedule *start);

/* Changes something, to be tried; false: what came to mind makes no difference
 * or is not allowed. */
bool mo_walk_step(mo_walk *w);

/* The step is kept or not. */
void mo_walk_keep(mo_walk *w);
void mo_walk_undo(mo_walk *w);

/* Moves the op's unit, as far as pins and memory let it; false: it stays. */
bool mo_walk_place(mo_walk *w, int op, int device);

/* Steps of several kinds, as mo_walk_step. */
bool mo_walk_step_place(mo_walk *w, int op);
bool mo_walk_step_set(mo_walk *w, int op);
bool mo_walk_step_branch(mo_walk *w);

/* Something goes to another device and something else comes from there, so that
 * loads change by less than an op takes. */
bool mo_walk_step_exchange(mo_walk *w, int op);

bool mo_walk_step_tree(mo_walk *w, int op);
bool mo_walk_step_order(mo_walk *w, int op);
bool mo_walk_step_release(mo_walk *w, int op);

/* All in the order in which they could be as late as possible. */
bool mo_walk_step_back(mo_walk *w);

/* The same, in addition, for a step that has been tried to the end. */
void mo_walk_order_anew(mo_walk *w);

/* Lets what was blocked start earlier. */
bool mo_walk_step_before(mo_walk *w, const mo_delay *delay);

/* A part of the chain by chance; NULL: there is no op at all. */
const mo_delay *mo_walk_delay(mo_walk *w);

/* Whether two that run cannot do so at once. */
bool mo_walk_exclude(const mo_walk *w, int node, int other);

static inline int mo_walk_below(mo_walk *w, int bound)
{
    return mo_random_below(&w->random, bound);
}

static inline bool mo_walk_is_op(const mo_walk *w, int node)
{
    return node < w->x->n;
}

static inline const mo_flow *mo_walk_flow(const mo_walk *w, int node)
{
    return &w->x->flows[node - w->x->n];
}

#endif
