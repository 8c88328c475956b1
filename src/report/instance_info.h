/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instance.h - an instance told to a person (sums) or to a program (all of it).
 */
#ifndef MO_REPORT_INSTANCE_INFO_H
#define MO_REPORT_INSTANCE_INFO_H

#include "base/out.h"
#include "cost/instance.h"

typedef struct mo_report_instance {
    const char *graph, *cluster; /* what the user called them */
    const mo_instance *instance;
} mo_report_instance;

mo_status mo_report_instance_text(const mo_report_instance *report, mo_out *out,
                                  mo_error *err);

/* The object that moirai-info(1) describes: sums, then "instance" with every
 * number; times in microseconds. */
mo_status mo_report_instance_json(const mo_report_instance *report, mo_out *out,
                                  mo_error *err);

#endif
