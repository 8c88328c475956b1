/* SPDX-License-Identifier: Apache-2.0 */
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

typedef struct mo_solfmt_reader {
    const char *file;      /* for errors */
    char *begin, *at;      /* of the file; what was not read yet */
    char *end;             /* a 0 stands here */
    char *word, *line_end; /* what is left of the line, without blanks around */
    int line;              /* its number, from 1 */
    bool unended;          /* it ends with the file, not with a newline */
    mo_solution *solution;
    size_t n, room; /* of its values, while they are read */
} mo_solfmt_reader;

typedef struct mo_solfmt {
    const char *name, *help;
    /* Is it this one?  text begins with what is not blank and ends with 0.
     * The table is asked in its order, so that the last may be the one without
     * any mark of its own. */
    bool (*sniff)(const char *text);
    mo_status (*read)(mo_solfmt_reader *r, mo_error *err);
} mo_solfmt;

extern const mo_solfmt mo_solfmt_scip, mo_solfmt_gurobi, mo_solfmt_gurobi_json,
    mo_solfmt_highs, mo_solfmt_highs_pretty, mo_solfmt_cbc, mo_solfmt_glpk,
    mo_solfmt_glpk_plain, mo_solfmt_cplex, mo_solfmt_miplib;

/* A piece of a line, not 0-terminated. */
typedef struct mo_solfmt_token {
    char *at;
    size_t length;
} mo_solfmt_token;

bool mo_solfmt_token_is(const mo_solfmt_token *word, const char *text);

/* Does text, which ends with 0, begin with that? */
bool mo_solfmt_has_prefix(const char *text, const char *with);

/* The next line, or the next with something in it; false at the file's end. */
bool mo_solfmt_next_line(mo_solfmt_reader *r);
bool mo_solfmt_next_nonblank_line(mo_solfmt_reader *r);

/* The next word of the line; false when there is none. */
bool mo_solfmt_next_token(mo_solfmt_reader *r, mo_solfmt_token *word);

/* What is left of the line, perhaps nothing. */
mo_solfmt_token mo_solfmt_rest_of_line(const mo_solfmt_reader *r);

/* Steps over text and the blanks behind it, if the line goes on with it. */
bool mo_solfmt_skip_text(mo_solfmt_reader *r, const char *text);

/* Any number that solvers print, "inf" and "-infinity" among them; false where
 * it is none. */
bool mo_solfmt_token_number(const mo_solfmt_token *word, double *value);

/* The same, or an error that says whose value it was to be. */
mo_status mo_solfmt_parse_number(mo_solfmt_reader *r,
                                 const mo_solfmt_token *word, const char *whose,
                                 double *value, mo_error *err);

/* The next word as a number: an objective, say. */
mo_status mo_solfmt_next_number(mo_solfmt_reader *r, const char *whose,
                                double *value, mo_error *err);

/* Adds a column; a word of length 0 is no name.  The name is ended in place,
 * so whatever follows it must have been looked at. */
mo_status mo_solfmt_add_value(mo_solfmt_reader *r, const mo_solfmt_token *name,
                              double value, mo_error *err);

/* "name value": adds it and leaves the rest of the line. */
mo_status mo_solfmt_read_pair(mo_solfmt_reader *r, mo_error *err);

/* "name value" and no more. */
mo_status mo_solfmt_read_column(mo_solfmt_reader *r, mo_error *err);

/* An error unless the line is used up. */
mo_status mo_solfmt_expect_end_of_line(mo_solfmt_reader *r, mo_error *err);

/* The error of a file that was cut off; missing is what should follow. */
mo_status mo_solfmt_fail_truncated(mo_solfmt_reader *r, const char *missing,
                                   mo_error *err);

void mo_solfmt_set_objective(mo_solfmt_reader *r, double value);

/* A solver that stopped at a limit claims the one or the other. */
mo_solution_status mo_solution_status_at_limit(bool has_solution);

#endif
