/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of SCIP's solution files: of `write solution`, and of writeBestSol of
 * its interfaces, which omits the first line:
 *
 *     solution status: optimal solution found
 *     objective value:                                   30
 *     x_0_1                                               1 	(obj:0)
 *
 * Columns with value 0 are omitted.
 */
#include "solvers/formats/solfmt.h"

static const char status_mark[] = "solution status:";
static const char objective_mark[] = "objective value:";
static const char none_mark[] = "no solution available";

static bool sniff_scip(const char *text)
{
    return mo_solfmt_has_prefix(text, status_mark) ||
           mo_solfmt_has_prefix(text, objective_mark) ||
           mo_solfmt_has_prefix(text, none_mark);
}

/* All other texts are a limit or an interrupt. */
static mo_solution_status status_of(const mo_solfmt_token *status,
                                    bool has_solution)
{
    if (mo_solfmt_token_is(status, "infeasible"))
        return MO_SOLUTION_STATUS_INFEASIBLE;
    if (mo_solfmt_token_is(status, "unbounded") ||
        mo_solfmt_token_is(status, "infeasible or unbounded"))
        return MO_SOLUTION_STATUS_UNBOUNDED;
    if (mo_solfmt_token_is(status, "optimal solution found") && has_solution)
        return MO_SOLUTION_STATUS_OPTIMAL;
    return mo_solution_status_at_limit(has_solution);
}

/* SCIP appends the objective coefficient to every value; hand-written starts
 * have none. So a line without it counts as truncated only if it is the last,
 * has no newline, and follows one with it. */
static mo_status read_column(mo_solfmt_reader *r, bool *tailed, mo_error *err)
{
    mo_status status = mo_solfmt_read_pair(r, err);
    mo_solfmt_token tail = mo_solfmt_rest_of_line(r);
    bool complete = tail.length > 6 && mo_solfmt_skip_text(r, "(obj:") &&
                    r->line_end[-1] == ')';

    if (status != MO_OK)
        return status;
    if (!complete && r->unended && *tailed)
        return mo_solfmt_fail_truncated(r, "the rest of the line", err);
    if (!complete)
        return mo_solfmt_expect_end_of_line(r, err);
    *tailed = true;
    return MO_OK;
}

static mo_status read_scip(mo_solfmt_reader *r, mo_error *err)
{
    mo_solfmt_token status_text = { 0 };
    bool has_solution, has_status;
    mo_status status = MO_OK;
    double objective;
    bool tailed = false;

    mo_solfmt_next_nonblank_line(r);
    has_status = mo_solfmt_skip_text(r, status_mark);
    if (has_status) {
        status_text = mo_solfmt_rest_of_line(r);
        if (!mo_solfmt_next_nonblank_line(r))
            return mo_solfmt_fail_truncated(r, "the objective value", err);
    }
    has_solution = mo_solfmt_skip_text(r, objective_mark);
    if (has_solution) {
        status =
            mo_solfmt_next_number(r, "the objective value", &objective, err);
        if (status == MO_OK)
            mo_solfmt_set_objective(r, objective);
    } else if (!mo_solfmt_skip_text(r, none_mark)) {
        return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                          "neither an objective value nor '%s'", none_mark);
    }
    r->solution->claim = has_status || !has_solution
                             ? status_of(&status_text, has_solution)
                             : MO_SOLUTION_STATUS_UNKNOWN;
    if (status == MO_OK)
        status = mo_solfmt_expect_end_of_line(r, err);
    if (status != MO_OK)
        return status;
    while (status == MO_OK && mo_solfmt_next_nonblank_line(r))
        status = read_column(r, &tailed, err);
    return status;
}

const mo_solfmt mo_solfmt_scip = { "scip", "SCIP", sniff_scip, read_scip };
