/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve_write.h - what comes of solving: a solution file, and words about it.
 */
#ifndef MO_CLI_SOLVE_OUTPUT_H
#define MO_CLI_SOLVE_OUTPUT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/out.h"
#include "driver/portfolio.h"
#include "driver/select_answer.h"

/* The answer in Gurobi's layout, whole or not at all, with what is known of it
 * in comments. */
mo_status mo_cli_solve_write(const mo_answer_selection *award,
                             const mo_answer_selector *jury, const char *path,
                             mo_error *err);

/* What came of it. */
void mo_cli_solve_report(const mo_answer_selection *award,
                         const mo_answer_selector *jury,
                         const mo_portfolio *contest, bool json, mo_out *out);

/* The exit status that goes with it. */
int mo_cli_solve_exit_status(const mo_answer_selection *award);

/* Every solver we know with what of it is here. */
mo_status mo_cli_list_solvers(const mo_portfolio_options *options, bool json,
                              mo_out *out, mo_error *err);

#endif
