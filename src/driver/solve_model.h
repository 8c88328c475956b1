/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve_model.h - solves a model with a portfolio, selects the answer, solves
 * again after a contradiction, and confirms open claims (cross-check).
 */
#ifndef MO_DRIVER_SOLVE_MODEL_H
#define MO_DRIVER_SOLVE_MODEL_H

#include "driver/portfolio.h"
#include "driver/select_answer.h"
#include "solvers/process/workdir.h"

/* The selector has the model's provenance, if known. The portfolio must be
 * zeros; the caller clears it, also after a failure. */
mo_status mo_driver_solve_model(const mo_portfolio_options *options,
                                const char *model, const mo_workdir *folder,
                                mo_answer_selector *selector,
                                mo_portfolio *portfolio,
                                mo_answer_selection *selection, mo_error *err);

#endif
