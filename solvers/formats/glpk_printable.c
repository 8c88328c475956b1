/*
 * GLPK's -o, and HiGHS's style 3:
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
 * A name of more than twelve characters has the line for itself.  A star is an
 * integer; linear programs have a status of one or two letters there.  HiGHS
 * ends behind the head where it has no solution.
 */
#include "solvers/formats/solfmt.h"

static bool sniff(const char *text)
{
    return mo_layout_begins(text, "Problem:");
}

static const struct {
    const char *words;
    mo_claim claim;
} statuses[] = {
    { "INTEGER OPTIMAL", MO_CLAIM_OPTIMAL },
    { "INTEGER NON-OPTIMAL", MO_CLAIM_FEASIBLE },
    { "INTEGER EMPTY", MO_CLAIM_INFEASIBLE },
    { "INTEGER UNDEFINED", MO_CLAIM_NO_SOLUTION },
    { "OPTIMAL", MO_CLAIM_OPTIMAL },
    { "FEASIBLE", MO_CLAIM_FEASIBLE },
    { "INFEASIBLE (FINAL)", MO_CLAIM_INFEASIBLE },
    { "INFEASIBLE (INTERMEDIATE)", MO_CLAIM_NO_SOLUTION },
    { "UNBOUNDED", MO_CLAIM_UNBOUNDED },
    { "UNDEFINED", MO_CLAIM_NO_SOLUTION },
};

static mo_status read_status(mo_reading *r, mo_error *err)
{
    mo_word told = mo_reading_rest(r);

    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (mo_word_is(&told, statuses[i].words)) {
            r->solution->claim = statuses[i].claim;
            return MO_OK;
        }
    return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                      "'%.*s' is no status of GLPK",
                      told.length < 80 ? (int) told.length : 80, told.at);
}

/* "obj = 6.75 (MINimum)", where the name may be anything. */
static mo_status read_objective(mo_reading *r, mo_error *err)
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
    mo_reading_skip(r, "=");
    status = mo_reading_next_number(r, "the objective value", &objective, err);
    if (status == MO_OK)
        mo_reading_objective(r, objective);
    return status;
}

static bool is_column_heading(mo_reading *r)
{
    return mo_reading_skip(r, "No.") && mo_reading_skip(r, "Column name");
}

/* Head and rows, up to the heading of the columns. */
static mo_status read_head(mo_reading *r, bool *has_columns, mo_error *err)
{
    bool has_status = false, has_objective = false;
    mo_status status = MO_OK;

    *has_columns = false;
    while (status == MO_OK && !*has_columns && mo_reading_full_line(r)) {
        if (!has_status && mo_reading_skip(r, "Status:")) {
            has_status = true;
            status = read_status(r, err);
        } else if (!has_objective && mo_reading_skip(r, "Objective:")) {
            has_objective = true;
            status = read_objective(r, err);
        } else {
            *has_columns = is_column_heading(r);
        }
    }
    if (status == MO_OK && !(has_status && has_objective))
        return mo_reading_cut_off(r, "status and objective", err);
    return status;
}

/* What stands behind the name; the line before it may be the name's alone. */
static mo_status read_activity(mo_reading *r, const mo_word *name,
                               mo_error *err)
{
    mo_word word;
    double value;
    mo_status status;

    if (!mo_reading_word(r, &word)) {
        if (!mo_reading_line(r) || !mo_reading_word(r, &word))
            return mo_reading_cut_off(r, "the column's activity", err);
    }
    if (!mo_word_number(&word, &value)) {
        status =
            mo_reading_next_number(r, "the column's activity", &value, err);
        if (status != MO_OK)
            return status;
    }
    return mo_reading_add(r, name, value, err);
}

static mo_status read_column(mo_reading *r, mo_error *err)
{
    mo_word number, name;
    double ignored;
    mo_status status;

    mo_reading_word(r, &number);
    status =
        mo_reading_number(r, &number, "the column's number", &ignored, err);
    if (status != MO_OK)
        return status;
    if (!mo_reading_word(r, &name))
        return mo_reading_cut_off(r, "the column's name", err);
    return read_activity(r, &name, err);
}

/* Up to the blank line behind them. */
static mo_status read_columns(mo_reading *r, mo_error *err)
{
    mo_status status = MO_OK;

    if (!mo_reading_line(r) || !mo_reading_skip(r, "---"))
        return mo_reading_cut_off(r, "the columns", err);
    while (status == MO_OK && mo_reading_line(r)) {
        if (r->word == r->line_end)
            return MO_OK;
        status = read_column(r, err);
    }
    return status;
}

static mo_status find_end(mo_reading *r, mo_error *err)
{
    while (mo_reading_full_line(r))
        if (mo_reading_skip(r, "End of output"))
            return MO_OK;
    return mo_reading_cut_off(r, "'End of output'", err);
}

static bool claims_solution(mo_claim claim)
{
    return claim == MO_CLAIM_OPTIMAL || claim == MO_CLAIM_FEASIBLE;
}

static mo_status read(mo_reading *r, mo_error *err)
{
    bool has_columns;
    mo_status status = read_head(r, &has_columns, err);

    if (status != MO_OK)
        return status;
    if (!has_columns && claims_solution(r->solution->claim))
        return mo_reading_cut_off(r, "the columns", err);
    if (!has_columns)
        return MO_OK;
    status = read_columns(r, err);
    return status == MO_OK ? find_end(r, err) : status;
}

const mo_layout mo_layout_glpk = { "glpk", "GLPK (-o), HiGHS (style 3)", sniff,
                                   read };
