/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of CBC's `solution` file, also its MIP start format:
 *
 *     Optimal - objective value 30.00000000
 *           0 x_0_1                  1                       0
 *     **    1 w                      30                      1
 *
 * Number, name, value, reduced cost; two stars mark a violated bound. With all
 * output enabled it lists the rows first, numbered from 0 as the columns are.
 *
 * Without a solution it lists that of the relaxation, fractions included; only
 * the first line shows that.
 */
#include "solvers/formats/solfmt.h"

static const char objective_mark[] = " - objective value";

/* CBC's value for infinity, where there is no solution. */
static const double no_objective = 1e50;

/* Returns the position of text, which is not empty, in the line, or NULL. */
static const char *find_in_line(const char *line, const char *text)
{
    for (; *line && *line != '\n'; line++)
        if (mo_solfmt_has_prefix(line, text))
            return line;
    return NULL;
}

static bool sniff_cbc(const char *text)
{
    return find_in_line(text, objective_mark) != NULL;
}

static mo_solution_status status_of(const char *line, double objective)
{
    /* Infeasible, Integer infeasible, Linear relaxation infeasible, ... */
    if (find_in_line(line, "nfeasible"))
        return MO_SOLUTION_STATUS_INFEASIBLE;
    if (find_in_line(line, "nbounded"))
        return MO_SOLUTION_STATUS_UNBOUNDED;
    if (find_in_line(line, "no integer solution") ||
        find_in_line(line, "continuous used") || objective >= no_objective)
        return MO_SOLUTION_STATUS_NO_SOLUTION;
    if (mo_solfmt_has_prefix(line, "Optimal"))
        return MO_SOLUTION_STATUS_OPTIMAL;
    return MO_SOLUTION_STATUS_FEASIBLE;
}

static mo_status read_first_line(mo_solfmt_reader *r, mo_error *err)
{
    double objective;
    const char *line;
    mo_status status;

    mo_solfmt_next_nonblank_line(r);
    line = r->word;
    r->word += find_in_line(line, objective_mark) - line;
    mo_solfmt_skip_text(r, objective_mark);
    status = mo_solfmt_next_number(r, "the objective value", &objective, err);
    if (status != MO_OK)
        return status;
    mo_solfmt_set_objective(r, objective);
    r->solution->claim = status_of(line, objective);
    return MO_OK;
}

/* The columns' numbers so far. */
typedef struct column_numbers {
    bool from_zero; /* the first of them was 0 */
    bool after_rows;
} column_numbers;

/* The number 0 for the second time, with another name: the lines before were
 * rows. (With the same name it is a duplicate column.) */
static bool starts_columns(const mo_solfmt_reader *r)
{
    mo_solfmt_reader ahead = *r;
    mo_solfmt_token name;

    mo_solfmt_next_token(&ahead, &name);
    return r->n > 0 && !mo_solfmt_token_is(&name, r->solution->values[0].name);
}

/* Drops the rows when the first column comes. */
static mo_status check_number(mo_solfmt_reader *r, column_numbers *numbers,
                              mo_error *err)
{
    mo_solfmt_token number;
    double ignored;
    bool zero;

    if (!mo_solfmt_next_token(r, &number) ||
        !mo_solfmt_token_number(&number, &ignored))
        return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                          "not a column's number, name, value and cost");
    zero = mo_solfmt_token_is(&number, "0");
    if (r->n == 0)
        numbers->from_zero = zero;
    if (!zero || !numbers->from_zero || !starts_columns(r))
        return MO_OK;
    if (numbers->after_rows)
        return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                          "another column with the number 0");
    numbers->after_rows = true;
    r->n = 0;
    return MO_OK;
}

static mo_status read_cbc(mo_solfmt_reader *r, mo_error *err)
{
    column_numbers numbers = { 0 };
    mo_status status = read_first_line(r, err);

    while (status == MO_OK && mo_solfmt_next_nonblank_line(r)) {
        double ignored;

        mo_solfmt_skip_text(r, "**");
        status = check_number(r, &numbers, err);
        if (status == MO_OK)
            status = mo_solfmt_read_pair(r, err);
        if (status == MO_OK)
            status =
                mo_solfmt_next_number(r, "the reduced cost", &ignored, err);
        if (status == MO_OK)
            status = mo_solfmt_expect_end_of_line(r, err);
    }
    return status;
}

const mo_solfmt mo_solfmt_cbc = { "cbc", "CBC", sniff_cbc, read_cbc };
