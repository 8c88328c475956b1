/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contest.h - one model given to one solver or to several side by side.
 */
#ifndef MO_DRIVER_PORTFOLIO_H
#define MO_DRIVER_PORTFOLIO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/option.h"
#include "driver/log.h"
#include "solvers/answer/evaluation.h"
#include "solvers/run_solver.h"
#include "solvers/plugins/solver.h"
#include "solvers/process/workdir.h"

/* What the options say. */
typedef struct mo_portfolio_options {
    const char *solvers; /* "scip,highs"; NULL: the first that is there */
    const char *via;     /* NULL: whichever way there is */
    const char *command;
    const char *path;
    const char *start;
    double time_s, gap; /* 0, negative: no limit, the solver's own */
    int64_t threads, memory_mib;
} mo_portfolio_options;

#define MO_PORTFOLIO_DEFAULTS                                                  \
    {                                                                          \
        .gap = -1                                                              \
    }
#define MO_SOLVER_VIA_CHOICES "process|library|command"

/* The rows of an option table for these. */
/* clang-format off */
#define MO_PORTFOLIO_OPTIONS(c)                                                  \
    { 0, "solver", "S,...", "solvers, several run in parallel: highs, scip, "  \
      "gurobi, cbc, glpk", MO_OPTION_TEXT, .to = &(c)->solvers },        \
    { 0, "via", "WAY", "run its program, its library, or your own command",      \
      MO_OPTION_TEXT, .to = &(c)->via, .choices = MO_SOLVER_VIA_CHOICES },            \
    { 0, "command", "TEMPLATE", "a command with {model} and {solution}",       \
      MO_OPTION_TEXT, .to = &(c)->command },                                   \
    { 0, "solver-path", "FILE", "path of the solver", MO_OPTION_TEXT,         \
      .to = &(c)->path },                                                      \
    { 0, "time", "SECONDS", "time limit; the best solution so far is kept",          \
      MO_OPTION_DOUBLE, .to = &(c)->time_s, .min = 0, .max = 1e9 },            \
    { 0, "gap", "GAP", "stop at this relative gap, as 0.01",         \
      MO_OPTION_DOUBLE, .to = &(c)->gap, .min = 0, .max = 1e6 },               \
    { 0, "threads", "N", "threads (default: the solver's)",  \
      MO_OPTION_INT, .to = &(c)->threads, .min = 0, .max = 1024 }
/* clang-format on */

enum { MO_PORTFOLIO_MAX = 8 };

/* One of them, and what came of it. */
typedef struct mo_portfolio_member {
    const mo_solver *solver; /* NULL: a command of the user's, or the start */
    bool is_start;
    mo_solver_install found;
    mo_solver_via way;
    mo_solver_outcome outcome;
    bool ended;
    mo_status status; /* of running it, with err */
    mo_error err;
    mo_answer_evaluation judgement; /* cleared with the entry */
    bool judged;
} mo_portfolio_member;

typedef struct mo_portfolio {
    int n;
    mo_portfolio_member entries[MO_PORTFOLIO_MAX + 1]; /* and the start */
    double finding_s; /* comes off the time to solve */
    double seconds;
    bool presolve;
} mo_portfolio;

/* "SCIP", "the command", or "the start". */
const char *mo_portfolio_member_title(const mo_portfolio_member *entry);

/* Was its solver found in such a form? */
bool mo_portfolio_member_has_via(const mo_portfolio_member *entry,
                                 mo_solver_via way);

/* Asks its solver, the way that was chosen, for its version and known trouble,
 * and tells both. */
mo_status mo_portfolio_member_query_version(mo_portfolio_member *entry,
                                            const mo_driver_log *talk,
                                            mo_error *err);

/* Whether the options go together; to be asked before anything is read. */
mo_status mo_portfolio_check_options(const mo_portfolio_options *options,
                                     mo_error *err);

/* Finds those that were asked for, and the ways to them. */
mo_status mo_portfolio_find_solvers(const mo_portfolio_options *options,
                                    const mo_driver_log *talk,
                                    mo_portfolio *contest, mo_error *err);

/*
 * Runs them all on the model.  hear is told, one at a time, when an entry has
 * ended; when it returns true the others are stopped.  unit_ns is for the line
 * of progress; 0: not known.
 */
typedef bool mo_portfolio_callback(void *context, mo_portfolio_member *entry);

mo_status mo_portfolio_run(const mo_portfolio_options *options,
                           const char *model, int64_t unit_ns,
                           const mo_workdir *folder, const mo_driver_log *talk,
                           mo_portfolio_callback *hear, void *context,
                           mo_portfolio *contest, mo_error *err);
void mo_portfolio_clear(mo_portfolio *contest);

#endif
