/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "tests/models/strict_reader.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"

enum { COLUMNS, ROWS };

bool strict_fail(strict_model *m, const char *format, ...)
{
    va_list args;

    if (m->fault[0])
        return false;
    va_start(args, format);
    vsnprintf(m->fault, sizeof m->fault, format, args);
    va_end(args);
    return false;
}

void strict_free(strict_model *m)
{
    free(m->columns);
    free(m->rows);
    free(m->entries);
    free(m->index[COLUMNS]);
    free(m->index[ROWS]);
    *m = (strict_model){ 0 };
}

/* Words that some reader parses as a section or a bound. */
static bool is_keyword(const char *token)
{
    static const char *const words[] = {
        "min",     "max",   "minimize", "maximize", "minimum",  "maximum",
        "subject", "to",    "such",     "that",     "st",       "s.t.",
        "bounds",  "bound", "free",     "general",  "generals", "gen",
        "integer", "int",   "integers", "binary",   "binaries", "bin",
        "semi",    "sos",   "sos1",     "sos2",     "end",      "rows",
        "columns", "rhs",   "ranges",   "objsense", "endata",   "name",
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(token, words[i]) == 0)
            return true;
    return false;
}

bool strict_is_name(const char *token)
{
    size_t length = strlen(token);

    if (length == 0 || length > 96 || strchr("eE0123456789.", token[0]))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                    "0123456789_.",
                    token[i]))
            return false;
    return strncasecmp(token, "inf", 3) != 0 &&
           strncasecmp(token, "nan", 3) != 0 && !is_keyword(token);
}

/* From the first digit that is not 0 to the last. */
static int significant_digits(const char *token)
{
    int n = 0, least = 0;

    for (; *token && *token != 'e'; token++) {
        if (!isdigit((unsigned char) *token) || (n == 0 && *token == '0'))
            continue;
        n++;
        if (*token != '0')
            least = n;
    }
    return least;
}

static const char *skip_digits(const char *at)
{
    return at + strspn(at, "0123456789");
}

/* digits [. digits] [e [+-] digits]; returns NULL when it is not that. */
static const char *skip_number(const char *at)
{
    const char *end = skip_digits(at);

    if (end == at)
        return NULL;
    if (*end == '.') {
        at = end + 1;
        end = skip_digits(at);
        if (end == at)
            return NULL;
    }
    if (*end == 'e') {
        at = end + 1 + (end[1] == '-' || end[1] == '+');
        end = skip_digits(at);
        if (end == at)
            return NULL;
    }
    return end;
}

bool strict_number(strict_model *m, const char *token, double *value)
{
    const char *end = skip_number(token + (token[0] == '-'));

    if (!end || *end)
        return strict_fail(m, "'%s' is not a number", token);
    if (strlen(token) > 23 || significant_digits(token) > 15)
        return strict_fail(m, "'%s' is too long", token);
    *value = strtod(token, NULL);
    return isfinite(*value) || strict_fail(m, "'%s' is too large", token);
}

static uint64_t hash(const char *name)
{
    uint64_t h = 1469598103934665603u;

    for (; *name; name++)
        h = (h ^ (unsigned char) *name) * 1099511628211u;
    return h ^ h >> 29;
}

static const char *name_of(const strict_model *m, int kind, int id)
{
    return kind == ROWS ? m->rows[id].name : m->columns[id].name;
}

/* Returns the slot of the name, or the free one where it would be. */
static int *slot_of(const strict_model *m, int kind, const char *name)
{
    size_t mask = m->index_room[kind] - 1, at = hash(name) & mask;

    while (m->index[kind][at] >= 0 &&
           strcmp(name_of(m, kind, m->index[kind][at]), name) != 0)
        at = (at + 1) & mask;
    return &m->index[kind][at];
}

static int find(const strict_model *m, int kind, const char *name)
{
    return m->index_room[kind] ? *slot_of(m, kind, name) : -1;
}

int strict_find_row(const strict_model *m, const char *name)
{
    return find(m, ROWS, name);
}

int strict_find_column(const strict_model *m, const char *name)
{
    return find(m, COLUMNS, name);
}

/* Doubles the table for n names when it is half full. */
static bool grow_index(strict_model *m, int kind, size_t n)
{
    size_t room = m->index_room[kind];

    if (n * 2 < room)
        return true;
    room = room ? room * 2 : 64;
    free(m->index[kind]);
    m->index[kind] = malloc(room * sizeof *m->index[kind]);
    if (!m->index[kind])
        return strict_fail(m, "no memory");
    m->index_room[kind] = room;
    memset(m->index[kind], 0xff, room * sizeof *m->index[kind]);
    for (size_t i = 0; i < n; i++)
        *slot_of(m, kind, name_of(m, kind, (int) i)) = (int) i;
    return true;
}

bool strict_add_row(strict_model *m, const char *name, char sense)
{
    strict_row row = { "", sense, 0, -1 };

    if (!strict_is_name(name))
        return strict_fail(m, "'%s' is no name for a row", name);
    if (strict_find_row(m, name) >= 0)
        return strict_fail(m, "a second row '%s'", name);
    if (MO_ARRAY_GROW(m->rows, m->n_rows, m->rows_room, NULL) != MO_OK ||
        !grow_index(m, ROWS, m->n_rows))
        return strict_fail(m, "no memory");
    strcpy(row.name, name);
    *slot_of(m, ROWS, name) = (int) m->n_rows;
    m->rows[m->n_rows++] = row;
    return true;
}

bool strict_add_column(strict_model *m, const char *name, int *id)
{
    strict_column column = { .upper = INFINITY, .last_row = -1 };

    if (!strict_is_name(name))
        return strict_fail(m, "'%s' is no name for a column", name);
    if (MO_ARRAY_GROW(m->columns, m->n_columns, m->columns_room, NULL) !=
            MO_OK ||
        !grow_index(m, COLUMNS, m->n_columns))
        return strict_fail(m, "no memory");
    strcpy(column.name, name);
    *id = (int) m->n_columns;
    *slot_of(m, COLUMNS, name) = *id;
    m->columns[m->n_columns++] = column;
    return true;
}

bool strict_add_entry(strict_model *m, int row, int column, double coef)
{
    if (m->columns[column].last_row == row ||
        m->rows[row].last_column == column)
        return strict_fail(m, "'%s' twice in '%s'", m->columns[column].name,
                           m->rows[row].name);
    if (coef == 0)
        return strict_fail(m, "a coefficient of 0");
    if (MO_ARRAY_GROW(m->entries, m->n_entries, m->entries_room, NULL) != MO_OK)
        return strict_fail(m, "no memory");
    m->columns[column].last_row = row;
    m->rows[row].last_column = column;
    m->entries[m->n_entries++] = (strict_entry){ row, column, coef };
    return true;
}

static bool copy_line(strict_model *m, const char **text, strict_line *line)
{
    size_t length = strcspn(*text, "\n");

    m->line++;
    if ((*text)[length] != '\n')
        return strict_fail(m, "the line does not end");
    if (length > 255)
        return strict_fail(m, "a line of %zu characters", length);
    for (size_t i = 0; i < length; i++)
        if ((*text)[i] < ' ' || (*text)[i] > '~')
            return strict_fail(m, "a character that is not plain ASCII");
    memcpy(line->text, *text, length);
    line->text[length] = '\0';
    *text += length + 1;
    return true;
}

bool strict_next_line(strict_model *m, const char **text, strict_line *line)
{
    char *at = line->text;

    line->n = 0;
    if (**text == '\0')
        return true;
    if (!copy_line(m, text, line))
        return false;
    for (;;) {
        at += strspn(at, " ");
        if (*at == '\0')
            break;
        line->token[line->n++] = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = '\0';
    }
    return line->n > 0 || strict_fail(m, "an empty line");
}

size_t strict_nonzeros(const strict_model *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_entries; i++)
        n += m->entries[i].row != 0;
    return n;
}

size_t strict_integers(const strict_model *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_columns; i++)
        n += m->columns[i].integer;
    return n;
}
