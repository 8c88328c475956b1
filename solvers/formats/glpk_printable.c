/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of GLPK's printable solution file (glpsol -o), also HiGHS's style 3:
 *
 *     Problem:    placement
 *     Columns:    11 (5 integer, 5 binary)
 *     Status:     INTEGER OPTIMAL
 *     Objective:  obj = 6.75 (MINimum)
 *
 *        No.   Row name        Activity     Lower bound   Upper bound
 *     ...
 *        No. Column name       Activity     Lower bound   Upper bound
 *     ------ ------------    ------------- ------------- -------------
 *          1 w                        6.75             0          1000
 *          2 moirai_g_0123456789abcdef
 *                                        1             1             =
 *          3 x_0_0        *              1             0             1
 *
 *     End of output
 *
 * A name of more than twelve characters has a line of its own. A star marks an
 * integer; LPs have a status of one or two letters there. HiGHS ends after the
 * header where it has no solution.
 */
#include "solvers/formats/solfmt.h"

static bool sniff_glpk_printable(const char *text)
{
    return mo_solfmt_has_prefix(text, "Problem:");
}

static const struct {
    const char *words;
    mo_solution_status claim;
} statuses[] = {
    { "INTEGER OPTIMAL", MO_SOLUTION_STATUS_OPTIMAL },
    { "INTEGER NON-OPTIMAL", MO_SOLUTION_STATUS_FEASIBLE },
    { "INTEGER EMPTY", MO_SOLUTION_STATUS_INFEASIBLE },
    { "INTEGER UNDEFINED", MO_SOLUTION_STATUS_NO_SOLUTION },
    { "OPTIMAL", MO_SOLUTION_STATUS_OPTIMAL },
    { "FEASIBLE", MO_SOLUTION_STATUS_FEASIBLE },
    { "INFEASIBLE (FINAL)", MO_SOLUTION_STATUS_INFEASIBLE },
    { "INFEASIBLE (INTERMEDIATE)", MO_SOLUTION_STATUS_NO_SOLUTION },
    { "UNBOUNDED", MO_SOLUTION_STATUS_UNBOUNDED },
    { "UNDEFINED", MO_SOLUTION_STATUS_NO_SOLUTION },
};

static mo_status read_status(mo_solfmt_reader *r, mo_error *err)
{
    mo_solfmt_token status_text = mo_solfmt_rest_of_line(r);

    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (mo_solfmt_token_is(&status_text, statuses[i].words)) {
            r->solution->claim = statuses[i].claim;
            return MO_OK;
        }
    return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                      "'%.*s' is no status of GLPK",
                      status_text.length < 80 ? (int) status_text.length : 80,
                      status_text.at);
}

/* "obj = 6.75 (MINimum)", where the name may be anything. */
static mo_status read_objective(mo_solfmt_reader *r, mo_error *err)
{
    double objective;
    char *equals = NULL;
    mo_status status;

    for (char *at = r->word; at < r->line_end; at++)
        if (*at == '=')
            equals = at;
    if (!equals)
        return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                          "the objective value is missing");
    r->word = equals;
    mo_solfmt_skip_text(r, "=");
    status = mo_solfmt_next_number(r, "the objective value", &objective, err);
    if (status == MO_OK)
        mo_solfmt_set_objective(r, objective);
    return status;
}

/* Reads header and rows, up to the heading of the columns. */
static mo_status read_header(mo_solfmt_reader *r, bool *has_columns,
                             mo_error *err)
{
    bool has_status = false, has_objective = false;
    mo_status status = MO_OK;

    *has_columns = false;
    while (status == MO_OK && !*has_columns &&
           mo_solfmt_next_nonblank_line(r)) {
        if (!has_status && mo_solfmt_skip_text(r, "Status:")) {
            has_status = true;
            status = read_status(r, err);
        } else if (!has_objective && mo_solfmt_skip_text(r, "Objective:")) {
            has_objective = true;
            status = read_objective(r, err);
        } else {
            *has_columns = mo_solfmt_skip_text(r, "No.") &&
                           mo_solfmt_skip_text(r, "Column name");
        }
    }
    if (status == MO_OK && !(has_status && has_objective))
        return mo_solfmt_fail_truncated(r, "status and objective", err);
    return status;
}

static mo_status read_column(mo_solfmt_reader *r, mo_error *err)
{
    mo_solfmt_token number, name;
    double ignored;
    mo_status status;
    mo_solfmt_token word;
    double value;

    mo_solfmt_next_token(r, &number);
    status = mo_solfmt_parse_number(r, &number, "the column's number", &ignored,
                                    err);
    if (status != MO_OK)
        return status;
    if (!mo_solfmt_next_token(r, &name))
        return mo_solfmt_fail_truncated(r, "the column's name", err);
    /* Reads the values after the name, on the same line or the next. */
    if (!mo_solfmt_next_token(r, &word)) {
        if (!mo_solfmt_next_line(r) || !mo_solfmt_next_token(r, &word))
            return mo_solfmt_fail_truncated(r, "the column's activity", err);
    }
    if (!mo_solfmt_token_number(&word, &value)) {
        status = mo_solfmt_next_number(r, "the column's activity", &value, err);
        if (status != MO_OK)
            return status;
    }
    return mo_solfmt_add_value(r, &name, value, err);
}

/* Reads up to the blank line that ends the columns. */
static mo_status read_columns(mo_solfmt_reader *r, mo_error *err)
{
    mo_status status = MO_OK;

    if (!mo_solfmt_next_line(r) || !mo_solfmt_skip_text(r, "---"))
        return mo_solfmt_fail_truncated(r, "the columns", err);
    while (status == MO_OK && mo_solfmt_next_line(r)) {
        if (r->word == r->line_end)
            return MO_OK;
        status = read_column(r, err);
    }
    return status;
}

static bool claims_solution(mo_solution_status claim)
{
    return claim == MO_SOLUTION_STATUS_OPTIMAL ||
           claim == MO_SOLUTION_STATUS_FEASIBLE;
}

static mo_status read_glpk_printable(mo_solfmt_reader *r, mo_error *err)
{
    bool has_columns;
    mo_status status = read_header(r, &has_columns, err);

    if (status != MO_OK)
        return status;
    if (!has_columns && claims_solution(r->solution->claim))
        return mo_solfmt_fail_truncated(r, "the columns", err);
    if (!has_columns)
        return MO_OK;
    status = read_columns(r, err);
    if (status != MO_OK)
        return status;
    while (mo_solfmt_next_nonblank_line(r))
        if (mo_solfmt_skip_text(r, "End of output"))
            return MO_OK;
    return mo_solfmt_fail_truncated(r, "'End of output'", err);
}

const mo_solfmt mo_solfmt_glpk = { "glpk", "GLPK (-o), HiGHS (style 3)",
                                   sniff_glpk_printable, read_glpk_printable };
