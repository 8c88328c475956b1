/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_compare.h - all that was asked for, one method after the other, and the
 * report of it.
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
    mo_report_method_row *rows;     /* of those */
    mo_place_ablation study;
    mo_report_methods report;
} mo_place_comparison;

/* The time of a method is shared evenly with its runs without devices.  c is
 * zeros at first, and the caller's to clear whatever the result. */
mo_status mo_place_compare_methods(const mo_place_context *setting,
                                   const mo_instance *x,
                                   const mo_method *const *methods, int n,
                                   mo_place_comparison *c, mo_error *err);
void mo_place_comparison_clear(mo_place_comparison *c);

/* The one to take, or NULL. */
const mo_place_result *mo_place_comparison_best(const mo_place_comparison *c);

/* What a command leaves with, when all else is done: what a method that has an
 * answer could not write is an error, and has been none so far. */
mo_status mo_place_comparison_exit_status(const mo_place_comparison *c,
                                          int *code, mo_error *err);

#endif
