/* SPDX-License-Identifier: Apache-2.0 */
#include "models/write/lp_writer.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/number.h"
#include "models/write/column_table.h"
#include "models/write/line_buffer.h"
#include "models/write/lp_line_limits.h"

/*
 * A row is written piece by piece, each with the blank behind it, into the
 * free part of the output:
 *
 *     prec_12: s_4 - s_3 - 2.5 x_3_0 >= 0
 *
 * Where the next piece would make the line too long, the blank before it
 * becomes the end of the line and the next line begins with one.
 */
typedef struct lp_writer {
    mo_sink sink;
    const mo_heading *heading;
    mo_column_table columns;
    mo_line_buffer line;
} lp_writer;

/* Room for a piece of that many characters. */
static char *wrap_line(lp_writer *w, char *at, size_t piece)
{
    if ((size_t) (at - w->line.begin) + piece <= MO_LP_WRITER_LINE_MAX)
        return at;
    mo_line_buffer_close(&w->line, at);
    at = mo_line_buffer_open(&w->line);
    *at++ = ' ';
    return at;
}

/* A row does not open with a plus. */
static char *put_sign(char *at, double coef, bool first)
{
    memcpy(at, coef < 0 ? "- " : "+ ", 2);
    return first && coef > 0 ? at : at + 2;
}

static char *put_term(lp_writer *w, char *at, int column, double coef,
                      bool first)
{
    double magnitude = fabs(coef);
    size_t name = mo_column_table_name_length(&w->columns, column);

    if (magnitude == 1) {
        at = wrap_line(w, at, mo_lp_writer_term_room(0, name));
        at = put_sign(at, coef, first);
    } else {
        const mo_decimal *decimal = mo_decimal_of(&w->line.decimals, magnitude);

        at = wrap_line(w, at, mo_lp_writer_term_room(decimal->length, name));
        at = put_sign(at, coef, first);
        at = mo_line_buffer_decimal(at, decimal);
    }
    return mo_line_buffer_name(at, &w->columns, column);
}

enum { CHECK_ROWS = 4096 };

static void write_row(mo_sink *sink, const mo_sink_row_terms *row)
{
    static const char senses[][4] = { "<= ", ">= ", "= " };
    lp_writer *w = (lp_writer *) sink;
    char *at;

    /* The output is checked now and then: a closed pipe or a full disk ends
     * the work long before a large model would. */
    if (row->number % CHECK_ROWS == 0 &&
        mo_out_failure(w->line.out, &w->sink.failure) != MO_OK)
        return;
    at = mo_line_buffer_text(mo_line_buffer_open(&w->line), row->family);
    *at++ = '_';
    at += mo_number_write_int(at, row->number);
    *at++ = ':';
    *at++ = ' ';
    for (int i = 0; i < row->n; i++)
        at = put_term(w, at, row->columns[i], row->coefs[i], i == 0);
    at = wrap_line(w, at, MO_LP_WRITER_SENSE_ROOM);
    at = mo_line_buffer_text(at, senses[row->sense]);
    at = mo_line_buffer_number(&w->line, at, row->rhs);
    mo_line_buffer_close(&w->line, at);
}

static void add_column(mo_sink *sink, int id, const mo_variable *column)
{
    lp_writer *w = (lp_writer *) sink;

    (void) id;
    mo_column_table_add(&w->columns, column, &sink->failure);
}

static void write_objective(mo_sink *sink)
{
    lp_writer *w = (lp_writer *) sink;
    char *at;

    if (w->heading) {
        mo_out_digest_begin(w->line.out);
        mo_heading_write(w->heading, "\\", w->line.out);
    }
    mo_out_text(w->line.out, "Minimize\n");
    at = mo_line_buffer_text(mo_line_buffer_open(&w->line), "obj: ");
    mo_line_buffer_close(&w->line, mo_line_buffer_name(at, &w->columns, 0));
    mo_out_text(w->line.out, "Subject To\n");
}

static mo_status write_tail(mo_sink *sink, mo_error *err)
{
    lp_writer *w = (lp_writer *) sink;
    char end[MO_HEADING_END_SIZE] = "End\n";

    (void) err; /* the output keeps its own failures */
    if (w->columns.n_bounds > 0)
        mo_out_text(w->line.out, "Bounds\n");
    for (size_t i = 0; i < w->columns.n_bounds; i++) {
        const mo_column_bounds *bounds = &w->columns.bounds[i];
        char *at = mo_line_buffer_open(&w->line);

        if (bounds->lower == bounds->upper) {
            at = mo_line_buffer_name(at, &w->columns, bounds->column);
            at = mo_line_buffer_number(&w->line, mo_line_buffer_text(at, "= "),
                                       bounds->lower);
        } else if (bounds->upper == INFINITY) {
            at = mo_line_buffer_name(at, &w->columns, bounds->column);
            at = mo_line_buffer_number(&w->line, mo_line_buffer_text(at, ">= "),
                                       bounds->lower);
        } else {
            at = mo_line_buffer_text(
                mo_line_buffer_number(&w->line, at, bounds->lower), "<= ");
            at = mo_line_buffer_text(
                mo_line_buffer_name(at, &w->columns, bounds->column), "<= ");
            at = mo_line_buffer_number(&w->line, at, bounds->upper);
        }
        mo_line_buffer_close(&w->line, at);
    }
    const mo_column_table *columns = &w->columns;
    char *at = NULL;

    for (int i = 0; i < columns->n; i++) {
        if (columns->kind[i] != MO_VARIABLE_BINARY)
            continue;
        if (!at) {
            mo_out_text(w->line.out, "Binaries\n");
            at = mo_line_buffer_open(&w->line);
            *at++ = ' ';
        }
        at = wrap_line(w, at, mo_column_table_name_length(columns, i) + 1);
        at = mo_line_buffer_name(at, &w->columns, i);
    }
    if (at)
        mo_line_buffer_close(&w->line, at);
    if (w->heading)
        (void) mo_heading_end(false, mo_out_digest(w->line.out), end);
    mo_out_text(w->line.out, end);
    return MO_OK;
}

static void free_writer(mo_sink *sink)
{
    mo_column_table_clear(&((lp_writer *) sink)->columns);
}

mo_status mo_lp_writer_new(mo_out *out, const mo_heading *heading,
                           mo_sink **sink, mo_error *err)
{
    static const mo_sink_kind kind = {
        .passes = 1,
        .wants_rows = true,
        .column = add_column,
        .columns_end = write_objective,
        .row = write_row,
        .end = write_tail,
        .free = free_writer,
    };
    lp_writer *w = mo_sink_new(&kind, sizeof *w, err);

    if (!w)
        return MO_E_MEMORY;
    w->heading = heading;
    mo_line_buffer_init(&w->line, out);
    *sink = &w->sink;
    return MO_OK;
}
