/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_run.h - runs a method on an instance, validates the result, and ranks
 * results.
 */
#ifndef MO_DRIVER_PLACE_METHOD_RUN_H
#define MO_DRIVER_PLACE_METHOD_RUN_H

#include "base/error.h"
#include "driver/place/place_options.h"
#include "driver/log.h"
#include "cost/instance.h"
#include "report/method_table.h"
#include "solvers/search/method.h"

/* Shared by all methods. */
/* The time limit that is left when it has passed: 0 would be none. */
#define MO_PLACE_LEAST_S 1e-6

typedef struct mo_place_context {
    const mo_place_options *options;
    mo_regime regime;
    mo_objective objective;
    int in_flight;           /* most requests in flight; 0: no limit */
    const mo_solver *assist; /* or NULL */
    const mo_solver_install *found;
    const mo_driver_log *logger;
    double begin_s;      /* when the command began, by mo_driver_clock_s() */
    const mo_stop *stop; /* or NULL: a condition that ends methods early */
    /* As of mo_method_task, instead of the progress line; or NULL. */
    void (*on_progress)(void *context, const mo_method_progress *progress);
    void *context;
} mo_place_context;

/* A method and its result. */
typedef struct mo_place_result {
    const mo_method *method;
    mo_method_result placed;
    mo_report_method_row row;
    mo_status status; /* of the method; its failure stops no other */
    mo_error err;
} mo_place_result;

/* Runs one method for so many seconds (0: no limit) or until a signal, and
 * validates its placement. After a signal only `single`, which is immediate,
 * still runs. The caller clears *entry, also after a failure. Fails for lack
 * of memory, or for a policy or curve that cannot be read or written; if a
 * result exists before the latter, it is kept and only entry->status has the
 * error. */
mo_status mo_place_run_method(const mo_place_context *setting,
                              const mo_instance *x, const mo_method *method,
                              double seconds, mo_place_result *entry,
                              mo_error *err);
void mo_place_result_clear(mo_place_result *entry);

/* Ranks: the shortest that fits first, then those that exceed memory, then
 * methods without a result. ranked has n entries. */
void mo_place_rank_results(const mo_place_result *entries, int n,
                           const mo_place_result **ranked);

/* Returns the best bound proven by any method, else that of
 * schedule/bound/lower_bound.h, as far as the time of n methods allows. A bound
 * above a known makespan is reported and ignored. */
mo_status mo_place_best_bound(const mo_place_context *setting,
                              const mo_instance *x,
                              const mo_place_result *const *ranked, int n,
                              int64_t *bound_ns, const char **bound_by,
                              mo_error *err);

#endif
