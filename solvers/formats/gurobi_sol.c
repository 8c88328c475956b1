/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of Gurobi's .sol and .mst files, which differ in their comments:
 *
 *     # Solution for model placement        # MIP start
 *     # Objective value = 30                x_0_1 1
 *     x_0_1 1
 *
 * There is no end mark, so a truncated file is not detected, and no status but
 * that in the notes of moirai-solve.
 */
#include <stdio.h>
#include <string.h>

#include "solvers/formats/solfmt.h"

static const char objective_mark[] = "# Objective value =";

/* Looks for one of Gurobi's own comments at the start of the file. */
static bool sniff_gurobi_sol(const char *text)
{
    while (*text == '#') {
        if (mo_solfmt_has_prefix(text, objective_mark) ||
            mo_solfmt_has_prefix(text, "# Solution for model") ||
            mo_solfmt_has_prefix(text, "# MIP start"))
            return true;
        text += strcspn(text, "\n");
        text += strspn(text, " \t\r\n");
    }
    return false;
}

/* Comments of another meaning are ignored, whatever they hold. */
static void read_note(mo_solfmt_reader *r, mo_solution_note *note)
{
    mo_solfmt_token rest;

    if (mo_solfmt_skip_text(r, "# status:")) {
        int status;

        rest = mo_solfmt_rest_of_line(r);
        status = mo_solfmt_find_status(&rest);
        if (status >= 0)
            note->status = (mo_solution_status) status;
        /* The values below a status that denies them are no solution. */
        if (status == MO_SOLUTION_STATUS_INFEASIBLE ||
            status == MO_SOLUTION_STATUS_UNBOUNDED ||
            status == MO_SOLUTION_STATUS_NO_SOLUTION)
            mo_solfmt_set_claim(r, note->status);
    } else if (mo_solfmt_skip_text(r, "# bound:")) {
        rest = mo_solfmt_rest_of_line(r);
        note->has_bound = mo_solfmt_token_number(&rest, &note->bound);
    } else if (mo_solfmt_skip_text(r, "# solver:") ||
               mo_solfmt_skip_text(r, "# method:")) {
        rest = mo_solfmt_rest_of_line(r);
        snprintf(note->by, sizeof note->by, "%.*s",
                 (int) (rest.length < sizeof note->by ? rest.length
                                                      : sizeof note->by - 1),
                 rest.at);
    } else if (mo_solfmt_skip_text(r, "# file:")) {
        rest = mo_solfmt_rest_of_line(r);
        mo_solution_files_add(&note->files, rest.at, rest.length);
    }
}

static mo_status read_comment(mo_solfmt_reader *r, mo_error *err)
{
    double objective;
    mo_status status;

    if (!mo_solfmt_skip_text(r, objective_mark)) {
        read_note(r, &r->solution->note);
        return MO_OK;
    }
    status = mo_solfmt_next_number(r, "the objective value", &objective, err);
    if (status == MO_OK)
        mo_solfmt_set_objective(r, objective);
    return status;
}

static mo_status read_gurobi_sol(mo_solfmt_reader *r, mo_error *err)
{
    mo_status status = MO_OK;

    while (status == MO_OK && mo_solfmt_next_nonblank_line(r))
        status = *r->word == '#' ? read_comment(r, err)
                                 : mo_solfmt_read_column(r, err);
    return status;
}

const mo_solfmt mo_solfmt_gurobi = { "gurobi", "Gurobi (.sol, .mst)",
                                     sniff_gurobi_sol, read_gurobi_sol };
