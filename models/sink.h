/*
 * sink.h - where a model goes, one row at a time.
 *
 * A formulation declares all its columns, then streams its rows; nobody holds
 * the model.  A sink writes it (lp.h, mps.h), counts it (count.h), or looks at
 * the columns only (map.h, start.h).  The objective is always: minimise column
 * 0, the makespan.
 *
 *     mo_sink_family(sink, "prec");             rows prec_0, prec_1, ...
 *     mo_term(sink, s_j, 1);
 *     mo_term(sink, s_i, -1);
 *     mo_row(sink, MO_GE, 0);
 *
 * Nothing reports: a sink keeps its first failure and mo_sink_end tells it.
 */
#ifndef MO_MODELS_SINK_H
#define MO_MODELS_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "models/variable.h"

typedef enum mo_sense { MO_LE, MO_GE, MO_EQ } mo_sense;

typedef struct mo_sink mo_sink;

/* A row as a sink gets it: no column twice, no zero coefficient. */
typedef struct mo_row_terms {
    const char *family; /* and the number of the row in it */
    int64_t number;
    int n;
    const int *columns;
    const double *coefs;
    mo_sense sense;
    double rhs;
} mo_row_terms;

/* What a kind of sink does; any may be NULL.  A sink that needs the model twice
 * (mps.h) says so with passes: columns and rows come as often. */
typedef struct mo_sink_kind {
    int passes;
    bool wants_rows;
    void (*begin)(mo_sink *sink, int pass);
    void (*column)(mo_sink *sink, int id, const mo_variable *column);
    void (*columns_end)(mo_sink *sink);
    void (*row)(mo_sink *sink, const mo_row_terms *row);
    mo_status (*end)(mo_sink *sink, mo_error *err); /* after the last pass */
    void (*free)(mo_sink *sink);
} mo_sink_kind;

/* The common part, first in every sink. */
struct mo_sink {
    const mo_sink_kind *kind;
    int n_columns;   /* declared in this pass */
    int64_t n_rows;  /* ended in this pass */
    int64_t n_terms;
    mo_error failure; /* the first; code MO_OK until then */

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
};

/* Declares a column and returns its id: 0, 1, 2, ... */
int mo_sink_column(mo_sink *sink, const mo_variable *column);

/* Following rows belong to the family, whose numbers start at 0.  A family is
 * named once in a model: letters only, and the sink keeps the pointer. */
void mo_sink_family(mo_sink *sink, const char *family);

void mo_sink_grow(mo_sink *sink); /* for mo_term */

/* A term of the row in the making; the column must not be in it yet. */
static inline void mo_term(mo_sink *sink, int column, double coef)
{
    if (sink->n == sink->room)
        mo_sink_grow(sink);
    sink->columns[sink->n] = column;
    sink->coefs[sink->n++] = coef;
}

/* The same when it may be in it: coefficients add up. */
void mo_term_add(mo_sink *sink, int column, double coef);

/* Ends the row.  Zero coefficients are dropped; a row without terms is none
 * (it must hold). */
void mo_row(mo_sink *sink, mo_sense sense, double rhs);

/* Frees a sink, whatever its state.  NULL is allowed. */
void mo_sink_free(mo_sink *sink);

#endif
