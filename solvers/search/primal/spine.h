/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spine.h - block-coordinate descent along a spine, for many ops without
 * clean cuts: a chain of ops is chosen (schedule/bound/op_chain.h) and
 * the blocks between them are scheduled and annealed one by one; the rest is
 * placed by local search on the whole.
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

/* Chooses a chain, and devices for its ops by a shortest path over list
 * schedules of the blocks. The caller frees *spine with
 * mo_primal_spine_free(), which accepts NULL. x must outlive it. */
mo_status mo_primal_spine_new(const mo_instance *x, const mo_regime *regime,
                              const mo_primal_spine_options *options,
                              mo_primal_spine **spine, mo_error *err);
void mo_primal_spine_free(mo_primal_spine *spine);

/* Anneals every block by itself with so many moves for each of its ops; each
 * call continues from the last. Deterministic for any number of threads unless
 * stopped. */
mo_status mo_primal_spine_improve(mo_primal_spine *spine, int64_t moves,
                                  const mo_stop *stop, mo_error *err);

/*
 * Concatenates the blocks and places the ops beside the chain, within pins and
 * groups. The caller frees *schedule; it is NULL where the result does not fit
 * memory.
 */
mo_status mo_primal_spine_assemble(const mo_primal_spine *spine,
                                   mo_schedule **schedule, mo_error *err);

/* Takes the devices of the chain's ops at larger blocks from a schedule, which
 * may have moved them closer to ops beside the chain. Changed blocks are
 * scheduled from scratch by the next mo_primal_spine_improve(); returns false
 * if there are none. */
bool mo_primal_spine_adopt_ends(mo_primal_spine *spine,
                                const mo_schedule *schedule);

#endif
