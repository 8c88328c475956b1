/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strengthen_model.h - the search before a model is built: its bounds become
 * rows, its schedule the incumbent column (models/compact/incumbent.c) and the
 * MIP start. A model of the period has no rows for bounds: they and the start
 * serve the command that solves it.
 */
#ifndef MO_DRIVER_STRENGTHEN_MODEL_H
#define MO_DRIVER_STRENGTHEN_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/option.h"
#include "base/stop.h"
#include "driver/log.h"
#include "driver/prepare.h"

/* Options of the command line. */
typedef struct mo_strengthen_options {
    double seconds;    /* of search; negative: the default effort; 0: none */
    double limit_s;    /* of the default effort; 0: a few seconds */
    bool none;         /* --no-strengthen */
    bool writes_model; /* the model is the output: one of the period is built
                          without a search */
    int64_t seed;
    const mo_stop *outer; /* the search ends earlier; or NULL */
} mo_strengthen_options;

#define MO_STRENGTHEN_DEFAULTS                                                 \
    {                                                                          \
        .seconds = -1, .seed = 1                                               \
    }

/* clang-format off */
/* Rows of an option table for these options. */
#define MO_STRENGTHEN_OPTIONS(s)                                               \
    { 0, "strengthen", "SECONDS",                                              \
      "search so long before the model is built (default: counted work)",     \
      MO_OPTION_DOUBLE, .to = &(s)->seconds, .min = 0, .max = 1e9 },           \
    { 0, "no-strengthen", NULL, "the plain model, without a search",           \
      MO_OPTION_FLAG, .to = &(s)->none },                                      \
    { 0, "seed", "N", "seed of the search (default 1)", MO_OPTION_INT,         \
      .to = &(s)->seed, .min = 0, .max = 9007199254740992.0 }
/* clang-format on */

/* Fails with MO_E_USAGE if seconds are given for a formulation without rows
 * for what is proven. */
mo_status mo_strengthen_check(const mo_strengthen_options *s,
                              const mo_prepare_options *p, mo_error *err);

/*
 * Searches, unless the options or the formulation exclude it, and sets
 * made->strength and made->start, both owned by made, for mo_prepare_model(),
 * and made->start_ns; NULL where there was no search, or it found no schedule.
 * Prints one line about what was proven unless the log is quiet.  The default
 * effort is a number of rounds: the result depends on input and seed alone,
 * unless it takes longer than a limit of a few seconds.  Fails with
 * MO_E_INFEASIBLE where the search proves that no placement fits into memory.
 * made->search_is_full is set where the search ended by itself or had two
 * seconds at least: a shorter schedule that is found easily would have been
 * found.
 */
mo_status mo_strengthen_model(const mo_strengthen_options *s,
                              const mo_prepare_options *p,
                              const mo_driver_log *logger, mo_prepared *made,
                              mo_error *err);

typedef struct mo_strengthen_result {
    mo_proven_bounds *proven; /* both as of mo_search_strengthen() */
    mo_schedule *start;
    bool is_full; /* as made->search_is_full of mo_strengthen_model() */
} mo_strengthen_result;

/* Searches with the default effort, at most limit_s seconds, as for a model.
 * The caller frees proven and start of *found, which begins as zeros. */
mo_status mo_strengthen_search(const mo_instance *x, const mo_regime *regime,
                               mo_objective objective, double limit_s,
                               const mo_driver_log *logger,
                               mo_strengthen_result *found, mo_error *err);

/* Returns whether the search has proven its schedule optimal. */
bool mo_strengthen_is_optimal(const mo_prepared *made);

#endif
