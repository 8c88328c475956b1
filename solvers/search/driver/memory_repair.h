/*
 * fit.h - where memory is short: pieces chosen by what they take of it, and the
 * whole annealed within it.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_MEMORY_REPAIR_H
#define MO_SOLVERS_SEARCH_DRIVER_MEMORY_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/driver/state.h"

/* The best pieces together, shorter than the best schedule, do not fit. */
bool mo_fit_is_needed(const mo_search *search);

/* Offers what variants of pieces come to within memory. */
mo_status mo_fit_pieces(mo_search *search, mo_error *err);

/* An attempt at the whole, beside those at pieces. */
typedef struct mo_fit {
    int64_t moves;
    uint64_t seed;

    mo_schedule *schedule; /* what came of it, or NULL */
    mo_status status;
    mo_error err;
} mo_fit;

/* False: there is no use in one. */
bool mo_fit_plan(const mo_search *search, int round, mo_fit *fit);
void mo_fit_make(const mo_search *search, mo_fit *fit);

#endif
