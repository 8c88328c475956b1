/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solving.h - a model solved, the answers judged, and solved again where that
 * is called for.
 */
#ifndef MO_DRIVER_SOLVE_MODEL_H
#define MO_DRIVER_SOLVE_MODEL_H

#include "driver/portfolio.h"
#include "driver/select_answer.h"
#include "solvers/process/workdir.h"

/* The jury knows the model's origin, where that can be known.  contest must be
 * zeros and is the caller's to clear, whatever the result. */
mo_status mo_driver_solve_model(const mo_portfolio_options *options,
                                const char *model, const mo_workdir *folder,
                                mo_answer_selector *jury, mo_portfolio *contest,
                                mo_answer_selection *award, mo_error *err);

#endif
