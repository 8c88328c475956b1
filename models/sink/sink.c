/* SPDX-License-Identifier: Apache-2.0 */
#include "models/sink/sink.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Up to this length duplicate columns are merged by linear search; beyond, by
 * a table over the columns, which costs memory. */
enum { SHORT_ROW = 32, INITIAL_ROOM = 256 };

enum { MAX_FAMILY_NAME = 32 }; /* the longest */

void *mo_sink_new(const mo_sink_kind *kind, size_t size, mo_error *err)
{
    mo_sink *sink = calloc(1, size);

    if (sink) {
        sink->kind = kind;
        sink->room = INITIAL_ROOM;
        sink->columns = malloc(INITIAL_ROOM * sizeof *sink->columns);
        sink->coefs = malloc(INITIAL_ROOM * sizeof *sink->coefs);
        if (sink->columns && sink->coefs)
            return sink;
        mo_sink_free(sink);
    }
    mo_fail_memory(err);
    return NULL;
}

void mo_sink_free(mo_sink *sink)
{
    if (!sink)
        return;
    if (sink->kind->free)
        sink->kind->free(sink);
    free(sink->columns);
    free(sink->coefs);
    free(sink->position);
    free(sink);
}

void mo_sink_begin(mo_sink *sink, int pass)
{
    sink->n_columns = 0;
    sink->n_rows = 0;
    sink->n_terms = 0;
    sink->family = NULL;
    sink->number = 0;
    sink->n = 0;
    if (sink->kind->begin && !mo_sink_failed(sink))
        sink->kind->begin(sink, pass);
}

void mo_sink_columns_end(mo_sink *sink)
{
    if (sink->kind->columns_end && !mo_sink_failed(sink))
        sink->kind->columns_end(sink);
}

mo_status mo_sink_end(mo_sink *sink, mo_error *err)
{
    if (!mo_sink_failed(sink))
        return sink->kind->end ? sink->kind->end(sink, err) : MO_OK;
    if (err)
        *err = sink->failure;
    return sink->failure.status;
}

int mo_sink_column(mo_sink *sink, const mo_variable *column)
{
    int id = sink->n_columns;

    if (mo_sink_failed(sink))
        return 0;
    if (id == INT_MAX) {
        mo_fail(&sink->failure, MO_E_LIMIT,
                "the model has more than %d columns", INT_MAX);
        return 0;
    }
    sink->n_columns++;
    if (sink->kind->column)
        sink->kind->column(sink, id, column);
    return id;
}

/* Readers parse a name that begins like a number or an exponent as one. */
static bool is_family_name(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz"
                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

    return length > 0 && length <= MAX_FAMILY_NAME && name[length] == '\0' &&
           name[0] != 'e' && name[0] != 'E' && strncmp(name, "inf", 3) != 0 &&
           strncmp(name, "nan", 3) != 0;
}

void mo_sink_family(mo_sink *sink, const char *family)
{
    assert(is_family_name(family) && sink->n == 0);
    sink->family = family;
    sink->number = 0;
}

/* Doubles the row buffer; when memory cannot be allocated the row restarts,
 * without effect, as after a failure no row is passed on. */
void mo_sink_grow(mo_sink *sink)
{
    size_t room = (size_t) sink->room * 2;
    int *columns = NULL;
    double *coefs = NULL;

    if (room <= INT_MAX) {
        columns = realloc(sink->columns, room * sizeof *columns);
        if (columns)
            sink->columns = columns;
        coefs = realloc(sink->coefs, room * sizeof *coefs);
        if (coefs)
            sink->coefs = coefs;
    }
    if (columns && coefs) {
        sink->room = (int) room;
        return;
    }
    if (!mo_sink_failed(sink))
        mo_fail_memory(&sink->failure);
    sink->n = 0;
}

void mo_sink_term_add(mo_sink *sink, int column, double coef)
{
    sink->merges = true;
    mo_sink_term(sink, column, coef);
}

/* Moves a term to position at, among those kept, which have distinct
 * columns. */
static void move_term(mo_sink *sink, int term, int at)
{
    sink->columns[at] = sink->columns[term];
    sink->coefs[at] = sink->coefs[term];
}

static void merge_short(mo_sink *sink)
{
    int kept = 0;

    for (int i = 0; i < sink->n; i++) {
        int at = 0;

        while (at < kept && sink->columns[at] != sink->columns[i])
            at++;
        if (at < kept)
            sink->coefs[at] += sink->coefs[i];
        else
            move_term(sink, i, kept++);
    }
    sink->n = kept;
}

static bool reserve_positions(mo_sink *sink)
{
    if (sink->n_positions < sink->n_columns) {
        free(sink->position);
        sink->n_positions = 0;
        sink->position =
            calloc((size_t) sink->n_columns, sizeof *sink->position);
        if (!sink->position)
            return false;
        sink->n_positions = sink->n_columns;
    }
    return true;
}

/* A position is valid only when the term there has the column, so entries left
 * by earlier rows are harmless. */
static void merge_long(mo_sink *sink)
{
    int kept = 0;

    if (!reserve_positions(sink)) {
        mo_fail_memory(&sink->failure);
        return;
    }
    for (int i = 0; i < sink->n; i++) {
        int column = sink->columns[i], at = sink->position[column];

        if (at < kept && sink->columns[at] == column) {
            sink->coefs[at] += sink->coefs[i];
        } else {
            sink->position[column] = kept;
            move_term(sink, i, kept++);
        }
    }
    sink->n = kept;
}

static bool holds_without_terms(mo_sense sense, double rhs)
{
    switch (sense) {
    case MO_LE:
        return 0 <= rhs;
    case MO_GE:
        return 0 >= rhs;
    case MO_EQ:
        break;
    }
    return rhs == 0;
}

void mo_sink_row(mo_sink *sink, mo_sense sense, double rhs)
{
    int kept = 0;

    assert(sink->family && isfinite(rhs));
    /* Columns that were declared after a failure have no id. */
    if (mo_sink_failed(sink))
        sink->n = 0;
    if (sink->merges && sink->n > 0) {
        if (sink->n <= SHORT_ROW)
            merge_short(sink);
        else
            merge_long(sink);
    }
    sink->merges = false;
    for (int i = 0; i < sink->n; i++) {
        assert(isfinite(sink->coefs[i]));
        assert(sink->columns[i] >= 0 && sink->columns[i] < sink->n_columns);
        if (sink->coefs[i] != 0)
            move_term(sink, i, kept++);
    }
    sink->n = kept;
    if (sink->n == 0 && !holds_without_terms(sense, rhs)) {
        mo_sink_term(sink, 0, 1);
        sense = MO_LE;
        rhs = -1;
    }
    if (sink->n > 0 && !mo_sink_failed(sink)) {
        mo_sink_row_terms row = { sink->family,  sink->number++, sink->n,
                                  sink->columns, sink->coefs,    sense,
                                  rhs + 0.0 /* no -0 */ };

        sink->n_rows++;
        sink->n_terms += sink->n;
        if (sink->kind->row)
            sink->kind->row(sink, &row);
        if (sink->on_row_limit && sink->n_rows >= sink->row_limit) {
            sink->on_row_limit(sink->context);
            sink->on_row_limit = NULL;
        }
    }
    sink->n = 0;
}
