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
typedef struct mo_along_block {
    mo_part *part;
    int u, v;              /* in the part; MO_FREE: none */
    int shape;             /* the first block of the same shape */
    int64_t *quick_ns;     /* by devices of u and v, a * K + b: what list
                              scheduling makes of it; INT64_MAX: nothing */
    int a, b;              /* the devices chosen; 0 where there is no end */
    mo_schedule *schedule; /* of the part, with these */
    mo_schedule *next;     /* what becomes of it in a pass */
} mo_along_block;

typedef struct mo_along_blocks {
    const mo_instance *x;
    mo_regime regime; /* without memory: that is looked at in the end */
    uint64_t seed;
    int threads;
    int passes; /* of improving, so far */
    int n;
    mo_along_block *blocks; /* by segment of the chain */
} mo_along_blocks;

mo_status mo_along_blocks_make(const mo_instance *x, const mo_regime *regime,
                               const mo_chain *chain,
                               const mo_along_options *options,
                               mo_along_blocks **blocks, mo_error *err);
void mo_along_blocks_free(mo_along_blocks *blocks);

/* Chooses the devices of all ends. */
mo_status mo_along_blocks_choose(mo_along_blocks *blocks, const mo_stop *stop,
                                 mo_error *err);

/* Schedules every block with them, or makes its schedule better. */
mo_status mo_along_blocks_improve(mo_along_blocks *blocks, int64_t moves,
                                  const mo_stop *stop, mo_error *err);

bool mo_along_blocks_follow(mo_along_blocks *blocks,
                            const mo_schedule *schedule);

/* What is known of an op beside its device. */
typedef struct mo_along_role {
    bool is_end; /* of a block */
    int block;   /* that it lies in, an end or not; -1: beside the chain */
} mo_along_role;

/* Gives the ops that have no device yet (-1) one each, those that hang together
 * the same; the chain's own ops and what lies in its blocks may move, and what
 * is sent may be held back, too, where that is better for the whole. */
mo_status mo_along_side(const mo_instance *x, const mo_regime *regime,
                        const mo_stop *stop, mo_sim *sim,
                        const mo_along_role *roles, int n_blocks, mo_plan *plan,
                        mo_error *err);

/* Holds transfers back where that is better for the whole, also together with
 * ops that go home then: where their block had them, or -1.  The plan has
 * hold_ns; *best_ns is what it comes to. */
mo_status mo_along_hold(const mo_instance *x, const mo_regime *regime,
                        const mo_stop *stop, const mo_along_role *roles,
                        const int *home, mo_sim *sim, mo_plan *plan,
                        int64_t *best_ns, mo_error *err);

#endif
