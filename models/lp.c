#include "models/lp.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "models/columns.h"
#include "models/decimal.h"
#include "models/lp_line.h"

/*
 * A row is written piece by piece, each with the blank behind it, into the free
 * part of the output:
 *
 *     prec_12: s_4 - s_3 - 2.5 x_3_0 >= 0
 *
 * Where the next piece would make the line too long, the blank before it
 * becomes the end of the line and the next line begins with one.
 */
enum { LINE_ROOM = 512 }; /* for a line and what is copied beyond its end */

typedef struct lp {
    mo_sink sink;
    mo_out *out;
    const mo_heading *heading;
    mo_columns columns;
    mo_decimals decimals;
    char *line; /* where the line in the making begins */
    char spare[LINE_ROOM];
} lp;

/* A line is written in place, unless the output is about to overflow. */
static char *open_line(lp *w)
{
    w->line = w->out->end - w->out->at > LINE_ROOM ? w->out->at : w->spare;
    return w->line;
}

static void close_line(lp *w, char *at)
{
    at[-1] = '\n';
    if (w->line == w->spare)
        mo_out_bytes(w->out, w->spare, (size_t) (at - w->spare));
    else
        w->out->at = at;
}

/* Room for a piece of so many characters. */
static char *make_room(lp *w, char *at, size_t piece)
{
    if ((size_t) (at - w->line) + piece <= MO_LP_LINE)
        return at;
    close_line(w, at);
    at = open_line(w);
    *at++ = ' ';
    return at;
}

static char *put_text(char *at, const char *text)
{
    size_t length = strlen(text);

    memcpy(at, text, length);
    return at + length;
}

static char *put_decimal(char *at, const mo_decimal *decimal)
{
    memcpy(at, decimal->text, sizeof decimal->text);
    at += decimal->length;
    *at++ = ' ';
    return at;
}

static char *put_signed(lp *w, char *at, double value)
{
    if (value < 0)
        *at++ = '-';
    return put_decimal(at, mo_decimal_of(&w->decimals, fabs(value)));
}

static char *put_name(const lp *w, char *at, int column)
{
    at += mo_columns_name(&w->columns, column, at);
    *at++ = ' ';
    return at;
}

/* A row does not open with a plus. */
static char *put_sign(char *at, double coef, bool first)
{
    memcpy(at, coef < 0 ? "- " : "+ ", 2);
    return first && coef > 0 ? at : at + 2;
}

static char *put_term(lp *w, char *at, int column, double coef, bool first)
{
    double magnitude = fabs(coef);
    size_t name = mo_columns_length(&w->columns, column);

    if (magnitude == 1) {
        at = make_room(w, at, mo_lp_term_room(0, name));
        at = put_sign(at, coef, first);
    } else {
        const mo_decimal *decimal = mo_decimal_of(&w->decimals, magnitude);

        at = make_room(w, at, mo_lp_term_room(decimal->length, name));
        at = put_sign(at, coef, first);
        at = put_decimal(at, decimal);
    }
    return put_name(w, at, column);
}

static void write_row(mo_sink *sink, const mo_row_terms *row)
{
    static const char senses[][4] = { "<= ", ">= ", "= " };
    lp *w = (lp *) sink;
    char *at = open_line(w);

    at = put_text(at, row->family);
    *at++ = '_';
    at += mo_number_write_int(at, row->number);
    *at++ = ':';
    *at++ = ' ';
    for (int i = 0; i < row->n; i++)
        at = put_term(w, at, row->columns[i], row->coefs[i], i == 0);
    at = make_room(w, at, MO_LP_SENSE_ROOM);
    at = put_text(at, senses[row->sense]);
    at = put_signed(w, at, row->rhs);
    close_line(w, at);
}

static void add_column(mo_sink *sink, int id, const mo_variable *column)
{
    lp *w = (lp *) sink;

    (void) id;
    mo_columns_add(&w->columns, column, &sink->failure);
}

static void write_objective(mo_sink *sink)
{
    lp *w = (lp *) sink;
    char *at;

    if (w->heading)
        mo_heading_write(w->heading, "\\", w->out);
    mo_out_text(w->out, "Minimize\n");
    at = put_text(open_line(w), "obj: ");
    close_line(w, put_name(w, at, 0));
    mo_out_text(w->out, "Subject To\n");
}

static void write_bound(lp *w, const mo_bounds *bounds)
{
    char *at = open_line(w);

    if (bounds->lower == bounds->upper) {
        at = put_name(w, at, bounds->column);
        at = put_signed(w, put_text(at, "= "), bounds->lower);
    } else if (bounds->upper == INFINITY) {
        at = put_name(w, at, bounds->column);
        at = put_signed(w, put_text(at, ">= "), bounds->lower);
    } else {
        at = put_text(put_signed(w, at, bounds->lower), "<= ");
        at = put_text(put_name(w, at, bounds->column), "<= ");
        at = put_signed(w, at, bounds->upper);
    }
    close_line(w, at);
}

static void write_bounds(lp *w)
{
    if (w->columns.n_bounds > 0)
        mo_out_text(w->out, "Bounds\n");
    for (size_t i = 0; i < w->columns.n_bounds; i++)
        write_bound(w, &w->columns.bounds[i]);
}

static void write_binaries(lp *w)
{
    const mo_columns *columns = &w->columns;
    char *at = NULL;

    for (int i = 0; i < columns->n; i++) {
        if (columns->kind[i] != MO_BINARY)
            continue;
        if (!at) {
            mo_out_text(w->out, "Binaries\n");
            at = open_line(w);
            *at++ = ' ';
        }
        at = make_room(w, at, mo_columns_length(columns, i) + 1);
        at = put_name(w, at, i);
    }
    if (at)
        close_line(w, at);
}

static mo_status end(mo_sink *sink, mo_error *err)
{
    lp *w = (lp *) sink;

    (void) err; /* the output keeps its own failures */
    write_bounds(w);
    write_binaries(w);
    mo_out_text(w->out, "End\n");
    return MO_OK;
}

static void release(mo_sink *sink)
{
    mo_columns_clear(&((lp *) sink)->columns);
}

mo_status mo_lp_new(mo_out *out, const mo_heading *heading, mo_sink **sink,
                    mo_error *err)
{
    static const mo_sink_kind kind = {
        .passes = 1,
        .wants_rows = true,
        .column = add_column,
        .columns_end = write_objective,
        .row = write_row,
        .end = end,
        .free = release,
    };
    lp *w = mo_sink_new(&kind, sizeof *w, err);

    if (!w)
        return MO_E_MEMORY;
    w->out = out;
    w->heading = heading;
    mo_decimals_init(&w->decimals);
    *sink = &w->sink;
    return MO_OK;
}
