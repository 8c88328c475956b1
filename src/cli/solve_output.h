/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve_output.h - outputs of solving: solution file and report.
 */
#ifndef MO_CLI_SOLVE_OUTPUT_H
#define MO_CLI_SOLVE_OUTPUT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/out.h"
#include "driver/portfolio.h"
#include "driver/select_answer.h"

/* Writes the answer in Gurobi's format, whole or not at all, with its status
 * in comments. */
mo_status mo_cli_solve_write(const mo_answer_selection *selection,
                             const mo_answer_selector *selector,
                             const char *path, mo_error *err);

/* Prints the report. */
void mo_cli_solve_report(const mo_answer_selection *selection,
                         const mo_answer_selector *selector,
                         const mo_portfolio *portfolio,
                         const mo_runtime_settings *settings, bool json,
                         mo_out *out);

/* Returns the exit status of the selection. */
int mo_cli_solve_exit_status(const mo_answer_selection *selection);

/* Prints all solvers and the installed versions. */
mo_status mo_cli_list_solvers(const mo_portfolio_options *options, bool json,
                              mo_out *out, mo_error *err);

#endif
