/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library_best.h - the best answer so far, on disk while the solver is still
 * running, so that one that crashes or must be killed leaves something.
 *
 * What is taken is copied at once and written soon: writing never takes more
 * than a small part of the time.
 */
#ifndef MO_SOLVERS_PLUGINS_LIBRARY_INCUMBENT_H
#define MO_SOLVERS_PLUGINS_LIBRARY_INCUMBENT_H

#include "solvers/plugins/library_solve.h"

typedef struct mo_library_incumbent {
    const char *folder;
    mo_library_solution answer; /* whose values are ours, of answer.n columns */
    double *values;
    bool unwritten;
    double next_s; /* not before this moment */
} mo_library_incumbent;

/* Begins without any; name and context as in mo_library_solution. */
mo_status mo_library_incumbent_new(
    const char *folder, int n, const char *(*name)(void *context, int column),
    void *context, mo_library_incumbent *best, mo_error *err);
void mo_library_incumbent_clear(mo_library_incumbent *best);

/* A better answer: its objective, the bound so far, a value a column. */
void mo_library_incumbent_update(mo_library_incumbent *best, double objective,
                                 double bound, const double *values);

/* Writes what is not written yet, if it is time; for every moment in which the
 * solver lets us do something.  What goes wrong is not told: the answer in the
 * end will meet the same. */
void mo_library_incumbent_flush(mo_library_incumbent *best);

#endif
