/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of HiGHS's solution files: raw, sparse and pretty. */
#include <string.h>

#include "solvers/formats/solfmt.h"

/* All other texts are a limit, an interrupt or a failure. */
static mo_solution_status highs_status(const mo_solfmt_token *status,
                                       bool has_solution)
{
    if (mo_solfmt_token_is(status, "Infeasible"))
        return MO_SOLUTION_STATUS_INFEASIBLE;
    if (mo_solfmt_token_is(status, "Unbounded") ||
        mo_solfmt_token_is(status, "Primal infeasible or unbounded"))
        return MO_SOLUTION_STATUS_UNBOUNDED;
    if (mo_solfmt_token_is(status, "Optimal") && has_solution)
        return MO_SOLUTION_STATUS_OPTIMAL;
    return mo_solution_status_at_limit(has_solution);
}

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
static bool sniff_highs_raw(const char *text)
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
static mo_status skip_to_mark(mo_solfmt_reader *r, const char *mark,
                              mo_error *err)
{
    while (mo_solfmt_next_nonblank_line(r))
        if (mo_solfmt_skip_text(r, mark))
            return MO_OK;
    return mo_solfmt_fail_truncated(r, mark, err);
}

/* Reads the next line, which has to start with mark. */
static mo_status expect_mark(mo_solfmt_reader *r, const char *mark,
                             mo_error *err)
{
    if (!mo_solfmt_next_nonblank_line(r))
        return mo_solfmt_fail_truncated(r, mark, err);
    return mo_solfmt_skip_text(r, mark) ? MO_OK : fail_line(r, mark, err);
}

static mo_status read_raw_columns(mo_solfmt_reader *r, bool sparse, bool *ended,
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

static mo_status read_highs_raw(mo_solfmt_reader *r, mo_error *err)
{
    mo_solfmt_token status_text, quality;
    mo_status status = expect_mark(r, "Model status", err);
    double promised;
    bool ended;
    double objective;

    if (status == MO_OK)
        status = expect_mark(r, "", err);
    status_text = mo_solfmt_rest_of_line(r);
    if (status == MO_OK)
        status = skip_to_mark(r, "# Primal solution values", err);
    if (status == MO_OK)
        status = expect_mark(r, "", err);
    if (status != MO_OK)
        return status;
    quality = mo_solfmt_rest_of_line(r);
    r->solution->claim =
        highs_status(&status_text, mo_solfmt_token_is(&quality, "Feasible"));
    if (mo_solfmt_token_is(&quality, "None"))
        return MO_OK;
    if (!mo_solfmt_token_is(&quality, "Feasible") &&
        !mo_solfmt_token_is(&quality, "Infeasible"))
        return fail_line(r, "Feasible, Infeasible or None", err);
    status = expect_mark(r, "Objective", err);
    if (status == MO_OK)
        status =
            mo_solfmt_next_number(r, "the objective value", &objective, err);
    if (status == MO_OK)
        mo_solfmt_set_objective(r, objective);
    if (status == MO_OK)
        status = expect_mark(r, "# Columns", err);
    if (status == MO_OK)
        status =
            mo_solfmt_next_number(r, "the number of columns", &promised, err);
    if (status == MO_OK)
        status = read_raw_columns(r, promised < 0, &ended, err);
    if (status != MO_OK)
        return status;
    if (!ended && promised < 0 && (double) r->n >= -promised)
        return MO_OK;
    if (!ended)
        return mo_solfmt_fail_truncated(r, "another column or the rows", err);
    return promised < 0 ? MO_OK : skip_rows(r, err);
}

const mo_solfmt mo_solfmt_highs = { "highs", "HiGHS (raw, sparse)",
                                    sniff_highs_raw, read_highs_raw };

/*
 * HiGHS, pretty (style 1):
 *
 *     Columns
 *         Index Status   Lower   Upper  Primal    Dual  Type        Name
 *             0              0    1000    6.75          Continuous  w
 *     Rows
 *         ...
 *
 *     Model status: Optimal
 *
 *     Objective value: 6.75
 *
 * Status, Primal and Dual may be blank, and a long number shifts the fields
 * after it, so fields are recognised by their kind: Status is the only one
 * before the name that is no number, and without a Primal there is no Dual.
 * Type is present where the heading has it.
 */
enum { MAX_WORDS = 9 };

static const char status_mark[] = "Model status:";

static bool sniff_highs_pretty(const char *text)
{
    if (!mo_solfmt_has_prefix(text, "Columns"))
        return false;
    text += strlen("Columns");
    return mo_solfmt_has_prefix(text + strspn(text, " \t\r\n"), "Index");
}

static mo_status fail_row(mo_solfmt_reader *r, mo_error *err)
{
    return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                      "not a line of HiGHS's table; was the file cut off "
                      "here?");
}

/* Adds a column from the tokens between the number and the type or name. */
static mo_status add_column(mo_solfmt_reader *r, const mo_solfmt_token *fields,
                            int n, const mo_solfmt_token *name, mo_error *err)
{
    double value;
    int numbers = 0;

    if (n > 0 && !mo_solfmt_token_number(&fields[0], &value)) {
        fields++;
        n--;
    }
    while (numbers < n && mo_solfmt_token_number(&fields[numbers], &value))
        numbers++;
    if (numbers != n || n < 2 || n > 4)
        return fail_row(r, err);
    if (n == 2)
        return MO_OK;
    mo_solfmt_token_number(&fields[2], &value);
    return mo_solfmt_add_value(r, name, value, err);
}

static mo_status read_heading(mo_solfmt_reader *r, bool *has_type,
                              mo_error *err)
{
    mo_solfmt_token word, last = { 0 };

    *has_type = false;
    mo_solfmt_next_nonblank_line(r);
    mo_solfmt_next_nonblank_line(r);
    while (mo_solfmt_next_token(r, &word)) {
        *has_type |= mo_solfmt_token_is(&word, "Type");
        last = word;
    }
    if (!mo_solfmt_token_is(&last, "Name"))
        return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                          "the columns have no names");
    return MO_OK;
}

static mo_status read_pretty_columns(mo_solfmt_reader *r, mo_error *err)
{
    bool has_type;
    mo_status status = read_heading(r, &has_type, err);

    while (status == MO_OK) {
        mo_solfmt_token rest;
        mo_solfmt_token words[MAX_WORDS];
        int behind, n = 0;

        if (!mo_solfmt_next_nonblank_line(r))
            return mo_solfmt_fail_truncated(r, "another column or the rows",
                                            err);
        rest = mo_solfmt_rest_of_line(r);
        if (mo_solfmt_token_is(&rest, "Rows"))
            return MO_OK;
        behind = has_type ? 2 : 1;
        while (n < MAX_WORDS && mo_solfmt_next_token(r, &words[n]))
            n++;
        if (n < 3 + behind || mo_solfmt_rest_of_line(r).length > 0)
            status = fail_row(r, err);
        else
            status =
                add_column(r, words + 1, n - 1 - behind, &words[n - 1], err);
    }
    return status;
}

static mo_status read_highs_pretty(mo_solfmt_reader *r, mo_error *err)
{
    mo_solfmt_token status_text;
    double objective;
    mo_status status = read_pretty_columns(r, err);

    if (status != MO_OK)
        return status;
    do {
        if (!mo_solfmt_next_nonblank_line(r))
            return mo_solfmt_fail_truncated(r, "the model status", err);
    } while (!mo_solfmt_skip_text(r, status_mark));
    status_text = mo_solfmt_rest_of_line(r);
    r->solution->claim = highs_status(&status_text, r->n > 0);
    if (!mo_solfmt_next_nonblank_line(r) ||
        !mo_solfmt_skip_text(r, "Objective value:"))
        return mo_solfmt_fail_truncated(r, "the objective value", err);
    status = mo_solfmt_next_number(r, "the objective value", &objective, err);
    if (status == MO_OK)
        mo_solfmt_set_objective(r, objective);
    return status;
}

const mo_solfmt mo_solfmt_highs_pretty = { "highs-pretty", "HiGHS (pretty)",
                                           sniff_highs_pretty,
                                           read_highs_pretty };
