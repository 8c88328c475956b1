/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.h - the table of solver plug-ins, and the version query that works
 * for all of them.
 */
#ifndef MO_SOLVERS_REGISTRY_H
#define MO_SOLVERS_REGISTRY_H

#include "solvers/plugins/solver.h"

/* All plug-ins, the default first; ends with NULL. */
extern const mo_solver *const mo_solver_table[];

/* Adds a solver with a command_template behind all others; it lives as long as
 * the process. A name that is taken, or too many, are MO_E_USAGE. From any
 * thread. */
mo_status mo_solver_add(const mo_solver *solver, mo_error *err);

/* Returns solver i, those that were added behind the table; NULL behind the
 * last. */
const mo_solver *mo_solver_at(int i);

/* Returns the entry of that name ("highs"); NULL when there is none. */
const mo_solver *mo_solver_by_name(const char *name);

/* Runs the program or loads the library, if it was found, in a child process,
 * stores its version in *found, then checks for known defects of that version.
 * A solver that prints no version is no error.  Starting either may take
 * seconds: query only the one that will be used. */
mo_status mo_solver_query_version(const mo_solver *solver, mo_solver_via way,
                                  mo_solver_install *found, mo_error *err);

#endif
