/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h - streaming interface between formulations and model writers, one row
 * at a time.
 *
 * A formulation declares all its columns, then streams its rows; the model is
 * never held in memory.  A sink writes it (models/write/lp_writer.h,
 * mps_writer.h), counts it (count_sink.h), or uses the columns only
 * (column_map.h, mip_start.h).  The objective is always: minimise column 0,
 * the makespan.
 *
 *     mo_sink_family(sink, "prec");             rows prec_0, prec_1, ...
 *     mo_sink_term(sink, s_j, 1);
 *     mo_sink_term(sink, s_i, -1);
 *     mo_sink_row(sink, MO_GE, 0);
 *
 * Errors are sticky: a sink keeps its first failure and mo_sink_end returns
 * it.
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

/* A row as a sink receives it: distinct columns, no zero coefficient. */
typedef struct mo_sink_row_terms {
    const char *family; /* with the number of the row in it */
    int64_t number;
    int n;
    const int *columns;
    const double *coefs;
    mo_sense sense;
    double rhs;
} mo_sink_row_terms;

/* Callbacks of a kind of sink; any may be NULL.  A sink that needs the model
 * twice (mps_writer.h) sets passes: columns and rows are streamed that often.
 * free releases what the sink owns beside the common part, not the sink
 * itself. */
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

    /* Called once, when a pass reaches row_limit rows; may be NULL. */
    int64_t row_limit;
    void (*on_row_limit)(void *context);
    void *context;

    /* The current row. */
    const char *family;
    int64_t number;
    int n, room;
    int *columns;
    double *coefs;
    bool merges;   /* a column may occur twice */
    int *position; /* of columns in a long row that merges; allocated when
                      needed */
    int n_positions;
};

/* Allocates a sink of size bytes, all 0 but the common part, which comes
 * first; returns NULL and fills *err when memory cannot be allocated.  The
 * caller frees it with mo_sink_free(). */
void *mo_sink_new(const mo_sink_kind *kind, size_t size, mo_error *err);

/* Called by the sender, kind->passes times: begin, the columns, columns_end,
 * the rows if kind->wants_rows; then end, once, which returns the first
 * failure. */
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

/* The following rows belong to the family, whose numbers start at 0.  A family
 * occurs once in a model; its name has letters only and is borrowed by the
 * sink until the end. */
void mo_sink_family(mo_sink *sink, const char *family);

void mo_sink_grow(mo_sink *sink); /* for mo_sink_term */

/* Adds a term to the current row; the column must not be in it yet. */
static inline void mo_sink_term(mo_sink *sink, int column, double coef)
{
    if (sink->n == sink->room)
        mo_sink_grow(sink);
    sink->columns[sink->n] = column;
    sink->coefs[sink->n++] = coef;
}

/* The same when it may be in it: coefficients add up. */
void mo_sink_term_add(mo_sink *sink, int column, double coef);

/* Ends the row.  Zero coefficients are dropped.  A row without terms is
 * dropped when it holds; when it does not, the model is infeasible, and the
 * row becomes w <= -1. */
void mo_sink_row(mo_sink *sink, mo_sense sense, double rhs);

/* Frees a sink in any state; accepts NULL. */
void mo_sink_free(mo_sink *sink);

#endif
