/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solver.h - the solvers we know, and what each can do: one table, one file for
 * each of them.
 */
#ifndef MO_SOLVERS_PLUGINS_SOLVER_H
#define MO_SOLVERS_PLUGINS_SOLVER_H

#include <stdbool.h>

#include "base/error.h"
#include "models/write/mip_start.h"
#include "solvers/process/argv.h"
#include "solvers/formats/solution.h"

typedef enum mo_solver_via {
    MO_SOLVER_VIA_PROCESS, /* the solver's own program on the model file */
    MO_SOLVER_VIA_LIBRARY, /* its C API, loaded at run time, in a child of ours
                            */
    MO_SOLVER_VIA_COMMAND  /* a template of the user's */
} mo_solver_via;

enum {
    MO_SOLVER_LIMIT_TIME = 1,
    MO_SOLVER_LIMIT_GAP = 2,
    MO_SOLVER_LIMIT_THREADS = 4,
    MO_SOLVER_LIMIT_MEMORY = 8
};

/* What is asked of a solver. */
typedef struct mo_solver_job {
    const char *model;  /* an LP or MPS file, as it lies; may be .gz or .zst */
    const char *start;  /* in the layout the solver reads, or NULL */
    const char *folder; /* a private one to work in */
    double time_s;      /* 0: no limit */
    double gap;         /* relative; negative: the solver's own */
    int threads;        /* 0: the solver's own */
    int memory_mib;     /* 0: no limit */
    bool presolve;      /* false: off */
} mo_solver_job;

/* Where a solver was found. */
typedef struct mo_solver_install {
    char *program;     /* NULL: not this way */
    char *library;     /* NULL: not this way */
    double patience_s; /* for each question to it; 0: 20 */

    /* Filled by mo_solver_query_version. */
    char *version;         /* "1.15.1", of the program */
    char *library_version; /* both NULL: not asked, or it would not say */
    char *trouble;    /* what is known to be wrong with this version, or NULL */
    bool no_presolve; /* the trouble goes away without presolve */
} mo_solver_install;

/* What a line of the log tells. */
typedef struct mo_solver_progress {
    bool has_incumbent, has_bound, has_claim;
    double incumbent, bound; /* a bound is what was printed, rounded down */
    double seconds;          /* by the solver's clock; 0 where not told */
    mo_solution_status claim;
} mo_solver_progress;

/* Where a program leaves its answer: names of files in job->folder, or NULL. */
typedef struct mo_solver_output_files {
    const char *solution;
    const char *names; /* where the names are, when it has none */
} mo_solver_output_files;

typedef struct mo_solver {
    const char *name, *title; /* "highs", "HiGHS" */
    const char *help;
    unsigned limits; /* MO_LIMIT_... it obeys by itself */
    bool starts;     /* it reads a start, in this layout: */
    mo_mip_start_layout start_layout;
    bool stops_well; /* its program writes what it has on SIGINT */
    mo_solver_output_files files;

    /* Looks for it: path (of --solver-path; or NULL), MOIRAI_<NAME>, PATH and
     * the loader's path, then the private folder.  A path that was given and
     * leads to nothing is an error; else nothing found leaves both NULL. */
    mo_status (*find)(const char *path, mo_solver_install *found,
                      mo_error *err);

    /* process: begins a command line that calls its program.  NULL: by its
     * path alone. */
    mo_status (*program)(const mo_solver_install *found, mo_argv *line,
                         mo_error *err);

    /* process: the argument that makes it print its version, and the words
     * before it. */
    const char *version_argument, *version_after;

    /* Looks for known trouble of this way once its version is known.  May be
     * NULL. */
    mo_status (*examine)(mo_solver_install *found, mo_solver_via way,
                         mo_error *err);

    /* process: the command line for job, to be run in job->folder, where the
     * model and the start lie under names of one plain word. */
    mo_status (*command)(const mo_solver_install *found,
                         const mo_solver_job *job, mo_argv *line,
                         mo_error *err);

    /* process: what it found before it was killed.  *solution stays NULL when
     * there is nothing.  May be NULL. */
    mo_status (*rescue)(const mo_solver_job *job, mo_solution **solution,
                        mo_error *err);

    /* library: runs in a child, writes the solution to
     * MO_SOLVER_LIBRARY_SOLUTION in job->folder, in the MIPLIB layout with
     * comments for status and bound, prints progress to stdout as the program
     * would.  NULL: no such way. */
    mo_status (*solve)(const mo_solver_install *found, const mo_solver_job *job,
                       mo_error *err);

    /* library: runs in a child, prints the version on a line of its own. */
    int (*library_version)(const char *library);

    /* Reads a line of the log into step; false when it tells nothing. */
    bool (*step)(const char *line, mo_solver_progress *step);
} mo_solver;

#define MO_SOLVER_LIBRARY_SOLUTION "library.sol"

/* The plug-ins of this folder. */
extern const mo_solver mo_solver_highs, mo_solver_scip, mo_solver_gurobi,
    mo_solver_cbc, mo_solver_glpk;

/* Frees what *found owns and leaves { 0 }. */
void mo_solver_install_clear(mo_solver_install *found);

/* Seconds that a query of the solver may take: found->patience_s, or 20. */
double mo_solver_query_timeout_s(const mo_solver_install *found);

#endif
