/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_case.h - a small model and a solver job, in a scratch folder.
 */
#ifndef MO_TESTS_SOLVERS_RUN_CASE_H
#define MO_TESTS_SOLVERS_RUN_CASE_H

#include "solvers/run_solver.h"

/* Two ops on two devices, each with memory for one. */
extern const char run_small_lp[];
extern const double run_small_answer;

/* A fixture: enters a scratch folder, and creates one in it for jobs. */
void run_enter(void);
extern char run_folder[4200];

/* To optimality, with one thread. */
mo_solver_job run_job(const char *model);

#endif
