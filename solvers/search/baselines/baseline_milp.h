/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline_milp.h - the linear or integer program of a published method,
 * solved by any installed MILP solver; LP relaxation of a model.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_BASELINE_MILP_H
#define MO_SOLVERS_SEARCH_BASELINES_BASELINE_MILP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "models/formulation.h"
#include "models/sink/sink.h"
#include "solvers/formats/solution.h"
#include "solvers/search/method.h"

typedef struct mo_baseline_milp_model {
    const mo_formulation *formulation;
    const mo_instance *x; /* the task's, or one derived from it */
    mo_regime regime;
    bool integer; /* false: the LP relaxation */
} mo_baseline_milp_model;

typedef struct mo_baseline_milp_result {
    mo_solution *solution; /* the caller frees it; NULL: see placed->why */
    int64_t unit_ns;       /* of its times */
} mo_baseline_milp_result;

/*
 * Solves the model with the task's solver, or the first that is installed, in
 * the time that is left; a solution need not be proven optimal. No solver, no
 * solution or no such model is not an error: solved->solution is NULL then and
 * placed->why gives the reason.
 */
mo_status mo_baseline_milp_solve(const mo_method_task *task,
                                 const mo_baseline_milp_model *model,
                                 mo_baseline_milp_result *solved,
                                 mo_method_result *placed, mo_error *err);

/* Places the task's ops by the solution of a program. */
typedef mo_status mo_baseline_place_by_solution(const mo_method_task *task,
                                                const mo_solution *solution,
                                                mo_method_result *placed,
                                                mo_error *err);

/* Solves the LP relaxation of the formulation, without congestion and memory,
 * and calls place() if it has a solution. */
mo_status mo_baseline_place_by_lp(const mo_method_task *task,
                                  const mo_formulation *formulation,
                                  mo_baseline_place_by_solution *place,
                                  mo_method_result *placed, mo_error *err);

/* Makes a sink that passes a model on with its binaries as continuous
 * variables between 0 and 1, the LP relaxation. `to`, a sink of one pass, is
 * owned by the new sink and freed with it, or at once on failure. */
mo_status mo_baseline_lp_relax_new(mo_sink *to, mo_sink **sink, mo_error *err);

#endif
