/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cross_check.h - confirmation of a solver's claim by other means.
 *
 * Branch and bound gives no certificate, and solvers have claimed optima that
 * were none. Where the bounds computed here leave a claim open, the search of
 * solvers/search is run, also where two solvers agree; then, with one claim,
 * every other solver that is installed, with the answer as its MIP start. The
 * bound of the search or a second solver confirms the claim, a better schedule
 * refutes it; no solver confirms itself. The answer is one of the model where
 * that may have rows of the user; else the schedule of the search may be it.
 */
#ifndef MO_DRIVER_CROSS_CHECK_H
#define MO_DRIVER_CROSS_CHECK_H

#include "driver/portfolio.h"
#include "driver/select_answer.h"
#include "solvers/process/workdir.h"

/*
 * Checks the open claim of the selection, if there is one, and selects again.
 * Answers that were found join the portfolio. Takes options->cross_check_s at
 * most, by default as long as the solvers took, within limits, and no longer
 * than left_s (0: no limit). A cross-check that cannot be made leaves the claim
 * open; only exhausted memory is an error.
 */
mo_status mo_cross_check(const mo_portfolio_options *options, const char *model,
                         const mo_workdir *folder, double left_s,
                         mo_answer_selector *selector, mo_portfolio *portfolio,
                         mo_answer_selection *selection, mo_error *err);

#endif
