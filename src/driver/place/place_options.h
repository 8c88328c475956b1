/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_choice.h - what moirai-place was asked for: which methods, for how
 * long, and with whose help.
 */
#ifndef MO_DRIVER_PLACE_PLACE_OPTIONS_H
#define MO_DRIVER_PLACE_PLACE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/option.h"
#include "solvers/search/method.h"
#include "solvers/plugins/solver.h"

typedef struct mo_place_options {
    mo_option_list methods; /* of names with commas; to be freed */
    double time_s, gap;
    int64_t seed, threads, rounds;
    const char *assist; /* NULL: the embedded solver, if it is here */
    bool drop_device;
    const char *policy, *curve; /* files of methods that learn, or NULL */
    bool no_learning;
} mo_place_options;

/* A person is waiting. */
#define MO_PLACE_DEFAULTS                                                      \
    {                                                                          \
        .time_s = 60, .seed = 1                                                \
    }
#define MO_PLACE_ASSIST_CHOICES "highs|scip|gurobi|cbc|glpk|none"

/* The rows of an option table for these. */
/* clang-format off */
#define MO_PLACE_OPTIONS(o)                                                    \
    { 0, "method", "M,...", "how: moirai unless given, others, or all",        \
      MO_OPTION_LIST, .to = &(o)->methods },                                   \
    { 0, "time", "SECONDS", "for each method, 60 unless given; 0: no limit",   \
      MO_OPTION_DOUBLE, .to = &(o)->time_s, .min = 0, .max = 1e9 },            \
    { 0, "gap", "GAP", "enough when this close to the optimum, as 0.01",       \
      MO_OPTION_DOUBLE, .to = &(o)->gap, .min = 0, .max = 1 },                 \
    { 0, "rounds", "N", "enough after so many rounds of improving",            \
      MO_OPTION_INT, .to = &(o)->rounds, .min = 0, .max = INT32_MAX },         \
    { 0, "seed", "N", "of what is left to chance, 1 unless given",             \
      MO_OPTION_INT, .to = &(o)->seed, .min = 0, .max = 9007199254740992.0 },  \
    { 0, "threads", "N", "as many threads; as there are cores unless given",   \
      MO_OPTION_INT, .to = &(o)->threads, .min = 0, .max = 1024 },             \
    { 0, "assist", "SOLVER", "a solver that helps, HiGHS unless given",        \
      MO_OPTION_TEXT, .to = &(o)->assist,                                      \
      .choices = MO_PLACE_ASSIST_CHOICES },                                    \
    { 0, "drop-device", NULL, "tell what each device is worth, too",           \
      MO_OPTION_FLAG, .to = &(o)->drop_device },                               \
    { 0, "policy", "FILE", "what is learned goes on there",                    \
      MO_OPTION_TEXT, .to = &(o)->policy },                                    \
    { 0, "no-learning", NULL, "use the policy as it is",                       \
      MO_OPTION_FLAG, .to = &(o)->no_learning },                               \
    { 0, "curve", "FILE", "how well it went while learning, as CSV",           \
      MO_OPTION_TEXT, .to = &(o)->curve }
/* clang-format on */

/* The methods that were named, each once, if the other options go with them;
 * free() them. */
mo_status mo_place_select_methods(const mo_place_options *options,
                                  const mo_method ***methods, int *n,
                                  mo_error *err);

/* The solver that helps; *solver is NULL when none shall, or when nobody asked
 * for one and none is here.  found is the caller's to clear. */
mo_status mo_place_assist_solver(const mo_place_options *options,
                                 const mo_solver **solver,
                                 mo_solver_install *found, mo_error *err);

#endif
