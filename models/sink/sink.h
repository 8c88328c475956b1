/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h - where a model goes, one row at a time.
 *
 * A formulation declares all its columns, then streams its rows; nobody holds
 * the model.  A sink writes it (lp.h, mps.h), counts it (count.h), or looks at
 * the columns only (map.h, start.h).  The objective is always: minimise column
 * 0, the makespan.
 *
 *     mo_sink_family(sink, "prec");             rows prec_0, prec_1, ...
 *     mo_sink_term(sink, s_j, 1);
 *     mo_sink_term(sink, s_i, -1);
 *     mo_sink_row(sink, MO_GE, 0);
 *
 * Nothing reports: a sink keeps its first failure and mo_sink_end tells it.
 */
#ifndef MO_MODELS_SINK_SINK_H
#define MO_MODELS_SINK_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "models/sink/variable.h"

typedef enum mo_sense { MO_LE, MO_GE, MO_EQ } mo_sense;

typedef struct mo_sink mo_sink;

/* A row as a sink gets it: no column twice, no zero coefficient. */
typedef struct mo_sink_row_terms {
    const char *family; /* and the number of the row in it */
    int64_t number;
    int n;
    const int *columns;
    const double *coefs;
    mo_sense sense;
    double rhs;
} mo_sink_row_terms;

/* What a kind of sink does; any may be NULL.  A sink that needs the model twice
 * (mps.h) says so with passes: columns and rows come as often.  free gives back
 * what the sink holds beside the common part, not the sink itself. */
typedef struct mo_sink_kind {
    int passes;
    bool wants_rows;
    void (*begin)(mo_sink *sink, int pass);
    void (*column)(mo_sink *sink, int id, const mo_variable *column);
    void (*columns_end)(mo_sink *sink);
    void (*row)(mo_sink *sink, const mo_sink_row_terms *row);
    mo_status (*end)(mo_sink *sink, mo_error *err); /* after the last pass */
    void (*free)(mo_sink *sink);
} mo_sink_kind;

/* The common part, first in every sink. */
struct mo_sink {
    const mo_sink_kind *kind;
    int n_columns;  /* declared in this pass */
    int64_t n_rows; /* ended in this pass */
    int64_t n_terms;
    mo_error failure; /* the first; status MO_OK until then */

    /* Told once, when a pass comes to so many rows; may be NULL. */
    int64_t many_rows;
    void (*many)(void *context);
    void *context;

    /* The row in the making. */
    const char *family;
    int64_t number;
    int n, room;
    int *columns;
    double *coefs;
    bool merges;   /* a column may be in it twice */
    int *position; /* of columns in a long row that merges; made when needed */
    int n_positions;
};

/* A sink of size bytes, all 0 but the common part, which comes first; NULL when
 * there is no memory. */
void *mo_sink_new(const mo_sink_kind *kind, size_t size, mo_error *err);

/* For who sends a model.  As often as kind->passes says: begin, the columns,
 * columns_end, the rows if kind->wants_rows; then end, once, which tells the
 * first failure. */
void mo_sink_begin(mo_sink *sink, int pass);
void mo_sink_columns_end(mo_sink *sink);
mo_status mo_sink_end(mo_sink *sink, mo_error *err);

/* After a failure the rest of the model is dropped. */
static inline bool mo_sink_failed(const mo_sink *sink)
{
    return sink->failure.status != MO_OK;
}

/* Declares a column and returns its id: 0, 1, 2, ... */
int mo_sink_column(mo_sink *sink, const mo_variable *column);

/* Following rows belong to the family, whose numbers start at 0.  A family is
 * named once in a model: letters only, and the sink keeps the pointer. */
void mo_sink_family(mo_sink *sink, const char *family);

void mo_sink_grow(mo_sink *sink); /* for mo_sink_term */

/* A term of the row in the making; the column must not be in it yet. */
static inline void mo_sink_term(mo_sink *sink, int column, double coef)
{
    if (sink->n == sink->room)
        mo_sink_grow(sink);
    sink->columns[sink->n] = column;
    sink->coefs[sink->n++] = coef;
}

/* The same when it may be in it: coefficients add up. */
void mo_sink_term_add(mo_sink *sink, int column, double coef);

/* Ends the row.  Zero coefficients are dropped.  A row that has no terms left
 * is none when it holds; when it does not the model has no solution, and the
 * row becomes w <= -1, which says so. */
void mo_sink_row(mo_sink *sink, mo_sense sense, double rhs);

/* Frees a sink, whatever its state.  NULL is allowed. */
void mo_sink_free(mo_sink *sink);

#endif
