/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate_answer.h - evaluation of one answer of a portfolio on the instance
 * of its model.
 */
#ifndef MO_DRIVER_EVALUATE_ANSWER_H
#define MO_DRIVER_EVALUATE_ANSWER_H

#include "driver/portfolio.h"
#include "driver/select_answer.h"

/* Keeps the first error that is no property of the answer: exhausted
 * memory. */
void mo_answer_selector_note_failure(mo_answer_selector *selector,
                                     const mo_error *err);

/* Finds the inputs of the selector's origin, and sets its state. */
void mo_answer_selector_find_instance(mo_answer_selector *selector);

/* Evaluates the answer of the member, which has values, if there is an
 * instance. One whose identity columns are not those of the model is invalid.
 * Sets evaluated and evaluation of the member. */
void mo_answer_selector_evaluate(mo_answer_selector *selector,
                                 mo_portfolio_member *entry);

#endif
