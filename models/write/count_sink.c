/* SPDX-License-Identifier: Apache-2.0 */
#include "models/write/count_sink.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "models/write/decimal.h"
#include "models/write/lp_line_limits.h"

/*
 * Sizes of files are sums of the lengths of names and numbers and of the text
 * that lp_writer.c and mps_writer.c put around them, which the functions below
 * repeat as strings.
 */
#define LENGTH(text) ((int64_t) sizeof(text) - 1)

/* Role of a column in a row with a big-M; bits. */
typedef enum big_m_role {
    ROLE_OTHER = 0,
    ROLE_TIME = 1,
    ROLE_CHOICE = 2
} big_m_role;

typedef struct range {
    double least, largest; /* INFINITY and 0: empty */
} range;

typedef struct column_info {
    unsigned char length; /* of its name */
    unsigned char big_m_role;
} column_info;

/* Cache of the lengths of recent numbers. */
enum { LENGTH_SLOTS = 4096 };

typedef struct lengths {
    double magnitude[LENGTH_SLOTS];
    unsigned char length[LENGTH_SLOTS];
} lengths;

typedef struct counter {
    mo_sink sink;
    mo_model_counts *count;
    mo_model_counts now;
    range coefs, big_ms;
    lengths lengths;
    column_info *columns;
    size_t room;
    bool in_integers; /* the last column was binary */
    bool has_bounds;
    int64_t binary_line; /* the length of the last line of Binaries */
    int64_t row_name;    /* the length of the row's name */
    int64_t longer_at;   /* the number at which it grows */
} counter;

static size_t length_of(lengths *l, double magnitude)
{
    uint64_t slot;

    memcpy(&slot, &magnitude, sizeof slot);
    slot = slot * UINT64_C(0x9e3779b97f4a7c15) >> 52; /* 2^12 slots */
    if (l->magnitude[slot] != magnitude) {
        l->magnitude[slot] = magnitude;
        l->length[slot] = (unsigned char) mo_decimal_length(magnitude);
    }
    return l->length[slot];
}

static int64_t number_length(counter *c, double value)
{
    return (value < 0) + (int64_t) length_of(&c->lengths, fabs(value));
}

static void count_continuous(counter *c, int64_t name,
                             const mo_variable *column)
{
    c->now.continuous++;
    if (column->lower == 0 && column->upper == INFINITY)
        return;
    if (!c->has_bounds)
        c->now.lp_bytes += LENGTH("Bounds\n");
    c->has_bounds = true;
    mo_model_counts *now = &c->now;
    int64_t lower = number_length(c, column->lower), upper;

    if (column->lower == column->upper) {
        now->lp_bytes += LENGTH(" = \n") + name + lower;
        now->mps_bytes += LENGTH(" FX BND  \n") + name + lower;
        return;
    }
    if (column->lower != 0)
        now->mps_bytes += LENGTH(" LO BND  \n") + name + lower;
    if (column->upper == INFINITY) {
        now->lp_bytes += LENGTH(" >= \n") + name + lower;
    } else {
        upper = number_length(c, column->upper);
        now->lp_bytes += LENGTH(" <=  <= \n") + lower + name + upper;
        now->mps_bytes += LENGTH(" UP BND  \n") + name + upper;
    }
}

static big_m_role role_of(const mo_variable *column)
{
    switch (column->role) {
    case MO_VARIABLE_ROLE_START:
    case MO_VARIABLE_ROLE_COMPLETE:
    case MO_VARIABLE_ROLE_SEND:
    case MO_VARIABLE_ROLE_ARRIVE:
    case MO_VARIABLE_ROLE_MAKESPAN:
        return ROLE_TIME;
    case MO_VARIABLE_ROLE_PLACE:
    case MO_VARIABLE_ROLE_CHANNEL:
    case MO_VARIABLE_ROLE_PATTERN:
        return ROLE_OTHER;
    default:
        return column->kind == MO_VARIABLE_BINARY ? ROLE_CHOICE : ROLE_OTHER;
    }
}

static void add_column(mo_sink *sink, int id, const mo_variable *variable)
{
    counter *c = (counter *) sink;
    char text[MO_VARIABLE_NAME];
    size_t n = (size_t) id;
    int64_t name = (int64_t) mo_variable_name(variable, text);

    if (MO_ARRAY_GROW(c->columns, n, c->room, &sink->failure) != MO_OK)
        return;
    c->columns[n] = (column_info){ (unsigned char) name,
                                   (unsigned char) role_of(variable) };
    if (id == 0) {
        c->now.lp_bytes += LENGTH("Minimize\nobj: \nSubject To\nEnd\n") + name;
        c->now.mps_bytes += LENGTH("NAME moirai FREE\nROWS\n N obj\nCOLUMNS\n"
                                   "  obj 1\nRHS\nBOUNDS\nENDATA\n") +
                            name;
    }
    if (variable->kind == MO_VARIABLE_BINARY) {
        mo_model_counts *now = &c->now;

        if (now->binaries++ == 0) {
            now->lp_bytes += LENGTH("Binaries\n");
            c->binary_line = LENGTH(" ");
        }
        if (c->binary_line + name + 1 > MO_LP_WRITER_LINE_MAX) {
            now->lp_bytes += c->binary_line;
            c->binary_line = LENGTH(" ");
        }
        c->binary_line += name + 1;
        now->mps_bytes += LENGTH(" LO BND  0\n") + name;
        now->mps_bytes += LENGTH(" UP BND  1\n") + name;
        if (!c->in_integers)
            now->mps_bytes += LENGTH(" MARKER 'MARKER' 'INTORG'\n") +
                              LENGTH(" MARKER 'MARKER' 'INTEND'\n");
    } else
        count_continuous(c, name, variable);
    c->in_integers = variable->kind == MO_VARIABLE_BINARY;
}

/* Length of a row's current line, and of the lines before it. */
typedef struct lp_row {
    int64_t before, line;
} lp_row;

static void wrap_line(lp_row *row, int64_t piece)
{
    if (row->line + piece > MO_LP_WRITER_LINE_MAX) {
        row->before += row->line;
        row->line = LENGTH(" ");
    }
}

static void widen_range(range *r, double magnitude)
{
    r->least = magnitude < r->least ? magnitude : r->least;
    r->largest = magnitude > r->largest ? magnitude : r->largest;
}

/* Returns the length of the terms in MPS. */
static int64_t count_terms(counter *c, const mo_sink_row_terms *row, lp_row *lp)
{
    int64_t mps = (LENGTH("   \n") + c->row_name) * row->n;
    lp_row now = *lp;
    range coefs = c->coefs;

    for (int i = 0; i < row->n; i++) {
        double magnitude = fabs(row->coefs[i]);
        size_t name = c->columns[row->columns[i]].length, number = 0, room;

        if (magnitude != 1)
            number = length_of(&c->lengths, magnitude);
        room = mo_lp_writer_term_room(number, name);
        wrap_line(&now, (int64_t) room);
        now.line += (int64_t) room;
        mps += (int64_t) (name + (number ? number : 1)) + (row->coefs[i] < 0);
        widen_range(&coefs, magnitude);
    }
    *lp = now;
    c->coefs = coefs;
    return mps;
}

static void count_bytes(counter *c, const mo_sink_row_terms *row)
{
    int64_t rhs = number_length(c, row->rhs);
    lp_row lp = { 0, c->row_name + LENGTH(": ") };
    mo_model_counts *now = &c->now;

    if (row->coefs[0] > 0)
        lp.line -= LENGTH("+ "); /* the first has none */
    now->mps_bytes += LENGTH(" L \n") + c->row_name;
    now->mps_bytes += count_terms(c, row, &lp);
    if (row->rhs != 0)
        now->mps_bytes += LENGTH(" RHS  \n") + c->row_name + rhs;
    wrap_line(&lp, MO_LP_WRITER_SENSE_ROOM);
    now->lp_bytes += lp.before + lp.line + rhs;
    now->lp_bytes += row->sense == MO_EQ ? LENGTH("= \n") : LENGTH("<= \n");
}

static void count_row(mo_sink *sink, const mo_sink_row_terms *row)
{
    int parts = 0;
    counter *c = (counter *) sink;

    /* The name of a row is as long as that of the one before it, or one digit
     * longer. */
    mo_model_counts *now = &c->now;

    if (row->number == 0) {
        assert(now->n_families <
               (int) (sizeof now->family / sizeof *now->family));
        now->family[now->n_families++].name = row->family;
        c->row_name = (int64_t) strlen(row->family) + LENGTH("_0");
        c->longer_at = 10;
    } else if (row->number == c->longer_at) {
        c->row_name++;
        c->longer_at *= 10;
    }
    now->family[now->n_families - 1].rows++;
    count_bytes(c, row);
    for (int i = 0; i < row->n; i++)
        parts |= c->columns[row->columns[i]].big_m_role;
    if (parts != (ROLE_TIME | ROLE_CHOICE))
        return;
    for (int i = 0; i < row->n; i++)
        if (c->columns[row->columns[i]].big_m_role == ROLE_CHOICE)
            widen_range(&c->big_ms, fabs(row->coefs[i]));
}

static void store_range(const range *r, double *least, double *largest)
{
    *least = r->largest > 0 ? r->least : 0;
    *largest = r->largest;
}

static mo_status finish_counts(mo_sink *sink, mo_error *err)
{
    counter *c = (counter *) sink;
    mo_model_counts *now = &c->now;

    (void) err;
    now->rows = sink->n_rows;
    now->nonzeros = sink->n_terms;
    now->lp_bytes += c->binary_line;
    store_range(&c->coefs, &now->least_coef, &now->largest_coef);
    store_range(&c->big_ms, &now->least_big_m, &now->largest_big_m);
    *c->count = *now;
    return MO_OK;
}

static void free_counter(mo_sink *sink)
{
    free(((counter *) sink)->columns);
}

mo_status mo_count_sink_new(mo_model_counts *count, mo_sink **sink,
                            mo_error *err)
{
    static const mo_sink_kind kind = {
        .passes = 1,
        .wants_rows = true,
        .column = add_column,
        .row = count_row,
        .end = finish_counts,
        .free = free_counter,
    };
    counter *c = mo_sink_new(&kind, sizeof *c, err);

    if (!c)
        return MO_E_MEMORY;
    c->count = count;
    c->coefs = c->big_ms = (range){ INFINITY, 0 };
    /* No magnitude is negative: every slot is free. */
    for (int i = 0; i < LENGTH_SLOTS; i++)
        c->lengths.magnitude[i] = -1;
    *sink = &c->sink;
    return MO_OK;
}
