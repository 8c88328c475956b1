/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_line.h - tokens and numbers of a line of a solver's log.
 */
#ifndef MO_SOLVERS_PLUGINS_LOG_LINE_H
#define MO_SOLVERS_PLUGINS_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "solvers/plugins/solver.h"

enum { MO_SOLVER_LOG_MAX_TOKENS = 24 };

typedef struct mo_solver_log_token {
    const char *text; /* not 0-terminated */
    size_t length;
} mo_solver_log_token;

/* Splits line at the separators; tokens beyond MO_SOLVER_LOG_MAX_TOKENS are
 * dropped. Returns their number. */
int mo_solver_log_tokenize(const char *line, const char *separators,
                           mo_solver_log_token *words);

/* Parses a number, with an optional suffix such as "s"; returns false for
 * anything else, for non-finite values, and for 1e20 and more, which solvers
 * print for "none". */
bool mo_solver_log_number(const mo_solver_log_token *word, const char *ending,
                          double *value);
bool mo_solver_log_ends_with(const mo_solver_log_token *word, char last);

/* Parses the number after key, anywhere in the line. */
bool mo_solver_log_number_after(const char *line, const char *key,
                                double *value);

/* The same for a line that starts with key. */
bool mo_solver_log_number_after_prefix(const char *line, const char *key,
                                       double *value);

/* Sets a bound printed with so many digits, lowered by the rounding error of
 * printing. */
void mo_solver_log_set_bound(mo_solver_progress *step, double bound,
                             int digits);
void mo_solver_log_set_incumbent(mo_solver_progress *step, double incumbent);
void mo_solver_log_set_status(mo_solver_progress *step,
                              mo_solution_status claim);

/* Sets incumbent and bound from two tokens of a table row, where they are
 * numbers. */
void mo_solver_log_set_row(mo_solver_progress *step,
                           const mo_solver_log_token *incumbent,
                           const mo_solver_log_token *bound, int digits);

#endif
