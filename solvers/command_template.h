/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_template.h - expansion of a user's command with placeholders.
 *
 *     ssh solver.example scip-run {model} {solution}
 *
 * It is a line for sh, run in the current folder. {model} and {solution} are
 * paths and required; {start} is one, too ("" without a start), {time} is
 * seconds (1e20 without a limit), {gap} relative (1e-4 by default), {threads}
 * a number (0: the solver's default). Values are quoted, so a placeholder must
 * not stand within quotes. Other braces belong to the shell.
 */
#ifndef MO_SOLVERS_COMMAND_TEMPLATE_H
#define MO_SOLVERS_COMMAND_TEMPLATE_H

#include "base/error.h"
#include "solvers/plugins/solver.h"

/* Expands text into *line, which the caller frees. Returns MO_E_USAGE for a
 * placeholder within quotes, or a missing one. */
mo_status mo_command_template_expand(const char *text, const mo_solver_job *job,
                                     const char *solution, char **line,
                                     mo_error *err);

#endif
