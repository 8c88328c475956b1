/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placements.h - what methods made of one instance, side by side: a table for
 * people, an array for programs.
 */
#ifndef MO_REPORT_METHOD_TABLE_H
#define MO_REPORT_METHOD_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"
#include "cost/instance.h"

/* A method, and its placement if it found one. */
typedef struct mo_report_method_row {
    const char *method;
    const char *why; /* there is none; NULL: there is */
    bool fits;       /* memory; where it does not, nobody can use it */
    int64_t makespan_ns;
    int fullest;        /* the device that is, of those with a limit; MO_FREE:
                           none has one */
    int64_t peak_bytes; /* there */
    int64_t lower_ns;   /* what the method has proven; 0: nothing */
    int rounds;         /* of improving */
    double seconds;
} mo_report_method_row;

/* The best method once more, without one of the devices. */
typedef struct mo_report_device_loss {
    const char *why; /* there is none; NULL: there is */
    int64_t makespan_ns;
} mo_report_device_loss;

typedef struct mo_report_methods {
    const mo_instance *x;
    int n;
    const mo_report_method_row *rows; /* the best first */
    int64_t bound_ns;     /* no placement takes less; 0: not known */
    const char *bound_by; /* who says so */
    int single;           /* the device that alone is best, or MO_FREE */
    int64_t single_ns;    /* what everything takes there */
    const mo_report_device_loss *losses; /* by device; NULL: nobody asked */
} mo_report_methods;

void mo_report_methods_text(const mo_report_methods *p, mo_out *out);
void mo_report_methods_json(const mo_report_methods *p, mo_out *out);

/* The first row, if it can be used; else NULL. */
const mo_report_method_row *mo_report_methods_best(const mo_report_methods *p);

/* Of the row's makespan.  There is none where that is below the bound, which
 * happens to what does not fit. */
bool mo_report_methods_has_gap(const mo_report_methods *p,
                               const mo_report_method_row *row);
double mo_report_methods_gap(const mo_report_methods *p,
                             const mo_report_method_row *row);

/* How much longer than the best it takes without the device, in parts of it. */
double mo_report_methods_loss(const mo_report_methods *p, int device);

#endif
