/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_methods.h - runs the selected methods one after the other and ranks
 * the results.
 */
#ifndef MO_DRIVER_PLACE_COMPARE_METHODS_H
#define MO_DRIVER_PLACE_COMPARE_METHODS_H

#include "base/error.h"
#include "driver/place/method_run.h"
#include "driver/place/device_ablation.h"
#include "report/method_table.h"

typedef struct mo_place_comparison {
    int n;
    mo_place_result *entries;
    const mo_place_result **ranked; /* the best first */
    mo_report_method_row *rows;     /* of the ranked results */
    mo_place_ablation study;
    mo_report_methods report;
} mo_place_comparison;

/* The time of a method is shared evenly with its runs without each device. *c
 * begins as zeros; the caller clears it, also after a failure. */
mo_status mo_place_compare_methods(const mo_place_context *setting,
                                   const mo_instance *x,
                                   const mo_method *const *methods, int n,
                                   mo_place_comparison *c, mo_error *err);
void mo_place_comparison_clear(mo_place_comparison *c);

/* Returns the best valid result, borrowed from c, or NULL. */
const mo_place_result *mo_place_comparison_best(const mo_place_comparison *c);

/* Returns the exit status after all output is written: a policy that a method
 * with a result could not save is an error only here. */
mo_status mo_place_comparison_exit_status(const mo_place_comparison *c,
                                          int *code, mo_error *err);

#endif
