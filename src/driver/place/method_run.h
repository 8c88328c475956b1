/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_run.h - methods at work on an instance, and what came of them, judged
 * and in the order of merit.
 */
#ifndef MO_DRIVER_PLACE_METHOD_RUN_H
#define MO_DRIVER_PLACE_METHOD_RUN_H

#include "base/error.h"
#include "driver/place/place_options.h"
#include "driver/log.h"
#include "cost/instance.h"
#include "report/method_table.h"
#include "solvers/search/method.h"

/* What all of them work with. */
typedef struct mo_place_context {
    const mo_place_options *options;
    mo_regime regime;
    const mo_solver *assist; /* or NULL */
    const mo_solver_install *found;
    const mo_driver_log *talk;
} mo_place_context;

/* A method, and what came of it. */
typedef struct mo_place_result {
    const mo_method *method;
    mo_method_result placed;
    mo_report_method_row row;
    mo_status status; /* of the method; a failure of its own stops no other */
    mo_error err;
} mo_place_result;

/* Lets one method work for so many seconds (0: no limit), until a signal comes,
 * and has a judge look at what it found.  After a signal only `single` works,
 * which has its answer at once.  entry is the caller's to clear
 * whatever the result, an error is lack of memory, or a policy or curve that
 * cannot be read or written; where there is an answer before the latter, it
 * stands, and only the entry's status tells of it. */
mo_status mo_place_run_method(const mo_place_context *setting,
                              const mo_instance *x, const mo_method *method,
                              double seconds, mo_place_result *entry,
                              mo_error *err);
void mo_place_result_clear(mo_place_result *entry);

/* The most useful first: the shortest that fits; then what does not, and those
 * who found nothing.  ranked has a place for each. */
void mo_place_rank_results(const mo_place_result *entries, int n,
                           const mo_place_result **ranked);

/* The best bound that any of the methods has proven, else the quick one of
 * schedule/bound/lower_bound.h.  One that something shorter contradicts is told
 * of and not taken. */
mo_status mo_place_best_bound(const mo_place_context *setting,
                              const mo_instance *x,
                              const mo_place_result *const *ranked, int n,
                              int64_t *bound_ns, const char **bound_by,
                              mo_error *err);

#endif
