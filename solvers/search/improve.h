/*
 * improve.h - which attempts at pieces promise most.
 *
 * Where nothing was tried a pair may turn out as good as its bound says; the
 * more was tried, the less is to be hoped for.  The shortest path by what is
 * hoped for tells which pairs to try next, and how often.
 */
#ifndef MO_SEARCH_IMPROVE_H
#define MO_SEARCH_IMPROVE_H

#include "base/error.h"
#include "solvers/search/search.h"
#include "solvers/search/try.h"

typedef struct mo_improver mo_improver;

/* search must outlive it. */
mo_status mo_improver_new(mo_search *search, mo_improver **improver,
                          mo_error *err);
void mo_improver_free(mo_improver *improver);

/* First schedules for every pair, as far as that is done in moments: attempts
 * for *tries, which the caller frees. */
mo_status mo_improver_begin(mo_improver *improver, mo_try **tries, int *n,
                            mo_error *err);

/* What to try next, at most so many; 0: nothing is worth trying.  *hoped is the
 * part of the makespan that is hoped to be saved, sooner or later. */
mo_status mo_improver_plan(mo_improver *improver, int round, mo_try *tries,
                           int most, int *n, double *hoped, mo_error *err);

/* Takes over what came of an attempt. */
mo_status mo_improver_take(mo_improver *improver, mo_try *it, mo_error *err);

#endif
