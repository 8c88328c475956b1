/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library_ways.h - solving by a solver's C interface.
 *
 * All of these are for a child of ours: the solver may crash, hang, print, end
 * the process, start threads.  An int that they return is its exit code;
 * what they could not do is told in the last line they print, after "error: ".
 */
#ifndef MO_SOLVERS_PLUGINS_LIBRARY_ENTRY_H
#define MO_SOLVERS_PLUGINS_LIBRARY_ENTRY_H

#include "solvers/plugins/solver.h"

/* mo_solver's solve, for mo_library_solve_child: leave job->folder/library.sol,
 * also when SIGINT or SIGTERM comes (but CBC, which only its time limit stops).
 * A library of NULL is the one on the loader's path. */
mo_status mo_highs_solve(const mo_solver_install *found,
                         const mo_solver_job *job, mo_error *err);
mo_status mo_scip_solve(const mo_solver_install *found,
                        const mo_solver_job *job, mo_error *err);
mo_status mo_gurobi_solve(const mo_solver_install *found,
                          const mo_solver_job *job, mo_error *err);
mo_status mo_cbc_solve(const mo_solver_install *found, const mo_solver_job *job,
                       mo_error *err);

/* mo_solver's library_version: print it on a line of its own. */
int mo_highs_library_version(const char *library);
int mo_scip_library_version(const char *library);
int mo_gurobi_library_version(const char *library);
int mo_cbc_library_version(const char *library);

/* Solves a small model that presolve of many versions before 1.15 gets wrong:
 * exits with 0 when the answer is right, with MO_HIGHS_PROBE_WRONG when it is
 * not, with 1 when the library cannot be asked. */
enum { MO_HIGHS_PROBE_WRONG = 3 };
int mo_highs_probe_presolve(const char *library);

#endif
