/* SPDX-License-Identifier: Apache-2.0 */
/*
 * along.h - a schedule of many ops that no clean cut divides, made block by
 * block along a chain of them.
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

/* Chooses a chain, and devices for its own ops by a shortest path over what
 * list scheduling makes of the blocks between them.  x must outlive it. */
mo_status mo_primal_spine_new(const mo_instance *x, const mo_regime *regime,
                              const mo_primal_spine_options *options,
                              mo_primal_spine **along, mo_error *err);
void mo_primal_spine_free(mo_primal_spine *along);

/* Makes the schedules of the blocks, each by itself, better by so many moves of
 * annealing for each of its ops; every call goes on from the last.  The same
 * calls give the same answer for any number of threads, unless stopped. */
mo_status mo_primal_spine_improve(mo_primal_spine *along, int64_t moves,
                                  const mo_stop *stop, mo_error *err);

/*
 * Puts the blocks one behind the other, and what lies beside the chain where it
 * is least in their way.  Within pins and groups; *schedule is NULL where
 * memory does not suffice for what was found.
 */
mo_status mo_primal_spine_assemble(const mo_primal_spine *along,
                                   mo_schedule **schedule, mo_error *err);

/* The ends of larger blocks go where the schedule has them: what lies beside
 * the chain may be better served there.  Blocks for which that is new are
 * scheduled anew by the next improvement; false: there is none. */
bool mo_primal_spine_adopt_ends(mo_primal_spine *along,
                                const mo_schedule *schedule);

#endif
