/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jury.h - who won a contest, and what may be said of the answer.
 *
 * Every answer is timed anew and held against the instance.  A solver whose
 * claim cannot be true, by a better answer, a bound or a schedule that are
 * known, is not believed.
 */
#ifndef MO_DRIVER_SELECT_ANSWER_H
#define MO_DRIVER_SELECT_ANSWER_H

#include "driver/portfolio.h"
#include "driver/review.h"
#include "driver/log.h"

typedef enum mo_answer_selector_state {
    MO_ANSWER_SELECTOR_NO_INSTANCE_YET, /* the instance has not been looked for
                                         */
    MO_ANSWER_SELECTOR_READY,
    MO_ANSWER_SELECTOR_NO_INSTANCE /* it was not found: answers stay unchecked
                                    */
} mo_answer_selector_state;

typedef struct mo_answer_selector {
    const mo_prepare_options *options;
    const char *graph, *beside; /* as in mo_review_instance */
    double tolerance, gap;      /* gap: what the solvers were asked for */
    const mo_driver_log *talk;
    mo_answer_selector_state state;
    mo_review review; /* origin: of the model, where it tells */
    mo_error why;     /* IN_VAIN */
    bool has_upper, tried_upper;
    int64_t upper_ns; /* of a schedule that a heuristic knows */
} mo_answer_selector;

/* What came of a contest. */
typedef struct mo_answer_selection {
    mo_portfolio_member *best; /* NULL: no answer, or none that holds */
    mo_portfolio_member
        *broken;        /* an answer that does not hold, where no other does */
    const char *status; /* "optimal", "feasible", "infeasible", "limit" */
    int64_t bound_ns;   /* with an instance */
    const char *bound_by;
    char doubt[512]; /* what cannot be true; "": nothing */
} mo_answer_selection;

/* Judges the entry's answer; true when nobody needs to go on.  context is the
 * jury. */
bool mo_answer_selector_on_answer(void *context, mo_portfolio_member *entry);
void mo_answer_selector_select(mo_answer_selector *jury, mo_portfolio *contest,
                               mo_answer_selection *award);

/* The makespan of an answer: the judge's, or what is claimed where nobody could
 * judge. */
double mo_answer_selector_makespan_us(const mo_answer_selector *jury,
                                      const mo_portfolio_member *entry);

void mo_answer_selector_clear(mo_answer_selector *jury);

#endif
