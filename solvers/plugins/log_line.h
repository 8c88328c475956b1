/*
 * log.h - the words and numbers of a line that a solver printed.
 */
#ifndef MO_SOLVERS_PLUGINS_LOG_LINE_H
#define MO_SOLVERS_PLUGINS_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "solvers/plugins/solver.h"

enum { MO_LOG_WORDS = 24 };

typedef struct mo_log_word {
    const char *text; /* not ended */
    size_t length;
} mo_log_word;

/* Cuts line at every one of the separators; more than MO_LOG_WORDS are left
 * out.  Returns how many there are. */
int mo_log_cut(const char *line, const char *separators, mo_log_word *words);

/* A number, which may have an ending such as "s"; false: it is none, or not
 * finite, or what solvers write for "none" (1e20 and more). */
bool mo_log_number(const mo_log_word *word, const char *ending, double *value);
bool mo_log_ends(const mo_log_word *word, char last);

/* The number behind key, which begins the line or stands in it. */
bool mo_log_after(const char *line, const char *key, double *value);

/* The same of a line that begins with key. */
bool mo_log_behind(const char *line, const char *key, double *value);

/* A bound printed with so many digits, moved down by what rounding may have
 * moved it up. */
void mo_log_bound(mo_step *step, double bound, int digits);
void mo_log_incumbent(mo_step *step, double incumbent);
void mo_log_claim(mo_step *step, mo_claim claim);

/* The two words of a table's row that have them, where these are numbers. */
void mo_log_row(mo_step *step, const mo_log_word *incumbent,
                const mo_log_word *bound, int digits);

#endif
