/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library_incumbent.h - the incumbent on disk while the solver is still
 * running, so that a solver that crashes or is killed leaves a solution.
 *
 * An update is copied at once and written later: writing takes a small part of
 * the time at most.
 */
#ifndef MO_SOLVERS_PLUGINS_LIBRARY_INCUMBENT_H
#define MO_SOLVERS_PLUGINS_LIBRARY_INCUMBENT_H

#include "solvers/plugins/library_solve.h"

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
