/* SPDX-License-Identifier: Apache-2.0 */
/*
 * along_parts.h - the blocks between the files of along.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_SPINE_INTERNAL_H
#define MO_SOLVERS_SEARCH_PRIMAL_SPINE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/bound/op_chain.h"
#include "cost/instance/sub_instance.h"
#include "schedule/allowed_devices.h"
#include "schedule/schedule.h"
#include "schedule/sim/sim.h"
#include "solvers/search/primal/spine.h"

/* Ops between two of the chain, and these two. */
typedef struct mo_primal_spine_block {
    mo_sub_instance *part;
    int u, v;              /* in the part; MO_FREE: none */
    int shape;             /* the first block of the same shape */
    int64_t *quick_ns;     /* by devices of u and v, a * K + b: what list
                              scheduling makes of it; INT64_MAX: nothing */
    int a, b;              /* the devices chosen; 0 where there is no end */
    mo_schedule *schedule; /* of the part, with these */
    mo_schedule *next;     /* what becomes of it in a pass */
} mo_primal_spine_block;

typedef struct mo_primal_spine_blocks {
    const mo_instance *x;
    mo_regime regime; /* without memory: that is looked at in the end */
    uint64_t seed;
    int threads;
    int passes; /* of improving, so far */
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

/* Chooses the devices of all ends. */
mo_status mo_primal_spine_blocks_choose_ends(mo_primal_spine_blocks *blocks,
                                             const mo_stop *stop,
                                             mo_error *err);

/* Schedules every block with them, or makes its schedule better. */
mo_status mo_primal_spine_blocks_improve(mo_primal_spine_blocks *blocks,
                                         int64_t moves, const mo_stop *stop,
                                         mo_error *err);

bool mo_primal_spine_blocks_adopt_ends(mo_primal_spine_blocks *blocks,
                                       const mo_schedule *schedule);

/* What is known of an op beside its device. */
typedef struct mo_primal_spine_role {
    bool is_end; /* of a block */
    int block;   /* that it lies in, an end or not; -1: beside the chain */
} mo_primal_spine_role;

/* Gives the ops that have no device yet (-1) one each, those that hang together
 * the same; the chain's own ops and what lies in its blocks may move, and what
 * is sent may be held back, too, where that is better for the whole. */
mo_status mo_primal_group_moves(const mo_instance *x, const mo_regime *regime,
                                const mo_stop *stop, mo_sim *sim,
                                const mo_primal_spine_role *roles, int n_blocks,
                                mo_sim_plan *plan, mo_error *err);

/* Holds transfers back where that is better for the whole, also together with
 * ops that go home then: where their block had them, or -1.  The plan has
 * send_release_ns; *best_ns is what it comes to. */
mo_status mo_primal_transfer_delay(const mo_instance *x,
                                   const mo_regime *regime, const mo_stop *stop,
                                   const mo_primal_spine_role *roles,
                                   const int *home, mo_sim *sim,
                                   mo_sim_plan *plan, int64_t *best_ns,
                                   mo_error *err);

#endif
