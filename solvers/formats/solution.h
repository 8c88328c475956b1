/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solution.h - what a solver wrote, read back: columns by name with their
 * values, and what the file claims about them.
 *
 * The layout is found out by looking at the file, never asked for: SCIP, Gurobi
 * (.sol, .mst and JSON), HiGHS (raw and pretty), CBC, GLPK (-o and -w), CPLEX
 * XML, MIPLIB.  Nothing is believed here; moirai-solution(5) has the layouts.
 */
#ifndef MO_SOLVERS_FORMATS_SOLUTION_H
#define MO_SOLVERS_FORMATS_SOLUTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* What the solver says it found. */
typedef enum mo_solution_status {
    MO_SOLUTION_STATUS_UNKNOWN, /* the layout has no place for it */
    MO_SOLUTION_STATUS_OPTIMAL,
    MO_SOLUTION_STATUS_FEASIBLE, /* a solution, stopped by a limit or a user */
    MO_SOLUTION_STATUS_INFEASIBLE,
    MO_SOLUTION_STATUS_UNBOUNDED,  /* or: infeasible or unbounded */
    MO_SOLUTION_STATUS_NO_SOLUTION /* stopped before there was one */
} mo_solution_status;

extern const char *const mo_solution_status_names[]; /* "optimal", ... */

typedef struct mo_solution_value {
    const char *name; /* ends with 0 */
    double value;
    int line; /* in the file; 0 where lines mean nothing (JSON, XML) */
} mo_solution_value;

typedef struct mo_solution {
    const char *layout; /* "scip", "highs", ... */
    mo_solution_status claim;
    bool has_objective, has_bound;
    double objective, bound; /* as the solver has them: in the model's unit */
    int n;
    mo_solution_value *values; /* in the file's order; columns only, no rows */
    bool nameless; /* GLPK -w: names are NULL, values in column order */
    char *text;    /* the file, in which most names stand */
    struct mo_arena *arena;
} mo_solution;

/* What a file holds beside the claims "infeasible", "unbounded" and "no
 * solution" is no solution (CBC writes the relaxation's): no values and no
 * objective are kept of it.  Objectives and bounds from 1e20 on are how solvers
 * write that there is none. */

/* Reads path ("-": standard input).  A file that is none of the layouts, that
 * stops in the middle, or in which a number is none, is an error with its
 * line. */
mo_status mo_solution_read(const char *path, mo_solution **solution,
                           mo_error *err);
mo_status mo_solution_read_memory(const char *file, const char *data,
                                  size_t size, mo_solution **solution,
                                  mo_error *err);
void mo_solution_free(mo_solution *solution);

/* Does the text, which ends with 0, begin like one in some layout? */
bool mo_solution_sniff(const char *text);

#endif
