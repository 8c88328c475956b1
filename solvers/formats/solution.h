/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solution.h - a solver's solution file: columns by name with their values,
 * and the status that the file claims.
 *
 * The format is detected from the content: SCIP, Gurobi (.sol, .mst and JSON),
 * HiGHS (raw and pretty), CBC, GLPK (-o and -w), CPLEX XML, MIPLIB. Nothing is
 * verified here; moirai-solution(5) describes the formats.
 */
#ifndef MO_SOLVERS_FORMATS_SOLUTION_H
#define MO_SOLVERS_FORMATS_SOLUTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* The status that the solver claims. */
typedef enum mo_solution_status {
    MO_SOLUTION_STATUS_UNKNOWN, /* the format has none */
    MO_SOLUTION_STATUS_OPTIMAL,
    MO_SOLUTION_STATUS_FEASIBLE, /* a solution, stopped by a limit or a user */
    MO_SOLUTION_STATUS_INFEASIBLE,
    MO_SOLUTION_STATUS_UNBOUNDED,   /* or: infeasible or unbounded */
    MO_SOLUTION_STATUS_NO_SOLUTION, /* stopped before there was one */
    /* Only in the notes of moirai-solve: optimal by one solver's claim; and by
     * that of several, of a model that is not as it was emitted. */
    MO_SOLUTION_STATUS_UNCONFIRMED,
    MO_SOLUTION_STATUS_OPTIMAL_AS_GIVEN
} mo_solution_status;

extern const char *const mo_solution_status_names[]; /* "optimal", ... */

/* The comments "# file:" of a file in Gurobi's format, or "file:" of a model:
 * where inputs were, see driver/file_hints.h. Others are ignored. */
enum { MO_SOLUTION_FILES = 10, MO_SOLUTION_FILE_SIZE = 240 };

typedef struct mo_solution_files {
    int n;
    char path[MO_SOLUTION_FILES][MO_SOLUTION_FILE_SIZE];
} mo_solution_files;

/* The comments "# status:", "# bound:" and "# solver:" or "# method:" of a
 * file in Gurobi's format, as moirai-solve and moirai-place write them. They
 * are for reports only: no result depends on them, but a status that denies
 * the solution counts as one of the file. */
typedef struct mo_solution_note {
    mo_solution_status status;
    bool has_bound;
    double bound; /* in the model's unit */
    char by[32];  /* "": unknown */
    mo_solution_files files;
} mo_solution_note;

typedef struct mo_solution_value {
    const char *name; /* 0-terminated */
    double value;
    int line; /* in the file; 0 where lines mean nothing (JSON, XML) */
} mo_solution_value;

typedef struct mo_solution {
    const char *layout; /* "scip", "highs", ... */
    mo_solution_status claim;
    bool has_objective, has_bound;
    double objective, bound; /* as in the file: in the model's unit */
    mo_solution_note note;
    int n;
    mo_solution_value *values; /* in the file's order; columns only, no rows */
    bool nameless; /* GLPK -w: names are NULL, values in column order */
    char *text;    /* the file, which contains most names */
    struct mo_arena *arena;
} mo_solution;

/* With the statuses infeasible, unbounded and no solution, in notes, too, the
 * values and the objective of a file are dropped (CBC writes those of the
 * relaxation), whatever other status the file has.
 * Objectives and bounds from 1e20 on mean that there is none. */

/* Reads path ("-": standard input); the caller frees *solution with
 * mo_solution_free(). An unknown format, a truncated file, or a malformed
 * number is an error with its line. */
mo_status mo_solution_read(const char *path, mo_solution **solution,
                           mo_error *err);
mo_status mo_solution_read_memory(const char *file, const char *data,
                                  size_t size, mo_solution **solution,
                                  mo_error *err);
void mo_solution_free(mo_solution *solution);

/* Adds a path of that length; one too long, or too many, is left out. */
void mo_solution_files_add(mo_solution_files *files, const char *path,
                           size_t length);

/* Returns whether text, which ends with 0, starts like some format. */
bool mo_solution_sniff(const char *text);

#endif
