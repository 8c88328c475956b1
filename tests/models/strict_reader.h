/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strict_reader.h - parsers of the subset of LP and MPS that every solver
 * reads alike, and of nothing else: an independent specification of the
 * writers.
 *
 * Names are of letters, digits, _ and ., at most 96 characters, and begin with
 * a letter other than e or with _, and not with inf or nan.  Lines have at
 * most 255 characters, numbers 23 and 15 digits.  Sections come once and in
 * order. In LP a blank is around every token, a row has no column twice and
 * its number on the right, and a binary column has no bounds.  In MPS a
 * column's entries are together, and an integer one has both bounds.  In both
 * every column is in the objective or in a row, and comments are at the top
 * only.
 */
#ifndef MO_TESTS_MODELS_STRICT_READER_H
#define MO_TESTS_MODELS_STRICT_READER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct strict_column {
    char name[97];
    bool integer;
    double lower, upper; /* upper may be INFINITY */
    int last_row;        /* of its last entry, or -1 */
    bool has_lower, has_upper;
} strict_column;

typedef struct strict_row {
    char name[97];
    char sense; /* L, G, E, or N for the objective, which is row 0 */
    double rhs;
    int last_column; /* of its last entry, or -1 */
} strict_row;

typedef struct strict_entry {
    int row, column;
    double coef;
} strict_entry;

typedef struct strict_model {
    strict_column *columns;
    strict_row *rows;
    strict_entry *entries;
    size_t n_columns, n_rows, n_entries;
    size_t columns_room, rows_room, entries_room;
    int *index[2]; /* hash tables of names: columns, rows */
    size_t index_room[2];
    int line;        /* being read, or of the fault */
    char fault[256]; /* "" when there is none */
} strict_model;

/* Reads text, which ends with 0; returns false with a fault and its line. */
bool strict_read_lp(strict_model *m, const char *text);
bool strict_read_mps(strict_model *m, const char *text);
void strict_free(strict_model *m);

/* Return the number of entries outside the objective, and of integer
 * columns. */
size_t strict_nonzeros(const strict_model *m);
size_t strict_integers(const strict_model *m);

/* For the two readers: */
bool strict_fail(strict_model *m, const char *format, ...);
bool strict_is_name(const char *token);

/* Return the row or column, or -1; add makes one. */
int strict_find_row(const strict_model *m, const char *name);
int strict_find_column(const strict_model *m, const char *name);
bool strict_add_row(strict_model *m, const char *name, char sense);
bool strict_add_column(strict_model *m, const char *name, int *id);
bool strict_add_entry(strict_model *m, int row, int column, double coef);

bool strict_number(strict_model *m, const char *token, double *value);

/* The next line without its end, split at blanks; n is 0 for none left. */
typedef struct strict_line {
    char text[256];
    char *token[130];
    int n;
} strict_line;
bool strict_next_line(strict_model *m, const char **text, strict_line *line);

#endif
