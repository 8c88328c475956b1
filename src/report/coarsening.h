/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coarsening.h - report of coarsening, as text or JSON.
 */
#ifndef MO_REPORT_COARSENING_H
#define MO_REPORT_COARSENING_H

#include "base/out.h"
#include "coarsen/coarsen.h"
#include "graph/summary.h"

typedef struct mo_report_coarsening {
    const char *file;   /* as given by the user */
    const char *fusion; /* the rule set, or the file of rules */
    const mo_coarsen_report *report;
    const mo_summary *before, *after;
} mo_report_coarsening;

void mo_report_coarsening_text(const mo_report_coarsening *coarsening,
                               mo_out *out);
void mo_report_coarsening_json(const mo_report_coarsening *coarsening,
                               mo_out *out);

#endif
