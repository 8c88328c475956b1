/* SPDX-License-Identifier: Apache-2.0 */
#include "models/write/mps_writer.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/number.h"
#include "models/write/column_table.h"
#include "models/write/line_buffer.h"
#include "models/write/transpose.h"

/*
 * MPS lists a model by columns, but it arrives by rows.  It is streamed twice:
 * in the first pass the rows' names and senses are written, which is all that
 * ROWS has, and entries are counted; in the second the entries go through a
 * transposition (transpose.c), in memory when they fit the buffer and else on
 * disk.  Two passes cost less than storage: what a formulation computes is
 * cheap, and with the counts known every entry is written to disk at most
 * once.
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
    mo_transpose *entries;
    int pass;
    bool in_integers; /* behind INTORG */
    bool in_rhs;
    family *families;
    size_t n_families, families_room;
} mps_writer;

static const char marker_begin[] = " MARKER 'MARKER' 'INTORG'\n";
static const char marker_end[] = " MARKER 'MARKER' 'INTEND'\n";

static int rhs_column(const mps_writer *w)
{
    return w->columns.n;
}

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

/* The objective is the only entry of its row. */
static void plan_entries(mo_sink *sink)
{
    mps_writer *w = (mps_writer *) sink;
    mo_error *err = &sink->failure;

    if (w->pass == 0) {
        if (mo_transpose_columns(w->entries, w->columns.n + 1, err) == MO_OK)
            mo_transpose_count(w->entries, 1, &(int){ 0 });
    } else if (mo_transpose_plan(w->entries, err) == MO_OK) {
        mo_transpose_add(w->entries, 0, 1, &(int){ 0 }, &(double){ 1 }, err);
    }
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

static void count_row(mps_writer *w, const mo_sink_row_terms *row)
{
    static const char senses[] = { 'L', 'G', 'E' };
    char *at = mo_line_buffer_open(&w->line);

    *at++ = ' ';
    *at++ = senses[row->sense];
    *at++ = ' ';
    at = put_row_name(at, row->family, row->number);
    mo_line_buffer_close(&w->line, at);
    mo_transpose_count(w->entries, row->n, row->columns);
    if (row->rhs != 0)
        mo_transpose_count(w->entries, 1, &(int){ rhs_column(w) });
}

static void add_row(mps_writer *w, const mo_sink_row_terms *row)
{
    uint32_t number = (uint32_t) w->sink.n_rows;
    int last = rhs_column(w);
    mo_error *err = &w->sink.failure;
    mo_status status = mo_transpose_add(w->entries, number, row->n,
                                        row->columns, row->coefs, err);

    if (row->rhs != 0 && status == MO_OK)
        mo_transpose_add(w->entries, number, 1, &last, &row->rhs, err);
}

static void process_row(mo_sink *sink, const mo_sink_row_terms *row)
{
    mps_writer *w = (mps_writer *) sink;

    if (w->pass > 0)
        add_row(w, row);
    else if (sink->n_rows >= UINT32_MAX)
        mo_fail(&sink->failure, MO_E_LIMIT,
                "more rows than an MPS file is written with");
    else if (row->number > 0 || add_family(w, row) == MO_OK)
        count_row(w, row);
}

/* Returns the family of a row, which is f or a later one. */
static const family *family_of(const mps_writer *w, const family *f,
                               uint32_t row)
{
    const family *last = w->families + w->n_families - 1;

    while (f < last && f[1].first <= row)
        f++;
    return f;
}

/* Lines that begin with the same text and continue with row and number. */
static void write_entries(mps_writer *w, const char *begins, size_t length,
                          size_t n, const uint32_t *rows, const double *coefs)
{
    const family *f = w->families;

    for (size_t i = 0; i < n; i++) {
        char *at = mo_line_buffer_open(&w->line);

        memcpy(at, begins, 16);
        if (length > 16)
            memcpy(at + 16, begins + 16, MO_COLUMN_TABLE_NAME_SLACK);
        at += length;
        if (rows[i] == 0) {
            at = mo_line_buffer_text(at, "obj ");
        } else {
            f = family_of(w, f, rows[i]);
            at = put_row_name(at, f->name, rows[i] - f->first);
        }
        at = mo_line_buffer_number(&w->line, at, coefs[i]);
        mo_line_buffer_close(&w->line, at);
    }
}

/* A piece of a column may follow another of the same: only a change of kind
 * needs a marker. */
static void write_integer_marker(mps_writer *w, bool integers)
{
    if (integers != w->in_integers)
        mo_out_text(w->line.out, integers ? marker_begin : marker_end);
    w->in_integers = integers;
}

static void begin_rhs_section(mps_writer *w)
{
    if (w->in_rhs)
        return;
    write_integer_marker(w, false);
    mo_out_text(w->line.out, "RHS\n");
    w->in_rhs = true;
}

static void write_column(void *context, int column, size_t n,
                         const uint32_t *rows, const double *coefs)
{
    mps_writer *w = context;
    char begins[16 + MO_COLUMN_TABLE_NAME_SLACK] = " RHS ", *at = begins + 1;

    if (column == rhs_column(w)) {
        begin_rhs_section(w);
        write_entries(w, begins, 5, n, rows, coefs);
    } else {
        write_integer_marker(w, w->columns.kind[column] == MO_VARIABLE_BINARY);
        at = mo_line_buffer_name(at, &w->columns, column);
        write_entries(w, begins, (size_t) (at - begins), n, rows, coefs);
    }
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

/* Both bounds of an integer column: given one, a reader may assume another
 * default for the other. */
static void write_bounds(mps_writer *w)
{
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
}

static mo_status write_sections(mo_sink *sink, mo_error *err)
{
    mps_writer *w = (mps_writer *) sink;
    char end[MO_HEADING_END_SIZE] = "ENDATA\n";
    mo_status status;

    mo_out_text(w->line.out, "COLUMNS\n");
    status = mo_transpose_visit_columns(w->entries, write_column, w, err);
    if (status != MO_OK)
        return status;
    begin_rhs_section(w);
    write_bounds(w);
    if (w->heading)
        (void) mo_heading_end(true, mo_out_digest(w->line.out), end);
    mo_out_text(w->line.out, end);
    return MO_OK;
}

static void free_writer(mo_sink *sink)
{
    mps_writer *w = (mps_writer *) sink;

    mo_column_table_clear(&w->columns);
    mo_transpose_free(w->entries);
    free(w->families);
}

mo_status mo_mps_writer_new(mo_out *out, const mo_heading *heading,
                            size_t buffer_bytes, mo_sink **sink, mo_error *err)
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
    if (mo_transpose_new(buffer_bytes, &w->entries, err) != MO_OK) {
        mo_sink_free(&w->sink);
        return MO_E_MEMORY;
    }
    *sink = &w->sink;
    return MO_OK;
}
