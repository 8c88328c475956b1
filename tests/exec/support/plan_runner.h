/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_runner.h - runs plans on devices of this process.
 *
 *     plan_runner run;
 *
 *     plan_runner_begin(&run, plan, seed);
 *     run.backends[0] = &mo_backend_cuda; // unless it is a CPU
 *     plan_runner_go(&run);               // run.result has the outputs
 *     plan_runner_end(&run);
 *
 * Inputs follow from the seed. Options may be changed before plan_runner_go();
 * a runner must not be moved, since options point into it.
 */
#ifndef MO_TESTS_EXEC_SUPPORT_PLAN_RUNNER_H
#define MO_TESTS_EXEC_SUPPORT_PLAN_RUNNER_H

#include "exec/runtime/run.h"
#include "tests/exec/support/random_plan.h"

enum { PLAN_RUNNER_INPUTS = 4 }; /* at most */

typedef struct plan_runner {
    const mo_exec_plan *plan;
    mo_tensor_dense inputs[PLAN_RUNNER_INPUTS];
    const mo_backend *backends[RANDOM_PLAN_DEVICES];
    mo_backend_unit_options units[RANDOM_PLAN_DEVICES];
    int rank_of[RANDOM_PLAN_DEVICES];
    mo_run_plan_options options;
    mo_run_result result;
} plan_runner;

void plan_runner_begin(plan_runner *r, const mo_exec_plan *plan, unsigned seed);
void plan_runner_go(plan_runner *r);
void plan_runner_end(plan_runner *r);

/* Moves the result to the caller, which frees it with mo_run_result_clear(). */
void plan_runner_take(plan_runner *r, mo_run_result *result);

/* Runs the plan once on CPU devices. */
void plan_runner_result(const mo_exec_plan *plan, unsigned seed,
                        mo_run_result *result);

/* Fails unless outputs agree up to that relative error, or bit by bit. */
void check_outputs_close(const mo_run_result *a, const mo_run_result *b,
                         double allowed, int seed);
void check_outputs_equal(const mo_run_result *a, const mo_run_result *b,
                         int seed);

#endif
