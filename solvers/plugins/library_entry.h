/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library_entry.h - solving by a solver's C interface.
 *
 * All functions run in a child process: the solver may crash, hang, print,
 * exit, start threads. An int result is the exit code; the last line printed
 * is the error, after "error: ".
 */
#ifndef MO_SOLVERS_PLUGINS_LIBRARY_ENTRY_H
#define MO_SOLVERS_PLUGINS_LIBRARY_ENTRY_H

#include "solvers/plugins/solver.h"

/* Implement mo_solver.solve, for mo_library_solve_child(): write
 * job->folder/library.sol, also on SIGINT or SIGTERM (but CBC, which only its
 * time limit stops). A library of NULL is searched by the loader. */
mo_status mo_highs_solve(const mo_solver_install *found,
                         const mo_solver_job *job, mo_error *err);
mo_status mo_scip_solve(const mo_solver_install *found,
                        const mo_solver_job *job, mo_error *err);
mo_status mo_gurobi_solve(const mo_solver_install *found,
                          const mo_solver_job *job, mo_error *err);
mo_status mo_cbc_solve(const mo_solver_install *found, const mo_solver_job *job,
                       mo_error *err);

/* Implement mo_solver.library_version: print it on a line of its own. */
int mo_highs_library_version(const char *library);
int mo_scip_library_version(const char *library);
int mo_gurobi_library_version(const char *library);
int mo_cbc_library_version(const char *library);

/* Solves a small model that presolve of many versions before 1.15 gets wrong.
 * Returns 0 when the answer is right, MO_HIGHS_PROBE_WRONG when it is not, 1
 * when the library cannot be used. */
enum { MO_HIGHS_PROBE_WRONG = 3 };
int mo_highs_probe_presolve(const char *library);

#endif
