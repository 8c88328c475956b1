/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h - report of a validated answer, as text or JSON, and its schedule
 * as JSON.
 */
#ifndef MO_REPORT_VERDICT_H
#define MO_REPORT_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "solvers/answer/evaluation.h"

/* What a solution file has about itself. */
typedef struct mo_report_claim {
    mo_solution_status status; /* unknown: it has nothing */
    bool has_bound;
    int64_t bound_ns;
    char by[32]; /* solver or method; "": unknown */
} mo_report_claim;

typedef struct mo_report_verdict {
    const char *graph, *cluster; /* files or names */
    int ops, edges;              /* of the graph as read */
    const mo_instance *x;
    const mo_regime *regime;
    const char *formulation; /* NULL: no model was involved */
    const char *solver;      /* NULL: unknown */
    const char *status;      /* NULL: valid or invalid, by the validator */
    const mo_answer_evaluation *judgement;
    const mo_report_claim *claim; /* shown as a claim; NULL: none */
    int64_t bound_ns;             /* lower bound of all schedules */
    const char *bound_by;         /* the source of the bound */
    double seconds;               /* negative: unknown */
} mo_report_verdict;

void mo_report_verdict_text(const mo_report_verdict *report, mo_out *out);
void mo_report_verdict_json(const mo_report_verdict *report, mo_out *out);

/* Writes placement and times, as in moirai-check(1). */
void mo_report_schedule_json(const mo_instance *x, const mo_schedule *schedule,
                             mo_out *out);

/* Returns the gap of the makespan; there must be a schedule. */
double mo_report_verdict_gap(const mo_report_verdict *report);

#endif
