/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - the words and numbers of a line that a solver printed.
 */
#ifndef MO_SOLVERS_PLUGINS_LOG_LINE_H
#define MO_SOLVERS_PLUGINS_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "solvers/plugins/solver.h"

enum { MO_SOLVER_LOG_MAX_TOKENS = 24 };

typedef struct mo_solver_log_token {
    const char *text; /* not ended */
    size_t length;
} mo_solver_log_token;

/* Cuts line at every one of the separators; more than MO_SOLVER_LOG_MAX_TOKENS
 * are left out.  Returns how many there are. */
int mo_solver_log_tokenize(const char *line, const char *separators,
                           mo_solver_log_token *words);

/* A number, which may have an ending such as "s"; false: it is none, or not
 * finite, or what solvers write for "none" (1e20 and more). */
bool mo_solver_log_number(const mo_solver_log_token *word, const char *ending,
                          double *value);
bool mo_solver_log_ends_with(const mo_solver_log_token *word, char last);

/* The number behind key, which begins the line or stands in it. */
bool mo_solver_log_number_after(const char *line, const char *key,
                                double *value);

/* The same of a line that begins with key. */
bool mo_solver_log_number_after_prefix(const char *line, const char *key,
                                       double *value);

/* A bound printed with so many digits, moved down by what rounding may have
 * moved it up. */
void mo_solver_log_set_bound(mo_solver_progress *step, double bound,
                             int digits);
void mo_solver_log_set_incumbent(mo_solver_progress *step, double incumbent);
void mo_solver_log_set_status(mo_solver_progress *step,
                              mo_solution_status claim);

/* The two words of a table's row that have them, where these are numbers. */
void mo_solver_log_set_row(mo_solver_progress *step,
                           const mo_solver_log_token *incumbent,
                           const mo_solver_log_token *bound, int digits);

#endif
