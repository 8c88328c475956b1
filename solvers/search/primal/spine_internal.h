/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spine_internal.h - blocks of a spine and the local search on the whole,
 * shared by spine.c, spine_blocks.c and group_moves.c.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_SPINE_INTERNAL_H
#define MO_SOLVERS_SEARCH_PRIMAL_SPINE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance/sub_instance.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/op_chain.h"
#include "schedule/schedule.h"
#include "schedule/sim/sim.h"
#include "solvers/search/primal/spine.h"

/* The ops between two ops of the chain, and these two. */
typedef struct mo_primal_spine_block {
    mo_sub_instance *part;
    int u, v;          /* in the part; MO_FREE: none */
    int shape;         /* first block with the same graph */
    int64_t *quick_ns; /* by devices of u and v, a * K + b: makespan of HEFT;
                          INT64_MAX: none */
    int a, b;          /* chosen devices; 0 where there is no end */
    mo_schedule *schedule; /* of the part with these, owned; NULL: none */
    mo_schedule *next;     /* result of the current pass */
} mo_primal_spine_block;

typedef struct mo_primal_spine_blocks {
    const mo_instance *x;
    mo_regime regime; /* without memory: checked in the end */
    uint64_t seed;
    int threads;
    int passes; /* of improvement, so far */
    int n;
    mo_primal_spine_block *blocks; /* by segment of the chain */
} mo_primal_spine_blocks;

mo_status mo_primal_spine_blocks_new(const mo_instance *x,
                                     const mo_regime *regime,
                                     const mo_bound_chain *chain,
                                     const mo_primal_spine_options *options,
                                     mo_primal_spine_blocks **blocks,
                                     mo_error *err);
void mo_primal_spine_blocks_free(mo_primal_spine_blocks *blocks);

/* Chooses the devices of all ends by a shortest path over list schedules. */
mo_status mo_primal_spine_blocks_choose_ends(mo_primal_spine_blocks *blocks,
                                             const mo_stop *stop,
                                             mo_error *err);

/* Schedules every block at its ends, or anneals its schedule. */
mo_status mo_primal_spine_blocks_improve(mo_primal_spine_blocks *blocks,
                                         int64_t moves, const mo_stop *stop,
                                         mo_error *err);

bool mo_primal_spine_blocks_adopt_ends(mo_primal_spine_blocks *blocks,
                                       const mo_schedule *schedule);

/* Position of an op relative to the chain. */
typedef struct mo_primal_spine_role {
    bool is_end; /* is an op of the chain */
    int block;   /* it belongs to; -1: beside the chain */
} mo_primal_spine_role;

typedef struct mo_primal_group_problem {
    const mo_instance *x;
    const mo_regime *regime;
    const mo_stop *stop;
    const mo_primal_spine_role *roles; /* by op */
    int n_blocks;
} mo_primal_group_problem;

/* Local search with group moves on a complete plan. Ops without a device (-1)
 * get one, connected ones the same; ops of the chain and of blocks may move,
 * and transfers may be delayed (plan->send_release_ns), where that shortens the
 * whole. */
mo_status mo_primal_group_moves(const mo_primal_group_problem *problem,
                                mo_sim *sim, mo_sim_plan *plan, mo_error *err);

#endif
