/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instance_info.h - report of an instance: totals as text, everything as JSON.
 */
#ifndef MO_REPORT_INSTANCE_INFO_H
#define MO_REPORT_INSTANCE_INFO_H

#include "base/out.h"
#include "cost/instance.h"

typedef struct mo_report_instance {
    const char *graph, *cluster; /* as given by the user */
    int fine_ops;                /* of the graph before it was coarsened */
    const mo_instance *instance;
} mo_report_instance;

mo_status mo_report_instance_text(const mo_report_instance *report, mo_out *out,
                                  mo_error *err);

/* Writes the object of moirai-info(1): totals, then "instance" with every
 * number; times in microseconds. */
mo_status mo_report_instance_json(const mo_report_instance *report, mo_out *out,
                                  mo_error *err);

#endif
