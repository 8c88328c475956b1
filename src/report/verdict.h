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
#include "report/rules.h"
#include "report/runtime/runtime.h"
#include "schedule/regime.h"
#include "solvers/answer/evaluation.h"

/* What a solution file has about itself. */
typedef struct mo_report_claim {
    mo_solution_status status; /* unknown: it has nothing */
    bool has_bound;
    int64_t bound_ns;
    char by[32]; /* solver or method; "": unknown */
} mo_report_claim;

#define MO_REPORT_PROOF_NAME "certificate"

/* What the certificate of a solution file proves. */
typedef struct mo_report_proof {
    int64_t bound_ns; /* 0: there is none, or nothing holds */
    size_t n_entries;
    char why[320]; /* why it proves less than it claims; "": it does not */
} mo_report_proof;

/* A phase of a workload. */
typedef struct mo_report_phase {
    const char *name;
    int64_t weight;
    int64_t makespan_ns; /* of one run */
} mo_report_phase;

typedef struct mo_report_verdict {
    const char *graph, *cluster; /* files or names */
    int ops, edges;              /* of the graph as read */
    const mo_instance *x;
    const mo_regime *regime;
    const mo_report_rules *rules;
    const char *formulation;  /* NULL: no model was involved */
    const char *solver;       /* NULL: unknown */
    const char *model;        /* "as emitted", or how not; NULL: no model was
                                 read */
    const char *status;       /* NULL: valid or invalid, by the validator */
    const char *claimed_by;   /* the solver that claims the status, or NULL */
    const char *confirmed_by; /* what confirms that, or NULL */
    const char *refuted;      /* a claim that cannot be true; NULL or "":
                                 none */
    double cross_check_s;     /* spent on the confirmation; 0: nothing */
    const mo_answer_evaluation *evaluation;
    const mo_report_claim *claim; /* shown as a claim; NULL: none */
    const mo_report_proof *proof; /* NULL: none */
    int64_t bound_ns;             /* lower bound of all schedules */
    const char *bound_by;         /* the source of the bound */
    bool bound_claimed; /* it is a solver's claim; then the largest that is
                           computed here: */
    int64_t own_bound_ns;
    const char *own_bound_by;
    double seconds;                /* negative: unknown */
    const mo_report_phase *phases; /* NULL: it is no workload */
    int n_phases;
    const mo_runtime_settings *settings; /* in JSON; NULL: none */
} mo_report_verdict;

void mo_report_verdict_text(const mo_report_verdict *report, mo_out *out);
void mo_report_verdict_json(const mo_report_verdict *report, mo_out *out);

/* Writes placement and times, as in moirai-check(1). */
void mo_report_schedule_json(const mo_instance *x, const mo_schedule *schedule,
                             mo_out *out);

/* Returns the status in words, "optimal (claimed by HiGHS, not confirmed)" or
 * "optimal for the model as given", in text of that size, or as it is. */
const char *mo_report_status_text(const char *status, const char *claimed_by,
                                  char *text, size_t size);

/* Returns the gap of the makespan; there must be a schedule. */
double mo_report_verdict_gap(const mo_report_verdict *report);

#endif
