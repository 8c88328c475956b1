/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.h - an answer held against its instance: from columns, or from a bare
 * placement, to a schedule that was timed anew, the judge's verdict on it, and
 * how far it can be from the best.
 */
#ifndef MO_SOLVERS_ANSWER_EVALUATION_H
#define MO_SOLVERS_ANSWER_EVALUATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/bound/lower_bound.h"
#include "schedule/schedule.h"
#include "schedule/validate/validate.h"
#include "solvers/answer/answer.h"
#include "solvers/formats/solution.h"

typedef struct mo_answer_evaluation {
    /* What the judge was not asked: why the columns make no schedule, or that
     * the schedule is not what was claimed.  "": nothing of that kind. */
    char complaint[MO_ERROR_TEXT_SIZE];
    /* Left-shifted, but as claimed where it must wait for memory; or NULL. */
    mo_schedule *schedule;
    mo_verdict *verdict; /* on it */
    int64_t claim_ns;    /* the makespan claimed, or MO_ANSWER_NO_CLAIM */
    mo_lower_bound lower;
    int single;        /* the device that alone is best; MO_FREE: none can */
    int64_t single_ns; /* what everything takes there */
} mo_answer_evaluation;

/* How far the makespan may be above what was claimed, in parts of it: binaries
 * that are so much off 1 relax every big-M row a little. */
#define MO_ANSWER_CLAIM_TOLERANCE(tolerance) (10 * (tolerance))

/* The complaint takes the place of an error wherever the solution is to blame;
 * judgement is the caller's to clear whatever the result.  With an origin of a
 * model that knows no order, or of none, see mo_answer_evaluate_placement;
 * without a time unit no makespan is claimed. */
mo_status mo_answer_evaluate_solution(const mo_solution *solution,
                                      const mo_provenance *origin,
                                      const mo_instance *x,
                                      const mo_regime *regime, double tolerance,
                                      mo_answer_evaluation *judgement,
                                      mo_error *err);

/* A device for each op; times are chosen by list scheduling. */
mo_status mo_answer_evaluate_placement(const mo_instance *x,
                                       const mo_regime *regime,
                                       const int *device,
                                       mo_answer_evaluation *judgement,
                                       mo_error *err);

/* What is no answer, and why. */
mo_status mo_answer_evaluation_reject(const char *why,
                                      mo_answer_evaluation *judgement);

bool mo_answer_evaluation_valid(const mo_answer_evaluation *judgement);

/* How many things are wrong with it, and each of them. */
int mo_answer_evaluation_count(const mo_answer_evaluation *judgement);
const char *
mo_answer_evaluation_violation(const mo_answer_evaluation *judgement, int i);

void mo_answer_evaluation_clear(mo_answer_evaluation *judgement);

#endif
