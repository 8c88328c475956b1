/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solfmt.h - readers of solution formats: the table entry of a format, and a
 * tokenizer of lines.
 *
 * The file is in memory owned by the solution, terminated by a 0 and without
 * one in it. Names are terminated in place, so a million columns cost no
 * copies.
 */
#ifndef MO_SOLVERS_FORMATS_SOLFMT_H
#define MO_SOLVERS_FORMATS_SOLFMT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "solvers/formats/solution.h"

typedef struct mo_solfmt_reader {
    const char *file;      /* for errors */
    char *begin, *at;      /* of the file; first unread byte */
    char *end;             /* the terminating 0 */
    char *word, *line_end; /* the rest of the line, without blanks around */
    int line;              /* its number, from 1 */
    bool unended;          /* it ends with the file, not with a newline */
    mo_solution *solution;
    size_t n, room; /* number and capacity of its values, while reading */
    size_t max;     /* largest number of values */
} mo_solfmt_reader;

typedef struct mo_solfmt {
    const char *name, *help;
    /* Returns whether text has this format; it starts with a non-blank and
     * ends with 0. Formats are tried in the order of the table, so that the
     * last may be the one without any mark. */
    bool (*sniff)(const char *text);
    mo_status (*read)(mo_solfmt_reader *r, mo_error *err);
} mo_solfmt;

extern const mo_solfmt mo_solfmt_scip, mo_solfmt_gurobi, mo_solfmt_gurobi_json,
    mo_solfmt_highs, mo_solfmt_highs_pretty, mo_solfmt_cbc, mo_solfmt_glpk,
    mo_solfmt_glpk_plain, mo_solfmt_cplex, mo_solfmt_miplib;

/* A part of a line, not 0-terminated. */
typedef struct mo_solfmt_token {
    char *at;
    size_t length;
} mo_solfmt_token;

bool mo_solfmt_token_is(const mo_solfmt_token *word, const char *text);

/* Returns whether text, which ends with 0, starts with that. */
bool mo_solfmt_has_prefix(const char *text, const char *with);

/* Advance to the next line, or the next non-blank one; return false at the end
 * of the file. */
bool mo_solfmt_next_line(mo_solfmt_reader *r);
bool mo_solfmt_next_nonblank_line(mo_solfmt_reader *r);

/* Returns the next token of the line in *word; false when there is none. */
bool mo_solfmt_next_token(mo_solfmt_reader *r, mo_solfmt_token *word);

/* Returns the rest of the line, possibly empty. */
mo_solfmt_token mo_solfmt_rest_of_line(const mo_solfmt_reader *r);

/* Skips text and the blanks after it, if the line continues with it; returns
 * whether it did. */
bool mo_solfmt_skip_text(mo_solfmt_reader *r, const char *text);

/* Parses any number that solvers print, "inf" and "-infinity" included;
 * returns false for anything else. */
bool mo_solfmt_token_number(const mo_solfmt_token *word, double *value);

/* The same, or an error that names the value. */
mo_status mo_solfmt_parse_number(mo_solfmt_reader *r,
                                 const mo_solfmt_token *word, const char *whose,
                                 double *value, mo_error *err);

/* Parses the next token as a number, such as an objective. */
mo_status mo_solfmt_next_number(mo_solfmt_reader *r, const char *whose,
                                double *value, mo_error *err);

/* Adds a column; a token of length 0 is no name. The name is terminated in
 * place, so what follows it has to be read before. */
mo_status mo_solfmt_add_value(mo_solfmt_reader *r, const mo_solfmt_token *name,
                              double value, mo_error *err);

/* Reads "name value": adds it and leaves the rest of the line. */
mo_status mo_solfmt_read_pair(mo_solfmt_reader *r, mo_error *err);

/* Reads "name value" and the end of the line. */
mo_status mo_solfmt_read_column(mo_solfmt_reader *r, mo_error *err);

/* Returns an error unless the line is used up. */
mo_status mo_solfmt_expect_end_of_line(mo_solfmt_reader *r, mo_error *err);

/* Returns the error of a truncated file; missing is what should follow. */
mo_status mo_solfmt_fail_truncated(mo_solfmt_reader *r, const char *missing,
                                   mo_error *err);

/* Returns a syntax error with the line of where, for formats that are not read
 * by lines; at the end of the file it says so. */
mo_status mo_solfmt_fail_at(const mo_solfmt_reader *r, const char *where,
                            const char *text, mo_error *err);

/* Resolves the escapes of a raw value of base/json.h in place; fails unless it
 * is a string. */
mo_status mo_solfmt_json_string(const mo_solfmt_reader *r, const char *value,
                                size_t length, mo_solfmt_token *text,
                                mo_error *err);

void mo_solfmt_set_objective(mo_solfmt_reader *r, double value);

/* Sets the status that the file claims. One that denies the solution is kept,
 * whatever follows. */
void mo_solfmt_set_claim(mo_solfmt_reader *r, mo_solution_status claim);

/* Returns the status with that name, or -1. */
int mo_solfmt_find_status(const mo_solfmt_token *name);

/* Returns the status of a solver that stopped at a limit. */
mo_solution_status mo_solution_status_at_limit(bool has_solution);

#endif
