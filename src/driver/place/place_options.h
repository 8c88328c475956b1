/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_options.h - options of moirai-place: methods, limits, solver for
 * subproblems.
 */
#ifndef MO_DRIVER_PLACE_PLACE_OPTIONS_H
#define MO_DRIVER_PLACE_PLACE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "driver/suggest.h"
#include "base/option.h"
#include "solvers/search/method.h"
#include "solvers/plugins/solver.h"

typedef struct mo_place_options {
    mo_option_list methods; /* comma-separated names; freed by the command */
    double time_s, gap;
    double work_s; /* counted work, in seconds of one core; 0: no limit */
    int64_t seed, threads, rounds;
    const char *assist; /* NULL: the embedded solver, if it is installed */
    bool ablation;
    const char *policy, *curve; /* files of trained methods, or NULL */
    bool no_learning;
    mo_option_list dropped; /* devices that are left out; of the library */
    const char *from;       /* file of the placement in use, or NULL */
    double move_cost; /* requests that moved weights are spread over; 0: moves
                         are free */
    const char *replicas; /* a number of copies or "auto"; NULL: one */
    double stress;        /* factor of a slower op or link; 0: none */
} mo_place_options;

/* Defaults for interactive use. */
#define MO_PLACE_DEFAULTS                                                      \
    {                                                                          \
        .time_s = 60, .seed = 1                                                \
    }
#define MO_PLACE_ASSIST_CHOICES "highs|scip|gurobi|cbc|glpk|none"

/* Rows of an option table for these options. */
/* clang-format off */
#define MO_PLACE_OPTIONS(o)                                                    \
    { 0, "method", "M,...", "methods (default moirai)",                    \
      MO_OPTION_LIST, .to = &(o)->methods, .suggest = mo_suggest_method },                                   \
    { 0, "time", "SECONDS", "time limit (default 60; 0: none) of each method",   \
      MO_OPTION_DOUBLE, .to = &(o)->time_s, .min = 0, .max = 1e9 },            \
    { 0, "gap", "GAP", "stop at this relative gap, as 0.01",       \
      MO_OPTION_DOUBLE, .to = &(o)->gap, .min = 0, .max = 1 },                 \
    { 0, "rounds", "N", "stop after N rounds of improvement",            \
      MO_OPTION_INT, .to = &(o)->rounds, .min = 0, .max = INT32_MAX },         \
    { 0, "work", "SECONDS",                                                    \
      "stop after so much counted work, at any speed of the machine",          \
      MO_OPTION_DOUBLE, .to = &(o)->work_s, .min = 0, .max = 1e9 },            \
    { 0, "seed", "N", "random seed (default 1)",             \
      MO_OPTION_INT, .to = &(o)->seed, .min = 0, .max = 9007199254740992.0 },  \
    { 0, "threads", "N", "threads (default: one per core)",   \
      MO_OPTION_INT, .to = &(o)->threads, .min = 0, .max = 1024 },             \
    { 0, "assist", "SOLVER", "MILP solver for subproblems (default highs)",        \
      MO_OPTION_TEXT, .to = &(o)->assist,                                      \
      .choices = MO_PLACE_ASSIST_CHOICES },                                    \
    { 0, "ablation", NULL, "also print the makespan without each device",           \
      MO_OPTION_FLAG, .to = &(o)->ablation },                                  \
    { 0, "policy", "FILE", "load and save the learned policy in FILE",                    \
      MO_OPTION_TEXT, .to = &(o)->policy },                                    \
    { 0, "no-learning", NULL, "evaluate the policy without training",                       \
      MO_OPTION_FLAG, .to = &(o)->no_learning },                               \
    { 0, "curve", "FILE", "write the learning curve as CSV",           \
      MO_OPTION_TEXT, .to = &(o)->curve }

#define MO_PLACE_REPLAN_OPTIONS(o)                                             \
    { 0, "from", "FILE", "re-plan from the placement in FILE",                 \
      MO_OPTION_TEXT, .to = &(o)->from },                                      \
    { 0, "move-cost", "REQUESTS",                                              \
      "with --from: spread the time of moving weights over so many requests",  \
      MO_OPTION_DOUBLE, .to = &(o)->move_cost, .min = 0, .max = 1e15 },        \
    { 0, "replicas", "N|auto",                                                 \
      "with --objective period: so many copies, each on devices of its own",   \
      MO_OPTION_TEXT, .to = &(o)->replicas },                                  \
    { 0, "stress", "FACTOR",                                                   \
      "find the best worst case with an op or a link slower by that factor",   \
      MO_OPTION_DOUBLE, .to = &(o)->stress, .min = 1, .max = 1000 }
/* clang-format on */

/* Returns the named methods, without duplicates, after checking the other
 * options against them; the caller frees the array. */
mo_status mo_place_select_methods(const mo_place_options *options,
                                  const mo_method ***methods, int *n,
                                  mo_error *err);

/* Sets the number of copies that are wanted: 1 without the option, 0 for
 * "auto".  Fails with MO_E_USAGE for another text. */
mo_status mo_place_count_replicas(const mo_place_options *options, int *n,
                                  mo_error *err);

/* Finds the solver for subproblems; *solver is NULL for "none", or if none was
 * requested and none is installed. The caller clears *found. */
mo_status mo_place_assist_solver(const mo_place_options *options,
                                 const mo_solver **solver,
                                 mo_solver_install *found, mo_error *err);

#endif
