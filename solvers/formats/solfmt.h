/*
 * layout.h - what the readers of the layouts share: the table they stand in,
 * and a file as lines and words.
 *
 * The file lies in memory of the solution, with a 0 behind it and none in it.
 * Names are ended where they stand, so a million columns cost no copies.
 */
#ifndef MO_SOLVERS_FORMATS_SOLFMT_H
#define MO_SOLVERS_FORMATS_SOLFMT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "solvers/formats/solution.h"

typedef struct mo_reading {
    const char *file;      /* for errors */
    char *begin, *at;      /* of the file; what was not read yet */
    char *end;             /* a 0 stands here */
    char *word, *line_end; /* what is left of the line, without blanks around */
    int line;              /* its number, from 1 */
    bool unended;          /* it ends with the file, not with a newline */
    mo_solution *solution;
    size_t n, room; /* of its values, while they are read */
} mo_reading;

typedef struct mo_layout {
    const char *name, *help;
    /* Is it this one?  text begins with what is not blank and ends with 0.
     * The table is asked in its order, so that the last may be the one without
     * any mark of its own. */
    bool (*sniff)(const char *text);
    mo_status (*read)(mo_reading *r, mo_error *err);
} mo_layout;

extern const mo_layout mo_layout_scip, mo_layout_gurobi, mo_layout_gurobi_json,
    mo_layout_highs, mo_layout_highs_pretty, mo_layout_cbc, mo_layout_glpk,
    mo_layout_glpk_plain, mo_layout_cplex, mo_layout_miplib;

/* A piece of a line, not 0-terminated. */
typedef struct mo_word {
    char *at;
    size_t length;
} mo_word;

bool mo_word_is(const mo_word *word, const char *text);

/* Does text, which ends with 0, begin with that? */
bool mo_layout_begins(const char *text, const char *with);

/* The next line, or the next with something in it; false at the file's end. */
bool mo_reading_line(mo_reading *r);
bool mo_reading_full_line(mo_reading *r);

/* The next word of the line; false when there is none. */
bool mo_reading_word(mo_reading *r, mo_word *word);

/* What is left of the line, perhaps nothing. */
mo_word mo_reading_rest(const mo_reading *r);

/* Steps over text and the blanks behind it, if the line goes on with it. */
bool mo_reading_skip(mo_reading *r, const char *text);

/* Any number that solvers print, "inf" and "-infinity" among them; false where
 * it is none. */
bool mo_word_number(const mo_word *word, double *value);

/* The same, or an error that says whose value it was to be. */
mo_status mo_reading_number(mo_reading *r, const mo_word *word,
                            const char *whose, double *value, mo_error *err);

/* The next word as a number: an objective, say. */
mo_status mo_reading_next_number(mo_reading *r, const char *whose,
                                 double *value, mo_error *err);

/* Adds a column; a word of length 0 is no name.  The name is ended in place,
 * so whatever follows it must have been looked at. */
mo_status mo_reading_add(mo_reading *r, const mo_word *name, double value,
                         mo_error *err);

/* "name value": adds it and leaves the rest of the line. */
mo_status mo_reading_pair(mo_reading *r, mo_error *err);

/* "name value" and no more. */
mo_status mo_reading_column(mo_reading *r, mo_error *err);

/* An error unless the line is used up. */
mo_status mo_reading_no_more(mo_reading *r, mo_error *err);

/* The error of a file that was cut off; missing is what should follow. */
mo_status mo_reading_cut_off(mo_reading *r, const char *missing, mo_error *err);

void mo_reading_objective(mo_reading *r, double value);

/* A solver that stopped at a limit claims the one or the other. */
mo_claim mo_claim_at_limit(bool has_solution);

#endif
