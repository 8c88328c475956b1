/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library_solve.h - solving by a solver's library, the parts common to all
 * solvers: setup of the child, MIP start, solution file, exit code.
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

/* Runs solve() in the child, with line-buffered output and signals as requests
 * to stop . Returns the exit code. */
int mo_library_solve_child(mo_status (*solve)(const mo_solver_install *found,
                                              const mo_solver_job *job,
                                              mo_error *err),
                           const mo_solver_install *found,
                           const mo_solver_job *job);

/* Returns the solver's claim, corrected by whether it has a solution. */
mo_solution_status mo_library_solution_status(mo_solution_status claim,
                                              bool solved);

/* Writes MO_SOLVER_LIBRARY_SOLUTION in folder, atomically. A meaningless bound
 * (infinite, or beside such a claim) is left out; other numbers that are not
 * finite are an error. */
mo_status mo_library_solution_write(const char *folder,
                                    const mo_library_solution *answer,
                                    mo_error *err);

/* Allocates values[0 .. n-1], which the caller frees, from a start in any
 * format; missing columns are 0. Returns MO_E_INPUT, with values NULL, when it
 * has none of the columns. */
mo_status
mo_library_read_mip_start(const char *path, int n,
                          const char *(*name)(void *context, int column),
                          void *context, double **values, mo_error *err);

/* Prints the error as the last line, after "error: ", unless status is MO_OK.
 * Returns the exit code. */
int mo_library_exit_code(mo_status status, const mo_error *err);

/* Prints the version on a line of its own; returns the exit code. */
int mo_library_print_version(const mo_dynlib_spec *kind, const char *path);

/* Signals: SIGINT and SIGTERM in the child are a request to stop and write the
 * incumbent.  Handlers are per process: this is for a child that does nothing
 * else. */

bool mo_library_signals_pending(void);

/*
 * From here on the handler calls interrupt(context), and again every second
 * until mo_library_signals_end(): libraries lose a request that comes before
 * they start.
 */
void mo_library_signals_begin(void (*interrupt)(void *context), void *context);
void mo_library_signals_end(void);

/* Incumbent: the best solution on disk while the solver is still running, so
 * that a solver that crashes or is killed leaves one.  An update is copied at
 * once and written later: writing takes a small part of the time at most. */

typedef struct mo_library_incumbent {
    const char *folder;
    mo_library_solution answer; /* its values are owned, of answer.n columns */
    double *values;
    bool unwritten;
    double next_s; /* no write before this time */
} mo_library_incumbent;

/* Starts without a solution; name and context as in mo_library_solution. The
 * caller frees the incumbent. */
mo_status mo_library_incumbent_new(
    const char *folder, int n, const char *(*name)(void *context, int column),
    void *context, mo_library_incumbent *best, mo_error *err);
void mo_library_incumbent_clear(mo_library_incumbent *best);

/* Copies a better solution: its objective, the bound so far, one value per
 * column. */
void mo_library_incumbent_update(mo_library_incumbent *best, double objective,
                                 double bound, const double *values);

/* Writes a pending update, if it is time; called whenever the solver runs a
 * callback. Errors are ignored: the final write meets the same. */
void mo_library_incumbent_flush(mo_library_incumbent *best);

#endif
