/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library_answer.h - what the library ways have in common: how they begin, the
 * start they are given, the answer they leave, and how they end.
 */
#ifndef MO_SOLVERS_PLUGINS_LIBRARY_SOLVE_H
#define MO_SOLVERS_PLUGINS_LIBRARY_SOLVE_H

#include <stdbool.h>

#include "base/error.h"
#include "solvers/plugins/dynlib.h"
#include "solvers/plugins/solver.h"

typedef struct mo_library_solution {
    mo_solution_status claim;
    bool has_objective, has_bound;
    double objective, bound;
    int n; /* columns; 0 where there is no solution */
    const double *values;
    const char *(*name)(void *context, int column);
    void *context;
} mo_library_solution;

/* In the child: solves, with lines leaving it as they are printed and signals
 * as wishes (library_stop.h).  Returns the exit code. */
int mo_library_solve_child(mo_status (*solve)(const mo_solver_install *found,
                                              const mo_solver_job *job,
                                              mo_error *err),
                           const mo_solver_install *found,
                           const mo_solver_job *job);

/* What a solver claims, held against whether it has a solution. */
mo_solution_status mo_library_solution_status(mo_solution_status claim,
                                              bool solved);

/* To MO_SOLVER_LIBRARY_SOLUTION, whole or not at all, in place of the one
 * before.  A bound that says nothing, by its size or beside such a claim, is
 * left out; another number that is none is an error. */
mo_status mo_library_solution_write(const char *folder,
                                    const mo_library_solution *answer,
                                    mo_error *err);

/* Makes values[0 .. n-1], to be freed, from a start in any layout; columns that
 * it leaves out are 0.  MO_E_INPUT when it knows none of them; then values are
 * NULL. */
mo_status
mo_library_read_mip_start(const char *path, int n,
                          const char *(*name)(void *context, int column),
                          void *context, double **values, mo_error *err);

/* Where status is none but MO_OK, the last line that is printed says why, after
 * "error: ".  Returns the exit code. */
int mo_library_exit_code(mo_status status, const mo_error *err);

/* The version on a line of its own, for the child that was asked for it. */
int mo_library_print_version(const mo_dynlib_spec *kind, const char *path);

#endif
