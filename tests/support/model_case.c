/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/model_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "models/write/lp_writer.h"
#include "tests/support/highs_solve.h"
#include "tests/support/suite.h"

/* A sink that records the requested rows and columns in text. */
typedef struct recorder {
    mo_sink sink;
    const char *family; /* family of the rows to record, "" for none */
    bool writes_columns;
    mo_out *text;
    char (*names)[MO_VARIABLE_NAME];
    double *values;
    size_t room;
    int count;
    double violation, largest, least;
} recorder;

static void reserve(recorder *o, size_t n)
{
    if (n <= o->room)
        return;
    o->room = 2 * n;
    o->names = realloc(o->names, o->room * sizeof *o->names);
    o->values = realloc(o->values, o->room * sizeof *o->values);
    ck_assert(o->names && o->values);
}

static void record_column(mo_sink *sink, int id, const mo_variable *v)
{
    recorder *o = (recorder *) sink;
    double upper = v->kind == MO_VARIABLE_BINARY ? 1 : v->upper;

    reserve(o, (size_t) id + 1);
    mo_variable_name(v, o->names[id]);
    o->values[id] = v->value;
    o->violation = fmax(o->violation, v->lower - v->value);
    o->violation = fmax(o->violation, v->value - upper);
    if (!o->writes_columns)
        return;
    mo_out_text(o->text, o->names[id]);
    if (v->kind == MO_VARIABLE_BINARY)
        mo_out_text(o->text, " binary\n");
    else
        mo_out_printf(o->text, " %g .. %g\n", v->lower, v->upper);
}

static bool is_selected(const recorder *o, const mo_sink_row_terms *row)
{
    return !o->family || strcmp(o->family, row->family) == 0;
}

static void write_row(recorder *o, const mo_sink_row_terms *row)
{
    static const char *const senses[] = { "<=", ">=", "=" };

    for (int i = 0; i < row->n; i++) {
        double size = fabs(row->coefs[i]);

        if (i > 0)
            mo_out_text(o->text, row->coefs[i] < 0 ? " - " : " + ");
        else if (row->coefs[i] < 0)
            mo_out_text(o->text, "-");
        if (size != 1)
            mo_out_printf(o->text, "%g ", size);
        mo_out_text(o->text, o->names[row->columns[i]]);
    }
    mo_out_printf(o->text, " %s %g\n", senses[row->sense], row->rhs);
}

static double violation_of(const recorder *o, const mo_sink_row_terms *row)
{
    double sum = -row->rhs;

    for (int i = 0; i < row->n; i++)
        sum += row->coefs[i] * o->values[row->columns[i]];
    if (row->sense == MO_EQ)
        return fabs(sum);
    return row->sense == MO_LE ? sum : -sum;
}

static void record_row(mo_sink *sink, const mo_sink_row_terms *row)
{
    recorder *o = (recorder *) sink;

    o->violation = fmax(o->violation, violation_of(o, row));
    for (int i = 0; i < row->n; i++) {
        o->largest = fmax(o->largest, fabs(row->coefs[i]));
        o->least = fmin(o->least, fabs(row->coefs[i]));
    }
    if (!is_selected(o, row))
        return;
    o->count++;
    write_row(o, row);
}

static void free_recorder(mo_sink *sink)
{
    recorder *o = (recorder *) sink;

    free(o->names);
    free(o->values);
    mo_out_abandon(o->text);
}

static const mo_sink_kind recorder_kind = { .passes = 1,
                                            .wants_rows = true,
                                            .column = record_column,
                                            .row = record_row,
                                            .free = free_recorder };

static recorder *record_model(model_case *c, const char *family,
                              bool writes_columns)
{
    recorder *o = NULL;

    MUST((o = mo_sink_new(&recorder_kind, sizeof *o, &err)) ? MO_OK
                                                            : err.status);
    MUST(mo_out_memory(&o->text, &err));
    o->family = family;
    o->writes_columns = writes_columns;
    o->least = INFINITY;
    MUST(mo_model_write(&c->model, &o->sink, &err));
    return o;
}

/* Its numbers beside the texts. */
static recorder numbers_of(model_case *c, const char *family)
{
    recorder *o = record_model(c, family, false);
    recorder seen = *o;

    mo_sink_free(&o->sink);
    return seen;
}

static const char *keep_text(model_case *c, recorder *o)
{
    size_t size;
    const char *text = mo_out_borrow(o->text, &size);

    free(c->text);
    c->text = calloc(size + 1, 1);
    ck_assert_ptr_nonnull(c->text);
    if (size > 0)
        memcpy(c->text, text, size);
    mo_sink_free(&o->sink);
    return c->text;
}

void model_case_open(model_case *c, const problem *p,
                     const mo_formulation *formulation, const mo_regime *regime,
                     bool closure)
{
    *c = (model_case){ 0 };
    MUST(mo_frame_make(p->x, regime, closure, &c->frame, &err));
    MUST(mo_model_make(formulation, c->frame, &c->identity, &c->model, &err));
}

void model_case_close(model_case *c)
{
    mo_model_clear(&c->model);
    mo_frame_free(c->frame);
    free(c->text);
}

const char *model_case_rows(model_case *c, const char *family)
{
    return keep_text(c, record_model(c, family, false));
}

const char *model_case_columns(model_case *c)
{
    return keep_text(c, record_model(c, "", true));
}

int model_case_count(model_case *c, const char *family)
{
    return numbers_of(c, family).count;
}

double model_case_violation(model_case *c)
{
    return numbers_of(c, "").violation;
}

double model_case_largest(model_case *c)
{
    return numbers_of(c, "").largest;
}

double model_case_least(model_case *c)
{
    return numbers_of(c, "").least;
}

double model_case_solve(model_case *c)
{
    solved result;
    mo_sink *sink = NULL;
    mo_out *out = NULL;
    double optimum;

    MUST(mo_out_open("case.lp", &out, &err));
    MUST(mo_lp_writer_new(out, NULL, &sink, &err));
    MUST(mo_model_write(&c->model, sink, &err));
    mo_sink_free(sink);
    MUST(mo_out_commit(out, &err));
    solve_file("case.lp", &result);
    ck_assert_int_ne(result.status, SOLVE_OTHER);
    optimum = result.status == SOLVE_INFEASIBLE
                  ? -1
                  : result.objective * (double) c->model.frame->unit_ns;
    solved_clear(&result);
    return optimum;
}
