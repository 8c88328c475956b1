/* SPDX-License-Identifier: Apache-2.0 */
/* Parser of the MPS subset. */
#include <math.h>
#include <string.h>

#include "tests/models/strict_reader.h"

typedef struct reader {
    strict_model *m;
    const char *text;
    strict_line line;
    bool integers; /* between markers */
    int column;    /* column of the current entries, or -1 */
} reader;

static bool next(reader *r)
{
    return strict_next_line(r->m, &r->text, &r->line);
}

static bool is(const reader *r, int token, const char *text)
{
    return token < r->line.n && strcmp(r->line.token[token], text) == 0;
}

/* Lines of a section begin with a blank, its header does not. */
static bool is_data(const reader *r)
{
    return r->line.n > 0 && r->line.text[0] == ' ';
}

static bool expect(reader *r, const char *header)
{
    if (is_data(r) || r->line.n != 1 || !is(r, 0, header))
        return strict_fail(r->m, "no %s", header);
    return next(r);
}

static bool fields(reader *r, int n)
{
    return r->line.n == n ||
           strict_fail(r->m, "%d fields, not %d", r->line.n, n);
}

static bool read_name(reader *r)
{
    if (!next(r))
        return false;
    if (is_data(r) || r->line.n != 3 || !is(r, 0, "NAME") || !is(r, 2, "FREE"))
        return strict_fail(r->m, "the first line is not NAME word FREE");
    do
        if (!next(r))
            return false;
    while (r->line.n > 0 && r->line.text[0] == '*');
    return true;
}

static bool read_row(reader *r)
{
    const char *sense = r->line.token[0];
    bool first = r->m->n_rows == 0;

    if (!fields(r, 2))
        return false;
    if (strlen(sense) != 1 || !strchr(first ? "N" : "LGE", sense[0]))
        return strict_fail(r->m, "a row of sense %s", sense);
    return strict_add_row(r->m, r->line.token[1], sense[0]);
}

static bool read_marker(reader *r)
{
    if (!is(r, 2, r->integers ? "'INTEND'" : "'INTORG'"))
        return strict_fail(r->m, "a marker out of turn");
    r->integers = !r->integers;
    r->column = -1;
    return true;
}

static bool known_row(reader *r, int token, int *row)
{
    *row = strict_find_row(r->m, r->line.token[token]);
    return *row >= 0 || strict_fail(r->m, "no row '%s'", r->line.token[token]);
}

static bool begin_column(reader *r, const char *name)
{
    if (strict_find_column(r->m, name) >= 0)
        return strict_fail(r->m, "'%s' is in two places", name);
    if (!strict_add_column(r->m, name, &r->column))
        return false;
    r->m->columns[r->column].integer = r->integers;
    return true;
}

static bool read_entry(reader *r)
{
    double coef;
    int row;

    if (!fields(r, 3))
        return false;
    if (is(r, 1, "'MARKER'"))
        return read_marker(r);
    if ((r->column < 0 || !is(r, 0, r->m->columns[r->column].name)) &&
        !begin_column(r, r->line.token[0]))
        return false;
    return known_row(r, 1, &row) &&
           strict_number(r->m, r->line.token[2], &coef) &&
           strict_add_entry(r->m, row, r->column, coef);
}

static bool read_rhs(reader *r)
{
    double value;
    int row;

    if (!fields(r, 3) || !known_row(r, 1, &row) ||
        !strict_number(r->m, r->line.token[2], &value))
        return false;
    if (!is(r, 0, "RHS") || row == 0 || value == 0 || r->m->rows[row].rhs != 0)
        return strict_fail(r->m, "a right-hand side that is none");
    r->m->rows[row].rhs = value;
    return true;
}

static bool set_bound(reader *r, strict_column *c, double value)
{
    bool fixed = is(r, 0, "FX");
    bool lower = fixed || is(r, 0, "LO"), upper = fixed || is(r, 0, "UP");

    if ((!lower && !upper) || (lower && c->has_lower) ||
        (upper && c->has_upper))
        return strict_fail(r->m, "a bound of '%s' too many", c->name);
    if (lower)
        c->lower = value;
    if (upper)
        c->upper = value;
    c->has_lower |= lower;
    c->has_upper |= upper;
    if (upper && value <= 0 && !c->has_lower)
        return strict_fail(r->m, "what is below '%s' is a guess", c->name);
    return c->lower <= c->upper || strict_fail(r->m, "no value is left");
}

static bool read_bound(reader *r)
{
    double value;
    int column;

    if (!fields(r, 4))
        return false;
    column = strict_find_column(r->m, r->line.token[2]);
    if (!is(r, 1, "BND") || column < 0)
        return strict_fail(r->m, "a bound of nothing");
    return strict_number(r->m, r->line.token[3], &value) &&
           set_bound(r, &r->m->columns[column], value);
}

static bool read_section(reader *r, const char *header, bool (*read)(reader *))
{
    if (!expect(r, header))
        return false;
    while (is_data(r))
        if (!read(r) || !next(r))
            return false;
    return true;
}

/* The only comment that is not in the heading. */
static bool skip_digest(reader *r)
{
    return r->line.n != 3 || !is(r, 0, "*") || !is(r, 1, "digest:") || next(r);
}

static bool check_integers(strict_model *m)
{
    for (size_t i = 0; i < m->n_columns; i++) {
        const strict_column *c = &m->columns[i];

        if (c->integer && !(c->has_lower && c->has_upper))
            return strict_fail(m, "'%s' lacks a bound", c->name);
    }
    return true;
}

bool strict_read_mps(strict_model *m, const char *text)
{
    reader r = { .m = m, .text = text, .column = -1 };

    *m = (strict_model){ 0 };
    if (!read_name(&r) || !read_section(&r, "ROWS", read_row) ||
        !read_section(&r, "COLUMNS", read_entry))
        return false;
    if (r.integers)
        return strict_fail(m, "a marker is open");
    if (!read_section(&r, "RHS", read_rhs) ||
        !read_section(&r, "BOUNDS", read_bound) || !skip_digest(&r) ||
        !expect(&r, "ENDATA"))
        return false;
    if (r.line.n > 0)
        return strict_fail(m, "text behind ENDATA");
    return check_integers(m);
}
