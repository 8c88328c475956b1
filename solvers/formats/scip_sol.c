/*
 * SCIP's `write solution`, and writeBestSol of its interfaces, which leaves the
 * first line out:
 *
 *     solution status: optimal solution found
 *     objective value:                                   30
 *     x_0_1                                               1 	(obj:0)
 *
 * Columns that are 0 are not there.
 */
#include "solvers/formats/solfmt.h"

static const char status_mark[] = "solution status:";
static const char objective_mark[] = "objective value:";
static const char none_mark[] = "no solution available";

static bool sniff(const char *text)
{
    return mo_layout_begins(text, status_mark) ||
           mo_layout_begins(text, objective_mark) ||
           mo_layout_begins(text, none_mark);
}

/* All other words are some limit or an interrupt. */
static mo_claim claim_of(const mo_word *status, bool has_solution)
{
    if (mo_word_is(status, "infeasible"))
        return MO_CLAIM_INFEASIBLE;
    if (mo_word_is(status, "unbounded") ||
        mo_word_is(status, "infeasible or unbounded"))
        return MO_CLAIM_UNBOUNDED;
    if (mo_word_is(status, "optimal solution found") && has_solution)
        return MO_CLAIM_OPTIMAL;
    return mo_claim_at_limit(has_solution);
}

/* SCIP puts the objective's coefficient behind every value; people who write
 * starts do not.  So a line without it is cut off only where it is the last,
 * has no newline, and follows one that is whole. */
static mo_status read_column(mo_reading *r, bool *tailed, mo_error *err)
{
    mo_status status = mo_reading_pair(r, err);
    mo_word tail = mo_reading_rest(r);
    bool whole = tail.length > 6 && mo_reading_skip(r, "(obj:") &&
                 r->line_end[-1] == ')';

    if (status != MO_OK)
        return status;
    if (!whole && r->unended && *tailed)
        return mo_reading_cut_off(r, "the rest of the line", err);
    if (!whole)
        return mo_reading_no_more(r, err);
    *tailed = true;
    return MO_OK;
}

static mo_status read_columns(mo_reading *r, mo_error *err)
{
    mo_status status = MO_OK;
    bool tailed = false;

    while (status == MO_OK && mo_reading_full_line(r))
        status = read_column(r, &tailed, err);
    return status;
}

static mo_status read(mo_reading *r, mo_error *err)
{
    mo_word told = { 0 };
    bool has_solution, has_status;
    mo_status status = MO_OK;
    double objective;

    mo_reading_full_line(r);
    has_status = mo_reading_skip(r, status_mark);
    if (has_status) {
        told = mo_reading_rest(r);
        if (!mo_reading_full_line(r))
            return mo_reading_cut_off(r, "the objective value", err);
    }
    has_solution = mo_reading_skip(r, objective_mark);
    if (has_solution) {
        status =
            mo_reading_next_number(r, "the objective value", &objective, err);
        if (status == MO_OK)
            mo_reading_objective(r, objective);
    } else if (!mo_reading_skip(r, none_mark)) {
        return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                          "neither an objective value nor '%s'", none_mark);
    }
    r->solution->claim = has_status || !has_solution
                             ? claim_of(&told, has_solution)
                             : MO_CLAIM_NOTHING;
    if (status == MO_OK)
        status = mo_reading_no_more(r, err);
    return status == MO_OK ? read_columns(r, err) : status;
}

const mo_layout mo_layout_scip = { "scip", "SCIP", sniff, read };
