/* SPDX-License-Identifier: Apache-2.0 */
/*
 * portfolio.h - solver portfolio: one model solved by one solver or by several
 * in parallel.
 */
#ifndef MO_DRIVER_PORTFOLIO_H
#define MO_DRIVER_PORTFOLIO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/option.h"
#include "driver/log.h"
#include "driver/raise_bound.h"
#include "driver/suggest.h"
#include "solvers/answer/evaluation.h"
#include "solvers/run_solver.h"
#include "solvers/plugins/solver.h"
#include "solvers/process/workdir.h"

/* Options of the command line. */
typedef struct mo_portfolio_options {
    const char *solvers; /* "scip,highs"; NULL: the first that is installed */
    const char *via;     /* "process", "library", "command"; NULL: automatic */
    const char *command;
    const char *path;
    const char *start;
    const char *known; /* a schedule that is an answer, but perhaps no MIP start
                          of the model; then no start is one */
    bool searched;     /* the start, or known, is that of a search */
    double search_s;   /* its duration */
    bool no_solver;    /* the start is proven optimal */
    double time_s, gap; /* 0, negative: no limit, the solver's default */
    int64_t threads, memory_mib;
    double cross_check_s; /* for confirming a claim; negative: the default */
    double root_lp_s;     /* for the root relaxation; 0: none */
} mo_portfolio_options;

#define MO_PORTFOLIO_DEFAULTS                                                  \
    {                                                                          \
        .time_s = 60, .gap = -1, .cross_check_s = -1, .root_lp_s = 5           \
    }
#define MO_SOLVER_VIA_CHOICES "process|library|command"

/* Rows of an option table for these options. */
/* clang-format off */
#define MO_PORTFOLIO_OPTIONS(c)                                                  \
    { 0, "solver", "S,...", "solvers, several run in parallel",     \
      MO_OPTION_TEXT, .to = &(c)->solvers, .suggest = mo_suggest_solver },        \
    { 0, "via", "WAY", "run its program, its library, or your own command",      \
      MO_OPTION_TEXT, .to = &(c)->via, .choices = MO_SOLVER_VIA_CHOICES },            \
    { 0, "command", "TEMPLATE", "a command with {model} and {solution}",       \
      MO_OPTION_TEXT, .to = &(c)->command },                                   \
    { 0, "solver-path", "FILE", "path of the solver", MO_OPTION_TEXT,         \
      .to = &(c)->path },                                                      \
    { 0, "time", "SECONDS", "time limit (default 60; 0: none)",          \
      MO_OPTION_DOUBLE, .to = &(c)->time_s, .min = 0, .max = 1e9 },            \
    { 0, "gap", "GAP", "stop at this relative gap, as 0.01",         \
      MO_OPTION_DOUBLE, .to = &(c)->gap, .min = 0, .max = 1e6 },               \
    { 0, "threads", "N", "threads (default: the solver's)",  \
      MO_OPTION_INT, .to = &(c)->threads, .min = 0, .max = 1024 },             \
    { 0, "memory-limit", "MIB", "memory limit of a solver", MO_OPTION_INT,     \
      .to = &(c)->memory_mib, .min = 0, .max = 1 << 30 },                      \
    { 0, "cross-check", "SECONDS", "time to confirm a claim of optimality by a " \
      "second solver (0: none)", MO_OPTION_DOUBLE,                             \
      .to = &(c)->cross_check_s, .min = 0, .max = 1e9 },                       \
    MO_ROOT_LP_OPTION(&(c)->root_lp_s,                                         \
                      "time for the bound of the root LP, recomputed (default 5)")
/* clang-format on */

/* Solvers run in parallel; and all entries: also those of a cross-check, the
 * MIP start and the schedule of a search. */
enum { MO_PORTFOLIO_MAX = 8, MO_PORTFOLIO_ENTRIES = 2 * MO_PORTFOLIO_MAX + 2 };

/* A solver of the portfolio and its result. */
typedef struct mo_portfolio_member {
    const mo_solver *solver; /* NULL: a command of the user, or the MIP start */
    bool is_start;
    const char *origin; /* of a start that is computed here, or NULL; a static
                           string: "search", "heuristic" */
    mo_solver_install found;
    mo_solver_via way;
    mo_solver_outcome outcome;
    bool ended;
    mo_status status; /* of the run, with err */
    mo_error err;
    mo_answer_evaluation evaluation; /* cleared with the member */
    bool evaluated;
} mo_portfolio_member;

typedef struct mo_portfolio {
    int n;
    mo_portfolio_member entries[MO_PORTFOLIO_ENTRIES];
    double finding_s; /* subtracted from the time limit */
    double seconds, cross_check_s;
    bool presolve;
} mo_portfolio;

/* Returns "SCIP", "the command", "the start", "search" or "heuristic"; a static
 * string. */
const char *mo_portfolio_member_title(const mo_portfolio_member *entry);

/* Fails with MO_E_USAGE if the options contradict each other. To be called
 * before anything is read. */
mo_status mo_portfolio_check_options(const mo_portfolio_options *options,
                                     mo_error *err);

/* Finds the requested solvers and how each can be run. */
mo_status mo_portfolio_find_solvers(const mo_portfolio_options *options,
                                    const mo_driver_log *logger,
                                    mo_portfolio *portfolio, mo_error *err);

/* A model for the portfolio. */
typedef struct mo_portfolio_job {
    const mo_portfolio_options *options;
    const char *model;
    int64_t unit_ns; /* of its objective, for the progress line; 0: unknown */
    const mo_workdir *folder; /* members have folders of their own in it */
    const mo_driver_log *logger;
    /* Called for every member that has finished, one call at a time, from the
     * calling thread; when it returns true, the other members are stopped. */
    bool (*on_finish)(void *context, mo_portfolio_member *entry);
    void *context;
} mo_portfolio_job;

/* Runs all members on the model. Fails where no member ran. */
mo_status mo_portfolio_run(const mo_portfolio_job *job, mo_portfolio *portfolio,
                           mo_error *err);
void mo_portfolio_clear(mo_portfolio *portfolio);

#endif
