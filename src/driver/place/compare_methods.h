/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_methods.h - runs the selected methods one after the other, each with
 * its progress on a terminal or in the log, validates the results
 * (method_run.c) and ranks them.
 *
 * The comparison alone decides on the bound: methods report theirs in their
 * rows, and one is computed here where none has.
 */
#ifndef MO_DRIVER_PLACE_COMPARE_METHODS_H
#define MO_DRIVER_PLACE_COMPARE_METHODS_H

#include "base/error.h"
#include "cost/instance.h"
#include "driver/log.h"
#include "driver/place/place_options.h"
#include "report/method_table.h"
#include "solvers/search/period/replicas_search.h"
#include "solvers/search/method.h"

/* Shared by all methods. */
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
    const mo_method_start *start; /* NULL: there is none */
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

/* Initializes a stop condition: so many seconds (0: no limit), a signal, or
 * that of the setting. */
void mo_place_stop_init(const mo_place_context *setting, double seconds,
                        mo_stop *stop);

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

/* Ablation study: the same method without each device in turn. */
typedef struct mo_place_ablation {
    mo_report_device_loss *losses; /* by device */
    char (*why)[160];              /* by device, the reason */
} mo_place_ablation;

typedef struct mo_place_comparison {
    int n;
    mo_place_result *entries;
    const mo_place_result **ranked; /* the best first */
    mo_report_method_row *rows;     /* of the ranked results */
    mo_place_ablation study;
    mo_replicas_result copies; /* n 0: not searched for, or none */
    mo_report_methods report;
} mo_place_comparison;

/* Searches for copies, of the number that the options want, with a result on
 * all devices or NULL.  The caller clears *found, also after a failure. */
mo_status mo_place_search_replicas(const mo_place_context *setting,
                                   const mo_instance *x, int wanted,
                                   const mo_place_result *known,
                                   mo_replicas_result *found, mo_error *err);

/* The time of a method is shared evenly with its runs without each device. *c
 * begins as zeros; the caller clears it, also after a failure. */
mo_status mo_place_compare_methods(const mo_place_context *setting,
                                   const mo_instance *x,
                                   const mo_method *const *methods, int n,
                                   mo_place_comparison *c, mo_error *err);
void mo_place_comparison_clear(mo_place_comparison *c);

/* Sets n_replicas and replicas_ns of *report: a whole copy on every device that
 * can hold one, on the fastest with a limit of requests in flight: rates add
 * up, to that of the host at most.  Of setting it reads regime and in_flight.
 */
mo_status mo_place_find_replicas(const mo_place_context *setting,
                                 const mo_instance *x,
                                 mo_report_methods *report, mo_error *err);

/* Returns the certificate of the largest bound, borrowed from c, or NULL. */
const mo_proof *mo_place_comparison_proof(const mo_place_comparison *c);

/* Returns whether the copies are better than the best result, or so many are
 * wanted. */
bool mo_place_comparison_is_replicated(const mo_place_comparison *c);

/* Returns the best valid result, borrowed from c, or NULL. */
const mo_place_result *mo_place_comparison_best(const mo_place_comparison *c);

/* Fills *study, which begins as zeros and is part of a comparison, so that it
 * is freed with that, also after a failure. seconds are per device. */
mo_status mo_place_ablation_run(const mo_place_context *setting,
                                const mo_instance *x, const mo_method *method,
                                double seconds, mo_place_ablation *study,
                                mo_error *err);

/* Returns the exit status after all output is written: a policy that a method
 * with a result could not save is an error only here. */
mo_status mo_place_comparison_exit_status(const mo_place_comparison *c,
                                          int *code, mo_error *err);

#endif
