/* SPDX-License-Identifier: Apache-2.0 */
#include "models/write/mps_writer.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/number.h"
#include "models/write/column_table.h"
#include "models/write/line_buffer.h"

/*
 * MPS lists a model by columns, but it arrives by rows.  It is streamed twice:
 * in the first pass the rows' names and senses are written, which is all that
 * ROWS has, and entries are counted by column; in the second each entry is put
 * at its place among those of its column (counting sort, 12 bytes an entry).
 *
 * The objective is row 0, the others follow, and the right-hand sides are one
 * more column behind the last.
 */
typedef struct family {
    const char *name;
    uint32_t first; /* row */
} family;

typedef struct mps_writer {
    mo_sink sink;
    const mo_heading *heading;
    mo_column_table columns;
    mo_line_buffer line;
    int pass;
    /* By column: number of entries, in the second pass the place of the next
     * one, and then where they end. */
    size_t *next;
    size_t n_entries;
    uint32_t *rows;
    double *coefs;
    family *families;
    size_t n_families, families_room;
} mps_writer;

static const char marker_begin[] = " MARKER 'MARKER' 'INTORG'\n";
static const char marker_end[] = " MARKER 'MARKER' 'INTEND'\n";

static void begin_pass(mo_sink *sink, int pass)
{
    mps_writer *w = (mps_writer *) sink;

    w->pass = pass;
    if (pass > 0)
        return;
    if (w->heading)
        mo_out_digest_begin(w->line.out);
    mo_out_text(w->line.out, "NAME moirai FREE\n");
    if (w->heading)
        mo_heading_write(w->heading, "*", w->line.out);
    mo_out_text(w->line.out, "ROWS\n N obj\n");
}

static void add_column(mo_sink *sink, int id, const mo_variable *column)
{
    mps_writer *w = (mps_writer *) sink;

    (void) id;
    if (w->pass == 0)
        mo_column_table_add(&w->columns, column, &sink->failure);
}

static void count_entry(mps_writer *w, int column)
{
    w->next[column]++;
    w->n_entries++;
}

static void store_entry(mps_writer *w, int column, uint32_t row, double coef)
{
    size_t at = w->next[column]++;

    w->rows[at] = row;
    w->coefs[at] = coef;
}

/* The objective is the only entry of its row. */
static void plan_entries(mo_sink *sink)
{
    mps_writer *w = (mps_writer *) sink;
    size_t n = w->n_entries, at = 0;

    if (w->pass == 0) {
        w->next = calloc((size_t) w->columns.n + 1, sizeof *w->next);
        if (w->next)
            count_entry(w, 0);
        else
            mo_fail_memory(&sink->failure);
        return;
    }
    for (int c = 0; c <= w->columns.n; c++) {
        size_t count = w->next[c];

        w->next[c] = at;
        at += count;
    }
    w->rows = malloc(n * sizeof *w->rows);
    w->coefs = malloc(n * sizeof *w->coefs);
    if (w->rows && w->coefs)
        store_entry(w, 0, 0, 1);
    else
        mo_fail_memory(&sink->failure);
}

static mo_status add_family(mps_writer *w, const mo_sink_row_terms *row)
{
    if (MO_ARRAY_GROW(w->families, w->n_families, w->families_room,
                      &w->sink.failure) != MO_OK)
        return MO_E_MEMORY;
    w->families[w->n_families++] =
        (family){ row->family, (uint32_t) w->sink.n_rows };
    return MO_OK;
}

static char *put_row_name(char *at, const char *name, int64_t number)
{
    at = mo_line_buffer_text(at, name);
    *at++ = '_';
    at += mo_number_write_int(at, number);
    *at++ = ' ';
    return at;
}

static void process_row(mo_sink *sink, const mo_sink_row_terms *row)
{
    mps_writer *w = (mps_writer *) sink;

    if (w->pass > 0) {
        uint32_t number = (uint32_t) w->sink.n_rows;

        for (int i = 0; i < row->n; i++)
            store_entry(w, row->columns[i], number, row->coefs[i]);
        if (row->rhs != 0)
            store_entry(w, w->columns.n, number, row->rhs);
    } else if (sink->n_rows >= UINT32_MAX)
        mo_fail(&sink->failure, MO_E_LIMIT,
                "more rows than an MPS file is written with");
    else if (row->number > 0 || add_family(w, row) == MO_OK) {
        static const char senses[] = { 'L', 'G', 'E' };
        char *at = mo_line_buffer_open(&w->line);

        *at++ = ' ';
        *at++ = senses[row->sense];
        *at++ = ' ';
        at = put_row_name(at, row->family, row->number);
        mo_line_buffer_close(&w->line, at);
        for (int i = 0; i < row->n; i++)
            count_entry(w, row->columns[i]);
        if (row->rhs != 0)
            count_entry(w, w->columns.n);
    }
}

/* Writes the entries from..end-1, lines that begin with the same text and
 * continue with row and number. */
static void write_entries(mps_writer *w, const char *begins, size_t length,
                          size_t from, size_t end)
{
    const family *f = w->families, *last = f + w->n_families - 1;

    for (size_t i = from; i < end; i++) {
        uint32_t row = w->rows[i];
        char *at = mo_line_buffer_open(&w->line);

        memcpy(at, begins, 16);
        if (length > 16)
            memcpy(at + 16, begins + 16, MO_COLUMN_TABLE_NAME_SLACK);
        at += length;
        if (row == 0) {
            at = mo_line_buffer_text(at, "obj ");
        } else {
            while (f < last && f[1].first <= row)
                f++;
            at = put_row_name(at, f->name, row - f->first);
        }
        at = mo_line_buffer_number(&w->line, at, w->coefs[i]);
        mo_line_buffer_close(&w->line, at);
    }
}

static void write_columns(mps_writer *w)
{
    static const char rhs[16] = " RHS ";
    int n = w->columns.n;
    size_t from = 0;
    bool in_integers = false;

    mo_out_text(w->line.out, "COLUMNS\n");
    for (int c = 0; c < n; from = w->next[c++]) {
        bool integers = w->columns.kind[c] == MO_VARIABLE_BINARY;
        char begins[16 + MO_COLUMN_TABLE_NAME_SLACK] = " ";
        char *end = mo_line_buffer_name(begins + 1, &w->columns, c);

        if (w->next[c] > from && integers != in_integers) {
            mo_out_text(w->line.out, integers ? marker_begin : marker_end);
            in_integers = integers;
        }
        write_entries(w, begins, (size_t) (end - begins), from, w->next[c]);
    }
    if (in_integers)
        mo_out_text(w->line.out, marker_end);
    mo_out_text(w->line.out, "RHS\n");
    write_entries(w, rhs, 5, from, w->next[n]);
}

static void write_bound(mps_writer *w, const char *type, int column,
                        double value)
{
    char *at = mo_line_buffer_text(mo_line_buffer_open(&w->line), type);

    at = mo_line_buffer_name(at, &w->columns, column);
    mo_line_buffer_close(&w->line, mo_line_buffer_number(&w->line, at, value));
}

static void write_column_bounds(mps_writer *w, const mo_column_bounds *b)
{
    if (b->lower == b->upper) {
        write_bound(w, " FX BND ", b->column, b->lower);
        return;
    }
    if (b->lower != 0)
        write_bound(w, " LO BND ", b->column, b->lower);
    if (b->upper != INFINITY)
        write_bound(w, " UP BND ", b->column, b->upper);
}

static mo_status write_sections(mo_sink *sink, mo_error *err)
{
    mps_writer *w = (mps_writer *) sink;
    char end[MO_HEADING_END_SIZE] = "ENDATA\n";

    (void) err; /* the output keeps its own failures */
    write_columns(w);
    /* Both bounds of an integer column: given one, a reader may assume another
     * default for the other. */
    const mo_column_table *columns = &w->columns;
    size_t next = 0;

    mo_out_text(w->line.out, "BOUNDS\n");
    for (int i = 0; i < columns->n; i++) {
        if (columns->kind[i] == MO_VARIABLE_BINARY) {
            write_bound(w, " LO BND ", i, 0);
            write_bound(w, " UP BND ", i, 1);
        } else if (next < columns->n_bounds &&
                   columns->bounds[next].column == i) {
            write_column_bounds(w, &columns->bounds[next++]);
        }
    }
    if (w->heading)
        (void) mo_heading_end(true, mo_out_digest(w->line.out), end);
    mo_out_text(w->line.out, end);
    return MO_OK;
}

static void free_writer(mo_sink *sink)
{
    mps_writer *w = (mps_writer *) sink;

    mo_column_table_clear(&w->columns);
    free(w->next);
    free(w->rows);
    free(w->coefs);
    free(w->families);
}

mo_status mo_mps_writer_new(mo_out *out, const mo_heading *heading,
                            mo_sink **sink, mo_error *err)
{
    static const mo_sink_kind kind = {
        .passes = 2,
        .wants_rows = true,
        .begin = begin_pass,
        .column = add_column,
        .columns_end = plan_entries,
        .row = process_row,
        .end = write_sections,
        .free = free_writer,
    };
    mps_writer *w = mo_sink_new(&kind, sizeof *w, err);

    if (!w)
        return MO_E_MEMORY;
    w->heading = heading;
    mo_line_buffer_init(&w->line, out);
    *sink = &w->sink;
    return MO_OK;
}
