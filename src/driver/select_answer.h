/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_answer.h - selection of the best valid answer of a portfolio, and its
 * status.
 *
 * Every answer is timed anew and validated on the instance. A claim that
 * contradicts a better answer, a bound or a known schedule is rejected.
 */
#ifndef MO_DRIVER_SELECT_ANSWER_H
#define MO_DRIVER_SELECT_ANSWER_H

#include "driver/portfolio.h"
#include "driver/review.h"
#include "driver/log.h"

typedef enum mo_answer_selector_state {
    MO_ANSWER_SELECTOR_NO_INSTANCE_YET, /* not searched for yet */
    MO_ANSWER_SELECTOR_READY,
    MO_ANSWER_SELECTOR_NO_INSTANCE /* not found: answers stay unchecked */
} mo_answer_selector_state;

typedef struct mo_answer_selector {
    const mo_prepare_options *options;
    const char *graph, *beside; /* as in mo_review_files */
    const char *output;    /* the solution file, beside which inputs may be, or
                              NULL */
    double tolerance, gap; /* gap: the one requested from the solvers */
    const mo_driver_log *logger;
    mo_answer_selector_state state;
    mo_review review; /* origin: of the model, if it records one */
    mo_error why;     /* with NO_INSTANCE */
    bool has_upper, tried_upper;
    int64_t upper_ns; /* makespan of a heuristic schedule */
} mo_answer_selector;

/* Result of a selection. */
typedef struct mo_answer_selection {
    mo_portfolio_member *best; /* NULL: no answer, or no valid one */
    mo_portfolio_member
        *broken;        /* an invalid answer, if there is no valid one */
    const char *status; /* "optimal", "feasible", "infeasible", "limit" */
    int64_t bound_ns;   /* if there is an instance */
    const char *bound_by;
    char doubt[512]; /* the contradiction; "": none */
} mo_answer_selection;

/* Evaluates the member's answer; returns true if the other members can stop.
 * context is the mo_answer_selector. */
bool mo_answer_selector_on_answer(void *context, mo_portfolio_member *entry);
void mo_answer_selector_select(mo_answer_selector *selector,
                               mo_portfolio *portfolio,
                               mo_answer_selection *selection);

/* Returns the makespan of an answer: the recomputed one, or the claim if there
 * is no instance. */
double mo_answer_selector_makespan_us(const mo_answer_selector *selector,
                                      const mo_portfolio_member *entry);

void mo_answer_selector_clear(mo_answer_selector *selector);

#endif
