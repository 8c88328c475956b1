/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/baselines/lp_relax.h"

#include <assert.h>

typedef struct relax {
    mo_sink sink;
    mo_sink *to;
    const char *family; /* of the last row */
} relax;

static void begin(mo_sink *sink, int pass)
{
    relax *r = (relax *) sink;

    r->family = NULL;
    mo_sink_begin(r->to, pass);
}

static void pass_column(mo_sink *sink, int id, const mo_variable *column)
{
    mo_variable relaxed = *column;

    (void) id;
    if (column->kind == MO_VARIABLE_BINARY) {
        relaxed.kind = MO_VARIABLE_CONTINUOUS;
        relaxed.lower = 0;
        relaxed.upper = 1;
    }
    mo_sink_column(((relax *) sink)->to, &relaxed);
}

static void end_columns(mo_sink *sink)
{
    mo_sink_columns_end(((relax *) sink)->to);
}

static void pass_row(mo_sink *sink, const mo_sink_row_terms *row)
{
    relax *r = (relax *) sink;

    if (mo_sink_failed(r->to))
        return;
    if (row->family != r->family)
        mo_sink_family(r->to, row->family);
    r->family = row->family;
    for (int i = 0; i < row->n; i++)
        mo_sink_term(r->to, row->columns[i], row->coefs[i]);
    mo_sink_row(r->to, row->sense, row->rhs);
}

static mo_status end(mo_sink *sink, mo_error *err)
{
    return mo_sink_end(((relax *) sink)->to, err);
}

static void release(mo_sink *sink)
{
    mo_sink_free(((relax *) sink)->to);
}

mo_status mo_baseline_lp_relax_new(mo_sink *to, mo_sink **sink, mo_error *err)
{
    static const mo_sink_kind kind = { .passes = 1,
                                       .wants_rows = true,
                                       .begin = begin,
                                       .column = pass_column,
                                       .columns_end = end_columns,
                                       .row = pass_row,
                                       .end = end,
                                       .free = release };
    relax *r;

    assert(to->kind->passes == 1);
    r = mo_sink_new(&kind, sizeof *r, err);
    if (!r) {
        mo_sink_free(to);
        return mo_fail_memory(err);
    }
    r->to = to;
    *sink = &r->sink;
    return MO_OK;
}
