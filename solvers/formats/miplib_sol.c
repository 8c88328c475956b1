/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of MIPLIB's solution format, one column a line; solving by a library
 * writes it, too, with two comments:
 *
 *     # status: optimal
 *     # bound: 30
 *     =obj= 30
 *     x_0_1 1
 *
 * Files without any mark are read as this format, too, if their first line is
 * a name and a number and nothing else.
 */
#include <string.h>

#include "solvers/formats/solfmt.h"

static const char status_mark[] = "# status:";
static const char bound_mark[] = "# bound:";
static const char objective_mark[] = "=obj=";

static size_t skip_word(const char **text)
{
    size_t n = strcspn(*text, " \t\r\n");

    *text += n;
    *text += strspn(*text, " \t\r");
    return n;
}

static bool is_pair(const char *text)
{
    mo_solfmt_token number;
    char shorter[64];
    double value;

    skip_word(&text);
    number.length = strcspn(text, " \t\r\n");
    if (number.length == 0 || number.length >= sizeof shorter)
        return false;
    memcpy(shorter, text, number.length);
    number.at = shorter;
    skip_word(&text);
    return mo_solfmt_token_number(&number, &value) &&
           (*text == '\n' || *text == 0);
}

static bool sniff_miplib(const char *text)
{
    if (mo_solfmt_gurobi.sniff(text))
        return false;
    while (*text == '#') {
        if (mo_solfmt_has_prefix(text, status_mark))
            return true;
        text += strcspn(text, "\n");
        text += strspn(text, " \t\r\n");
    }
    return mo_solfmt_has_prefix(text, objective_mark) ||
           mo_solfmt_has_prefix(text, "=infeas=") ||
           mo_solfmt_has_prefix(text, "=unbd=") || is_pair(text);
}

static mo_status read_comment(mo_solfmt_reader *r, mo_error *err)
{
    if (mo_solfmt_skip_text(r, status_mark)) {
        mo_solfmt_token status_text = mo_solfmt_rest_of_line(r);

        int status = mo_solfmt_find_status(&status_text);

        if (status >= 0) {
            mo_solfmt_set_claim(r, status >= MO_SOLUTION_STATUS_UNCONFIRMED
                                       ? MO_SOLUTION_STATUS_FEASIBLE
                                       : (mo_solution_status) status);
            return MO_OK;
        }
        return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                          "'%.*s' is no status that is known",
                          status_text.length < 80 ? (int) status_text.length
                                                  : 80,
                          status_text.at);
    }
    if (mo_solfmt_skip_text(r, bound_mark)) {
        r->solution->has_bound = true;
        return mo_solfmt_next_number(r, "the bound", &r->solution->bound, err);
    }
    return MO_OK;
}

/* "=obj=", and the other marks in place of a solution. */
static mo_status read_mark(mo_solfmt_reader *r, mo_error *err)
{
    double objective;
    mo_status status;

    if (mo_solfmt_skip_text(r, "=infeas=")) {
        mo_solfmt_set_claim(r, MO_SOLUTION_STATUS_INFEASIBLE);
        return MO_OK;
    }
    if (mo_solfmt_skip_text(r, "=unbd=")) {
        mo_solfmt_set_claim(r, MO_SOLUTION_STATUS_UNBOUNDED);
        return MO_OK;
    }
    mo_solfmt_skip_text(r, objective_mark);
    status = mo_solfmt_next_number(r, "the objective value", &objective, err);
    if (status == MO_OK)
        mo_solfmt_set_objective(r, objective);
    return status == MO_OK ? mo_solfmt_expect_end_of_line(r, err) : status;
}

static bool is_mark(const mo_solfmt_reader *r)
{
    return mo_solfmt_has_prefix(r->word, objective_mark) ||
           mo_solfmt_has_prefix(r->word, "=infeas=") ||
           mo_solfmt_has_prefix(r->word, "=unbd=");
}

static mo_status read_miplib(mo_solfmt_reader *r, mo_error *err)
{
    mo_status status = MO_OK;

    while (status == MO_OK && mo_solfmt_next_nonblank_line(r)) {
        if (*r->word == '#')
            status = read_comment(r, err);
        else if (*r->word == '=' && is_mark(r))
            status = read_mark(r, err);
        else
            status = mo_solfmt_read_column(r, err);
    }
    return status;
}

const mo_solfmt mo_solfmt_miplib = { "miplib", "MIPLIB: a column a line",
                                     sniff_miplib, read_miplib };
