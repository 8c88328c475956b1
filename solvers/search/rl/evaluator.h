/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluator.h - evaluates placements for training: the reward, and its
 * baseline.
 *
 * The makespan by the simulator used for all methods, with ops by decreasing
 * upward rank on their devices.  The order is not learned; a good placement
 * gets a better one by local search (pairwise swaps).  In units of the best
 * single device's makespan, so that rewards of graphs of all sizes are
 * comparable. Memory overflow is penalized in proportion to the excess.
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

/* Returns whether a is better; a placement that fits is better than one that
 * does not. */
bool mo_rl_evaluation_better(const mo_rl_evaluation *a,
                             const mo_rl_evaluation *b);

mo_status mo_rl_evaluator_new(const mo_method_task *task,
                              const mo_placement_units *units,
                              mo_rl_evaluator **evaluator, mo_error *err);
void mo_rl_evaluator_free(mo_rl_evaluator *evaluator);

/* device: by unit.  Sets *scored. */
mo_status mo_rl_evaluator_evaluate(mo_rl_evaluator *evaluator,
                                   const int *device, mo_rl_evaluation *scored,
                                   mo_error *err);

/* Local search for a better order of a placement, which is written to rank, a
 * buffer by op; scored is as set by mo_rl_evaluator_evaluate, and is
 * updated. */
mo_status mo_rl_evaluator_improve_order(mo_rl_evaluator *evaluator,
                                        const int *device, int *rank,
                                        mo_rl_evaluation *scored,
                                        mo_error *err);

/* Returns the number of simulations so far. */
int64_t mo_rl_evaluator_simulations(const mo_rl_evaluator *evaluator);

/* Makes the schedule of the placement the result. */
mo_status mo_rl_evaluator_make_schedule(mo_rl_evaluator *evaluator,
                                        const int *device, const int *rank,
                                        mo_method_result *placed,
                                        mo_error *err);

/* The baseline of REINFORCE: expected returns, by kind of episode and by part
 * of it, as a good starting placement leaves less to gain. */
enum { MO_RL_EPISODE_KINDS = 2 };

typedef struct mo_rl_return_baseline {
    int n_parts;
    double baseline_decay; /* decay of an exponential moving average; 0: the
                     mean of the last ten */
    double *last;          /* ten each */
    double *mean;          /* the moving average */
    int64_t n[MO_RL_EPISODE_KINDS];
} mo_rl_return_baseline;

/* n_parts and baseline_decay are set by the caller, which frees it with
 * mo_rl_return_baseline_clear(), also after a failure. */
mo_status mo_rl_return_baseline_init(mo_rl_return_baseline *returns,
                                     mo_error *err);
void mo_rl_return_baseline_clear(mo_rl_return_baseline *returns);

/* Removes all returns. */
void mo_rl_return_baseline_reset(mo_rl_return_baseline *returns);

/* is: by part. */
void mo_rl_return_baseline_add(mo_rl_return_baseline *returns, int kind,
                               const double *is);

double mo_rl_return_baseline_value(const mo_rl_return_baseline *returns,
                                   int kind, int part);

#endif
