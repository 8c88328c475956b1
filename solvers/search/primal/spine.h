/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spine.h - block-coordinate descent along a spine, for large instances without
 * clean cuts. The spine is a chain of ops (schedule/bound/op_chain.h). The
 * blocks between consecutive ops of the chain are scheduled and annealed one by
 * one. Local search on the full instance places all other ops.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_SPINE_H
#define MO_SOLVERS_SEARCH_PRIMAL_SPINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

typedef struct mo_primal_spine_options {
    uint64_t seed;
    int threads; /* 0: all cores */
    const mo_stop *stop;
} mo_primal_spine_options;

typedef struct mo_primal_spine mo_primal_spine;

/* Chooses a chain, and devices for its ops: a shortest path, where the length
 * of a block is that of its list schedule. The caller frees *spine with
 * mo_primal_spine_free(), which accepts NULL. x must outlive it. */
mo_status mo_primal_spine_new(const mo_instance *x, const mo_regime *regime,
                              const mo_primal_spine_options *options,
                              mo_primal_spine **spine, mo_error *err);
void mo_primal_spine_free(mo_primal_spine *spine);

/* Anneals each block separately, with the given number of moves per op. Each
 * call starts from the schedules of the call before. Unless stopped, the result
 * does not depend on the number of threads. */
mo_status mo_primal_spine_improve(mo_primal_spine *spine, int64_t moves,
                                  const mo_stop *stop, mo_error *err);

/*
 * Concatenates the schedules of the blocks and places the ops of no block, in
 * accordance with pins and groups. The caller frees *schedule; it is NULL if
 * the result does not fit into memory.
 */
mo_status mo_primal_spine_assemble(const mo_primal_spine *spine,
                                   mo_schedule **schedule, mo_error *err);

/* Moves the ops of the chain at the ends of all but the smallest blocks to
 * their devices in a schedule, for example one that was improved as a whole.
 * The next mo_primal_spine_improve() schedules changed blocks from scratch.
 * Returns whether any block has changed. */
bool mo_primal_spine_adopt_ends(mo_primal_spine *spine,
                                const mo_schedule *schedule);

#endif
