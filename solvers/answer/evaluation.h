/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluation.h - evaluation of an answer: from columns, or from a placement,
 * to a schedule with recomputed times, its validation, and the gap to the
 * bound.
 */
#ifndef MO_SOLVERS_ANSWER_EVALUATION_H
#define MO_SOLVERS_ANSWER_EVALUATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/bound/lower_bound.h"
#include "schedule/period/modulo_schedule.h"
#include "schedule/schedule.h"
#include "schedule/validate/validate.h"
#include "solvers/answer/answer.h"
#include "solvers/formats/solution.h"

typedef struct mo_answer_evaluation {
    /* Problems besides the validation: why the columns make no schedule, or
     * that the schedule is worse than claimed. "": none. */
    char first_error[MO_ERROR_TEXT_SIZE];
    /* Left-shifted, but as claimed where it has to wait for memory; or NULL. */
    mo_schedule *schedule;
    mo_verdict *verdict; /* of the validation of schedule */
    int64_t claim_ns;    /* the claimed makespan, or MO_ANSWER_NO_CLAIM */
    bool rebuilt; /* the solution has no start times: they are those of its
                     orders, or of list scheduling */
    mo_lower_bound lower; /* by mo_answer_evaluation_bound() */
    /* Of a model of the period; period_ns is -1 for any other, whose objective
     * is the makespan. */
    int64_t period_ns, steady_ns;   /* largest load; period of its pipeline, as
                                       simulated with 200 requests */
    int64_t latency_ns;             /* of a request in the pipeline */
    int in_flight, least_in_flight; /* no schedule of that period has fewer */
    char bottleneck[64];            /* the resource with the largest load */
    mo_modulo_schedule pipeline;    /* of it; owned; zeros without a period */
    /* Of a replicated placement (schedule/period/replicas.h): the others' own,
     * n_further of them, owned.  Then period_ns and steady_ns are those of all
     * copies, and everything else is of the first one. */
    struct mo_answer_evaluation *further;
    int n_further;
    int64_t own_period_ns, own_steady_ns; /* of the first copy, or of the one
                                             that was taken */
    int single;        /* the best single device; MO_FREE: none can run it */
    int64_t single_ns; /* makespan on that device */
} mo_answer_evaluation;

/* Relative tolerance of the makespan above the claim: binaries that are so
 * much off 1 relax every big-M row a little. */
#define MO_ANSWER_CLAIM_TOLERANCE(tolerance) (10 * (tolerance))

/* Evaluates a solution. Errors in the solution become the first_error; other
 * errors are returned. The caller frees *evaluation whatever the result. With a
 * model without an order, or an unknown one, see
 * mo_answer_evaluate_placement(); without a time unit no makespan is
 * claimed. */
mo_status mo_answer_evaluate_solution(const mo_solution *solution,
                                      const mo_provenance *origin,
                                      const mo_instance *x,
                                      const mo_regime *regime, double tolerance,
                                      mo_answer_evaluation *evaluation,
                                      mo_error *err);

/* Evaluates a placement, one device per op; times come from list scheduling. */
mo_status mo_answer_evaluate_placement(const mo_instance *x,
                                       const mo_regime *regime,
                                       const int *device,
                                       mo_answer_evaluation *evaluation,
                                       mo_error *err);

/* Evaluates a schedule with its times, which *evaluation owns afterwards, also
 * after a failure. */
mo_status mo_answer_evaluate_schedule(const mo_instance *x,
                                      mo_schedule *schedule,
                                      mo_answer_evaluation *evaluation,
                                      mo_error *err);

/* Sets the lower bound of an evaluation, which can take longer than all else:
 * for reports of a bound only.  Without a schedule there is none, and that of a
 * period is there already. */
mo_status mo_answer_evaluation_bound(const mo_instance *x,
                                     mo_answer_evaluation *evaluation,
                                     mo_error *err);

/* Sets the periods of all copies together, *load_ns to that of the loads, and
 * their bound; all copies have been evaluated. */
mo_status mo_answer_evaluation_combine(const mo_instance *x,
                                       const mo_regime *regime,
                                       mo_answer_evaluation *evaluation,
                                       int64_t *load_ns, mo_error *err);

/* Reduces a replicated evaluation to that of one copy, numbered from 1. Fails
 * with MO_E_USAGE where there is no such copy, or, copy 0, where there are
 * several. */
mo_status mo_answer_evaluation_take_copy(mo_answer_evaluation *evaluation,
                                         int64_t copy, mo_error *err);

/* Fills *evaluation for something that is no answer, with the reason. */
mo_status mo_answer_evaluation_reject(const char *why,
                                      mo_answer_evaluation *evaluation);

/* Returns the objective of the model: the period or the makespan; there is a
 * schedule. */
int64_t
mo_answer_evaluation_objective_ns(const mo_answer_evaluation *evaluation);

bool mo_answer_evaluation_valid(const mo_answer_evaluation *evaluation);

/* Number of violations, and each of them. */
int mo_answer_evaluation_count(const mo_answer_evaluation *evaluation);
const char *
mo_answer_evaluation_violation(const mo_answer_evaluation *evaluation, int i);

void mo_answer_evaluation_clear(mo_answer_evaluation *evaluation);

#endif
