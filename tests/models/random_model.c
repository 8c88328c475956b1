/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/models/random_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/write/lp_writer.h"
#include "models/write/mps_writer.h"
#include "tests/support/suite.h"

static unsigned next_random(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static double random_number(unsigned *seed)
{
    double sign = next_random(seed, 2) ? 1 : -1;
    double part = (double) next_random(seed, 1u << 24);

    switch (next_random(seed, 6)) {
    case 0:
    case 1:
        return sign;
    case 2:
        return sign * (1 + part) / 1e6;
    case 3:
        return sign * (1 + part);
    case 4:
        return sign * (1 + part / 3) * 1e-9;
    default:
        return sign * (1 + part / 7);
    }
}

static mo_variable random_column(unsigned *seed, int id)
{
    static const mo_variable_role roles[] = {
        MO_VARIABLE_ROLE_PLACE,   MO_VARIABLE_ROLE_START,
        MO_VARIABLE_ROLE_CHANNEL, MO_VARIABLE_ROLE_ORDER,
        MO_VARIABLE_ROLE_SEND,    MO_VARIABLE_ROLE_SAME_DEVICE
    };
    mo_variable v = { .role = roles[next_random(seed, COUNT(roles))],
                      .number = { id, (int) next_random(seed, 20000),
                                  (int) next_random(seed, 3) },
                      .upper = INFINITY };

    v.kind = next_random(seed, 2) ? MO_VARIABLE_BINARY : MO_VARIABLE_CONTINUOUS;
    if (v.kind == MO_VARIABLE_BINARY)
        return v;
    if (next_random(seed, 2))
        v.lower = fabs(random_number(seed));
    if (next_random(seed, 2))
        v.upper = v.lower + fabs(random_number(seed)) + 1e-9;
    if (next_random(seed, 8) == 0)
        v.upper = v.lower;
    return v;
}

static void make_columns(sample_model *s, unsigned *seed)
{
    static char identity[] = "moirai_i_0123456789abcdef0123456789abcdef_"
                             "0123456789abcdef0123456789abcdef_port_static"
                             "_12345678";

    for (int i = 0; i < s->n_columns; i++)
        s->columns[i] = random_column(seed, i);
    s->columns[0] =
        (mo_variable){ .role = MO_VARIABLE_ROLE_MAKESPAN, .upper = INFINITY };
    s->columns[s->n_columns - 1] =
        (mo_variable){ .role = MO_VARIABLE_ROLE_IDENTITY,
                       .text = identity,
                       .lower = 1,
                       .upper = 1 };
}

/* A run of consecutive columns from a random one, so that all are distinct. */
static void make_row(sample_model *s, unsigned *seed, int number, int n)
{
    static const char *const families[] = { "one", "prec", "memory" };
    int which = number * COUNT(families) / s->n_rows;
    int begin = (int) next_random(seed, (unsigned) s->n_columns);
    sample_row *row = &s->rows[number];

    *row = (sample_row){ families[which], 0, next_random(seed, 3), 0,
                         s->n_entries,    n };
    if (number > 0 && row[-1].family == row->family)
        row->number = row[-1].number + 1;
    if (next_random(seed, 2))
        row->rhs = random_number(seed);
    for (int i = 0; i < n; i++) {
        s->column[s->n_entries] = (begin + i) % s->n_columns;
        s->coef[s->n_entries++] = random_number(seed);
    }
}

void sample_make(sample_model *s, unsigned seed, int n_columns, int n_rows)
{
    size_t columns = (size_t) n_columns, rows = (size_t) n_rows;

    *s = (sample_model){ .n_columns = n_columns, .n_rows = n_rows };
    s->columns = calloc(columns, sizeof *s->columns);
    s->rows = calloc(rows, sizeof *s->rows);
    s->column = calloc(rows * 12 + columns, sizeof *s->column);
    s->coef = calloc(rows * 12 + columns, sizeof *s->coef);
    ck_assert(s->columns && s->rows && s->column && s->coef);
    make_columns(s, &seed);
    for (int i = 0; i < n_rows - 1; i++) {
        int n = 1 + (int) next_random(&seed, 12);

        make_row(s, &seed, i, n < n_columns ? n : n_columns);
    }
    make_row(s, &seed, n_rows - 1, n_columns);
}

void sample_free(sample_model *s)
{
    free(s->columns);
    free(s->rows);
    free(s->column);
    free(s->coef);
}

static void send_rows(const sample_model *s, mo_sink *sink)
{
    for (int i = 0; i < s->n_rows; i++) {
        const sample_row *row = &s->rows[i];

        if (row->number == 0)
            mo_sink_family(sink, row->family);
        for (int e = row->first; e < row->first + row->n; e++)
            mo_sink_term(sink, s->column[e], s->coef[e]);
        mo_sink_row(sink, row->sense, row->rhs);
    }
}

void sample_send(const sample_model *s, mo_sink *sink)
{
    for (int pass = 0; pass < sink->kind->passes; pass++) {
        mo_sink_begin(sink, pass);
        for (int i = 0; i < s->n_columns; i++)
            ck_assert_int_eq(mo_sink_column(sink, &s->columns[i]), i);
        mo_sink_columns_end(sink);
        send_rows(s, sink);
    }
    MUST(mo_sink_end(sink, &err));
}

/* Streams the model and returns the text written by the sink. */
static char *written(const sample_model *s, mo_sink *sink, mo_out *out,
                     size_t *size)
{
    char *text;

    sample_send(s, sink);
    mo_sink_free(sink);
    text = mo_out_take(out, size);
    ck_assert_ptr_nonnull(text);
    mo_out_abandon(out);
    return text;
}

char *sample_lp(const sample_model *s, size_t *size)
{
    mo_out *out;
    mo_sink *sink;

    MUST(mo_out_memory(&out, &err));
    MUST(mo_lp_writer_new(out, NULL, &sink, &err));
    return written(s, sink, out, size);
}

char *sample_mps(const sample_model *s, size_t *size)
{
    mo_out *out;
    mo_sink *sink;

    MUST(mo_out_memory(&out, &err));
    MUST(mo_mps_writer_new(out, NULL, &sink, &err));
    return written(s, sink, out, size);
}

static double rounded(double value)
{
    char text[40];

    if (isinf(value))
        return value;
    snprintf(text, sizeof text, "%.15g", value);
    return strtod(text, NULL);
}

static void name_of(const mo_variable *v, char *name)
{
    int n = mo_variable_role_arity(v->role);

    if (v->role == MO_VARIABLE_ROLE_IDENTITY)
        name += sprintf(name, "%s", v->text);
    else
        name += sprintf(name, "%c", (char) v->role);
    for (int i = 0; i < n; i++)
        name += sprintf(name, "_%d", v->number[i]);
}

/* Checks a column and returns its index in m. */
static int column_is(const mo_variable *v, const strict_model *m, unsigned seed)
{
    bool binary = v->kind == MO_VARIABLE_BINARY;
    const strict_column *c;
    char name[128];
    int id;

    name_of(v, name);
    id = strict_find_column(m, name);
    ck_assert_msg(id >= 0, "seed %u: no column %s", seed, name);
    c = &m->columns[id];
    ck_assert_msg(c->integer == binary, "seed %u: kind of %s", seed, name);
    ck_assert_msg(c->lower == (binary ? 0 : rounded(v->lower)) &&
                      c->upper == (binary ? 1 : rounded(v->upper)),
                  "seed %u: bounds of %s are %g %g", seed, name, c->lower,
                  c->upper);
    return id;
}

static void row_is(const sample_row *row, const strict_model *m, int *id,
                   unsigned seed)
{
    char name[128];

    snprintf(name, sizeof name, "%s_%d", row->family, (int) row->number);
    *id = strict_find_row(m, name);
    ck_assert_msg(*id > 0, "seed %u: no row %s", seed, name);
    ck_assert_msg(m->rows[*id].sense == "LGE"[row->sense] &&
                      m->rows[*id].rhs == rounded(row->rhs),
                  "seed %u: sense or right-hand side of %s", seed, name);
}

/* Entries of the model as a matrix, row by row. */
static double *matrix_of(const strict_model *m)
{
    double *a = calloc(m->n_rows * m->n_columns, sizeof *a);

    ck_assert_ptr_nonnull(a);
    for (size_t i = 0; i < m->n_entries; i++)
        a[(size_t) m->entries[i].row * m->n_columns +
          (size_t) m->entries[i].column] = m->entries[i].coef;
    return a;
}

static void sample_is(const sample_model *s, const strict_model *m,
                      unsigned seed)
{
    double *a = matrix_of(m);
    int *at = calloc((size_t) s->n_columns, sizeof *at);

    ck_assert_int_eq(m->n_columns, s->n_columns);
    ck_assert_int_eq(m->n_rows, s->n_rows + 1);
    ck_assert_int_eq(m->n_entries, s->n_entries + 1);
    for (int i = 0; i < s->n_columns; i++)
        at[i] = column_is(&s->columns[i], m, seed);
    ck_assert_msg(a[at[0]] == 1, "seed %u: objective", seed);
    for (int i = 0; i < s->n_rows; i++) {
        const sample_row *row = &s->rows[i];
        int id;

        row_is(row, m, &id, seed);
        for (int e = row->first; e < row->first + row->n; e++)
            ck_assert_msg(
                a[(size_t) id * m->n_columns + (size_t) at[s->column[e]]] ==
                    rounded(s->coef[e]),
                "seed %u: row %d, entry %d", seed, i, e);
    }
    free(at);
    free(a);
}

void sample_survives(unsigned seed, sample_writer *write, strict_reader *read)
{
    sample_model s;
    strict_model m;
    size_t size;
    char *text;

    sample_make(&s, seed, 2 + (int) seed, 3 + (int) (seed * 7 % 90));
    text = write(&s, &size);
    ck_assert_msg(read(&m, text), "seed %u: line %d: %s", seed, m.line,
                  m.fault);
    sample_is(&s, &m, seed);
    strict_free(&m);
    free(text);
    sample_free(&s);
}

void sample_refused(const char *text, int line, strict_reader *read)
{
    strict_model m;

    ck_assert_msg(!read(&m, text), "%s", text);
    ck_assert_msg(m.line == line, "line %d: %s\n%s", m.line, m.fault, text);
    strict_free(&m);
}
