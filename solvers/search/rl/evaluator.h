/*
 * score.h - what a placement comes to, for who learns to place.
 *
 * The makespan by the simulator that judges all methods, ops going by falling
 * upward rank on the devices they are on.  Which op goes first is nothing that
 * is learned; a good placement deserves a better order, which is found by
 * swapping ops for as long as that helps.  In units of everything on the best
 * single device, so that graphs of all sizes teach alike.  What overflows
 * memory costs as much more as it is too large.
 */
#ifndef MO_SOLVERS_SEARCH_RL_EVALUATOR_H
#define MO_SOLVERS_SEARCH_RL_EVALUATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/placement_units.h"
#include "solvers/search/method.h"

typedef struct mo_score mo_score; /* for one thread */

typedef struct mo_scored {
    double score;
    int64_t makespan_ns;
    bool fits;
} mo_scored;

/* What fits is better than what does not. */
bool mo_score_better(const mo_scored *a, const mo_scored *b);

mo_status mo_score_new(const mo_task *task, const mo_units *units,
                       mo_score **score, mo_error *err);
void mo_score_free(mo_score *score);

/* device: by unit. */
mo_status mo_score_of(mo_score *score, const int *device, mo_scored *scored,
                      mo_error *err);

/* Looks for a better order of a placement, which is written to rank, by op;
 * scored is as mo_score_of has it, and becomes what it is then. */
mo_status mo_score_improve(mo_score *score, const int *device, int *rank,
                           mo_scored *scored, mo_error *err);

/* That many were simulated so far. */
int64_t mo_score_simulations(const mo_score *score);

/* Its schedule becomes the answer. */
mo_status mo_score_keep(mo_score *score, const int *device, const int *rank,
                        mo_placed *placed, mo_error *err);

#endif
