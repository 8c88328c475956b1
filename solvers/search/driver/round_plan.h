/*
 * improve.h - rounds of attempts at pieces.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_ROUND_PLAN_H
#define MO_SOLVERS_SEARCH_DRIVER_ROUND_PLAN_H

#include "base/error.h"
#include "solvers/search/driver/state.h"
#include "solvers/search/driver/primal_job.h"

typedef struct mo_improver mo_improver;

/* search must outlive it. */
mo_status mo_improver_new(mo_search *search, mo_improver **improver,
                          mo_error *err);
void mo_improver_free(mo_improver *improver);

enum { MO_MOST_TRIES = 256 };

/* First schedules for every pair, or where that would take long for those with
 * both ends on one device: fills the next few attempts, at most MO_MOST_TRIES;
 * 0: that was all. */
int mo_improver_begin(mo_improver *improver, mo_try *tries);

/* What to try next, at most MO_MOST_TRIES; none: nothing is worth trying.
 * *hoped is the part of the makespan that is hoped to be saved, sooner or
 * later. */
mo_status mo_improver_plan(mo_improver *improver, int round, mo_try *tries,
                           int *n, double *hoped, mo_error *err);

/* Takes over what came of an attempt. */
mo_status mo_improver_take(mo_improver *improver, mo_try *it, mo_error *err);

#endif
