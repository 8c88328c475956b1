/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solver.h - the plug-in interface of MILP solvers: a const struct of name,
 * properties and callbacks, one file for each solver.
 */
#ifndef MO_SOLVERS_PLUGINS_SOLVER_H
#define MO_SOLVERS_PLUGINS_SOLVER_H

#include <stdbool.h>

#include "base/error.h"
#include "models/write/mip_start.h"
#include "solvers/process/child.h"
#include "solvers/formats/solution.h"

/*
 * A linear program in the form in which solvers' libraries take one: columns
 * compressed, rows as ranges.
 *
 *     minimise cost x,   row_lower <= A x <= row_upper,   lower <= x <= upper
 *
 * Every row has one finite side, or two that are equal; other sides are
 * infinite. Plain arrays, owned by the maker of the struct.
 */
typedef struct mo_linear_program {
    int n_columns, n_rows, n_terms;
    double *cost, *lower, *upper; /* by column */
    double *row_lower, *row_upper;
    int *start; /* by column, and the end of the last */
    int *index; /* rows */
    double *coef;
} mo_linear_program;

/* What a solver found; any of it may be wrong. */
typedef struct mo_linear_program_answer {
    double objective;
    double *duals; /* by row; >= 0 for a lower side, <= 0 for an upper */
} mo_linear_program_answer;

typedef enum mo_solver_via {
    MO_SOLVER_VIA_PROCESS, /* the solver's own program on the model file */
    MO_SOLVER_VIA_LIBRARY, /* its C API, loaded at run time, in a child process
                            */
    MO_SOLVER_VIA_COMMAND  /* a command template of the user */
} mo_solver_via;

enum {
    MO_SOLVER_LIMIT_TIME = 1,
    MO_SOLVER_LIMIT_GAP = 2,
    MO_SOLVER_LIMIT_THREADS = 4,
    MO_SOLVER_LIMIT_MEMORY = 8
};

/* A model to solve, and limits. */
typedef struct mo_solver_job {
    const char *model;  /* an LP or MPS file; may be .gz or .zst */
    const char *start;  /* MIP start in the format the solver reads, or NULL */
    const char *folder; /* private working folder */
    double time_s;      /* 0: no limit */
    double gap;         /* relative; negative: the solver's default */
    int threads;        /* 0: the solver's default */
    int memory_mib;     /* 0: no limit */
    bool presolve;      /* false: off */
} mo_solver_job;

/* An installed solver; starts as { 0 }, all strings are owned. */
typedef struct mo_solver_install {
    char *program;          /* NULL: none */
    char *library;          /* NULL: none */
    double query_timeout_s; /* for each query; 0: 20 */

    /* Filled by mo_solver_query_version. */
    char *version;         /* "1.15.1", of the program */
    char *library_version; /* both NULL: not queried, or unknown */
    char *defect;          /* known defect of this version, or NULL */
    bool no_presolve;      /* the defect is avoided without presolve */
} mo_solver_install;

/* Progress parsed from a line of the log. */
typedef struct mo_solver_progress {
    bool has_incumbent, has_bound, has_claim;
    double incumbent, bound; /* bound: as printed, rounded down */
    double seconds;          /* by the solver's clock; 0 where not printed */
    mo_solution_status claim;
} mo_solver_progress;

/* Output files of the program: names in job->folder, or NULL. */
typedef struct mo_solver_output_files {
    const char *solution;
    const char *names; /* file with the names, for a solution without */
} mo_solver_output_files;

typedef struct mo_solver {
    const char *name, *title; /* "highs", "HiGHS" */
    const char *help;
    /* Of a solver that is added (solvers/registry.h), as of --command; then all
     * that follows is zero. NULL: built in. */
    const char *command_template;
    unsigned limits;    /* MO_SOLVER_LIMIT_... it enforces by itself */
    bool accepts_start; /* accepts a MIP start, in this format: */
    mo_mip_start_layout start_layout;
    bool writes_on_sigint; /* its program writes the incumbent on SIGINT */
    mo_solver_output_files files;

    /* Searches: path (of --solver-path; or NULL), MOIRAI_<NAME>, PATH and the
     * loader's search path, then the private folder. A given path without a
     * solver is an error; else nothing found leaves both members NULL. The
     * caller frees *found with mo_solver_install_clear(). */
    mo_status (*find)(const char *path, mo_solver_install *found,
                      mo_error *err);

    /* process: starts a command line that calls the program. NULL: its path
     * alone. */
    mo_status (*begin_command)(const mo_solver_install *found, mo_argv *line,
                               mo_error *err);

    /* process: the argument that makes it print its version, and the text
     * before the version. */
    const char *version_argument, *version_after;

    /* Checks for known defects of this way once the version is known. May be
     * NULL. */
    mo_status (*check_defects)(mo_solver_install *found, mo_solver_via way,
                               mo_error *err);

    /* process: appends the command line for job, to be run in job->folder,
     * where the model and the start have plain file names. */
    mo_status (*command)(const mo_solver_install *found,
                         const mo_solver_job *job, mo_argv *line,
                         mo_error *err);

    /* process: reads the incumbent of a killed solver. *solution, which the
     * caller frees, stays NULL when there is none. May be NULL. */
    mo_status (*read_incumbent)(const mo_solver_job *job,
                                mo_solution **solution, mo_error *err);

    /* library: runs in a child, writes the solution to
     * MO_SOLVER_LIBRARY_SOLUTION in job->folder, in the MIPLIB format with
     * comments for status and bound, prints progress to stdout as the program
     * would. It does so also on SIGINT or SIGTERM (but CBC, which only its
     * time limit stops). found->library NULL: searched by the loader. NULL
     * member: not supported. */
    mo_status (*solve)(const mo_solver_install *found, const mo_solver_job *job,
                       mo_error *err);

    /* library: runs in a child, solves the linear program with one thread and
     * fills *answer, whose array has an entry for each row; time_s as in a job.
     * After its limit the solver may leave what it has.  NULL: not
     * supported. */
    mo_status (*solve_lp)(const mo_solver_install *found,
                          const mo_linear_program *lp, double time_s,
                          mo_linear_program_answer *answer, mo_error *err);

    /* library: runs in a child, prints the version on a line of its own and
     * returns the exit code. */
    int (*library_version)(const char *library);

    /* Parses a line of the log into *step; returns false when it has no
     * progress. */
    bool (*parse_log_line)(const char *line, mo_solver_progress *step);
} mo_solver;

#define MO_SOLVER_LIBRARY_SOLUTION "library.sol"

/* The plug-ins of this folder. */
extern const mo_solver mo_solver_highs, mo_solver_scip, mo_solver_gurobi,
    mo_solver_cbc, mo_solver_glpk;

/* Frees what *found owns and leaves { 0 }. */
void mo_solver_install_clear(mo_solver_install *found);

/* Seconds that a query of the solver may take: found->query_timeout_s, or 20.
 */
double mo_solver_query_timeout_s(const mo_solver_install *found);

#endif
