/* SPDX-License-Identifier: Apache-2.0 */
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
#include "solvers/formats/highs_status.h"
#include "solvers/formats/solfmt.h"

#include <string.h>

enum { MAX_WORDS = 9 };

static const char status_mark[] = "Model status:";

static bool sniff(const char *text)
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

static mo_status read_column(mo_solfmt_reader *r, bool has_type, mo_error *err)
{
    mo_solfmt_token words[MAX_WORDS];
    int behind = has_type ? 2 : 1, n = 0;

    while (n < MAX_WORDS && mo_solfmt_next_token(r, &words[n]))
        n++;
    if (n < 3 + behind || mo_solfmt_rest_of_line(r).length > 0)
        return fail_row(r, err);
    return add_column(r, words + 1, n - 1 - behind, &words[n - 1], err);
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

static mo_status read_columns(mo_solfmt_reader *r, mo_error *err)
{
    bool has_type;
    mo_status status = read_heading(r, &has_type, err);

    while (status == MO_OK) {
        mo_solfmt_token rest;

        if (!mo_solfmt_next_nonblank_line(r))
            return mo_solfmt_fail_truncated(r, "another column or the rows",
                                            err);
        rest = mo_solfmt_rest_of_line(r);
        if (mo_solfmt_token_is(&rest, "Rows"))
            return MO_OK;
        status = read_column(r, has_type, err);
    }
    return status;
}

static mo_status read(mo_solfmt_reader *r, mo_error *err)
{
    mo_solfmt_token told;
    double objective;
    mo_status status = read_columns(r, err);

    if (status != MO_OK)
        return status;
    do {
        if (!mo_solfmt_next_nonblank_line(r))
            return mo_solfmt_fail_truncated(r, "the model status", err);
    } while (!mo_solfmt_skip_text(r, status_mark));
    told = mo_solfmt_rest_of_line(r);
    r->solution->claim = mo_highs_solution_status(&told, r->n > 0);
    if (!mo_solfmt_next_nonblank_line(r) ||
        !mo_solfmt_skip_text(r, "Objective value:"))
        return mo_solfmt_fail_truncated(r, "the objective value", err);
    status = mo_solfmt_next_number(r, "the objective value", &objective, err);
    if (status == MO_OK)
        mo_solfmt_set_objective(r, objective);
    return status;
}

const mo_solfmt mo_solfmt_highs_pretty = { "highs-pretty", "HiGHS (pretty)",
                                           sniff, read };
