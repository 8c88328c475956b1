/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template.h - a command of the user's, with holes in it.
 *
 *     ssh solver.example scip-run {model} {solution}
 *
 * It is a line for sh, run where we run.  {model} and {solution} are paths and
 * must be in it; {start} is one too ("" without a start), {time} is seconds
 * (1e20 without a limit), {gap} relative (1e-4 where nothing was asked for),
 * {threads} a number (0: as the solver likes).  What is put in is quoted, so a
 * hole must not stand within quotes.  Other braces are the shell's.
 */
#ifndef MO_SOLVERS_COMMAND_TEMPLATE_H
#define MO_SOLVERS_COMMAND_TEMPLATE_H

#include "base/error.h"
#include "solvers/plugins/solver.h"

/* The line, which the caller frees. */
mo_status mo_command_template_expand(const char *text, const mo_solver_job *job,
                                     const char *solution, char **line,
                                     mo_error *err);

#endif
