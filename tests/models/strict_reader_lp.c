/* SPDX-License-Identifier: Apache-2.0 */
/* Parser of the LP subset. */
#include <ctype.h>
#include <string.h>

#include "tests/models/strict_reader.h"

/* The tokens of the file, one after the other over its lines. */
typedef struct reader {
    strict_model *m;
    const char *text;
    strict_line line;
    int at;
    char before[256]; /* the token taken last */
} reader;

/* The next token; "" at the end of the file, or when a line is faulty. */
static const char *peek(reader *r)
{
    while (r->at == r->line.n) {
        if (!strict_next_line(r->m, &r->text, &r->line) || r->line.n == 0) {
            r->line.n = r->at = 0;
            return "";
        }
        r->at = 0;
    }
    return r->line.token[r->at];
}

static const char *take(reader *r)
{
    strcpy(r->before, peek(r));
    if (r->before[0])
        r->at++;
    return r->before;
}

/* The header is alone on the next line. */
static bool take_header(reader *r, const char *first, const char *second)
{
    int n = second ? 2 : 1;

    if (strcmp(peek(r), first) != 0)
        return false;
    if (r->at != 0 || r->line.n != n || r->line.token[0] != r->line.text ||
        (second && strcmp(r->line.token[1], second) != 0))
        return strict_fail(r->m, "'%s' is not alone on its line", first);
    r->at = n;
    return true;
}

static void skip_comments(reader *r)
{
    while (peek(r)[0] == '\\')
        r->at = r->line.n;
}

static bool column_of(reader *r, const char *name, int *column)
{
    *column = strict_find_column(r->m, name);
    return *column >= 0 || strict_add_column(r->m, name, column);
}

/* [sign] [number] name; token is the first of them. */
static bool read_term(reader *r, const char *token, bool first, int row)
{
    double sign = 1, coef = 1;
    int column;

    if (strcmp(token, "+") == 0 || strcmp(token, "-") == 0) {
        sign = token[0] == '-' ? -1 : 1;
        token = take(r);
    } else if (!first) {
        return strict_fail(r->m, "'%s' without a sign", token);
    }
    if (isdigit((unsigned char) token[0])) {
        if (!strict_number(r->m, token, &coef))
            return false;
        token = take(r);
    }
    return column_of(r, token, &column) &&
           strict_add_entry(r->m, row, column, sign * coef);
}

static char sense_of(const char *token)
{
    return strcmp(token, "<=") == 0   ? 'L'
           : strcmp(token, ">=") == 0 ? 'G'
           : strcmp(token, "=") == 0  ? 'E'
                                      : '\0';
}

static bool read_name(reader *r, const char *token)
{
    char name[256];
    size_t length = strlen(token);

    strcpy(name, token);
    if (length == 0 || name[length - 1] != ':')
        return strict_fail(r->m, "'%s' where a row begins", token);
    name[length - 1] = '\0';
    return strict_add_row(r->m, name, '?');
}

static bool read_row(reader *r)
{
    int row = (int) r->m->n_rows;
    bool first = true;
    char sense = '\0';

    if (!read_name(r, take(r)))
        return false;
    while (!sense) {
        const char *token = take(r);

        sense = sense_of(token);
        if (!sense && !read_term(r, token, first, row))
            return false;
        if (sense && first)
            return strict_fail(r->m, "a row without terms");
        first = false;
    }
    r->m->rows[row].sense = sense;
    return strict_number(r->m, take(r), &r->m->rows[row].rhs) &&
           (r->at == r->line.n || strict_fail(r->m, "text behind a row"));
}

static bool read_objective(reader *r)
{
    if (!take_header(r, "Minimize", NULL))
        return strict_fail(r->m, "no Minimize");
    if (!read_name(r, take(r)))
        return false;
    r->m->rows[0].sense = 'N';
    return read_term(r, take(r), true, 0);
}

static bool known_column(reader *r, const char *name, strict_column **column)
{
    int id = strict_find_column(r->m, name);

    if (id < 0)
        return strict_fail(r->m, "'%s' is in no row", name);
    *column = &r->m->columns[id];
    if ((*column)->integer || (*column)->has_lower || (*column)->has_upper)
        return strict_fail(r->m, "'%s' a second time", name);
    return true;
}

/* name = number, name >= number, number <= name <= number */
static bool read_bound(reader *r)
{
    char **t = r->line.token;
    strict_column *c;
    char sense = r->line.n > 1 ? sense_of(t[1]) : '\0';

    r->at = r->line.n;
    if (r->line.n == 3 && (sense == 'E' || sense == 'G')) {
        if (!known_column(r, t[0], &c) || !strict_number(r->m, t[2], &c->lower))
            return false;
        if (sense == 'E')
            c->upper = c->lower;
    } else if (r->line.n == 5 && sense == 'L' && sense_of(t[3]) == 'L') {
        if (!known_column(r, t[2], &c) ||
            !strict_number(r->m, t[0], &c->lower) ||
            !strict_number(r->m, t[4], &c->upper))
            return false;
    } else {
        return strict_fail(r->m, "a bound of another kind");
    }
    c->has_lower = c->has_upper = true;
    return c->lower <= c->upper || strict_fail(r->m, "no value is left");
}

static bool is_header(reader *r)
{
    const char *token = peek(r);

    return !token[0] || strcmp(token, "Bounds") == 0 ||
           strcmp(token, "Binaries") == 0 || strcmp(token, "End") == 0;
}

static bool read_binary(reader *r)
{
    strict_column *c;

    if (!known_column(r, take(r), &c))
        return false;
    c->integer = true;
    c->upper = 1;
    return true;
}

/* The only comment that is not in the heading. */
static bool is_digest(reader *r)
{
    return strncmp(peek(r), "\\", 1) == 0 && r->at == 0 && r->line.n == 3 &&
           strcmp(r->line.token[1], "digest:") == 0;
}

static bool read_many(reader *r, bool (*read)(reader *))
{
    while (!is_header(r) && !is_digest(r))
        if (!read(r))
            return false;
    return !r->m->fault[0];
}

static bool read_sections(reader *r)
{
    skip_comments(r);
    if (!read_objective(r))
        return false;
    if (!take_header(r, "Subject", "To"))
        return strict_fail(r->m, "no Subject To");
    if (!read_many(r, read_row))
        return false;
    if (take_header(r, "Bounds", NULL) && !read_many(r, read_bound))
        return false;
    if (take_header(r, "Binaries", NULL) && !read_many(r, read_binary))
        return false;
    if (is_digest(r))
        skip_comments(r);
    if (!take_header(r, "End", NULL))
        return strict_fail(r->m, "'%s' where End should be", peek(r));
    return !peek(r)[0] || strict_fail(r->m, "text behind End");
}

bool strict_read_lp(strict_model *m, const char *text)
{
    reader r = { .m = m, .text = text };

    *m = (strict_model){ 0 };
    return read_sections(&r) && !m->fault[0];
}
