/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline_solve.h - a model that a method needs the solution of, given to
 * whatever solver is at hand.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_BASELINE_MILP_H
#define MO_SOLVERS_SEARCH_BASELINES_BASELINE_MILP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "models/formulation.h"
#include "solvers/search/method.h"
#include "solvers/formats/solution.h"

typedef struct mo_baseline_milp_model {
    const mo_formulation *formulation;
    const mo_instance *x; /* the task's, or one made of it */
    mo_regime regime;
    bool integer; /* else its binaries may be fractions */
} mo_baseline_milp_model;

typedef struct mo_baseline_milp_result {
    mo_solution *solution; /* NULL: placed->why says why */
    int64_t unit_ns;       /* of its times */
} mo_baseline_milp_result;

/*
 * The task's solver, or else the first that is found, solves it in what is left
 * of the task's time; a solution that is not proven to be the best will do.
 * That there is no solver, no solution or no such model is told in placed, and
 * is no error.  The solution is the caller's.
 */
mo_status mo_baseline_milp_solve(const mo_method_task *task,
                                 const mo_baseline_milp_model *model,
                                 mo_baseline_milp_result *solved,
                                 mo_method_result *placed, mo_error *err);

/* Places the task's ops by the solution of a program about them. */
typedef mo_status mo_baseline_place_by_solution(const mo_method_task *task,
                                                const mo_solution *solution,
                                                mo_method_result *placed,
                                                mo_error *err);

/* Solves the formulation's linear program, in which transfers do not disturb
 * each other and memory is no matter, and where it has a solution places by
 * that. */
mo_status mo_baseline_place_by_lp(const mo_method_task *task,
                                  const mo_formulation *formulation,
                                  mo_baseline_place_by_solution *place,
                                  mo_method_result *placed, mo_error *err);

#endif
