/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h - how an answer was found to be: for people, for programs, and the
 * whole schedule for those who check it themselves.
 */
#ifndef MO_REPORT_VERDICT_H
#define MO_REPORT_VERDICT_H

#include <stdint.h>

#include "base/out.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "solvers/answer/evaluation.h"

typedef struct mo_report_verdict {
    const char *graph, *cluster; /* files or names */
    int ops, edges;              /* of the graph as read */
    const mo_instance *x;
    const mo_regime *regime;
    const char *formulation; /* NULL: no model was involved */
    const char *solver;      /* NULL: nobody knows */
    const char *status;      /* NULL: valid or invalid, as the judge says */
    const mo_answer_evaluation *judgement;
    int64_t bound_ns;     /* no schedule is shorter */
    const char *bound_by; /* who says so */
    double seconds;       /* negative: not told */
} mo_report_verdict;

void mo_report_verdict_text(const mo_report_verdict *report, mo_out *out);
void mo_report_verdict_json(const mo_report_verdict *report, mo_out *out);

/* Placement and times, as moirai-check(1) has it. */
void mo_report_schedule_json(const mo_instance *x, const mo_schedule *schedule,
                             mo_out *out);

/* Of the makespan; the schedule must be there. */
double mo_report_verdict_gap(const mo_report_verdict *report);

#endif
