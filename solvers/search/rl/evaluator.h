/* SPDX-License-Identifier: Apache-2.0 */
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

typedef struct mo_rl_evaluator mo_rl_evaluator; /* for one thread */

typedef struct mo_rl_evaluation {
    double score;
    int64_t makespan_ns;
    bool fits;
} mo_rl_evaluation;

/* What fits is better than what does not. */
bool mo_rl_evaluation_better(const mo_rl_evaluation *a,
                             const mo_rl_evaluation *b);

mo_status mo_rl_evaluator_new(const mo_method_task *task,
                              const mo_placement_units *units,
                              mo_rl_evaluator **score, mo_error *err);
void mo_rl_evaluator_free(mo_rl_evaluator *score);

/* device: by unit. */
mo_status mo_rl_evaluator_evaluate(mo_rl_evaluator *score, const int *device,
                                   mo_rl_evaluation *scored, mo_error *err);

/* Looks for a better order of a placement, which is written to rank, by op;
 * scored is as mo_rl_evaluator_evaluate has it, and becomes what it is then. */
mo_status mo_rl_evaluator_improve_order(mo_rl_evaluator *score,
                                        const int *device, int *rank,
                                        mo_rl_evaluation *scored,
                                        mo_error *err);

/* That many were simulated so far. */
int64_t mo_rl_evaluator_simulations(const mo_rl_evaluator *score);

/* Its schedule becomes the answer. */
mo_status mo_rl_evaluator_make_schedule(mo_rl_evaluator *score,
                                        const int *device, const int *rank,
                                        mo_method_result *placed,
                                        mo_error *err);

#endif
