/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HiGHS, raw (style 0) and sparse (style 4):
 *
 *     Model status
 *     Optimal
 *
 *     # Primal solution values
 *     Feasible                      or Infeasible, or None and nothing more
 *     Objective 30
 *     # Columns 11                  sparse: -8, for 8 that are not 0
 *     x_0_1 1                       sparse: and its number behind it
 *     # Rows 8                      not when sparse
 *     place_0 1
 *
 * Dual values and a basis may follow; they repeat the names, so reading ends
 * with the rows. The counts show whether the file is complete. They do not
 * identify the columns: a missing line is a 0, an extra one is checked by the
 * caller, which knows the names.
 */
#include "solvers/formats/highs_status.h"
#include "solvers/formats/solfmt.h"

static bool sniff(const char *text)
{
    return mo_solfmt_has_prefix(text, "Model status") &&
           !mo_solfmt_has_prefix(text, "Model status:");
}

static mo_status fail_line(mo_solfmt_reader *r, const char *expected,
                           mo_error *err)
{
    return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line, "no '%s' here",
                      expected);
}

/* Skips to the line that starts with mark. */
static mo_status find(mo_solfmt_reader *r, const char *mark, mo_error *err)
{
    while (mo_solfmt_next_nonblank_line(r))
        if (mo_solfmt_skip_text(r, mark))
            return MO_OK;
    return mo_solfmt_fail_truncated(r, mark, err);
}

/* Reads the next line, which has to start with mark. */
static mo_status expect(mo_solfmt_reader *r, const char *mark, mo_error *err)
{
    if (!mo_solfmt_next_nonblank_line(r))
        return mo_solfmt_fail_truncated(r, mark, err);
    return mo_solfmt_skip_text(r, mark) ? MO_OK : fail_line(r, mark, err);
}

static mo_status read_objective(mo_solfmt_reader *r, mo_error *err)
{
    double objective;
    mo_status status = expect(r, "Objective", err);

    if (status == MO_OK)
        status =
            mo_solfmt_next_number(r, "the objective value", &objective, err);
    if (status == MO_OK)
        mo_solfmt_set_objective(r, objective);
    return status;
}

static mo_status read_columns(mo_solfmt_reader *r, bool sparse, bool *ended,
                              mo_error *err)
{
    mo_status status = MO_OK;
    double number;

    *ended = false;
    while (status == MO_OK && mo_solfmt_next_nonblank_line(r)) {
        *ended = mo_solfmt_skip_text(r, "#");
        if (*ended)
            return MO_OK;
        status = mo_solfmt_read_pair(r, err);
        if (status == MO_OK && sparse)
            status =
                mo_solfmt_next_number(r, "a column's number", &number, err);
        if (status == MO_OK)
            status = mo_solfmt_expect_end_of_line(r, err);
    }
    return status;
}

/* Names and values of rows are ignored, but they have to be present. */
static mo_status skip_rows(mo_solfmt_reader *r, mo_error *err)
{
    double promised, n = 0;
    mo_status status;

    if (!mo_solfmt_skip_text(r, "Rows"))
        return fail_line(r, "# Rows", err);
    status = mo_solfmt_next_number(r, "the number of rows", &promised, err);
    while (status == MO_OK && n < promised) {
        if (!mo_solfmt_next_nonblank_line(r))
            return mo_solfmt_fail_truncated(r, "another row", err);
        if (*r->word == '#')
            break;
        n++;
    }
    return status;
}

static mo_status read_values(mo_solfmt_reader *r, mo_error *err)
{
    double promised;
    bool ended;
    mo_status status = read_objective(r, err);

    if (status == MO_OK)
        status = expect(r, "# Columns", err);
    if (status == MO_OK)
        status =
            mo_solfmt_next_number(r, "the number of columns", &promised, err);
    if (status == MO_OK)
        status = read_columns(r, promised < 0, &ended, err);
    if (status != MO_OK)
        return status;
    if (!ended && promised < 0 && (double) r->n >= -promised)
        return MO_OK;
    if (!ended)
        return mo_solfmt_fail_truncated(r, "another column or the rows", err);
    return promised < 0 ? MO_OK : skip_rows(r, err);
}

static mo_status read(mo_solfmt_reader *r, mo_error *err)
{
    mo_solfmt_token told, quality;
    mo_status status = expect(r, "Model status", err);

    if (status == MO_OK)
        status = expect(r, "", err);
    told = mo_solfmt_rest_of_line(r);
    if (status == MO_OK)
        status = find(r, "# Primal solution values", err);
    if (status == MO_OK)
        status = expect(r, "", err);
    if (status != MO_OK)
        return status;
    quality = mo_solfmt_rest_of_line(r);
    r->solution->claim = mo_highs_solution_status(
        &told, mo_solfmt_token_is(&quality, "Feasible"));
    if (mo_solfmt_token_is(&quality, "None"))
        return MO_OK;
    if (!mo_solfmt_token_is(&quality, "Feasible") &&
        !mo_solfmt_token_is(&quality, "Infeasible"))
        return fail_line(r, "Feasible, Infeasible or None", err);
    return read_values(r, err);
}

const mo_solfmt mo_solfmt_highs = { "highs", "HiGHS (raw, sparse)", sniff,
                                    read };
